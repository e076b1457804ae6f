import type { FastifyRequest } from 'fastify'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { attempt } from '../attempt.ts'
import type { CallTool } from '../call/call.ts'
import { HEADER_MISMATCH, mismatchOf } from '../call/mismatch.ts'
import type { Sealer } from '../extensions/confirm/seal.ts'
import type { Settings, ToolAccess } from '../settings.ts'
import type { ReadResource } from '../extensions/resources/read.ts'
import { resourceAt, type Resource } from '../extensions/resources/resources.ts'
import { searchOf, type Catalog, type Search } from '../extensions/search/search.ts'
import type { Observer } from '../extensions/telemetry/observer.ts'
import { impliedShower, impliedValues } from '../tool/implied.ts'
import type { ServedSkill } from '../extensions/skills/skills.ts'
import type { ListedTool, Tool } from '../tool/tool.ts'
import type { NamedCall } from '../types.ts'
import { viewHider } from '../extensions/views/hidden.ts'
import { tasksOf, type TaskSettings, type Tasks } from '../extensions/tasks/tasks.ts'

/** The tools that a client may use, and how they are called. */
export interface Access {
  readonly settings: Settings
  /** Whether two clients may see different lists. */
  readonly isPerClient: boolean
  /** The tools that the client of a request lists, sorted by name, with its own implied arguments. */
  readonly toolsFor: (request: FastifyRequest) => readonly ListedTool[] | Promise<readonly ListedTool[]>
  /** Finds and calls the tools that are not listed; undefined where all are. */
  readonly search: Search | undefined
  /** How its clients call a tool: by its name, or through the search; undefined if they cannot. */
  readonly callOf: (tool: Tool, args: NamedCall['arguments']) => NamedCall | undefined
  /** The tool of that name, if there is one and this client may use it. */
  readonly toolFor: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  readonly call: CallTool
  /** Is told of calls that are answered with a JSON-RPC error. */
  readonly refused: Observer['refused']
  /** Is told of calls that find tools. */
  readonly looked: Observer['looked']
  /** Records messages that call no tool. */
  readonly observe: Observer['message']
  /**
   * How the headers of a request that repeat arguments of a call differ from them; undefined if they do not.
   *
   * @param mayLack - whether the client may leave them out: one of an older revision, or one that found the tool by a
   *   search
   */
  readonly mismatch: (
    tool: Tool,
    args: Readonly<Record<string, unknown>>,
    request: FastifyRequest,
    mayLack: boolean
  ) => string | undefined
  /** Checks that this server made the state of a confirmation. */
  readonly verifyState: Sealer['verify']
  readonly tasks: Tasks
  /** The resources of the endpoint, sorted by their URIs. */
  readonly resources: () => readonly Resource[]
  /** What the host says about a client's use of a tool, or of the resource that its route is. */
  readonly accessOf: (tool: Tool, request: FastifyRequest) => ToolAccess | Promise<ToolAccess>
  /** Whether it may use it, listed or not. */
  readonly mayUse: (tool: Tool, request: FastifyRequest) => Promise<boolean>
  readonly read: ReadResource
  readonly skills: () => readonly ServedSkill[]
  /** The tool of that name, whoever may use it. */
  readonly toolNamed: (name: string) => Tool | undefined
}

/** What all endpoints of a server share. */
export interface Shared
  extends
    Pick<Access, 'call' | 'looked' | 'observe' | 'read' | 'refused' | 'verifyState'>,
    Pick<TaskSettings, 'rules' | 'sealer' | 'follower'>
{}

/**
 * @param tools - the tools by name, in the order of their names, once the application is ready
 * @param resources - sorted by their URIs, once the application is ready
 * @param own - the tools that stand for all others, where those are searched; default: all are listed
 */
export function accessTo (
  tools: () => ReadonlyMap<string, Tool>,
  resources: Access['resources'],
  skills: Access['skills'],
  settings: Settings,
  { call, looked, observe, read, refused, verifyState, ...work }: Shared,
  own?: () => ReadonlyMap<string, ListedTool>
): Access {
  const { canUse, impliedArguments, toolTimeout } = settings
  const isPerClient = canUse !== undefined || Object.keys(impliedArguments).length > 0
  const shown = impliedShower<Tool>(impliedArguments)
  const shownAll = (all: readonly Tool[], request: FastifyRequest): readonly Tool[] =>
    isPerClient ? all.map((tool) => shown(tool, request)) : all
  const accessOf: Access['accessOf'] = ({ public: tool }, request) => canUse === undefined || canUse(tool, request)
  const mayUse: Access['mayUse'] = async (tool, request) => [true, 'unlisted'].includes(await accessOf(tool, request))
  const maySee = async (uri: string, request: FastifyRequest): Promise<boolean> => {
    const view = resourceAt(resources(), uri)?.resource
    return view !== undefined && await mayUse(view, request)
  }
  const withoutView = viewHider()
  const toolFor: Access['toolFor'] = canUse === undefined
    ? (name) => tools().get(name)
    : async (name, request) => {
      const tool = tools().get(name)
      return tool !== undefined && await mayUse(tool, request) ? tool : undefined
    }
  const toolsFor: Catalog['toolsFor'] = canUse === undefined
    ? (request) => shownAll([...tools().values()], request)
    : async (request) => {
      const all = [...tools().values()]
      const usable = await Promise.all(all.map((tool) => canUse(tool.public, request)))
      const listed = all.filter((_tool, index) => usable[index] === true)
      const views = [...new Set(listed.flatMap(({ ui }) => ui?.resourceUri ?? []))]
      const hidden = new Set(await Promise.all(views.map(async (uri) => await maySee(uri, request) ? undefined : uri)))
      const isBare = ({ ui }: Tool): boolean => ui?.resourceUri !== undefined && hidden.has(ui.resourceUri)
      return shownAll(listed.map((tool) => isBare(tool) ? withoutView(tool) : tool), request)
    }
  const mismatch: Access['mismatch'] = (tool, args, request, mayLack) => {
    if (tool.mirrored.length === 0) return undefined
    const wrong = mismatchOf(
      tool.mirrored,
      args,
      request.raw.headers,
      () => attempt(() => impliedValues(tool, request, impliedArguments)) ?? {},
      mayLack
    )
    if (wrong !== undefined) refused(request, HEADER_MISMATCH, tool.public.name)
    return wrong
  }
  const search = own && searchOf({ toolsFor, toolFor }, own, settings)
  const callOf: Access['callOf'] = search?.callOf ?? (({ public: { name } }, args) => ({ name, arguments: args }))
  return {
    settings,
    isPerClient,
    search,
    callOf,
    mismatch,
    call,
    looked,
    observe,
    read,
    refused,
    resources,
    skills,
    accessOf,
    mayUse,
    toolNamed: (name) => tools().get(name),
    verifyState,
    toolsFor: search?.toolsFor ?? toolsFor,
    toolFor,
    tasks: tasksOf({ ...work, patience: toolTimeout, tools, toolFor, callOf, mayUse })
  }
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
