import { isObject, type JsonSchema, mapSubschemas } from './json-schema.ts'

/** More than RE2 repeats, nested repetitions multiplied. */
const TOO_OFTEN = 1001

/**
 * Parts of a pattern that RE2, Rust's regex, Python's re and JavaScript read alike, from the start of what is left.
 * Classes and quantifiers are judged by {@link isPortableClass} and {@link timesOf}.
 */
const PARTS = {
  escape: /^\\(?:[dDwWsSbBtnrfv]|x[\da-fA-F]{2}|[\^$.*+?()[\]{}|/\\])/,
  set: /^\[(?:\\[^]|[^\]\\])*\]/,
  open: /^\((?:\?:|(?!\?))/,
  close: /^\)/,
  quantifier: /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/,
  literal: /^[^\\[\](){}*+?]/u
} as const

/** The escapes that mean the same in a class; `\b` is something else there. */
const IN_CLASS = /^\\(?:[dDwWsStnrfv]|[\^$.*+?()[\]{}|/\\-])$/

/**
 * Whether the providers of models can read a pattern. One that they cannot makes some refuse the whole list of tools:
 * `\p{L}`, a look-around, a backreference, a bare `[` in a class.
 *
 * @param pattern - as in JSON Schema, without delimiters
 * @see [RE2 syntax](https://github.com/google/re2/wiki/Syntax)
 * @see [Rust regex syntax](https://docs.rs/regex/latest/regex/#syntax)
 * @see [Python re](https://docs.python.org/3/library/re.html#regular-expression-syntax)
 */
export function isPortable (pattern: string): boolean {
  /** How often the parts of each open group are repeated at most, and those of the last part. */
  const groups = [1]
  let last = 1
  for (let rest = pattern; rest !== '';) {
    const [kind, text] = firstPart(rest)
    if (kind === undefined || (kind === 'set' && !isPortableClass(text))) return false
    if (kind === 'open') {
      groups.push(1)
    } else if (kind === 'close') {
      if (groups.length === 1) return false
      last = groups.pop()!
    } else {
      last = kind === 'quantifier' ? last * timesOf(text) : 1
    }
    if (last >= TOO_OFTEN) return false
    groups[groups.length - 1] = Math.max(groups.at(-1)!, last)
    rest = rest.slice(text.length)
  }
  return groups.length === 1
}

function firstPart (rest: string): readonly [kind: string | undefined, text: string] {
  for (const [kind, part] of Object.entries(PARTS)) {
    const [text] = part.exec(rest) ?? []
    if (text !== undefined) return [kind, text]
  }
  return [undefined, '']
}

/** Without sets in sets and operators between them (Rust), and without ranges from or to a set such as `\w`. */
function isPortableClass (text: string): boolean {
  const members = text.slice(text[1] === '^' ? 2 : 1, -1).match(/\\[^]|[^]/gu) ?? []
  const isSet = (member = ''): boolean => /^\\[dDwWsS]$/.test(member)
  return members.length > 0 && members.every((member, index) => {
    const [before, after] = [members[index - 1], members[index + 1]]
    if (member === after && ['&', '-', '~', '|'].includes(member)) return false
    if (member === '-' && before !== undefined && after !== undefined) return !isSet(before) && !isSet(after)
    if (member.length === 2 && member.startsWith('\\')) return member === '\\x' || IN_CLASS.test(member)
    return member !== '['
  })
}

/** How often a quantifier repeats at most; those without an end, at least. */
function timesOf (quantifier: string): number {
  const [least, most] = quantifier.match(/\d+/g) ?? []
  return Math.max(1, Number(most ?? least ?? 1))
}

/**
 * The schema without what providers cannot read of its patterns. It accepts all that it accepted, and more; the route
 * still checks the pattern. A property without a description says the pattern in one, which models read.
 */
export function withPortablePatterns (schema: JsonSchema): JsonSchema {
  return otherPatterns(schema).length > 0 ? portable(schema) : schema
}

/** The patterns of a schema, and of those inside it, that are not portable. */
export function otherPatterns (schema: unknown): readonly string[] {
  if (!isObject(schema)) return []
  const found = [schema.pattern, ...Object.keys(Object(schema.patternProperties))].filter(isOther)
  mapSubschemas(schema, (sub) => {
    found.push(...otherPatterns(sub))
  })
  return found
}

function isOther (pattern: unknown): pattern is string {
  return typeof pattern === 'string' && !isPortable(pattern)
}

function portable (schema: JsonSchema): JsonSchema {
  const { pattern, ...rest } = mapSubschemas(exact(schema), (sub) => isObject(sub) ? portable(sub) : sub)
  if (pattern === undefined) return withoutNames(rest)
  if (!isOther(pattern)) return withoutNames({ ...rest, pattern })
  return withoutNames({ description: `Matches the regular expression ${String(pattern)}`, ...rest })
}

/**
 * Leaves out what would refuse more if a schema inside it accepted more. What a `$ref` leads to may be one of those.
 */
function exact (schema: JsonSchema): JsonSchema {
  const accepts = (sub: unknown): boolean =>
    otherPatterns(sub).length > 0 || JSON.stringify(sub)?.includes('"$ref"') === true
  const { not, if: condition, then, else: otherwise, oneOf, maxContains, ...all } = schema
  const { unevaluatedItems, unevaluatedProperties, ...wider } = all
  // They refuse what no other keyword has judged, and fewer of those are left.
  const rest = accepts(schema) ? wider : all
  return {
    ...rest,
    ...not !== undefined && !accepts(not) && { not },
    ...condition !== undefined && !accepts(condition) && { if: condition, then, else: otherwise },
    ...maxContains !== undefined && !accepts(rest.contains) && { maxContains },
    ...Array.isArray(oneOf) && asAlternatives(oneOf, oneOf.some(accepts), rest)
  }
}

function asAlternatives (oneOf: readonly unknown[], isWider: boolean, { anyOf, allOf }: JsonSchema): JsonSchema {
  if (!isWider) return { oneOf }
  if (anyOf === undefined) return { anyOf: oneOf }
  return { allOf: [...Array.isArray(allOf) ? allOf as readonly unknown[] : [], { anyOf: oneOf }] }
}

/** Names that a pattern would allow are any names. */
function withoutNames (schema: JsonSchema): JsonSchema {
  const { patternProperties, additionalProperties, ...rest } = schema
  if (!isObject(patternProperties) || !Object.keys(patternProperties).some(isOther)) return schema
  const kept = Object.entries(patternProperties).filter(([name]) => !isOther(name))
  return kept.length === 0 ? rest : { ...rest, patternProperties: Object.fromEntries(kept) }
}
