import { isObject, type JsonSchema } from './json-schema.ts'

/**
 * The JSON types that a 2020-12 schema names.
 * @param root - the schema that holds the `$defs`
 * @returns undefined when the schema names none, so that every type may fit
 */
export function typesOf (schema: unknown, root: JsonSchema): ReadonlySet<string> | undefined {
  // Each definition is read once, and one that leads to itself may be anything.
  const known = new Map<string, ReadonlySet<string> | undefined>()
  function read (schema: unknown): ReadonlySet<string> | undefined {
    if (!isObject(schema)) return undefined
    const { type, $ref: ref, anyOf, oneOf = anyOf, allOf } = schema
    if (type !== undefined) return new Set([type].flat().map(String))
    if (typeof ref === 'string') {
      if (!known.has(ref)) {
        known.set(ref, undefined)
        known.set(ref, read(definition(ref, root)))
      }
      return known.get(ref)
    }
    if (Array.isArray(oneOf)) {
      const types = oneOf.map(read)
      return types.some((some) => some === undefined) ? undefined : new Set(types.flatMap((some) => [...some ?? []]))
    }
    return Array.isArray(allOf) ? allOf.map(read).find((types) => types !== undefined) : undefined
  }
  return read(schema)
}

/** Whether a schema takes values of one type, or null, and nothing else. */
export function takesOnly (type: string, types: ReadonlySet<string> | undefined): boolean {
  return types !== undefined && types.has(type) && [...types].every((other) => other === type || other === 'null')
}

/** What a reference to `$defs` leads to. */
export function definition (ref: string, root: JsonSchema): unknown {
  const name = /^#\/\$defs\/([^/]+)$/.exec(ref)?.[1]
  return name === undefined
    ? undefined
    : Reflect.get(Object(root.$defs), name.replaceAll('~1', '/').replaceAll('~0', '~'))
}
