import type { JsonSchema } from './json-schema.ts'

/** Keywords that describe and do not constrain. */
export const ANNOTATIONS: ReadonlySet<string> = new Set(['default', 'deprecated', 'description', 'examples', 'readOnly', 'title', 'writeOnly'])

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
  const meets = (keyword: string): boolean => keyword in target || GROUPS.some((group) => group.includes(keyword) && group.some((other) => other in target))
  if (constraints.length === 0 || !(constraints.some(meets) || UNEVALUATED.some((keyword) => keyword in target))) return { ...target, ...beside }
  const { allOf = [], ...rest } = beside
  return { ...rest, allOf: [target, ...allOf as readonly unknown[]] }
}
