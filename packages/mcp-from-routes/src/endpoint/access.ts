import type { FastifyRequest } from 'fastify'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { Endpoint, OwnTools, Parts, Published, Tool } from '../model.ts'
import type { Settings } from '../settings.ts'
import { impliedShower } from '../tool/implied.ts'
import type { ToolDefinition } from '../types.ts'
import { nearestOf } from './nearest.ts'

/** What an endpoint is made of. */
export interface EndpointSource {
  readonly path: string
  readonly option: string
  /** Which of the published routes it has; undefined: all. */
  readonly holds: ((tool: Tool) => boolean) | undefined
  readonly own?: ((endpoint: Pick<Endpoint, 'seen' | 'find' | 'nearest'>) => OwnTools) | undefined
}

/** Who may use what of an endpoint. */
export function endpointFrom (source: EndpointSource, all: Published, settings: Settings): Endpoint {
  const { canUse, impliedArguments } = settings
  const isPerClient = canUse !== undefined || Object.keys(impliedArguments).length > 0
  const shown = impliedShower<Tool>(impliedArguments)
  const bare = bareShower()
  const ofEndpoint = heldBy(source, all)
  const { tools, former, callable } = ofEndpoint
  const named = (name: string): Tool | undefined => tools().get(name) ?? former().get(name)

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
    ? named
    : async (name, request) => {
      const tool = named(name)
      return tool !== undefined && await mayUse(tool, request) ? tool : undefined
    }
  /*
   * A tool that is hidden from a client must look as if it did not exist. So what is offered depends on the tools that
   * the client sees, however many hidden ones are nearer; and `canUse` is asked about one tool first, as it was if the
   * name is that of a hidden one. All in all it is asked no more often than for a list.
   */
  const nearest: Endpoint['nearest'] = async (name, request) => {
    const hidden = named(name)
    const every = [...tools().values()].filter(({ part }) => part.isForModels)
    const near = nearestOf(every, name).filter((tool) => tool !== hidden)
    if (canUse === undefined) return near[0]
    const other = every.find((tool) => !near.includes(tool))
    if (hidden === undefined && other !== undefined) await canUse(other.public, request)
    const answers = await Promise.all(near.map((tool) => canUse(tool.public, request)))
    return near.find((_tool, index) => answers[index] === true)
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
  const own = source.own?.({ seen, find, nearest })
  return {
    path: source.path,
    option: source.option,
    tools,
    callable,
    isPerClient,
    seen,
    listed: own?.list ?? seen,
    find,
    nearest,
    accessOf,
    mayUse,
    say: own?.say ?? (({ public: { name } }, args) => ({ name, arguments: args })),
    own
  }
}

/** Each part of what is published, read once all routes are. */
type Held = { readonly [Part in keyof Published]: () => Published[Part] }

function heldBy ({ holds }: EndpointSource, all: Published): Held {
  let last: Published['tools'] | undefined
  let held: Published = all
  const read = (): Published => {
    if (holds === undefined) return all
    if (last === all.tools) return held
    const tools = new Map([...all.tools].filter(([, tool]) => holds(tool)))
    const needed = new Set([...tools.values()].flatMap(({ part }) => part.needs))
    last = all.tools
    held = {
      tools,
      former: new Map([...all.former].filter(([, tool]) => holds(tool))),
      callable: all.callable.filter((tool) => holds(tool) || needed.has(tool.label))
    }
    return held
  }
  return { tools: () => read().tools, former: () => read().former, callable: () => read().callable }
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
