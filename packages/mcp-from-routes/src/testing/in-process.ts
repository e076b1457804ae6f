import type { FastifyInstance } from 'fastify'
import type { FetchLike } from '@modelcontextprotocol/client'

/** What is used of a Fastify app. */
export interface TestedApp {
  readonly inject: FastifyInstance['inject']
  readonly ready: () => PromiseLike<unknown>
}

/** Statuses whose responses have no body, which `Response` insists on. */
const WITHOUT_BODY = new Set([204, 205, 304])

/** A `fetch` whose requests go to an app in this process, whatever their host. */
export function fetchFrom (app: TestedApp): FetchLike {
  return async (input, { method = 'GET', headers, body, signal } = {}) => {
    const { pathname, search } = new URL(input)
    const { statusCode, headers: received, rawPayload } = await app.inject({
      method: method as 'GET',
      url: `${pathname}${search}`,
      headers: Object.fromEntries(new Headers(headers)),
      ...typeof body === 'string' && { payload: body },
      ...signal && { signal }
    })
    const response = new Response(WITHOUT_BODY.has(statusCode) ? null : new Uint8Array(rawPayload), {
      status: statusCode
    })
    for (const [name, values] of Object.entries(received)) {
      for (const value of [values].flat()) response.headers.append(name, String(value))
    }
    return response
  }
}
