import createError from '@fastify/error'
import { excerpt } from '../admin/excerpt.ts'
import { retryAfterFrom } from '../provider/backoff.ts'
import type { Command } from './arguments.ts'
import { printable } from './printable.ts'
import type { WireRun, WireRunSummary } from './tables.ts'

/** The server refused a request of the command, or answered what the run routes do not; the message says how. */
export const PAY_RECONCILE_REFUSED = createError<[string]>('PAY_RECONCILE_REFUSED', '%s')

/** No whole answer came to a request of the command; the message says why. */
export const PAY_RECONCILE_SERVER_UNREACHABLE = createError<[string, { cause: unknown }]>('PAY_RECONCILE_SERVER_UNREACHABLE', '%s')

/** What a failed request is known to have failed of. */
export interface RequestFault extends Error {
  /** Of the answer; nothing when none came. */
  readonly status?: number
  /** How long the server asked to wait, in milliseconds. */
  readonly retryAfterMs?: number | undefined
}

/** The run routes of a server. All throw a {@link RequestFault}. */
export interface Client {
  list (query: Readonly<Record<string, string>>): Promise<readonly WireRunSummary[]>
  start (body: object): Promise<WireRun>
  /** A run with its first failed items. */
  get (id: string): Promise<WireRun>
  cancel (id: string): Promise<WireRun>
}

/** @param getMs how long {@link Client.get} waits for the whole answer; default 30 seconds. */
export function clientFor ({ url, token }: Pick<Command, 'url' | 'token'>, getMs = 30_000): Client {
  async function send<Answer = WireRun> (method: string, path: string, { body, signal }: Pick<RequestInit, 'body' | 'signal'> = {}): Promise<Answer> {
    const request = new Request(`${url}/reconcile${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
      ...(signal && { signal })
    })
    const { status, ok, headers, text } = await answerTo(request)
    const refused = (why: string) => Object.assign(new PAY_RECONCILE_REFUSED(`${method} ${request.url} got ${status}: ${printable(why)}`), {
      status, retryAfterMs: retryAfterFrom(headers.get('retry-after'))
    })
    if (!ok) throw refused(messageIn(text))
    try {
      return JSON.parse(text)
    } catch {
      throw refused(`not JSON: ${startOf(text)}`)
    }
  }

  return {
    list: query => send('GET', `?${new URLSearchParams(query)}`),
    start: body => send('POST', '', { body: JSON.stringify(body) }),
    get: id => send('GET', `/${encodeURIComponent(id)}?outcome=failed&limit=20`, { signal: AbortSignal.timeout(getMs) }),
    cancel: id => send('DELETE', `/${encodeURIComponent(id)}`)
  }
}

async function answerTo (request: Request) {
  try {
    const response = await fetch(request)
    const { status, ok, headers } = response
    return { status, ok, headers, text: await response.text() }
  } catch (cause) {
    throw new PAY_RECONCILE_SERVER_UNREACHABLE(`${request.method} ${request.url} got no answer: ${reasonIn(cause)}`, { cause })
  }
}

/** `connect ECONNREFUSED 127.0.0.1:1`; fetch itself says no more than "fetch failed" and keeps the reason in the cause. */
function reasonIn (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonIn(error.cause)
  // A name with several addresses: one error for each, and none for all.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonIn).join(', ')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error.message === '') return code || error.name
  return error.message.includes(code) ? error.message : `${error.message} (${code})`
}

function messageIn (text: string): string {
  try {
    const { code, message, run_id: run } = JSON.parse(text)
    return [code, message, run && `(watch it with --run ${run})`].filter(Boolean).map(part => excerpt(String(part))).join(' ')
  } catch {
    return startOf(text)
  }
}

/** Enough of a page to tell whose it is, on one line. */
function startOf (text: string): string {
  return excerpt(text.replace(/\s+/g, ' '))
}
