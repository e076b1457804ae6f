import type { FastifyReply } from 'fastify'
import type { ToolResult } from '../call/result.ts'

/** Sends the JSON of an answer in the form the client accepts. */
export function sendAnswer (reply: FastifyReply, form: 'json' | 'stream', answer: string | Buffer): FastifyReply {
  if (form === 'json') return reply.header('content-type', 'application/json; charset=utf-8').send(answer)
  reply.header('content-type', 'text/event-stream').header('cache-control', 'no-cache').header('x-accel-buffering', 'no')
  // A line end ends the data of an event; in JSON it can only stand between tokens.
  return reply.send(`event: message\ndata: ${String(answer).replace(/[\r\n]+/g, ' ')}\n\n`)
}

/** The route's own 401 or 403 as that of the endpoint: clients log in again on the HTTP status, not on a tool error. */
export function sendChallenge (reply: FastifyReply, id: unknown, { content: [said] }: ToolResult, { statusCode, authenticate }: NonNullable<ToolResult['challenge']>): FastifyReply {
  const message = said?.type === 'text' ? said.text : 'Unauthorized'
  return reply.code(statusCode).header('www-authenticate', authenticate).send(rpcError(-32000, message, id))
}

export function rpcError (code: number, message: string, id: unknown = null): object {
  return { jsonrpc: '2.0', error: { code, message }, id }
}
