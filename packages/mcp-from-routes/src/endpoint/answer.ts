import type { FastifyReply } from 'fastify'
import type { Content, ListedTool, ToolResult } from '../model.ts'
import type { Settings } from '../settings.ts'
import type { Era } from '../types.ts'
import type { ListAnswer } from './list.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** Writes the answers of one server as JSON. */
export interface AnswerWriter {
  readonly list: (era: Era, tools: readonly ListedTool[]) => ListAnswer
  readonly call: (era: Era, id: string | number, result: ToolResult) => string
  /** Another result of the protocol. */
  readonly answer: (era: Era, id: string | number, answer: Readonly<Record<string, unknown>>) => string
}

/** @param define - returns the JSON of a tool's definition */
export function answerWriter (
  { serverInfo, cacheTtl, cacheScope }: Settings,
  define: (tool: ListedTool, era: Era) => string
): AnswerWriter {
  const modernMeta = JSON.stringify({ [SERVER_INFO]: serverInfo })
  return {
    list (era, tools) {
      const definitions = tools.map((tool) => define(tool, era))
      const fields = [`"tools":[${definitions.join()}]`]
      if (era === 'modern') {
        fields.push(`"ttlMs":${cacheTtl},"cacheScope":"${cacheScope}","resultType":"complete","_meta":${modernMeta}`)
      }
      return { head: Buffer.from('{"jsonrpc":"2.0","id":'), tail: Buffer.from(`,"result":{${fields.join()}}}`) }
    },
    call (era, id, { content, structured, isError, _meta }) {
      let json = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":${contentJson(content)}`
      // Pass the route's own JSON on as it was written: it has been parsed, so it is well formed.
      if (structured !== undefined) json += `,"structuredContent":${structured.text}`
      if (isError) json += ',"isError":true'
      if (era === 'legacy') return _meta === undefined ? `${json}}}` : `${json},"_meta":${JSON.stringify(_meta)}}}`
      return `${json},"resultType":"complete","_meta":${
        _meta === undefined ? modernMeta : JSON.stringify({ ..._meta, [SERVER_INFO]: serverInfo })
      }}}`
    },
    answer: (era, id, answer) =>
      JSON.stringify({
        jsonrpc: '2.0',
        id,
        result: { ...answer, ...era === 'modern' && { _meta: { [SERVER_INFO]: serverInfo } } }
      })
  }
}

/** Nearly every result is one text block, and writing that by hand takes half the time. */
function contentJson (content: readonly Content[]): string {
  const [first] = content
  return content.length === 1 && first?.type === 'text'
    ? `[{"type":"text","text":${JSON.stringify(first.text)}}]`
    : JSON.stringify(content)
}

/** Sends the JSON of an answer in the form the client accepts. */
export function sendAnswer (reply: FastifyReply, form: 'json' | 'stream', answer: string | Buffer): FastifyReply {
  // A hook of the host may have set a serializer, as @fastify/accepts-serializer does: it would write the JSON as a
  // string of JSON.
  reply.serializer(asIs)
  if (form === 'json') return reply.header('content-type', 'application/json; charset=utf-8').send(answer)
  return asStream(reply).send(eventOf(answer))
}

/** The head of an event stream. */
export function asStream (reply: FastifyReply): FastifyReply {
  return reply.header('content-type', 'text/event-stream').header('cache-control', 'no-cache').header(
    'x-accel-buffering',
    'no'
  )
}

/** The event that has an answer. */
export function eventOf (answer: string | Buffer): string {
  // A line break would end the event's data. In JSON it can only stand between tokens, so replace it.
  return `event: message\ndata: ${String(answer).replace(/[\r\n]+/g, ' ')}\n\n`
}

function asIs (answer: unknown): string {
  return answer as string
}

/**
 * Sends the route's 401 or 403 as that of the endpoint: clients log in again on the HTTP status, not on a tool error.
 */
export function sendChallenge (
  reply: FastifyReply,
  id: unknown,
  { content: [said] }: ToolResult,
  { statusCode, authenticate }: NonNullable<ToolResult['challenge']>
): FastifyReply {
  const message = said?.type === 'text' ? said.text : 'Unauthorized'
  return reply.code(statusCode).header('www-authenticate', authenticate).send(rpcError(-32000, message, id))
}

export function rpcError (code: number, message: string, id: unknown = null): object {
  return { jsonrpc: '2.0', error: { code, message }, id }
}
