import { CUT, excerpt } from '#shared/excerpt'
import { isSecretField, REDACTED, redactor } from '../http/redaction.ts'

/** What is kept of a call that failed: short, and without secrets. */
export interface KeptCall {
  /** JSON. */
  readonly arguments: string
  /** What the agent read. */
  readonly answer: string
}

/** In characters: of a string of the arguments, of the name of one, and of the answer. */
const LONGEST = 200
const LONGEST_NAME = 100
const LONGEST_ANSWER = 1000

/** How many values of the arguments are kept in all, how many of an object or list, and how deep. */
const MOST = 60
const MOST_IN_ONE = 20
const DEPTH = 5

/** Of so many secrets in one call, the answer is not searched for each. */
const MOST_SECRETS = 50

/** Shorter values are no secrets, and stand in any answer. */
const SHORTEST_SECRET = 4

/** How much of a secret gives it away, in characters: answers quote only the start of a long value. */
const TELLING = 8

/** Besides what is not seen, half characters: the database takes neither. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\p{Surrogate}]/gu

/** @returns a function that keeps of a call what people need to understand its error; API keys start with `marker` */
export function callKeeper (marker: string): (args: object, error: string) => KeptCall {
  const redact = redactor(marker)
  return (args, error) => ({
    arguments: redact(JSON.stringify(shortener()(args, DEPTH))),
    answer: tells(error, secretsIn(args)) ? REDACTED : redact(excerpt(error, LONGEST_ANSWER)).replace(UNPRINTABLE, ' ')
  })
}

/** Copies a value, and stops when it has copied enough. */
function shortener (): (value: unknown, depth: number) => unknown {
  let left = MOST
  return function shorten (value, depth) {
    left--
    if (typeof value === 'string') return excerpt(value, LONGEST)
    if (typeof value !== 'object' || value === null) return value
    const isList = Array.isArray(value)
    const kept: Array<[string, unknown]> = []
    for (const name in value) {
      if (depth === 0 || left <= 0 || kept.length === MOST_IN_ONE) {
        kept.push([CUT, CUT])
        break
      }
      kept.push([
        excerpt(name, LONGEST_NAME),
        !isList && isSecretField(name) ? REDACTED : shorten((value as Record<string, unknown>)[name], depth - 1)
      ])
    }
    return isList ? kept.map(([, item]) => item) : Object.fromEntries(kept)
  }
}

/** The starts of all secrets in the arguments, by the names of their fields. */
function secretsIn (args: object): readonly string[] {
  const secrets: string[] = []
  // Not by recursion: a client chooses how deep they are.
  const open: Array<readonly [value: unknown, isSecret: boolean]> = [[args, false]]
  for (let next = open.pop(); next !== undefined && secrets.length <= MOST_SECRETS; next = open.pop()) {
    const [value, isSecret] = next
    if (typeof value === 'object' && value !== null) {
      for (const name in value) open.push([(value as Record<string, unknown>)[name], isSecret || isSecretField(name)])
    } else if (isSecret && String(value).length >= SHORTEST_SECRET) secrets.push(String(value).slice(0, TELLING))
  }
  return secrets
}

function tells (answer: string, secrets: readonly string[]): boolean {
  return secrets.length > MOST_SECRETS ||
    secrets.some((secret) => answer.includes(secret) || answer.includes(JSON.stringify(secret).slice(1, -1)))
}
