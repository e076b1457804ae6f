import createError from '@fastify/error'
import type { Command } from './arguments.ts'
import type { WireRun, WireRunSummary } from './text.ts'

/** The server refused a request of the command; the message says how. */
export const PAY_RECONCILE_REFUSED = createError<[string]>('PAY_RECONCILE_REFUSED', '%s')

/** The run routes of a server. */
export interface Client {
  list (query: Readonly<Record<string, string>>): Promise<readonly WireRunSummary[]>
  start (body: object): Promise<WireRun>
  /** A run with its first failed items. */
  get (id: string): Promise<WireRun>
  cancel (id: string): Promise<WireRun>
}

export function clientFor ({ url, token }: Command): Client {
  async function send<Answer = WireRun> (method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${url}/reconcile${path}`, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) })
    })
    const text = await response.text()
    if (!response.ok) throw new PAY_RECONCILE_REFUSED(`${method} ${url}/reconcile${path} got ${response.status}: ${messageIn(text)}`)
    return JSON.parse(text)
  }

  return {
    list: query => send('GET', `?${new URLSearchParams(query)}`),
    start: body => send('POST', '', body),
    get: id => send('GET', `/${encodeURIComponent(id)}?outcome=failed&limit=20`),
    cancel: id => send('DELETE', `/${encodeURIComponent(id)}`)
  }
}

function messageIn (text: string): string {
  try {
    const { code, message, run_id: run } = JSON.parse(text)
    return [code, message, run && `(watch it with --run ${run})`].filter(Boolean).join(' ')
  } catch {
    return text.slice(0, 200)
  }
}
