/** Types of JSON values, as bits: whole numbers and others are told apart. */
export const TYPE = { null: 1, boolean: 2, object: 4, array: 8, string: 16, integer: 32, fraction: 64 } as const
export const NUMBER = TYPE.integer | TYPE.fraction
export const ANY_TYPE = 127

/** The bits of a `type` keyword. A name that is no type counts as `unknown`. */
export function typesOfKeyword (type: unknown, unknown: number): number {
  return [type].flat().reduce<number>(
    (bits, name) => bits | (name === 'number' ? NUMBER : (TYPE as Record<string, number>)[String(name)] ?? unknown),
    0
  )
}

export function typeOfValue (value: unknown): number {
  if (typeof value === 'string') return TYPE.string
  if (value === null) return TYPE.null
  if (typeof value === 'number') return Number.isInteger(value) ? TYPE.integer : TYPE.fraction
  if (typeof value === 'boolean') return TYPE.boolean
  if (typeof value !== 'object') return ANY_TYPE
  return Array.isArray(value) ? TYPE.array : TYPE.object
}

/** The name of a value's type, as JSON Schema has it. */
export function typeName (value: unknown): string {
  return Object.entries(TYPE).find(([, bit]) => bit === typeOfValue(value))?.[0]?.replace('fraction', 'number') ??
    typeof value
}

/** The names of the types of a set, as a sentence lists them. */
export function typeNames (types: number): string {
  const all = types & TYPE.fraction ? types & ~TYPE.integer : types
  const names = Object.entries(TYPE).filter(([, bit]) => (all & bit) !== 0).map(([name]) =>
    name.replace('fraction', 'number')
  )
  return names.sort((a, b) => Number(a === 'null') - Number(b === 'null')).join(' or ')
}
