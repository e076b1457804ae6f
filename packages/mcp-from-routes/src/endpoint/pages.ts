import type { FastifyRequest } from 'fastify'
import type { AnswerWriter, ListAnswer } from './answer.ts'
import { pageOf } from './list.ts'
import type { Served } from './served.ts'
import type { Era } from '../tool/tool.ts'

/** Gives the answer to a `tools/list`; undefined when the cursor is none of this server's. */
export type Pages = (era: Era, cursor: string | undefined, request: FastifyRequest) => ListAnswer | Promise<ListAnswer | undefined>

/** The pages of the list, each written once where every caller gets the same. */
export function writtenPages ({ settings: { canUse, pageSize }, toolsFor }: Served, { list: write }: AnswerWriter): Pages {
  const written = { legacy: new Map<number, ListAnswer>(), modern: new Map<number, ListAnswer>() }

  async function page (era: Era, cursor: string | undefined, request: FastifyRequest): Promise<ListAnswer | undefined> {
    const tools = await toolsFor(request)
    const found = pageOf(tools, cursor, pageSize)
    if (found === undefined) return undefined
    const [first] = found.tools
    const start = first === undefined ? -1 : tools.indexOf(first)
    // A client can make up any number of cursors. Kept is only what one comes by that asks for page after page, and
    // never the list of one caller, which is not that of another.
    if (canUse !== undefined || start < 0 || start % pageSize !== 0) return write(era, found)
    const answer = written[era].get(start) ?? write(era, found)
    written[era].set(start, answer)
    return answer
  }

  return (era, cursor, request) => (cursor === undefined ? written[era].get(0) : undefined) ?? page(era, cursor, request)
}
