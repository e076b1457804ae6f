import { attempt } from '../attempt.ts'
import { isObject } from '../schema/json-schema.ts'

/*
 * What schemas that validate themselves make of a value. A property of its own is asked alone, where the library shows
 * it: the other properties of a schema may be required.
 */

/** What a schema makes of the value of a property; undefined if it refuses it, or does not say. */
export function standardValue (schema: unknown, name: string, value: unknown): { readonly value: unknown } | undefined {
  const own: unknown = Reflect.get(propertiesOf(schema), name)
  const read = own === undefined ? validated(schema, { [name]: value }) : validated(own, value)
  if (read === undefined || own !== undefined) return read
  return isObject(read.value) ? { value: read.value[name] } : undefined
}

/** Values of a type, and those of other types that some schemas convert to it. */
const CONVERTED: ReadonlyArray<readonly [value: unknown, others: readonly unknown[]]> = [
  [true, ['x', 0, null]],
  [1, ['1', true, null]],
  ['x', [1, null]]
]

/** Whether a schema takes values of other types for a property, and converts them. */
export function standardConverts (schema: unknown): boolean {
  return Object.values(propertiesOf(schema)).some((own) =>
    standardConverts(own) || CONVERTED.some(([value, others]) => {
      const read = (one: unknown): unknown => validated(own, one)?.value
      return read(value) === value && others.some((other) => typeof read(other) === typeof value)
    })
  )
}

/** Zod shows its properties as `shape`, Valibot as `entries`. */
function propertiesOf (schema: unknown): object {
  const { shape, entries }: { readonly shape?: unknown, readonly entries?: unknown } = Object(schema)
  return [shape, entries].find(isObject) ?? {}
}

function validated (schema: unknown, value: unknown): { readonly value: unknown } | undefined {
  const standard: unknown = Object(schema)['~standard']
  const validate: unknown = Object(standard).validate
  if (typeof validate !== 'function') return undefined
  const result: unknown = attempt(() => validate.call(standard, value) as unknown)
  const isGood = isObject(result) && !(result instanceof Promise) && result.issues === undefined
  return isGood ? { value: result.value } : undefined
}
