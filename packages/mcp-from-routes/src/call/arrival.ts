import { typeName, typeOfValue } from '../schema/type-bits.ts'
import type { Tool } from '../model.ts'
import { excerpt } from './excerpt.ts'

/*
 * A validator that converts takes the first alternative of an `anyOf` or `oneOf` that can be made of a value, also
 * where the value is one of another. Which it takes only the validator knows, so its outcome is compared with what was
 * sent.
 */

/** What was sent, and what the route would get. */
interface Arrival {
  readonly tool: Tool
  readonly sent: unknown
  readonly body: unknown
  /** Of the URL, after validation. */
  readonly params: unknown
  readonly query: unknown
  readonly url: string
}

/** What would reach the route as another value, in words for the model. */
export function changedOnArrival ({ tool, sent, body, params, query, url }: Arrival): string | undefined {
  const lost = LONG_NUMERAL.test(url) ? lostDigits([params, query], url) : undefined
  if (lost !== undefined) {
    return `${lost} has more digits than a number keeps, and would reach another record. Nothing was done`
  }
  if (!tool.request.bodyReading.coerces || sent === undefined) return undefined
  const change = typeChange(sent, body, '')
  if (change === undefined) return undefined
  const { at, from, to } = change
  return `${at} would arrive as ${excerpt(JSON.stringify(to))}, and not as ${excerpt(JSON.stringify(from))}: this ` +
    `route converts it to ${typeName(to)}. Nothing was done. Send another of the alternatives in its schema`
}

interface Change {
  readonly at: string
  readonly from: unknown
  readonly to: unknown
}

/**
 * The first value whose type is another one. Hooks of the host may change values, and what is in objects of their own.
 */
function typeChange (sent: unknown, got: unknown, at: string): Change | undefined {
  if (sent === got) return undefined
  if (isScalar(sent) ? isScalar(got) || Array.isArray(got) : Array.isArray(sent) && isScalar(got)) {
    return isSameType(sent, got) ? undefined : { at, from: sent, to: got }
  }
  if (isScalar(sent) || isScalar(got)) return undefined
  for (const [name, value] of Object.entries(sent as object)) {
    if (!Object.hasOwn(got as object, name)) continue
    const change = typeChange(
      value,
      (got as Readonly<Record<string, unknown>>)[name],
      at === '' ? excerpt(name) : `${at}/${excerpt(name)}`
    )
    if (change !== undefined) return change
  }
  return undefined
}

function isScalar (value: unknown): boolean {
  return value === null || typeof value !== 'object'
}

function isSameType (a: unknown, b: unknown): boolean {
  return typeOfValue(a) === typeOfValue(b) || (typeof a === 'number' && typeof b === 'number')
}

const LONG_NUMERAL = /\d{16}/
const INTEGERS = /-?\d{16,}/g

/** The name of a value that is another integer than the one in the URL. */
function lostDigits (values: unknown, url: string): string | undefined {
  const written = decoded(url).match(INTEGERS) ?? []
  const visit = (value: unknown, at: string): string | undefined => {
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      return written.some((text) => Number(text) === value && BigInt(text) !== BigInt(value)) ? at : undefined
    }
    if (typeof value !== 'object' || value === null) return undefined
    for (const [name, inner] of Object.entries(value)) {
      const found = visit(inner, Array.isArray(value) ? at : excerpt(name))
      if (found !== undefined) return found
    }
    return undefined
  }
  return visit(values, '')
}

function decoded (url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
