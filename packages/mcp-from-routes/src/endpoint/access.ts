import type { FastifyRequest } from 'fastify'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Endpoint, OwnTools, Parts, Tool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { impliedShower } from '../tool/implied.ts'
import type { ToolDefinition } from '../types.ts'

/** What an endpoint is made of. */
export interface EndpointSource {
  readonly path: string
  readonly option: string
  readonly isMain: boolean
  /** Which of the published routes it has. */
  readonly holds: (tool: Tool) => boolean
  readonly own?: ((endpoint: Pick<Endpoint, 'seen' | 'find'>) => OwnTools) | undefined
}

/** All published routes; empty until the application is ready. */
export interface Published {
  tools: ReadonlyMap<string, Tool>
  callable: readonly Tool[]
}

/** Who may use what of an endpoint. */
export function endpointFrom (source: EndpointSource, all: Published, settings: Settings): Endpoint {
  const { canUse, impliedArguments } = settings
  const isPerClient = canUse !== undefined || Object.keys(impliedArguments).length > 0
  const shown = impliedShower<Tool>(impliedArguments)
  const bare = bareShower()
  const ofEndpoint = heldBy(source, all)
  const { tools, callable } = ofEndpoint

  const accessOf: Endpoint['accessOf'] = ({ public: tool }, request) => canUse === undefined || canUse(tool, request)
  const mayUse: Endpoint['mayUse'] = async (tool, request) => [true, 'unlisted'].includes(await accessOf(tool, request))
  const shownAll = (listed: readonly Tool[], request: FastifyRequest): readonly Tool[] =>
    isPerClient ? listed.map((tool) => shown(tool, request)) : listed

  /** Of the routes that tools need, those that the client may not use. */
  async function hiddenFrom (listed: readonly Tool[], request: FastifyRequest): Promise<ReadonlySet<string>> {
    const labels = [...new Set(listed.flatMap(({ part }) => part.needs))]
    const hidden = await Promise.all(labels.map(async (label) => {
      const needed = callable().find((tool) => tool.label === label)
      return needed !== undefined && await mayUse(needed, request) ? [] : [label]
    }))
    return new Set(hidden.flat())
  }

  const find: Endpoint['find'] = canUse === undefined
    ? (name) => tools().get(name)
    : async (name, request) => {
      const tool = tools().get(name)
      return tool !== undefined && await mayUse(tool, request) ? tool : undefined
    }
  const seen: Endpoint['seen'] = canUse === undefined
    ? (request) => shownAll([...tools().values()], request)
    : async (request) => {
      const every = [...tools().values()]
      const usable = await Promise.all(every.map((tool) => canUse(tool.public, request)))
      const listed = every.filter((_tool, index) => usable[index] === true)
      const hidden = await hiddenFrom(listed, request)
      const isBare = ({ part }: Tool): boolean => part.needs.some((label) => hidden.has(label))
      return shownAll(listed.map((tool) => isBare(tool) ? bare(tool) : tool), request)
    }
  const own = source.own?.({ seen, find })
  return {
    path: source.path,
    option: source.option,
    isMain: source.isMain,
    tools,
    callable,
    isPerClient,
    seen,
    listed: own?.list ?? seen,
    find,
    accessOf,
    mayUse,
    say: own?.say ?? (({ public: { name } }, args) => ({ name, arguments: args })),
    own
  }
}

/** Read once all routes are published. */
function heldBy ({ holds, isMain }: EndpointSource, all: Published): Pick<Endpoint, 'tools' | 'callable'> {
  let last: Published['tools'] | undefined
  let held: Published = all
  const read = (): Published => {
    if (isMain) return all
    if (last === all.tools) return held
    const tools = new Map([...all.tools].filter(([, tool]) => holds(tool)))
    const needed = new Set([...tools.values()].flatMap(({ part }) => part.needs))
    last = all.tools
    held = { tools, callable: all.callable.filter((tool) => holds(tool) || needed.has(tool.label)) }
    return held
  }
  return { tools: () => read().tools, callable: () => read().callable }
}

/** Shows tools to callers who may not use what they need. Each form is made once. */
function bareShower (): (tool: Tool) => Tool {
  const made = new WeakMap<Tool, Tool>()
  return (tool) => {
    const known = made.get(tool) ?? { ...tool, public: Object.freeze(bareDefinition(tool.public, tool.part)) }
    made.set(tool, known)
    return known
  }
}

function bareDefinition<T extends ToolDefinition> (definition: T, { all }: Parts): T {
  return all.reduce((shown, { bare }) => bare === undefined ? shown : bare(shown) as T, definition)
}

/** Calls a function of the host, and logs what it throws: the SDK would send its message to the client. */
export async function fromHost<T> (
  outer: FastifyRequest,
  read: (request: FastifyRequest) => T | Promise<T>
): Promise<T> {
  try {
    return await read(outer)
  } catch (error) {
    throw error instanceof ProtocolError ? error : hostError(outer, error)
  }
}

/** Logs what a function of the host threw. @returns the error for the client */
export function hostError (outer: FastifyRequest, error: unknown): ProtocolError {
  outer.log.error({ err: error }, 'a function of the options threw')
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error')
}
