import { isObject, type JsonSchema } from './json-schema.ts'
import { referredTo, type DefinitionMap } from './shared.ts'

/** The schemas, and all others that say something of the same value. */
export function partsOf (schemas: readonly unknown[], definitions: DefinitionMap): readonly JsonSchema[] {
  const parts = new Set<JsonSchema>()
  const add = (schema: unknown): void => {
    if (!isObject(schema) || parts.has(schema)) return
    parts.add(schema)
    const { allOf, anyOf, oneOf, then, else: otherwise } = schema
    ;[definitions.get(referredTo(schema) ?? ''), allOf, anyOf, oneOf, then, otherwise].flat().forEach(add)
  }
  schemas.forEach(add)
  return [...parts]
}
