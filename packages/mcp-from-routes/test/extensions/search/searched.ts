import type { FastifyInstance } from 'fastify'
import { search } from '../../../src/extensions/search/index.ts'
import type { McpRouteConfig } from '../../../src/index.ts'
import { call } from '../../build.ts'

export const ALL = search({ path: '/mcp/search' })
export const SEARCH = { extensions: [ALL] } as const
export const READER = 'call_reading_tool'
export const WRITER = 'call_writing_tool'
export const NAMES = [READER, WRITER, 'describe_tools', 'search_tools']

/** A route that is a tool and answers with what it got. */
export function route (
  app: FastifyInstance,
  method: string,
  name: string,
  { schema = {}, mcp = {}, handler }: {
    readonly schema?: object,
    readonly mcp?: McpRouteConfig,
    readonly handler?: () => unknown
  } = {}
): void {
  app.route({
    method,
    url: `/${name}`,
    schema: { operationId: name, description: `What ${name} does.`, tags: ['mcp'], ...schema },
    config: { mcp },
    handler: async ({ query, body }) => handler === undefined ? { name, query, body } : handler()
  })
}

export interface Result {
  readonly content: ReadonlyArray<{ readonly text: string }>
  readonly isError?: true
}

export function pathOf (url: URL): URL {
  return new URL('/mcp/search', url)
}

/** What the model reads of a call at the set with search. */
export async function read (
  url: URL,
  name: string,
  args: Record<string, unknown>,
  headers: Record<string, string> = {}
): Promise<string> {
  const { content } = await call(pathOf(url), name, args, headers) as unknown as Result
  return content.map(({ text }) => text).join('\n')
}
