import { Ajv } from 'ajv'
import formats from 'ajv-formats'

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly const?: unknown
  readonly minimum?: number
  readonly minItems?: number
}

const ajv = formats.default(new Ajv({ strict: false }))

/**
 * A body that the schema takes, with every property, so that no change that it asks for goes unnoticed.
 *
 * @param known - values by the name of their property; the others are made up from the schema
 * @returns undefined when the schema does not take what was made up
 */
export function bodyFromSchema (schema: object, known: Readonly<Record<string, unknown>>): object | undefined {
  const body = sample(schema, '', known) as object
  return ajv.validate(schema, body) ? body : undefined
}

function sample (schema: Schema, name: string, known: Readonly<Record<string, unknown>>): unknown {
  if (Object.hasOwn(known, name)) return known[name]
  if (schema.anyOf) return sample(schema.anyOf.at(-1)!, name, known)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum.at(-1)
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([key, property]) => [key, sample(property, key, known)])
      )
    case 'array':
      return schema.minItems ? [sample(schema.items!, name, known)] : []
    case 'boolean':
      return false
    case 'integer':
      return Math.max(schema.minimum ?? 0, 7)
    default:
      return 'changed'
  }
}
