import { partsOf } from '../../schema/parts.ts'
import { definitionsOf, referredTo, type DefinitionMap } from '../../schema/shared.ts'
import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../../errors.ts'
import type { ToolInput } from '../../tool/input.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../../schema/json-schema.ts'

/** The argument that says which fields a result has. */
export const FIELDS_ARGUMENT = 'fields'

/** Whether a tool has the argument `fields`, and what it offers. */
export type ToolFields = boolean | {
  /**
   * The property of the response that has the records; false if the response is itself the record. Default: found by
   * the schema.
   */
  readonly list?: string | false,
  /** The names that are offered, of those that the response schema has. Default is all. */
  readonly names?: readonly string[]
}

/** What the argument `fields` of a tool takes. */
export interface FieldsRule {
  /** By the names that the argument takes: the property of a record, and the property in that. */
  readonly paths: ReadonlyMap<string, readonly [name: string, inner?: string]>
  /**
   * Where the records are: in the response, which is an array; in this property of it; or false, the response is one.
   */
  readonly list: true | string | false
}

/** Properties by name, with all that schemas say of each. */
type Named = ReadonlyMap<string, readonly unknown[]>

/**
 * Derives the argument from what a success is, as JSON.
 * @param route - the route as named in errors
 * @param own - `config.mcp.fields`
 * @param option - whether all lists have the argument
 * @param success - returns the schema of all JSON responses; undefined if there is none
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function fieldsRule (
  route: string,
  own: ToolFields | undefined,
  option: boolean,
  { places }: ToolInput,
  success: () => JsonSchema | undefined
): FieldsRule | undefined {
  function fail (problem: string): never {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, `fields ${problem}`)
  }
  const wanted: unknown = own ?? option
  if (wanted === false) return undefined
  const { list, names } = own === undefined || typeof own === 'boolean'
    ? {}
    : Object(own) as Exclude<ToolFields, boolean>
  const isConfig = wanted === true ||
    (isObject(wanted) && Object.keys(wanted).every((key) => key === 'list' || key === 'names'))
  if (!isConfig) fail('must be true, false or an object with list or names')
  if (list !== undefined && list !== false && typeof list !== 'string') {
    fail('must have a list that is the name of a property, or false')
  }
  if (
    names !== undefined &&
    !(Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string'))
  ) fail('must have names that are an array of strings')
  const schema = success()
  const found = schema === undefined ? undefined : recordsOf(schema, list)
  if (found === undefined) return own === undefined ? undefined : fail(reasonAgainst(schema, list))
  if (own === undefined && found.list === false) return undefined
  if (places.has(FIELDS_ARGUMENT)) {
    fail(
      'adds an argument that the route has already. Rename that of the route in config.mcp.arguments, or set ' +
        'config.mcp.fields: false'
    )
  }
  const unknown = names?.find((name) => !found.paths.has(name))
  if (unknown !== undefined) {
    fail(`names ${unknown}, which is not a field of its result. It has ${[...found.paths.keys()].join(', ')}`)
  }
  return names === undefined
    ? found
    : { ...found, paths: new Map([...found.paths].filter(([name]) => names.includes(name))) }
}

function reasonAgainst (schema: JsonSchema | undefined, list: string | false | undefined): string {
  if (typeof list === 'string') {
    return `names the list ${list}, which is no property with an array of objects whose properties are described`
  }
  if (schema === undefined) {
    return 'needs a JSON response: the route declares none for a success, or its result comes later, as a task'
  }
  return 'needs a response schema that describes the properties of one kind of record, or of each record in one list'
}

/** The schema of the argument, as a tool publishes it. */
export function fieldsSchema ({ paths }: FieldsRule): JsonSchema {
  return { type: 'array', items: { type: 'string', enum: [...paths.keys()] }, description: 'Return only these' }
}

