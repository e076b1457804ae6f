import type { Page } from './list.ts'
import type { Settings } from '../options.ts'
import { isWrapped } from '../call/result.ts'
import type { Content, ToolResult } from '../call/result.ts'
import type { Era, Tool } from '../tool/tool.ts'

const SERVER_INFO = 'io.modelcontextprotocol/serverInfo'

/** Everything of a list answer except the id, which goes between the two. */
export interface ListAnswer { readonly head: Buffer, readonly tail: Buffer }

/** Writes the answers of one server as JSON texts. */
export interface AnswerWriter {
  readonly list: (era: Era, page: Page) => ListAnswer
  readonly call: (era: Era, id: string | number, tool: Tool, result: ToolResult) => string
}

/**
 * @param define - gives the JSON of a tool's definition
 */
export function answerWriter ({ serverInfo, cacheTtl, cacheScope }: Settings, define: (era: Era, tool: Tool) => string): AnswerWriter {
  const modernMeta = JSON.stringify({ [SERVER_INFO]: serverInfo })
  return {
    list (era, { tools, nextCursor }) {
      const fields = [`"tools":[${tools.map((tool) => define(era, tool)).join()}]`]
      if (nextCursor !== undefined) fields.push(`"nextCursor":${JSON.stringify(nextCursor)}`)
      if (era === 'modern') fields.push(`"ttlMs":${cacheTtl},"cacheScope":"${cacheScope}","resultType":"complete","_meta":${modernMeta}`)
      return { head: Buffer.from('{"jsonrpc":"2.0","id":'), tail: Buffer.from(`,"result":{${fields.join()}}}`) }
    },
    call (era, id, tool, { content, structured, isError, _meta }) {
      let json = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":${contentJson(content)}`
      // The route's own JSON, which has been parsed and so is known to be whole, is passed on as it was written.
      if (structured !== undefined) json += `,"structuredContent":${isWrapped(era, tool, structured.value) ? `{"result":${structured.text}}` : structured.text}`
      if (isError) json += ',"isError":true'
      if (era === 'legacy') return _meta === undefined ? `${json}}}` : `${json},"_meta":${JSON.stringify(_meta)}}}`
      return `${json},"resultType":"complete","_meta":${_meta === undefined ? modernMeta : JSON.stringify({ ..._meta, [SERVER_INFO]: serverInfo })}}}`
    }
  }
}

/** Nearly every result is one text, and writing the rest of its block by hand halves the time. */
function contentJson (content: readonly Content[]): string {
  const [first] = content
  return content.length === 1 && first?.type === 'text' ? `[{"type":"text","text":${JSON.stringify(first.text)}}]` : JSON.stringify(content)
}
