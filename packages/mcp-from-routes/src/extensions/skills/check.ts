import { isObject, mapSubschemas, type JsonSchema } from '../../schema/json-schema.ts'
import type { McpTool } from '../../types.ts'
import type { ShownCall } from './calls.ts'
import type { ServedSkill } from './skills.ts'

/** `<the id of the product>` in a call stands for a value that only the caller knows. */
const PLACEHOLDER = { type: 'string', pattern: '^<[^<>]+>$' }
/**
 * Keywords whose schemas describe a value inside, which may be a placeholder. Those beside them describe the same value
 * again.
 */
const INSIDE = new Set(['additionalProperties', 'items', 'patternProperties', 'prefixItems', 'properties'])

interface Problem {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly parentSchema?: unknown
}
type Validate = ((args: unknown) => boolean) & { readonly errors?: readonly Problem[] | null }

/**
 * What is wrong with the calls that skills show: tools that do not exist, arguments that they do not take, and values
 * that their schemas refuse, each with file and line.
 */
export async function problemsOfCalls (
  skills: readonly ServedSkill[],
  tools: readonly McpTool[]
): Promise<readonly string[]> {
  // A nested skill shows its calls in the skill around it too.
  const calls = [...new Map(skills.flatMap((skill) => skill.calls).map((call) => [call.at(), call])).values()]
  if (calls.length === 0) return []
  // The validator of official clients. It is loaded only where something is to be checked.
  const { Ajv, addFormats } = await import('@modelcontextprotocol/server/validators/ajv')
  const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, verbose: true, logger: false })
  addFormats(ajv)
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const validators = new Map<string, Validate>()
  return calls.flatMap((call) => {
    const tool = byName.get(call.name)
    if (tool === undefined) return [`${call.at('name')}: there is no tool ${JSON.stringify(call.name)}`]
    const validate = validators.get(call.name) ?? ajv.compile(withPlaceholders(tool)) as Validate
    validators.set(call.name, validate)
    return validate(call.args) ? [] : problemsIn(call, tool, validate.errors ?? [])
  })
}

function problemsIn (call: ShownCall, { name, inputSchema }: McpTool, errors: readonly Problem[]): readonly string[] {
  const told = errors.filter(({ parentSchema }) => Reflect.get(Object(parentSchema), 'pattern') !== PLACEHOLDER.pattern)
  const plain = told.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'oneOf')
  const lines = (plain.length > 0 ? plain : told).map(({ instancePath, keyword, message = keyword, params }) => {
    const path = instancePath.split('/').slice(1)
    const member = [params.additionalProperty, params.unevaluatedProperty, path.findLast((part) => !/^\d+$/.test(part))]
      .find((part) => typeof part === 'string')
    const at = call.at(member as string | undefined)
    if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
      const takes = path.length === 0
        ? `. It takes ${Object.keys(Object(inputSchema.properties) as object).join(', ')}`
        : ''
      return `${at}: ${name} takes no ${[...path, String(member)].join('.')}${takes}`
    }
    if (keyword === 'required') return `${at}: ${name} requires ${[...path, String(params.missingProperty)].join('.')}`
    const allowed = Array.isArray(params.allowedValues)
      ? `: ${params.allowedValues.map((value) => JSON.stringify(value)).join(', ')}`
      : ''
    return `${at}: ${path.length === 0 ? `the arguments of ${name}` : `${path.join('.')} of ${name}`} ` +
      `${message}${allowed}`
  })
  return [...new Set(lines)]
}

/**
 * The schema of a tool's arguments, where each value may be a placeholder, and those that a credential implies may be
 * absent.
 */
function withPlaceholders ({ inputSchema, implied = [] }: McpTool): JsonSchema {
  const { required, minProperties, ...schema } = inputSchema
  return inside({
    ...schema,
    required: Array.isArray(required) ? required.filter((name) => !implied.includes(name as string)) : []
  })
}

function inside (schema: JsonSchema): JsonSchema {
  const { prefixItems, items, dependentRequired, ...rest } = mapSubschemas(schema, (sub, keyword) => {
    if (!isObject(sub)) return sub
    return INSIDE.has(keyword) ? { anyOf: [PLACEHOLDER, inside(sub)] } : inside(sub)
  })
  // As draft-07 calls them, which is what the validator reads.
  return {
    ...rest,
    ...prefixItems !== undefined
      ? { items: prefixItems, additionalItems: items ?? true }
      : items !== undefined && { items },
    ...dependentRequired !== undefined && { dependencies: dependentRequired }
  }
}