/** Where the records of a response are, and the names of their fields, one level deep. */
function recordsOf (schema: JsonSchema, list: string | false | undefined): FieldsRule | undefined {
  const definitions = definitionsOf(schema)
  const items = itemsIn([schema], definitions)
  const own = namedIn([schema], definitions)
  // Several responses may be a list and a record: neither has the fields of the other.
  if (items.length > 0 && own.size > 0) return undefined
  if (items.length > 0) return list === undefined ? ruleOf(true, namedIn(items, definitions), definitions) : undefined
  const lists = [...own].flatMap(([name, schemas]) => {
    const named = namedIn(itemsIn(schemas, definitions), definitions)
    return named.size > 0 ? [{ name, named }] : []
  })
  const only = list === undefined && lists.length === 1 && !own.has('id') ? lists[0] : undefined
  const chosen = typeof list === 'string' ? lists.find(({ name }) => name === list) : only
  if (chosen === undefined && typeof list === 'string') return undefined
  return chosen === undefined ? ruleOf(false, own, definitions) : ruleOf(chosen.name, chosen.named, definitions)
}

function ruleOf (list: FieldsRule['list'], named: Named, definitions: DefinitionMap): FieldsRule | undefined {
  const paths = new Map<string, readonly [string, string?]>()
  for (const name of named.keys()) paths.set(name, [name])
  for (const [name, schemas] of named) {
    for (const inner of namedIn([...schemas, ...itemsIn(schemas, definitions)], definitions).keys()) {
      // A property may be called a.b itself.
      if (!paths.has(`${name}.${inner}`)) paths.set(`${name}.${inner}`, [name, inner])
    }
  }
  return paths.size === 0 ? undefined : { paths, list }
}

function namedIn (schemas: readonly unknown[], definitions: DefinitionMap): Named {
  const named = new Map<string, unknown[]>()
  for (const { properties } of partsOf(schemas, definitions)) {
    for (const [name, schema] of isObject(properties) ? Object.entries(properties) : []) {
      named.set(name, [...named.get(name) ?? [], schema])
    }
  }
  return named
}

function itemsIn (schemas: readonly unknown[], definitions: DefinitionMap): readonly unknown[] {
  return partsOf(schemas, definitions).flatMap(({ items }) => isObject(items) ? [items] : [])
}

/** How deep a schema is in a result: around the records, a record, a record in one. */
const AROUND = 3
const RECORD = 2

/** The output schema of a tool with the argument: of a record, and of the records in it, nothing is required. */
export function withOptionalFields (schema: JsonSchema, { list }: FieldsRule): JsonSchema {
  const definitions = definitionsOf(schema)
  const shared = new Map<string, { readonly depth: number, schema: unknown }>()

  function loosened (part: unknown, depth: number): unknown {
    if (!isObject(part) || depth === 0) return part
    const name = referredTo(part)
    if (name !== undefined && definitions.has(name) && (shared.get(name)?.depth ?? 0) < depth) {
      const entry = { depth, schema: undefined as unknown }
      shared.set(name, entry)
      entry.schema = loosened(definitions.get(name), depth)
    }
    const { required, properties, ...rest } = part
    return {
      ...mapSubschemas(
        rest,
        (sub, keyword) => ['items', 'allOf', 'anyOf'].includes(keyword) ? loosened(sub, depth) : sub
      ),
      ...isObject(properties) &&
        {
          properties: Object.fromEntries(
            Object.entries(properties).map((
              [key, sub]
            ) => [key, depth === AROUND && key !== list ? sub : loosened(sub, depth - 1)])
          )
        },
      ...required !== undefined && depth === AROUND && { required }
    }
  }

  const out = loosened(schema, typeof list === 'string' ? AROUND : RECORD) as JsonSchema
  return shared.size === 0
    ? out
    : {
      ...out,
      $defs: {
        ...Object.fromEntries(definitions),
        ...Object.fromEntries([...shared].map(([name, entry]) => [name, entry.schema]))
      }
    }
}
