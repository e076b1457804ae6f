import type { FastifyRequest } from 'fastify'
import { invalid } from '../errors.ts'
import { excerpt } from './excerpt.ts'

/** How many objects and arrays may stand in one another. */
const MAX_DEPTH = 32

const TOO_LARGE = 'is a whole number too large to be kept as it is'

/** Where anything may stand. */
const FREE = /^(?:metadata|details)\//

/**
 * A `preValidation` hook that refuses what JSON can say and the service cannot keep: NUL characters,
 * lone surrogates, numbers too large for a double, and whole ones too large for it to tell apart, as ids
 * of other systems may be. Without it they would be errors of the database, or come back as something else.
 * The tools' endpoint is left out: the arguments of a call pass here as the input of its route.
 *
 * @throws {@link SHOP_INVALID} that names the field
 */
export async function refuseUnstorable (request: FastifyRequest): Promise<void> {
  const { hide = false, querystring, body } = request.routeOptions.schema ?? {}
  // What a route does not read is not kept.
  const fault = hide ? undefined : faultOf(querystring && request.query) ?? faultOf(body && request.body)
  if (fault === undefined) return
  // Other fields have a type of their own, and no text would do.
  const advice = fault.what === TOO_LARGE && FREE.test(fault.path) ? ': send it as a text' : ''
  const path = excerpt(fault.path)
  throw invalid(path, `${path} ${fault.what}${advice}`)
}

interface Place {
  readonly value: object
  readonly key: string
  readonly above: Place | null
  readonly depth: number
}

/** Looks at every value once, without recursion: how deep and how wide they are is the client's choice. */
function faultOf (root: unknown): { path: string, what: string } | undefined {
  if (typeof root !== 'object' || root === null) return undefined
  const pending: Place[] = [{ value: root, key: '', above: null, depth: 0 }]
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    if (place.depth > MAX_DEPTH) return { path: pathOf(place), what: 'is nested too deeply' }
    for (const [key, value] of Object.entries(place.value)) {
      const unstorableKey = whyNot(key)
      if (unstorableKey !== undefined) return { path: pathOf(place, JSON.stringify(key)), what: unstorableKey }
      const unstorableValue = whyNot(value)
      if (unstorableValue !== undefined) return { path: pathOf(place, key), what: unstorableValue }
      if (typeof value === 'object' && value !== null) pending.push({ value, key, above: place, depth: place.depth + 1 })
    }
  }
  return undefined
}

function whyNot (value: unknown): string | undefined {
  if (typeof value === 'string') return /[\0\p{Surrogate}]/u.test(value) ? 'has a character that cannot be stored' : undefined
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return undefined
  if (!Number.isFinite(value)) return 'is a number that cannot be stored'
  return Number.isInteger(value) ? TOO_LARGE : undefined
}

function pathOf (place: Place, ...keys: string[]): string {
  for (let at: Place | null = place; at?.above != null; at = at.above) keys.unshift(at.key)
  return keys.join('/')
}
