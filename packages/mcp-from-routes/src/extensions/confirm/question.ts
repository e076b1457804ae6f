import type { FastifyRequest } from 'fastify'
import { visible } from '#shared/visible'
import { attempt } from '../../attempt.ts'
import { isTooDeep } from '../../depth.ts'
import type { McpTool } from '../../types.ts'
import type { Confirm } from './rule.ts'

/** A question that can be shown. */
export interface Question {
  readonly text: string
  /** The page where the person does it; undefined if a yes is enough. */
  readonly url?: string
}

/** A question for the person at the client, and the state that its answer brings back. */
export interface OpenQuestion extends Question {
  readonly state: string
}

/** Characters of a value of data, of a whole question, and arguments that are listed. */
const MAX_DATA = 100
const MAX_TEXT = 2000
const MAX_ARGUMENTS = 10
/**
 * Data as people recognise it in a question: in quotation marks that it cannot close, on one line, with names in place
 * of characters that nobody sees, and at most 100 characters long. `Delete ${quoted(tag.name)}?` gives
 * `Delete “Sale”?`, whatever the name is.
 */
export function quoted (value: unknown): string {
  const text = typeof value === 'string'
    ? value
    : attempt(() => isTooDeep(value) ? undefined : JSON.stringify(value)) ?? String(value)
  // Cut first: what is long is not read to its end.
  const line = text.slice(0, 4 * MAX_DATA).replace(/[“”„‟«»"]/g, "'").replace(/[\s\u0085]+/g, ' ').trim()
  const seen = visible(line)
  return `“${cut(seen, MAX_DATA, text.length > 4 * MAX_DATA)}”`
}

/**
 * The question of one call.
 * @param args - with those that are implied
 * @param request - the inner request, as its handler would get it
 */
export async function questionFrom (
  confirm: Confirm,
  tool: McpTool,
  args: Readonly<Record<string, unknown>>,
  request: FastifyRequest
): Promise<Question | undefined> {
  if (typeof confirm !== 'function') {
    return {
      text: shownText([confirm === true ? tool.title ?? tool.description : confirm, ...argumentLines(args)].join('\n'))
    }
  }
  const said: unknown = await confirm(args, request)
  if (said === undefined) return undefined
  if (typeof said === 'string' && said.trim() !== '') return { text: shownText(said) }
  const { mode, url, text = 'This happens on a web page.' } = Object(said) as {
    mode?: unknown,
    url?: unknown,
    text?: unknown
  }
  if (mode !== 'url' || !isWebPage(url) || typeof text !== 'string') {
    throw new TypeError(
      `config.mcp.confirm of ${tool.name} must return a string, { mode: 'url', url } with an address of http or ` +
        'https, or undefined'
    )
  }
  return { text: shownText(text), url }
}

function isWebPage (url: unknown): url is string {
  return typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

function argumentLines (args: Readonly<Record<string, unknown>>): readonly string[] {
  const all = Object.entries(args)
  return [
    ...all.slice(0, MAX_ARGUMENTS).map(([name, value]) => `${name}: ${quoted(value)}`),
    ...all.length > MAX_ARGUMENTS ? [`… and ${all.length - MAX_ARGUMENTS} more`] : []
  ]
}

function shownText (text: string): string {
  return cut(
    visible(text.slice(0, 2 * MAX_TEXT).replace(/\r\n?/g, '\n').trim(), { lines: true }),
    MAX_TEXT,
    text.length > 2 * MAX_TEXT
  )
}

function cut (text: string, max: number, isCut: boolean): string {
  const characters = [...text]
  return characters.length <= max && !isCut ? text : `${characters.slice(0, max - 1).join('')}…`
}
