import { isObject, type JsonSchema } from '../../schema/json-schema.ts'
import { definition } from '../../schema/types-of.ts'

/** How long a signature may become, in characters. */
const MAX_LENGTH = 400
/** How many listed values a type names, and how long one may be. */
const MAX_VALUES = 12
const MAX_VALUE = 40
/** How deep records are written out where there is room. */
const DEPTHS = [2, 1, 0] as const

/**
 * The arguments of a tool in one line, as TypeScript would write them: `(id: string, state?: "open" | "closed")`. It
 * takes a tenth of the tokens of the schema. Required arguments come first; what is too long ends with …
 *
 * @param schema - of the arguments, with its `$defs`
 */
export function signatureOf (schema: JsonSchema): string {
  for (const depth of DEPTHS) {
    const text = `(${members(schema, schema, depth).join(', ')})`
    if (text.length <= MAX_LENGTH) return text
  }
  const kept: string[] = []
  let length = 0
  for (const member of members(schema, schema, 0)) {
    length += member.length + 2
    if (length > MAX_LENGTH) break
    kept.push(member)
  }
  return `(${[...kept, '…'].join(', ')})`
}

function members ({ properties, required }: JsonSchema, root: JsonSchema, depth: number): readonly string[] {
  const names = new Set(Array.isArray(required) ? required : [])
  const written = Object.entries(isObject(properties) ? properties : {}).map(([name, property]) => ({
    isRequired: names.has(name),
    text: `${name}${names.has(name) ? '' : '?'}: ${typeText(property, root, depth)}`
  }))
  return [...written.filter(({ isRequired }) => isRequired), ...written.filter(({ isRequired }) => !isRequired)].map((
    { text }
  ) => text)
}

function typeText (schema: unknown, root: JsonSchema, depth: number): string {
  return union(alternatives(schema, root, depth, new Set()))
}

function union (types: readonly string[]): string {
  const all = [...new Set(types)]
  return all.includes('any') || all.length === 0 ? 'any' : all.join(' | ')
}

/** @param open - the references that led here: one that leads back to itself may be anything */
function alternatives (schema: unknown, root: JsonSchema, depth: number, open: ReadonlySet<string>): readonly string[] {
  if (!isObject(schema)) return ['any']
  const {
    type,
    $ref: ref,
    const: value,
    enum: values = value === undefined ? undefined : [value],
    anyOf,
    oneOf = anyOf,
    allOf
  } = schema
  if (Array.isArray(values)) return valueTexts(values)
  if (typeof ref === 'string') {
    return open.has(ref)
      ? ['any']
      : alternatives(definition(ref, root), root, depth, new Set([...open, ref]))
  }
  if (Array.isArray(oneOf)) return oneOf.flatMap((one) => alternatives(one, root, depth, open))
  if (type === undefined && Array.isArray(allOf)) {
    return allOf.map((part) => alternatives(part, root, depth, open)).find((types) => !types.includes('any')) ?? ['any']
  }
  if (type === undefined) return ['any']
  return [type].flat().map((one) => {
    if (one === 'array') return listText(alternatives(schema.items, root, depth, open))
    if (one !== 'object') return String(one)
    // Records inside are written out only as deep as there is room, so a reference in a circle ends as well.
    return depth > 0 && isObject(schema.properties) ? `{ ${members(schema, root, depth - 1).join(', ')} }` : 'object'
  })
}

function listText (types: readonly string[]): string {
  const text = union(types)
  return new Set(types).size > 1 ? `(${text})[]` : `${text}[]`
}

function valueTexts (values: readonly unknown[]): readonly string[] {
  const texts = values.slice(0, MAX_VALUES).map((value) => {
    const text = JSON.stringify(value)
    return text.length > MAX_VALUE ? '…' : text
  })
  return values.length > MAX_VALUES ? [...texts, '…'] : texts
}
