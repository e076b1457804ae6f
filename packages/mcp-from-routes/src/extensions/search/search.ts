import type { FastifyRequest } from 'fastify'
import { attempt } from '../../attempt.ts'
import { excerpt } from '../../call/excerpt.ts'
import { errorResult } from '../../call/result.ts'
import { nearestOf, unknownText } from '../../endpoint/nearest.ts'
import type { Endpoint, ListedTool, OwnTools, Tool, ToolResult } from '../../model.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { Settings } from '../../settings.ts'
import { formerNameIn } from '../../tool/former.ts'
import { DEPRECATED } from '../../tool/tags.ts'
import { definitionOf } from '../../tool/tool.ts'
import type { McpTool } from '../../types.ts'
import { DESCRIBE, MAX_DESCRIBED, MAX_QUERY, READER, SEARCH, WRITER } from './own.ts'
import { ranking } from './ranking.ts'
import { signatureOf } from './signature.ts'

/** How many tools a search returns, and how much it says of what each does, in characters. */
const MAX_FOUND = 10
const MAX_SUMMARY = 140

/**
 * Stands between a client and the tools of an endpoint.
 * @param own - the tools of the search, by name
 */
export function searchOf (
  { seen, find, nearest }: Pick<Endpoint, 'seen' | 'find' | 'nearest'>,
  own: () => ReadonlyMap<string, ListedTool>,
  { ignoredArguments, maxResultBytes }: Pick<Settings, 'ignoredArguments' | 'maxResultBytes'>
): OwnTools {
  const rank = ranking()
  const lines = new WeakMap<McpTool, string>()
  const ignored = new Set(ignoredArguments)

  async function catalogFor (request: FastifyRequest): Promise<readonly Tool[]> {
    return (await seen(request)).filter(isForModels)
  }

  async function search ({ query }: Readonly<Record<string, unknown>>, request: FastifyRequest): Promise<ToolResult> {
    if (typeof query !== 'string') return errorResult('query must be a string')
    if (query.length > MAX_QUERY) {
      return errorResult(`query must not be longer than ${MAX_QUERY} characters. A few words are enough`)
    }
    const catalog = await catalogFor(request)
    const found = rank(catalog, query)
    if (found.length === 0) {
      return textResult(`None of ${catalog.length} tools has these words. Try fewer words, or others.`)
    }
    const shown = found.slice(0, MAX_FOUND)
    const head = `${found.length} of ${catalog.length} tools ` +
      `fit.${found.length > shown.length ? ` These ${shown.length} fit best; more specific words find others.` : ''}`
    return textResult([head, ...shown.map((tool) => lineOf(tool))].join('\n'))
  }

  function lineOf ({ public: tool }: Tool): string {
    const line = lines.get(tool) ??
      `${tool.name}${signatureOf(tool.inputSchema)} ${tool.annotations.readOnlyHint ? 'reads' : 'writes'}: ` +
        `${summary(tool.description)}`
    lines.set(tool, line)
    return line
  }

  async function describe ({ names }: Readonly<Record<string, unknown>>, request: FastifyRequest): Promise<ToolResult> {
    const list: unknown = typeof names === 'string' ? attempt(() => JSON.parse(names)) ?? [names] : names
    if (
      !Array.isArray(list) || list.length === 0 || list.length > MAX_DESCRIBED ||
      !list.every((name) => typeof name === 'string')
    ) return errorResult(`names must be an array of 1 to ${MAX_DESCRIBED} names of tools`)
    const tools = await catalogFor(request)
    const catalog = new Map(
      tools.flatMap((tool) => [tool.public.name, ...tool.public.formerly ?? []].map((name) => [name, tool]))
    )
    const wanted = [...new Set(list as readonly string[])]
    const texts = wanted.map((name) => {
      const tool = catalog.get(name)
      return tool === undefined ? unknown(name, nearestOf(tools, name)[0]) : described(tool)
    })
    const text = texts.join('\n')
    if (Buffer.byteLength(text) > maxResultBytes) {
      return errorResult(
        `These descriptions are longer than the ${maxResultBytes} bytes that one call may return. Ask for fewer ` +
          'tools at once'
      )
    }
    return wanted.some((name) => catalog.has(name)) ? textResult(text) : errorResult(text)
  }

  async function callTool (
    caller: string,
    { name, arguments: given }: Readonly<Record<string, unknown>>,
    request: FastifyRequest
  ): ReturnType<OwnTools['call']> {
    if (typeof name !== 'string') {
      return { result: errorResult(`name must be the name of a tool, as ${SEARCH} returns it`) }
    }
    const whole = given === undefined ? {} : given
    const args: unknown = typeof whole === 'string' ? attempt(() => JSON.parse(whole)) : whole
    const tool = await find(name, request)
    // One that is hidden from the client, that is for views alone, or that belongs to the search, is as one that does
    // not exist.
    if (tool === undefined || !isForModels(tool)) {
      return { result: errorResult(unknown(name, await nearest(name, request))) }
    }
    if (caller === READER && !tool.public.annotations.readOnlyHint) {
      return { result: errorResult(`${name} was not called: it may change something, so call it with ${WRITER}`) }
    }
    return isObject(args)
      ? { tool, args, calledAs: formerNameIn(tool, name) }
      : { result: errorResult(`arguments must be an object with the arguments of ${name}`) }
  }

  return {
    tools: own,
    say: (tool, args) =>
      isForModels(tool) ? { name: callerOf(tool), arguments: { name: tool.public.name, arguments: args } } : undefined,
    async list (request) {
      const catalog = await catalogFor(request)
      const reads = catalog.some(({ public: { annotations } }) => annotations.readOnlyHint)
      const writes = catalog.some(({ public: { annotations } }) => !annotations.readOnlyHint)
      return [...own().values()].filter(({ public: { name } }) =>
        (name !== READER || reads) && (name !== WRITER || writes)
      )
    },
    async call (name, args, request) {
      const { properties } = own().get(name)?.public.inputSchema ?? {}
      const takes = Object.keys(Object(properties) as object)
      const other = Object.keys(args).find((argument) => !takes.includes(argument) && !ignored.has(argument))
      if (other !== undefined) {
        return {
          result: errorResult(
            `Unknown argument ${JSON.stringify(excerpt(other))}. ${name} takes ` +
              `${takes.join(' and ')}${takes.includes('arguments') ? ', which holds those of the tool' : ''}`
          )
        }
      }
      if (name === SEARCH) return { result: await search(args, request) }
      if (name === DESCRIBE) return { result: await describe(args, request) }
      return await callTool(name, args, request)
    }
  }
}

