import { definitionFor } from '../tool/tool.ts'
import type { Era, Tool } from '../tool/tool.ts'

/** One page of the list. */
export interface Page {
  readonly tools: readonly Tool[]
  /** What the client sends for the next page; absent on the last one. */
  readonly nextCursor?: string
}

/**
 * Cuts a page out of the sorted list. A cursor names the last tool of the page before, so that it stays good when
 * the list changes between two pages.
 * @param size - tools on one page
 * @returns undefined when the cursor is none of this server's
 */
export function pageOf (tools: readonly Tool[], cursor: string | undefined, size: number): Page | undefined {
  const after = cursor === undefined || cursor === '' ? '' : nameFromCursor(cursor)
  if (after === undefined) return undefined
  const rest = after === '' ? tools : tools.filter((tool) => tool.public.name > after)
  const page = rest.slice(0, size)
  const last = page.at(-1)
  return rest.length > size && last !== undefined ? { tools: page, nextCursor: cursorFromName(last.public.name) } : { tools: page }
}

/** The JSON of every tool's definition, written once per era. */
export function definitionWriter (): (era: Era, tool: Tool) => string {
  const written = { legacy: new WeakMap<Tool, string>(), modern: new WeakMap<Tool, string>() }
  return (era, tool) => {
    const text = written[era].get(tool) ?? JSON.stringify(definitionFor(era, tool))
    written[era].set(tool, text)
    return text
  }
}

function cursorFromName (name: string): string {
  return Buffer.from(`after ${name}`).toString('base64url')
}

function nameFromCursor (cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString()
  const name = text.startsWith('after ') ? text.slice(6) : ''
  return name !== '' && cursorFromName(name) === cursor ? name : undefined
}
