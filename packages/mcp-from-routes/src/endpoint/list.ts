import type { FastifyRequest } from 'fastify'
import type { Endpoint, ListedTool } from '../model.ts'
import { definitionOf } from '../tool/tool.ts'
import type { Era } from '../types.ts'

/** Whether a client asks for the whole list, which is one page: no cursor is this server's. */
export function isWhole (cursor: string | undefined): boolean {
  return cursor === undefined || cursor === ''
}

/** Everything of a list answer except the id, which goes between the two. */
export interface ListAnswer {
  readonly head: Buffer
  readonly tail: Buffer
}

/** Returns the answer to a `tools/list`. */
export type Lists = (era: Era, request: FastifyRequest) => ListAnswer | Promise<ListAnswer>

/** If every caller gets the same list, it is written only once. */
export function writtenLists (
  { isPerClient, listed }: Endpoint,
  write: (era: Era, tools: readonly ListedTool[]) => ListAnswer
): Lists {
  const written: Partial<Record<Era, ListAnswer>> = {}
  return (era, request) => written[era] ?? list(era, request)

  async function list (era: Era, request: FastifyRequest): Promise<ListAnswer> {
    const answer = write(era, await listed(request))
    if (!isPerClient) written[era] = answer
    return answer
  }
}

/** The JSON of every tool's definition, written once. */
export function definitionWriter (): (tool: ListedTool, era: Era) => string {
  const written = { legacy: new WeakMap<ListedTool, string>(), modern: new WeakMap<ListedTool, string>() }
  return (tool, era) => {
    const text = written[era].get(tool) ?? JSON.stringify(definitionOf(tool, era))
    written[era].set(tool, text)
    return text
  }
}
