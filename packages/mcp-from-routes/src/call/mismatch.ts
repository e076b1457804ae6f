import type { IncomingHttpHeaders } from 'node:http'
import { attempt } from '../attempt.ts'
import { isObject } from '../schema/json-schema.ts'
import type { MirroredArgument } from '../tool/mirrored.ts'

/** The error of the protocol for headers and a body that disagree. */
export const HEADER_MISMATCH = -32020

const BASE64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/
const PLAIN = /^[\t\x20-\x7e]*$/
const DECIMAL = /^-?\d+(\.\d+)?$/

/**
 * Compares the arguments of a call with the headers that repeat them, by which a proxy may have routed it.
 * @param implied - the arguments that the caller's credential implies; it need not send those, and never their headers
 * @param mayLack - whether the client may know of no headers; one that it sends must be right all the same. Default is
 *   false
 * @returns what is wrong, or undefined
 */
export function mismatchOf (
  mirrored: readonly MirroredArgument[],
  args: Readonly<Record<string, unknown>>,
  headers: IncomingHttpHeaders,
  implied: () => Readonly<Record<string, unknown>>,
  mayLack = false
): string | undefined {
  for (const { header, path } of mirrored) {
    const sent = headers[header]
    const given = valueAt(args, path)
    const text = sent === undefined ? undefined : decoded(String(sent))
    if (sent !== undefined && text === undefined) {
      return `The header ${header} has characters that no header may have, or is not base64 of UTF-8`
    }
    if (given === undefined || given === null) {
      // The client has nothing to repeat. A header that says something else than what the call does would mislead a
      // proxy.
      if (text !== undefined && !isSame(text, valueAt(implied(), path))) {
        return `The header ${header} has a value, and the argument ${path.join('.')} has none`
      }
      continue
    }
    if (text === undefined && (mayLack || valueAt(implied(), path) !== undefined)) continue
    // A validator would read ['x'] in a query string as x.
    if (typeof given === 'object') {
      return `The header ${header} cannot repeat the argument ${
        path.join('.')
      }, which must be a string, a number or a ` +
        'boolean'
    }
    if (text === undefined) return `The header ${header} is missing, which repeats the argument ${path.join('.')}`
    if (!isSame(text, given)) return `The header ${header} and the argument ${path.join('.')} have different values`
  }
  return undefined
}

function valueAt (args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => {
    // Some models send an object as its JSON.
    const object = typeof value === 'string' ? attempt(() => JSON.parse(value) as unknown) : value
    return isObject(object) && Object.hasOwn(object, name) ? object[name] : undefined
  }, args)
}

function isSame (text: string, value: unknown): boolean {
  return text === String(value) || (typeof value === 'number' && DECIMAL.test(text) && Number(text) === value)
}

function decoded (value: string): string | undefined {
  if (!PLAIN.test(value)) return undefined
  if (!value.startsWith('=?base64?') || !value.endsWith('?=')) return value
  const base64 = BASE64.exec(value)?.[1]
  return base64 === undefined
    ? undefined
    : attempt(() => new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64')))
}
