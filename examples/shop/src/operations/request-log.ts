import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type ToolCallEvent, PARENT_REQUEST } from 'mcp-from-routes'
import { calledBy } from './called-by.ts'

/** What is known of a request only while it is served. */
export interface Told {
  /** The code of its error. */
  code?: string
  tool?: string
  /** The status of the tool's route, or why the call ended without one. */
  toolStatus?: number | string
  /** The shop of a tool call. */
  shopId?: string
  /** The key that was over its limit, which is noticed before it is known whose request it is. */
  limited?: Holder
  isLogged?: boolean
}

/** Who has an API key. */
export interface Holder {
  readonly keyId: string
  readonly shopId: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * For the line of the request in the log. Null in the inner request of a tool call, and before a route is found.
     */
    told: Told | null
  }
}

/** The status in the line of a request whose client did not wait for the answer, as nginx calls it. */
const CLIENT_GONE = 499

/**
 * Logs a line for each request once it is answered: what was called, by whom, in which shop, and what came of it. All
 * of it is of a fixed length, and personal in nothing but ids. Of a tool call it tells the tool, and has no second line
 * for the route. Register it first.
 */
export function logRequests (app: FastifyInstance): void {
  app.decorateRequest('told', null)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!(PARENT_REQUEST in request.raw)) request.told = {}
    done()
  })
  app.addHook('onError', (request, _reply, error, done) => {
    const told = request.told ?? request.raw[PARENT_REQUEST]?.told
    if (told) told.code = error.code
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const outer = request.raw[PARENT_REQUEST]?.told
    if (outer && request.shop) outer.shopId = request.shop.id
    write(request, reply.statusCode, Math.round(reply.elapsedTime * 10) / 10)
    done()
  })
  app.addHook('onRequestAbort', (request, done) => {
    write(request, CLIENT_GONE)
    done()
  })
}

function write (request: FastifyRequest, status: number, ms?: number): void {
  const { told, method } = request
  if (told === null || told.isLogged) return
  told.isLogged = true
  const { tool, toolStatus, code } = told
  request.log.info({
    method,
    route: request.is404 ? 'none' : request.routeOptions.url ?? 'none',
    tool,
    toolStatus,
    ...calledBy(request),
    status,
    ms,
    code
  }, 'request')
}

/** For the option `onToolCall`. */
export function noteToolCall ({ request: { told }, tool, statusCode, ended, isError }: ToolCallEvent): void {
  if (told === null) return
  told.tool = tool.name
  told.toolStatus = ended ?? statusCode ?? (isError ? 'refused' : 'ok')
}
