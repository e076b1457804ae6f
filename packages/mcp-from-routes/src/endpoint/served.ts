import type { FastifyRequest } from 'fastify'
import type { CallTool } from '../call/call.ts'
import type { Settings } from '../options.ts'
import type { Tool } from '../tool/tool.ts'

/** What the endpoint serves, whichever way a message takes. */
export interface Served {
  readonly settings: Settings
  /** The tools the client of a request may use, sorted by name. */
  readonly toolsFor: (request: FastifyRequest) => readonly Tool[] | Promise<readonly Tool[]>
  /** The tool of that name, if there is one and this client may use it. */
  readonly toolFor: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  readonly call: CallTool
}

/**
 * @param tools - the tools by name, in the order of their names, once the application is ready
 */
export function served (settings: Settings, tools: () => ReadonlyMap<string, Tool>, call: CallTool): Served {
  const { canUse } = settings
  if (canUse === undefined) {
    return { settings, call, toolsFor: () => [...tools().values()], toolFor: (name) => tools().get(name) }
  }
  return {
    settings,
    call,
    async toolsFor (request) {
      const all = [...tools().values()]
      const usable = await Promise.all(all.map((tool) => canUse(tool.public, request)))
      return all.filter((_tool, index) => usable[index] === true)
    },
    async toolFor (name, request) {
      const tool = tools().get(name)
      return tool !== undefined && await canUse(tool.public, request) === true ? tool : undefined
    }
  }
}
