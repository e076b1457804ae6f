import type { FastifyContextConfig, FastifySchema } from 'fastify'
import {
  MCP_FROM_ROUTES_INVALID_CONFIG,
  MCP_FROM_ROUTES_INVALID_NAME,
  MCP_FROM_ROUTES_NO_DESCRIPTION,
  MCP_FROM_ROUTES_NO_OPERATION_ID
} from '../errors.ts'
import type { Parts, Tool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { DEPRECATED, LARGE_TAG } from './tags.ts'
import type { McpRouteConfig, ToolAnnotations, ToolDefinition } from '../types.ts'
import type { ToolInput } from './input.ts'
import { frozenCopy, type JsonSchema } from '../schema/json-schema.ts'
import type { ToolOutput } from './output.ts'
import { withPortablePatterns } from '../schema/portable.ts'
import { withoutSafeBounds } from '../schema/safe-bounds.ts'
import { argumentsForClients } from '../schema/spelling.ts'

/** The part of a route that says something to people and models. */
interface Described {
  readonly schema: FastifySchema
  readonly config: FastifyContextConfig
  readonly name?: string
}

/** What a definition shows of its tool. */
interface Shown {
  readonly input: ToolInput
  readonly output: ToolOutput | undefined
  readonly part: Parts
}

/** The names that every client takes for a tool. */
export const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/

/**
 * What a tool is called, and what its model reads.
 * @param tag - that of tools, for the error message
 */
export function wordsOf (
  label: string,
  { name: own, schema: { operationId, description, summary, deprecated }, config }: Described,
  tag: string
) {
  const name = own ?? operationId
  const text = config.mcp?.description || description || summary
  if (name === undefined || name === '') {
    throw new MCP_FROM_ROUTES_NO_OPERATION_ID(label, tag, text ? '' : '. Add schema.description, too')
  }
  if (!TOOL_NAME.test(name)) throw new MCP_FROM_ROUTES_INVALID_NAME(label, JSON.stringify(name))
  if (!text) throw new MCP_FROM_ROUTES_NO_DESCRIPTION(label)
  // One that says so in its own words need not say it twice.
  const isMarked = deprecated === true && !/^deprecated\b/i.test(text)
  return { name, text: isMarked ? `${DEPRECATED}${text}` : text }
}

/** The tool as it is listed. */
export function definitionFrom (
  label: string,
  method: string,
  { name, text }: ReturnType<typeof wordsOf>,
  { schema: { tags, description, summary }, config: { mcp = {} } }: Described,
  { input, output, part }: Shown,
  { maxResultBytes }: Pick<Settings, 'maxResultBytes'>
): ToolDefinition {
  const isLarge = tags?.includes(LARGE_TAG)
  const title = mcp.title ?? (description ? summary : undefined)
  const _meta = metaOf(label, mcp, isLarge ? maxResultBytes : undefined)
  const definition: ToolDefinition = {
    name,
    ...title && { title },
    description: isLarge ? `${asSentence(text)} ${largeSentence(input, part)}` : text,
    inputSchema: {
      ...withOwn(withPortablePatterns(withoutSafeBounds(argumentsForClients(input.schema))), part),
      ...mcp.examples && { examples: mcp.examples }
    },
    ...output && { outputSchema: output.schema },
    annotations: annotationsOf(method, mcp.annotations),
    ..._meta && { _meta }
  }
  return frozenCopy(part.all.reduce((shown, { define }) => define?.(shown) ?? shown, definition))
}

function withOwn (schema: JsonSchema, part: Parts): JsonSchema {
  if (part.arguments.size === 0) return schema
  const own = Object.fromEntries([...part.arguments].map(([name, argument]) => [name, argument.schema]))
  return { ...schema, properties: { ...schema.properties as object, ...own } }
}

/**
 * The hints of a tool, by the method of its route: GET is read-only, POST only adds, every other method can destroy.
 * @param given - `config.mcp.annotations`, which wins
 */
function annotationsOf (method: string, given: Partial<ToolAnnotations> = {}): ToolAnnotations {
  const reads = method === 'GET' || method === 'QUERY'
  const { readOnlyHint = reads } = given
  return {
    readOnlyHint,
    destructiveHint: !readOnlyHint && method !== 'POST',
    idempotentHint: reads || method === 'PUT' || method === 'DELETE',
    openWorldHint: false,
    ...given
  }
}

/**
 * The `_meta` of a tool: hints that clients may ignore.
 * @param route - the route as named in errors
 * @param largest - the largest result of a tool whose result can be large, in bytes
 * @throws {@link MCP_FROM_ROUTES_INVALID_CONFIG}
 */
function metaOf (
  route: string,
  { searchHint, alwaysLoad }: McpRouteConfig,
  largest: number | undefined
): Readonly<Record<string, unknown>> | undefined {
  if (searchHint !== undefined && (typeof searchHint !== 'string' || searchHint.trim() === '')) {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, 'searchHint must be a string')
  }
  if (alwaysLoad !== undefined && typeof alwaysLoad !== 'boolean') {
    throw new MCP_FROM_ROUTES_INVALID_CONFIG(route, 'alwaysLoad must be true or false')
  }
  const meta = {
    // Claude Code accepts at most 500,000 characters per result, and a tenth of that without this key.
    ...largest !== undefined &&
      { 'mcp-from-routes/large': true, 'anthropic/maxResultSizeChars': Math.min(500_000, largest) },
    ...searchHint !== undefined && { 'anthropic/searchHint': searchHint },
    ...alwaysLoad !== undefined && { 'anthropic/alwaysLoad': alwaysLoad }
  }
  return Object.keys(meta).length > 0 ? meta : undefined
}

function asSentence (text: string): string {
  const trimmed = text.trimEnd()
  return /[.!?:…。]$/.test(trimmed) ? trimmed : `${trimmed}.`
}

function largeSentence (input: ToolInput, part: Parts): string {
  const names = narrowingArguments({ request: { input }, part })
  return names.length === 0 ? 'The result can be large.' : `The result can be large: narrow it with ${inWords(names)}.`
}

/** The arguments that make a result smaller: those of the query string, except those that only order it. */
export function narrowingArguments (
  { request: { input: { places } }, part }: { readonly request: Pick<Tool['request'], 'input'>, readonly part: Parts }
): readonly string[] {
  return [
    ...[...places].filter(([name, place]) => place === 'query' && !/sort|order/i.test(name)).map(([name]) => name),
    ...choosingArguments(part)
  ]
}

/** The arguments of extensions by which a caller gets less. */
export function choosingArguments (part: Parts): readonly string[] {
  return [...part.arguments].filter(([, { narrows }]) => narrows === true).map(([name]) => name)
}

function inWords (names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`
}
