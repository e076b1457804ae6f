import type { FastifyRequest } from 'fastify'
import type { CallTool } from '../call/call.ts'
import type { Sealer } from '../confirm/seal.ts'
import type { Settings } from '../options.ts'
import { impliedShower } from '../tool/implied.ts'
import type { Tool } from '../tool/tool.ts'

/** The tools that a client may use, and how they are called. */
export interface Access {
  readonly settings: Settings
  /** Whether two clients may see different lists. */
  readonly isPerClient: boolean
  /** The tools that the client of a request is shown, sorted by name, as they are for it. */
  readonly toolsFor: (request: FastifyRequest) => readonly Tool[] | Promise<readonly Tool[]>
  /** The tool of that name, if there is one and this client may use it. */
  readonly toolFor: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  readonly call: CallTool
  /** Checks that the state of a confirmation is this server's own. */
  readonly verifyState: Sealer['verify']
}

/** @param tools - the tools by name, in the order of their names, once the application is ready */
export function accessTo (tools: () => ReadonlyMap<string, Tool>, settings: Settings, call: CallTool, verifyState: Sealer['verify']): Access {
  const { canUse, impliedArguments } = settings
  const isPerClient = canUse !== undefined || Object.keys(impliedArguments).length > 0
  const shown = impliedShower<Tool>(impliedArguments)
  const shownAll = (all: readonly Tool[], request: FastifyRequest): readonly Tool[] => isPerClient ? all.map((tool) => shown(tool, request)) : all
  if (canUse === undefined) {
    return { settings, isPerClient, call, verifyState, toolsFor: (request) => shownAll([...tools().values()], request), toolFor: (name) => tools().get(name) }
  }
  return {
    settings,
    isPerClient,
    call,
    verifyState,
    async toolsFor (request) {
      const all = [...tools().values()]
      const usable = await Promise.all(all.map((tool) => canUse(tool.public, request)))
      return shownAll(all.filter((_tool, index) => usable[index] === true), request)
    },
    async toolFor (name, request) {
      const tool = tools().get(name)
      if (tool === undefined) return undefined
      const access = await canUse(tool.public, request)
      return access === true || access === 'unlisted' ? tool : undefined
    }
  }
}
