import { MCP_FROM_ROUTES_INVALID_CONFIG } from '../errors.ts'
import { MIRRORED } from '../schema/dialect.ts'
import { isObject, mapSubschemas, type JsonSchema } from '../schema/json-schema.ts'

/** The name of a header. @see [RFC 9110 §5.6.2](https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2) */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const TYPES: readonly unknown[] = ['boolean', 'integer', 'string']

/** An argument that clients of revision 2026-07-28 repeat in a header, so that proxies can route and limit by it. */
export interface MirroredArgument {
  /** In lower case: `mcp-param-shop-id`. */
  readonly header: string
  /** Where the value is in the arguments. */
  readonly path: readonly string[]
}

/**
 * The mirrored arguments of a tool. Clients must drop a tool that breaks one of the rules, so startup fails.
 * @param route - the route as named in errors
 * @param schema - the arguments, as the tool publishes them
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
export function mirroredArguments (route: string, schema: JsonSchema): readonly MirroredArgument[] {
  const found: MirroredArgument[] = []
  function visit (part: unknown, path: readonly string[], isReachable: boolean): void {
    if (!isObject(part)) return
    const name = part[MIRRORED]
    if (name !== undefined) {
      const check = (holds: boolean, problem: string): void => {
        if (!holds) {
          throw new MCP_FROM_ROUTES_INVALID_CONFIG(
            route,
            `arguments: the header ${JSON.stringify(name)} of ${path.join('.') || 'the arguments'} ${problem}`
          )
        }
      }
      check(typeof name === 'string' && TOKEN.test(name), 'is not the name of a header')
      check(
        isReachable && path.length > 0,
        'is inside a list, an alternative or a shared schema. Clients send only what they reach by properties alone'
      )
      check(
        TYPES.includes(part.type),
        'must belong to a string, an integer or a boolean, and nothing else, such as null'
      )
      const header = `mcp-param-${String(name).toLowerCase()}`
      check(
        !found.some((other) => other.header === header),
        'belongs to another argument too. Upper and lower case are the same'
      )
      found.push({ header, path })
    }
    for (const [key, sub] of isObject(part.properties) ? Object.entries(part.properties) : []) {
      visit(sub, [...path, key], isReachable)
    }
    const { properties, ...rest } = part
    mapSubschemas(rest, (sub) => visit(sub, path, false))
  }
  visit(schema, [], true)
  return found
}

/**
 * The arguments without the headers that repeat them.
 * @param names - of the arguments; default: all, at any depth
 */
export function withoutHeaders (schema: JsonSchema, names?: readonly string[]): JsonSchema {
  if (!isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    if (!isObject(property) || names?.includes(name) === false) return [name, property]
    const { [MIRRORED]: _, ...rest } = property
    return [name, names === undefined ? withoutHeaders(rest) : rest]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}
