import type { FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import { excerpt } from '#shared/excerpt'

/** How deep objects and arrays may be nested. */
const MAX_DEPTH = 32

const TOO_LARGE = 'is an integer too large to be stored exactly'

/** Fields that take any JSON. */
const FREE = /^(?:metadata|details)\//

/**
 * A `preValidation` hook that rejects what JSON can express and the database cannot store: NUL characters, lone
 * surrogates, numbers too large for a double, and integers too large for it to be exact, such as ids of other systems.
 * Without it they would fail in the database, or come back changed. The tools' endpoint is exempt: the arguments of a
 * call pass here as the input of its route.
 *
 * @throws {@link SHOP_INVALID} that names the field
 */
export async function refuseUnstorable (request: FastifyRequest): Promise<void> {
  const { hide = false, querystring, body } = request.routeOptions.schema ?? {}
  // Only input that the route declares is stored.
  const fault = hide ? undefined : faultOf(querystring && request.query) ?? faultOf(body && request.body)
  if (fault === undefined) return
  // Other fields would not accept a string.
  const advice = fault.what === TOO_LARGE && FREE.test(fault.path) ? ': send it as a string' : ''
  const path = excerpt(fault.path)
  throw invalid(path, `${path} ${fault.what}${advice}`)
}

interface Place {
  readonly value: object
  readonly key: string
  readonly above: Place | null
  readonly depth: number
}

/**
 * Checks every value once, without recursion, since clients choose the depth; and without a copy of a list, since they
 * choose its length.
 */
export function faultOf (root: unknown): { path: string, what: string } | undefined {
  if (typeof root !== 'object' || root === null) return undefined
  const pending: Place[] = [{ value: root, key: '', above: null, depth: 0 }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (place.depth > MAX_DEPTH) return { path: pathOf(place), what: 'is nested too deeply' }
    const keys = Array.isArray(place.value) ? undefined : Object.keys(place.value)
    const values = keys === undefined ? place.value as readonly unknown[] : Object.values(place.value)
    for (let index = 0; index < values.length; index++) {
      const [key, value] = [keys?.[index] ?? index, values[index]]
      const unstorableKey = whyNot(key)
      if (unstorableKey !== undefined) return { path: pathOf(place, JSON.stringify(key)), what: unstorableKey }
      const unstorableValue = whyNot(value)
      if (unstorableValue !== undefined) return { path: pathOf(place, String(key)), what: unstorableValue }
      if (typeof value === 'object' && value !== null) {
        pending.push({ value, key: String(key), above: place, depth: place.depth + 1 })
      }
    }
  }
  return undefined
}

function whyNot (value: unknown): string | undefined {
  if (typeof value === 'string') {
    return /[\0\p{Surrogate}]/u.test(value)
      ? 'contains a character that cannot be stored'
      : undefined
  }
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return undefined
  if (!Number.isFinite(value)) return 'is a number that cannot be stored'
  return Number.isInteger(value) ? TOO_LARGE : undefined
}

function pathOf (place: Place, ...keys: string[]): string {
  for (let at: Place | null = place; at?.above != null; at = at.above) keys.unshift(at.key)
  return keys.join('/')
}
