import type { ToolInput } from '../tool/input.ts'
import { isObject, type JsonSchema } from '../schema/json-schema.ts'
import { PARTS } from '../tool/overrides.ts'
import { definition } from '../schema/types-of.ts'

/** How many allowed values an error names. */
const MAX_VALUES = 50
/** The messages of validators about missing properties. */
const MISSING =
  /(?<![\w/])(body|querystring|params|headers) must have (?:required property '([^'\n]{1,200})'|(property|properties) ([^'\n]{1,200}?) when property (\S{1,200}) is present)/g
/** Their messages about too few properties, which count those of one part of the request: the arguments are more. */
const TOO_FEW = /(?<![\w/])(body|querystring) must NOT have fewer than (\d{1,9}) properties/g
/** An input, with a better message if the validator's says too little. */
const MENTION =
  /(, )?(?<![\w/])(body|querystring|params|headers)(?:\/([^\s,;:"')\]}]+)|(?= must ))( must (?:be equal to (?:one of the allowed values|constant)|match (?:a schema in anyOf|exactly one schema in oneOf)))?/g

/**
 * Says of arguments what a route's validation says of its inputs. Fastify speaks of `body/name` and
 * `querystring/limit`; the model knows them as `name` and `limit`, or as what `config.mcp.arguments` names them. Where
 * a value is not an allowed one, the allowed ones are named; where there are too few, those to choose from.
 */
export function inArgumentNames (input: ToolInput, text: string): string {
  const known = (part: string, name: string): string | undefined =>
    input.inputs.find((own) => PARTS[own.place] === part && own.name === name)?.argument
  const argumentOf = (part: string, name: string): string => known(part, name) ?? name
  /** Of headers only some are arguments. */
  const isOther = (part: string, name: string): boolean => part === 'headers' && known(part, name) === undefined
  const said = new Set<string>()
  return text
    .replace(
      MISSING,
      (match, part: string, missing: string | undefined, word: string, others: string, present: string) => {
        if ((part === 'body' && input.body !== 'fields') || isOther(part, missing ?? present)) return match
        if (missing !== undefined) return `arguments must have required property '${argumentOf(part, missing)}'`
        const names = others.split(', ').map((name) => argumentOf(part, name)).join(', ')
        return `arguments must have ${word} ${names} when property ${argumentOf(part, present)} is present`
      }
    )
    .replace(TOO_FEW, (match, part: string, least: string) => {
      if (part === 'body' && input.body !== 'fields') return match
      const own = input.inputs.filter(({ place }) => PARTS[place] === part)
      const names = own.flatMap(({ argument }) => argument ?? [])
      // Fixed values are always sent, and counted.
      const count = Number(least) - (own.length - names.length)
      return `arguments must have at least ${count === 1 ? 'one' : count} of ${names.join(', ')}`
    })
    .replace(MENTION, (match, comma = '', part: string, path: string | undefined, rule = '') => {
      const isWhole = part === 'body' && input.body !== 'fields'
      const [name = '', ...rest] = [...isWhole ? ['body'] : [], ...path?.split('/') ?? []].map((piece) =>
        piece.replaceAll('~1', '/').replaceAll('~0', '~')
      )
      if (isOther(part, name)) return match
      if (name === '') return `${comma}arguments${rule}`
      const argument = argumentOf(part, name)
      const label = [argument, ...rest].join('/')
      const allowed = rule === '' ? undefined : allowedValues(schemaAt(input.schema, [argument, ...rest]), input.schema)
      if (allowed === undefined) return `${comma}${label}${rule}`
      // A validator says so once for each value, and once more for all of them.
      if (said.has(label)) return ''
      said.add(label)
      const values = allowed.slice(0, MAX_VALUES).map((value) => JSON.stringify(value))
      return `${comma}${label} must be one of ${values.join(', ')}${allowed.length > MAX_VALUES ? ', …' : ''}`
    })
}

/** The schema of a value inside the arguments. */
function schemaAt (root: JsonSchema, path: readonly string[]): unknown {
  let schema: unknown = root
  for (const piece of path) {
    const { properties, prefixItems, items } = resolved(schema, root)
    const item: unknown = Array.isArray(prefixItems) && piece in prefixItems ? prefixItems[Number(piece)] : items
    schema = isObject(properties) && Object.hasOwn(properties, piece) ? properties[piece] : item
  }
  return schema
}

/** Undefined when a schema allows more than a list of values. */
function allowedValues (schema: unknown, root: JsonSchema): readonly unknown[] | undefined {
  const { const: value, enum: values, anyOf, oneOf } = resolved(schema, root)
  if (Array.isArray(values)) return values
  if (value !== undefined) return [value]
  const members: unknown = anyOf ?? oneOf
  if (!Array.isArray(members)) return undefined
  const lists = members.map((member: JsonSchema) => {
    if (member.type === 'null') return [null]
    return member.const !== undefined || Array.isArray(member.enum) ? allowedValues(member, root) : undefined
  })
  return lists.includes(undefined) ? undefined : lists.flat()
}

function resolved (schema: unknown, root: JsonSchema): JsonSchema {
  const target = isObject(schema) && typeof schema.$ref === 'string' ? definition(schema.$ref, root) : schema
  return isObject(target) ? target : {}
}