/** Hosts show tools for views to no model, and could not tell a call that comes through another tool. */
function isForModels ({ part }: Tool): boolean {
  return part.isForModels
}

/** The tool of the search that calls a tool. */
function callerOf ({ public: { annotations } }: Tool): string {
  return annotations.readOnlyHint ? READER : WRITER
}

function unknown (name: string, nearest: Tool | undefined): string {
  const text = unknownText(name, nearest)
  return `${text}${text.endsWith('?') ? '' : '.'} Find tools with ${SEARCH}`
}

function described (tool: Tool): string {
  // As clients read it that repeat no arguments in headers: no client could, of a tool that it does not list.
  const { name, title, description, inputSchema } = definitionOf(tool, 'legacy')
  return JSON.stringify({
    name,
    ...title !== undefined && { title },
    callWith: callerOf(tool),
    description,
    inputSchema
  })
}

/** The first sentence of a description, behind the one that says that the tool is deprecated. */
function summary (description: string): string {
  if (description.startsWith(DEPRECATED)) return DEPRECATED + summary(description.slice(DEPRECATED.length))
  const text = description.trim().replace(/\n.*/s, '').replace(/(?<=[.!?])\s.*/s, '')
  return text.length <= MAX_SUMMARY ? text : `${text.slice(0, MAX_SUMMARY - 1).replace(/\p{Surrogate}$/u, '')}…`
}

function textResult (text: string): ToolResult {
  return { content: [{ type: 'text', text }] }
}
