import { matches } from './facts.ts'

/** Patterns that are found in every string. Without the flag m, `$` is the end, where nothing is left to match. */
const UNIVERSAL: ReadonlySet<string> = new Set([
  '',
  '^',
  '$',
  '.*',
  '^.*',
  '.*$',
  '[\\s\\S]*',
  '^[\\s\\S]*$',
  '^[^]*$',
  '[^]*'
])

/** Whether every string matches. `^.*$` is not among them: a dot matches no line break. */
export function matchesAll (pattern: unknown): boolean {
  return typeof pattern === 'string' && UNIVERSAL.has(pattern)
}

const TOKEN =
  /\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^{}]*\}|k<[^<>]*>|.)|\[(?:\\.|[^\]\\])*(?:\]|$)|\{\d+(?:,\d*)?\}|./gisu
const MEMBER = /(?:\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|[pP]\{[^{}]*\}|.)|[^\\])/gisu
/** What the short forms stand for, with the flag u and without i. */
const SHORT: Readonly<Record<string, readonly string[]>> = { '\\d': ['0-9'], '\\w': ['0-9', 'A-Z', '_', 'a-z'] }
// Not `{1}`: it keeps a `?` behind it from making the token optional, and a digit from becoming part of a reference.
const REPEATED: Readonly<Record<string, string>> = { '{0,}': '*', '{1,}': '+', '{0,1}': '?' }

/** A reference to what a group has matched. */
const REFERENCE = /\\(?:[1-9]|k<)/

/**
 * The same text for patterns that are only written differently: `[0-9]` and `\d`, `[ba]` and `[ab]`, `{1,}` and `+`,
 * `\/` and `/`, `(?:a)` and `(a)`. It is JSON, and no pattern: put together again, `[a^]` in order would be `[^a]`.
 */
export function normalPattern (pattern: string): string {
  // What is no pattern is not taken apart.
  if (matches(pattern, '') === undefined) return pattern
  const tokens = pattern.match(TOKEN) ?? []
  const isReferredTo = tokens.some((token) => REFERENCE.test(token))
  return JSON.stringify(tokens.flatMap((token, index) => {
    if (token.startsWith('[')) return [normalClass(token.slice(1, -1))]
    // Whether a group is numbered makes no difference where nothing refers to one.
    if (!isReferredTo && tokens.slice(...startOf(token, index)).join('') === '(?:') return []
    if (token === '\\/') return ['/']
    return [SHORT[token] === undefined ? REPEATED[token] ?? token : normalClass(token)]
  }))
}

/**
 * Where `(?:` would have begun and ended, if the token is its `?` or `:`. A negative start leaves fewer than three
 * tokens.
 */
function startOf (token: string, index: number): readonly [start: number, end: number] {
  const start = index - ['(', '?', ':'].indexOf(token)
  return token === '?' || token === ':' ? [start, start + 3] : [0, 0]
}

/** What needs no backslash in a list of members; a hyphen would make a range. */
const ESCAPED = /^\\([\^$.*+?()[\]{}|/])$/

function normalClass (text: string): readonly [isNegated: boolean, ...atoms: string[]] {
  const isNegated = text.startsWith('^')
  const members = text.slice(isNegated ? 1 : 0).match(MEMBER) ?? []
  const atoms = new Set<string>()
  for (let index = 0; index < members.length; index++) {
    const [member = '', hyphen, last] = members.slice(index, index + 3)
    if (hyphen === '-' && last !== undefined) {
      atoms.add(`${member}-${last}`)
      index += 2
    } else for (const atom of SHORT[member] ?? [member.replace(ESCAPED, '$1')]) atoms.add(atom)
  }
  return [isNegated, ...[...atoms].sort()]
}
