import type { FastifyRequest } from 'fastify'
import type { CallTool } from '../call/call.ts'
import type { Settings } from '../options.ts'
import type { Tool } from '../tool/tool.ts'

/** The tools that a client may use, and how they are called. */
export interface Access {
  readonly settings: Settings
  /** The tools that the client of a request may use, sorted by name. */
  readonly toolsFor: (request: FastifyRequest) => readonly Tool[] | Promise<readonly Tool[]>
  /** The tool of that name, if there is one and this client may use it. */
  readonly toolFor: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  readonly call: CallTool
}

/** @param tools - the tools by name, in the order of their names, once the application is ready */
export function accessTo (tools: () => ReadonlyMap<string, Tool>, settings: Settings, call: CallTool): Access {
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
