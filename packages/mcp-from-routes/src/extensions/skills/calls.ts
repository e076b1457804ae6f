import { MCP_FROM_ROUTES_INVALID_SKILLS } from '../../errors.ts'
import { isObject } from '../../schema/json-schema.ts'

/** A call that a skill shows: a fenced block ```` ```json mcp-call ```` with the params of `tools/call`. */
export interface ShownCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Where a name or value of it is, for people: `skills/prices/SKILL.md:12`. */
  readonly at: (member?: string) => string
}

const FENCE = /^\ufeff?[ \t]*(`{3,}(?!`)|~{3,}(?!~))(.*)/
/** A fence behind the mark of a quote or of a list, whose lines are not read here. */
const INNER_FENCE = /^[ \t]*(?:(?:[>*+-]|\d+[.)])[ \t]*)+(?:`{3,}|~{3,})(.*)/
const INFO = 'json mcp-call'
/** What may be meant for such a block, and would not be checked. */
const LIKE_INFO = /\bmcp[-_ ]?calls?\b/i

/**
 * The calls that a page shows.
 * @param file - named in errors
 * @throws {@link MCP_FROM_ROUTES_INVALID_SKILLS} for a block that is no call
 */
export function callsIn (markdown: string, file: string): readonly ShownCall[] {
  const lines = markdown.split(/\r?\n/)
  const calls: ShownCall[] = []
  for (let index = 0; index < lines.length; index++) {
    const [, fence, info = ''] = FENCE.exec(lines[index] as string) ?? []
    const start = index
    const fail = (why: string): never => {
      throw new MCP_FROM_ROUTES_INVALID_SKILLS(` ${file}:${start + 1}: ${why}`)
    }
    if (fence === undefined) {
      if (LIKE_INFO.test(INNER_FENCE.exec(lines[index] as string)?.[1] ?? '')) {
        fail('a call must be in a block that begins its line')
      }
      continue
    }
    // Until a fence of the same kind, at least as long, with nothing behind it; else the end of the page.
    do index += 1
    while (index < lines.length && !isEnd(lines[index] as string, fence))
    if (info.trim() !== INFO) {
      if (LIKE_INFO.test(info)) fail(`a call must be in a block of ${INFO}, not of ${info.trim()}`)
      continue
    }
    calls.push(callFrom(lines.slice(start + 1, index), file, start + 2, fail))
  }
  return calls
}

function isEnd (line: string, fence: string): boolean {
  const text = line.trim()
  return text.length >= fence.length && text === fence.charAt(0).repeat(text.length)
}

function callFrom (lines: readonly string[], file: string, first: number, fail: (why: string) => never): ShownCall {
  let call: unknown
  try {
    call = JSON.parse(lines.join('\n'))
  } catch (error) {
    return fail(`the call is not JSON: ${(error as Error).message}`)
  }
  const { name, arguments: args = {}, ...others } = isObject(call)
    ? call
    : fail('a call must be { "name": …, "arguments": { … } }')
  if (typeof name !== 'string' || !isObject(args) || Object.keys(others).length > 0) {
    return fail('a call must be { "name": …, "arguments": { … } }')
  }
  const at = (member?: string): string => {
    const line = member === undefined
      ? -1
      : lines.findIndex((text) =>
        text.includes(`${JSON.stringify(member)}:`) || text.includes(`${JSON.stringify(member)} :`)
      )
    return `${file}:${Math.max(line, 0) + first}`
  }
  return { name, args, at }
}
