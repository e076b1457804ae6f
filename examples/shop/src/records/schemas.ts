import { type TObject, type TOptional, type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { columnRange, isInteger } from '../http/schema-types.ts'
import { Defaulted, serverFields, ShopRecord } from '../http/schemas.ts'

/*
 * What is known of a record comes from its fields, which are written once: the schemas of its routes, its columns, and
 * how its columns are stored. CONTRIBUTING.md says how to add one.
 */

type Input<Fields extends TProperties, Required extends keyof Fields> = TObject<
  { [Name in keyof Fields]: Name extends Required ? Fields[Name] : TOptional<Fields[Name]> }
>
type Changes<Fields extends TProperties, Fixed extends keyof Fields> = TObject<
  { [Name in Exclude<keyof Fields, Fixed>]: TOptional<Fields[Name]> }
>

/**
 * The schemas of a record.
 *
 * @param fields - those that its users write, in the order of the documentation
 * @param required - what a new record needs
 * @param otherwise - what others are when left out, where it is not obvious: for the description
 * @param fixed - what no change can set
 */
export function recordSchemas<
  Fields extends TProperties,
  Required extends keyof Fields & string,
  Fixed extends keyof Fields & string = never
> (
  fields: Fields,
  { required, otherwise = {}, fixed = [] }: {
    readonly required: readonly Required[],
    readonly otherwise?: { readonly [Name in keyof Fields]?: string },
    readonly fixed?: readonly Fixed[]
  }
) {
  const all = Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, inRange(schema)])) as Fields
  const input = Object.entries(all).map(([name, schema]) => {
    if ((required as readonly string[]).includes(name)) return [name, schema]
    const usual = otherwise[name]
    return [name, usual === undefined ? Type.Optional(schema) : Defaulted(schema, usual)]
  })
  const changes = Object.entries(all).filter(([name]) => !(fixed as readonly string[]).includes(name))
  return {
    Input: Type.Object(Object.fromEntries(input), { additionalProperties: false }) as unknown as Input<
      Fields,
      Required
    >,
    Changes: Type.Partial(Type.Object(Object.fromEntries(changes)), {
      additionalProperties: false
    }) as unknown as Changes<Fields, Fixed>,
    Record: ShopRecord(all)
  }
}

/** A field whose whole numbers fit into its column, whatever limits it has itself. */
function inRange (schema: TSchema): TSchema {
  return isInteger(schema) ? { ...columnRange(schema), ...schema } : schema
}

/** The fields of a record that its users write. */
export function ownFields ({ properties }: TObject): ReadonlyArray<readonly [name: string, schema: TSchema]> {
  return Object.entries(properties).filter(([name]) => !(name in serverFields))
}
