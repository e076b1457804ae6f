import type { FastifyRequest } from 'fastify'
import { refusal } from './refusal.ts'

/** Parameters of a query or a form, each once. */
export type Parameters = ReadonlyMap<string, string>

/** In characters, for all of a query or form. */
const LONGEST = 32_768

/**
 * Reads a query or a form. Parameters without a value count as left out.
 *
 * @param text - `undefined` without a body
 * @throws a {@link refusal} `invalid_request` if one is there twice: two readers could see different values
 * @see [RFC 6749 §3.1](https://www.rfc-editor.org/rfc/rfc6749#section-3.1)
 */
export function parametersFrom (text: string | undefined): Parameters {
  if (text !== undefined && text.length > LONGEST) {
    throw refusal('invalid_request', `The parameters are longer than ${LONGEST} characters`)
  }
  const parameters = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(text)) {
    if (parameters.has(name)) throw refusal('invalid_request', 'A parameter appears more than once')
    parameters.set(name, value)
  }
  for (const [name, value] of parameters) if (value === '') parameters.delete(name)
  return parameters
}

/**
 * The form in a request's body, which the broker's parser leaves as it came; a hook of the host may have replaced it.
 */
export function formOf ({ body }: FastifyRequest): Parameters {
  return parametersFrom(typeof body === 'string' ? body : undefined)
}

/** The query of a request's URL, as it was sent: the host may parse queries in its own way. */
export function queryOf (url: string): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1)
}

/** @throws a {@link refusal} `invalid_request` without it */
export function required (parameters: Parameters, name: string): string {
  const value = parameters.get(name)
  if (value === undefined) throw refusal('invalid_request', `The parameter ${name} is missing`)
  return value
}
