import { isObject, mapSubschemas, type JsonSchema } from './json-schema.ts'

const PREFIX = '#/$defs/'

/** The schemas under a `$defs`, by name. */
export type DefinitionMap = ReadonlyMap<string, JsonSchema>

/** The name under `$defs` that a schema refers to, if it refers to one. */
export function referredTo ({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' && $ref.startsWith(PREFIX) ? $ref.slice(PREFIX.length) : undefined
}

/** The definitions of a schema that stands for itself. */
export function definitionsOf ({ $defs }: JsonSchema): DefinitionMap {
  const entries = isObject($defs) ? Object.entries($defs) : []
  return new Map(entries.map(([name, definition]) => {
    const other = definition === false ? { not: {} } : {}
    return [name, isObject(definition) ? definition : other]
  }))
}

/**
 * The schema with its references replaced at the top: its own, and those of the members of its `allOf`, `anyOf` and
 * `oneOf`. One that leads back to itself stays.
 */
export function followed (schema: JsonSchema, definitions: DefinitionMap): JsonSchema {
  const name = referredTo(schema)
  const target = name === undefined ? undefined : definitions.get(name)
  if (name !== undefined && target !== undefined) {
    const { $ref, ...beside } = schema
    return isCircular(name, definitions) ? schema : followed(combine(target, beside), definitions)
  }
  const unions = ['allOf', 'anyOf', 'oneOf'].filter((keyword) => Array.isArray(schema[keyword]))
  const members = (keyword: string): unknown[] =>
    (schema[keyword] as unknown[]).map((member) => isObject(member) ? followed(member, definitions) : member)
  return { ...schema, ...Object.fromEntries(unions.map((keyword) => [keyword, members(keyword)])) }
}

function isCircular (name: string, definitions: DefinitionMap): boolean {
  const reached = new Set<string>()
  const visit = (schema: unknown): void => {
    if (!isObject(schema)) return
    const next = referredTo(schema)
    if (next !== undefined && !reached.has(next)) {
      reached.add(next)
      visit(definitions.get(next))
    }
    mapSubschemas(schema, visit)
  }
  visit(definitions.get(name))
  return reached.has(name)
}

/**
 * Rewrites a schema and the definitions it uses, where what becomes of a subschema depends on where it stands. A
 * definition is rewritten once for all the places that refer to it, as what holds in every one of them.
 * @param place - what holds of the place of the schema itself, as bits
 * @param rewrite - calls `use` for each reference that stays, with what holds of its place
 */
export function rewriteShared (
  schema: JsonSchema,
  place: number,
  rewrite: (schema: JsonSchema, place: number, use: (schema: JsonSchema, place: number) => void) => JsonSchema
): JsonSchema {
  const { $defs, ...root } = schema
  const definitions = definitionsOf(schema)
  const places = new Map<string, number>()
  for (;;) {
    let isSettled = true
    const use = (reference: JsonSchema, at: number): void => {
      const name = referredTo(reference)
      if (name === undefined || !definitions.has(name)) return
      const known = places.get(name)
      const next = known === undefined ? at : known & at
      if (next === known) return
      places.set(name, next)
      isSettled = false
    }
    const out = rewrite(root, place, use)
    // A definition that is found on the way is visited too: a Map goes on through what is added to it.
    const used: Record<string, JsonSchema> = {}
    for (const [name, at] of places) used[name] = rewrite(definitions.get(name) ?? {}, at, use)
    if (isSettled) return places.size === 0 ? out : { ...out, $defs: used }
  }
}

/** Keywords that describe and do not constrain. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  'default',
  'deprecated',
  'description',
  'examples',
  'readOnly',
  'title',
  'writeOnly'
])

/** Keywords that look at what the others of their group do in the same schema object. */
const GROUPS = [
  ['additionalProperties', 'patternProperties', 'properties'],
  ['items', 'prefixItems'],
  ['contains', 'maxContains', 'minContains'],
  ['else', 'if', 'then']
]
/** Keywords that look at all others, and through them. */
const UNEVALUATED = ['unevaluatedItems', 'unevaluatedProperties']

/**
 * Replaces a `$ref` by what it leads to. Both that and the keywords beside the reference hold: in one object where that
 * means the same, else in an `allOf`. An annotation beside the reference wins.
 */
export function combine (target: JsonSchema, beside: JsonSchema): JsonSchema {
  const constraints = Object.keys(beside).filter((keyword) => !ANNOTATIONS.has(keyword))
  const meets = (keyword: string): boolean =>
    keyword in target || GROUPS.some((group) => group.includes(keyword) && group.some((other) => other in target))
  if (constraints.length === 0 || !(constraints.some(meets) || UNEVALUATED.some((keyword) => keyword in target))) {
    return { ...target, ...beside }
  }
  const { allOf = [], ...rest } = beside
  return { ...rest, allOf: [target, ...allOf as readonly unknown[]] }
}
