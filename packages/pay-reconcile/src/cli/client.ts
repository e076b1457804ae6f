import { createError } from '@fastify/error'
import { excerpt } from '#shared/excerpt'
import { retryAfterFrom } from '../retry.ts'
import type { Command } from './arguments.ts'
import type { AuditBody } from '../admin/audit-schemas.ts'
import { printable } from '../printable.ts'
import type { UnlinkedCustomersBody } from './listings.ts'
import type { RecordPage } from './records.ts'
import type { RunBody, RunSummary } from './tables.ts'

/** The server refused a request, or the response is not from the run routes; the message has the details. */
export class PAY_RECONCILE_REFUSED extends createError<[string]>('PAY_RECONCILE_REFUSED', '%s') {
  /** Of the response; undefined: it is another part of it that is wrong. */
  readonly status: number | undefined
  /** The server's `Retry-After`, in milliseconds. */
  readonly retryAfter: number | undefined

  constructor (message: string, response?: Pick<Response, 'status' | 'headers'>) {
    super(message)
    this.status = response?.status
    this.retryAfter = retryAfterFrom(response?.headers.get('retry-after') ?? null)
  }
}

/** No complete response; the message has the reason. */
export const PAY_RECONCILE_SERVER_UNREACHABLE = createError<[string, { cause: unknown }]>(
  'PAY_RECONCILE_SERVER_UNREACHABLE',
  '%s'
)

/** Why a request failed. */
export interface RequestFault extends Error {
  /** Of the response; undefined if there was none. */
  readonly status?: number
  /** The server's `Retry-After`, in milliseconds. */
  readonly retryAfter?: number | undefined
}

/** The run routes of a server. Each throws a {@link RequestFault}. */
export interface Client {
  list(query: Readonly<Record<string, string>>): Promise<readonly RunSummary[]>
  start(body: object): Promise<RunBody>
  get(id: string): Promise<RunBody>
  /** A page of a run's items. */
  items(id: string, query: Readonly<Record<string, string>>): Promise<RunBody>
  cancel(id: string): Promise<RunBody>
  /** A page of changes of accounts. */
  audit(query: Readonly<Record<string, string>>): Promise<Required<RecordPage<AuditBody>>>
  /** A page of unlinked customers. */
  unlinkedCustomers(query: Readonly<Record<string, string>>): Promise<UnlinkedCustomersBody>
}

/** @param getTimeout - time limit for a read including the body, in milliseconds. Default 30000. */
export function clientFor ({ url, token }: Pick<Command, 'url' | 'token'>, getTimeout = 30_000): Client {
  async function send<Body = RunBody> (
    method: string,
    path: string,
    options: Pick<RequestInit, 'body' | 'signal'> = {}
  ): Promise<Body> {
    return (await exchange<Body>(method, `/reconcile${path}`, options)).body
  }

  async function exchange<Body> (
    method: string,
    path: string,
    { body, signal }: Pick<RequestInit, 'body' | 'signal'> = {}
  ): Promise<{ body: Body, headers: Headers }> {
    const request = new Request(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' })
      },
      ...(body && { body }),
      ...(signal && { signal })
    })
    const { status, ok, headers, text } = await responseTo(request)
    const refused = (why: string) =>
      new PAY_RECONCILE_REFUSED(`${method} ${request.url} got ${status}: ${printable(why)}`, { status, headers })
    if (!ok) {
      throw refused(
        status === 401 && token === undefined ? `${messageIn(text)}; PAY_RECONCILE_TOKEN is not set` : messageIn(text)
      )
    }
    try {
      return { body: JSON.parse(text), headers }
    } catch {
      throw refused(`not JSON: ${startOf(text)}`)
    }
  }

  const read = (path: string, query: Readonly<Record<string, string>>) =>
    send('GET', `${path}?${new URLSearchParams(query)}`, { signal: AbortSignal.timeout(getTimeout) })

  return {
    list: (query) => send('GET', `?${new URLSearchParams(query)}`),
    start: (body) => send('POST', '', { body: JSON.stringify(body) }),
    get: (id) => read(`/${encodeURIComponent(id)}`, { outcome: 'failed', limit: '1' }),
    items: (id, query) => read(`/${encodeURIComponent(id)}`, query),
    cancel: (id) => send('DELETE', `/${encodeURIComponent(id)}`),
    async audit (query) {
      const { body, headers } = await exchange<AuditBody[]>('GET', `/audit?${new URLSearchParams(query)}`, {
        signal: AbortSignal.timeout(getTimeout)
      })
      const count = Number(headers.get('content-range')?.split('/')[1])
      // Without it the first page would pass for all of them.
      if (!Number.isSafeInteger(count)) {
        throw new PAY_RECONCILE_REFUSED(`GET ${url}/audit has no Content-Range; does a proxy remove it?`)
      }
      return { records: body, count }
    },
    unlinkedCustomers: async (query) =>
      (await exchange<UnlinkedCustomersBody>('GET', `/unlinked-customers?${new URLSearchParams(query)}`, {
        signal: AbortSignal.timeout(getTimeout)
      })).body
  }
}

async function responseTo (request: Request) {
  try {
    const response = await fetch(request)
    const { status, ok, headers } = response
    return { status, ok, headers, text: await response.text() }
  } catch (cause) {
    throw new PAY_RECONCILE_SERVER_UNREACHABLE(`${request.method} ${request.url} got no response: ${reasonIn(cause)}`, {
      cause
    })
  }
}

/**
 * For example `connect ECONNREFUSED 127.0.0.1:1`. The message of fetch is only "fetch failed"; its cause has the
 * reason.
 */
function reasonIn (error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonIn(error.cause)
  // A host name with several addresses: one error for each, none for all.
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonIn).join(', ')
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (error.message === '') return code || error.name
  return error.message.includes(code) ? error.message : `${error.message} (${code})`
}

function messageIn (text: string): string {
  try {
    const { code, message, run_id: run } = JSON.parse(text)
    return [code, message, run && `(watch it with --run ${run})`].filter(Boolean).map((part) => excerpt(String(part)))
      .join(' ')
  } catch {
    return startOf(text)
  }
}

/** The start of a page, on one line. */
function startOf (text: string): string {
  return excerpt(text.replace(/\s+/g, ' '))
}
