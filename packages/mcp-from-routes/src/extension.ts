import type { Server, ServerOptions } from '@modelcontextprotocol/server'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, FastifySchema, RouteOptions } from 'fastify'
import type { CallerOf } from './call/caller.ts'
import type { Args, BegunCall, Endpoint, Outcome, OwnTools, Part, Source, Tool, ToolResult } from './model.ts'
import type { Stop } from './call/stop.ts'
import type { Settings } from './settings.ts'
import type { EarlierRoutes } from './tool/routes-so-far.ts'
import type { Era, McpRouteConfig } from './types.ts'

/**
 * What adds to the core. A function of a subpath makes it, such as `confirm()` of `mcp-from-routes/confirm`; what is in
 * it is not part of the public interface.
 */
export interface Extension {
  /** Its import, as errors name it. */
  readonly name: string
  /** The keys of `config.mcp` that it reads. */
  readonly keys: readonly string[]
  /** Those of them that a review file may have, each with what it must be. */
  readonly inFiles?: Readonly<Record<string, readonly [holds: (value: unknown) => boolean, rule: string]>>
  /** The tag that publishes a route in its way. */
  readonly tag?: string
  /** Extensions that it builds on, registered with it. */
  readonly needs?: readonly Extension[]
  /**
   * Checks its options, and takes part in what follows. Called once for each application, before its routes.
   * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
   */
  readonly install: (core: Core) => Hooks | Promise<Hooks>
}

/** What the core offers to an extension. */
export interface Core {
  readonly app: FastifyInstance
  readonly settings: Settings
  readonly extensions: readonly Extension[]
  /** The routes that were registered before the plugin. */
  readonly earlier: EarlierRoutes
  /** Whether the application only lists its routes, for a command: it never starts. */
  readonly isListing: boolean
  /** The longest path parameter that the router takes, in characters. */
  readonly maxParamLength: number
  /** Who sends a request to an endpoint. */
  readonly callerOf: CallerOf
  /** Adds a route of the plugin's own, which is never a tool. */
  readonly route: (route: RouteOptions) => void
  /**
   * Adds an endpoint.
   * @param option - as errors name what asked for it
   * @param holds - whether it has a tool; undefined: it has all
   * @param own - tools in place of those that it has
   */
  readonly mount: (
    path: string,
    option: string,
    holds: ((tool: Tool) => boolean) | undefined,
    own?: (endpoint: Pick<Endpoint, 'seen' | 'find' | 'nearest'>) => OwnTools
  ) => Endpoint
  /** The arguments of a call as its route gets them, or what is wrong with them. */
  readonly read: (call: BegunCall) => Args | string
}

/** What an extension does, and when. */
export interface Hooks {
  /** For each route of the host: what it is beyond its tag. */
  readonly onRoute?: (route: Route, key: string) => Claim | undefined
  /** When all routes are there, by their keys. */
  readonly listed?: (keys: readonly string[]) => void
  /** For each published route, once its schemas are final. */
  readonly tool?: (source: Source) => Part | undefined
  /** When all tools are there. */
  readonly ready?: (catalog: Catalog) => void | Promise<void>
  /** Around each call. */
  readonly call?: (calling: Calling, run: RunCall) => Promise<Outcome>
  /** Around each message that calls no tool. */
  readonly message?: (message: Message, run: Answering) => Promise<Answer>
  /** Adds methods and capabilities to the server of one message. */
  readonly serve?: (server: Server, message: Served) => void
  readonly requestState?: ServerOptions['requestState']
  /** What a contract keeps beside the tools, by kind: what clients find, by their URIs or names. */
  readonly contract?: () => Contracted
}

/** A route, as far as it decides whether it is published. */
export interface Route {
  readonly method: string | string[]
  readonly url: string
  readonly schema?: FastifySchema
  readonly config?: RouteOptions['config']
}

/** What an extension says of a route. */
export interface Claim {
  /** Whether it is a tool, whatever its tags. */
  readonly tool?: boolean
  /** Whether it is published without being a tool. */
  readonly callable?: true
  /** The name of its tool. */
  readonly name?: string
  /** Its `config.mcp`. */
  readonly config?: (own: McpRouteConfig | undefined) => McpRouteConfig
  /** The end of each error about it. */
  readonly from?: string
}

/** The published routes. */
export interface Catalog {
  /** The tools by name, in the order of their names. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Those that had other names, by these. */
  readonly former: ReadonlyMap<string, Tool>
  /** They, and those that are published in another way. */
  readonly callable: readonly Tool[]
  readonly log: FastifyBaseLogger
}

/** A call, as messages make it. */
export interface Calling {
  /** As the message names it. */
  readonly name: string
  /** Undefined if there is none, or if it is one without a route. */
  readonly tool: Tool | undefined
  readonly args: Args
  readonly outer: FastifyRequest
  readonly meta: Args | undefined
  readonly task: unknown
  readonly endpoint: Endpoint
  /** When it began, as `performance.now()` has it. */
  readonly start: number
}

/** Makes a call. @param meta - in place of that of the message */
export type RunCall = (meta?: Args) => Promise<Outcome>

/** A message that calls no tool. */
export interface Message {
  readonly body: unknown
  readonly outer: FastifyRequest
  readonly endpoint: Endpoint
}

/** The JSON of an answer, as far as it is known. A thrown error of the protocol is answered with status 400. */
export type Answer = string | Buffer | undefined
export type Answering = () => Promise<Answer>

/** A message that the SDK answers. */
export interface Served {
  readonly era: Era
  readonly outer: FastifyRequest
  /** Ends the message. */
  readonly stop: Stop
  readonly endpoint: Endpoint
  /** Receives a result that may challenge the client to log in. */
  readonly refuse: (result: ToolResult) => void
}

/** What an extension publishes, by kind, then by URI or name. `tools`: those without a route. */
export interface Contracted {
  readonly tools?: readonly object[]
  readonly cards?: ReadonlyMap<string, object>
  readonly skills?: ReadonlyMap<string, object>
  readonly resources?: ReadonlyMap<string, object>
}
