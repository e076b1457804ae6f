import type { FastifyRequest } from 'fastify'
import type { Endpoint, ListedTool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { definitionOf } from '../tool/tool.ts'
import type { Era } from '../types.ts'

/** One page of the list. */
export interface Page {
  readonly tools: readonly ListedTool[]
  /** What the client sends for the next page; absent on the last one. */
  readonly nextCursor?: string
}

/**
 * Cuts a page out of the sorted list. A cursor names the last tool of the page before, so it stays valid
 * if the list changes between two pages.
 * @param size - tools on one page
 * @returns undefined if the cursor is not one of this server's
 */
export function pageOf (tools: readonly ListedTool[], cursor: string | undefined, size: number): Page | undefined {
  const after = cursor === undefined || cursor === '' ? '' : nameFromCursor(cursor)
  if (after === undefined) return undefined
  const rest = tools.filter((tool) => tool.public.name > after)
  const page = rest.slice(0, size)
  const last = page.at(-1)
  return rest.length > size && last !== undefined
    ? { tools: page, nextCursor: cursorFromName(last.public.name) }
    : { tools: page }
}

/** Everything of a list answer except the id, which goes between the two. */
export interface ListAnswer {
  readonly head: Buffer
  readonly tail: Buffer
}

/** Returns the answer to a `tools/list`; undefined if the cursor is not one of this server's. */
export type Pages = (
  era: Era,
  cursor: string | undefined,
  request: FastifyRequest
) => ListAnswer | Promise<ListAnswer | undefined>

/** The pages of the list. If every caller gets the same list, each page is written only once. */
export function writtenPages (
  { isPerClient, listed }: Endpoint,
  { pageSize }: Settings,
  write: (era: Era, page: Page) => ListAnswer
): Pages {
  const written = { legacy: new Map<number, ListAnswer>(), modern: new Map<number, ListAnswer>() }

  async function page (era: Era, cursor: string | undefined, request: FastifyRequest): Promise<ListAnswer | undefined> {
    const tools = await listed(request)
    const found = pageOf(tools, cursor, pageSize)
    if (found === undefined) return undefined
    const [first] = found.tools
    const start = tools.findIndex((tool) => tool === first)
    // Only pages that start where paging in order leads are kept: a client can invent any number of cursors. None are
    // kept where callers see different lists.
    if (isPerClient || start < 0 || start % pageSize !== 0) return write(era, found)
    const answer = written[era].get(start) ?? write(era, found)
    written[era].set(start, answer)
    return answer
  }

  return (era, cursor, request) =>
    (cursor === undefined ? written[era].get(0) : undefined) ?? page(era, cursor, request)
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

function cursorFromName (name: string): string {
  return Buffer.from(`after ${name}`).toString('base64url')
}

function nameFromCursor (cursor: string): string | undefined {
  const name = Buffer.from(cursor, 'base64url').toString().slice('after '.length)
  return name !== '' && cursorFromName(name) === cursor ? name : undefined
}
