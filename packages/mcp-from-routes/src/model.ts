import type { ProtocolError, ServerContext } from '@modelcontextprotocol/server'
import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import type { Stop } from './call/stop.ts'
import type { JsonSchema } from './schema/json-schema.ts'
import type { Plan } from './schema/plan.ts'
import type { Strategies } from './tool/constraints.ts'
import type { ToolInput } from './tool/input.ts'
import type { MirroredArgument } from './tool/mirrored.ts'
import type { ToolOutput } from './tool/output.ts'
import type { UrlPart } from './tool/path.ts'
import type { BodyTypes, UrlAcceptance } from './tool/probe.ts'
import type { QueryParser, QueryShape } from './tool/query.ts'
import type { ToolAccess } from './settings.ts'
import type { Era, InnerRequest, InnerResponse, McpTool, NamedCall, OnChunk, ToolDefinition } from './types.ts'

/*
 * What the files of the core, and its extensions, say to each other: a route becomes a tool, a message becomes a call,
 * a call has an outcome.
 */

export type Args = Readonly<Record<string, unknown>>

/** The part of a registered route that the plugin keeps. */
export interface ExposedRoute {
  readonly method: string | readonly string[]
  readonly url: string
  readonly schema: FastifySchema
  /** The name of its tool. Default is the `operationId`. */
  readonly name?: string
  readonly config: FastifyContextConfig & { readonly rawBody?: unknown }
  readonly constraints: Readonly<Record<string, unknown>>
  /** Default is Fastify's own for each constraint. */
  readonly strategies?: Strategies
  readonly websocket: boolean
  /** Whether the handler gets calls that validation refuses. Default is false. */
  readonly attachValidation?: boolean
  /** Whether the serializer guarantees that responses match their schemas. */
  readonly keepsToSchema: boolean
  /** Whether defaults are filled in before the route looks for what is required. Default is false. */
  readonly fillsDefaults?: boolean
  /** The schemas the route can refer to. */
  readonly shared: Readonly<Record<string, unknown>>
  /** Default is one that reads as Fastify's own. */
  readonly queryParser?: QueryParser
  /** What the route's validator accepts for an argument in the URL or in a header. Unknown by default. */
  readonly accepts?: { readonly path: UrlAcceptance, readonly query: UrlAcceptance, readonly header: UrlAcceptance }
  /** What the route's validator makes of a body that is not as its schema says. Default: it refuses it. */
  readonly bodyTypes?: BodyTypes
}

/** A published route, as extensions see it once its schemas are final. */
export interface Source extends Pick<ExposedRoute, 'schema' | 'config' | 'attachValidation'> {
  /** The route as named in errors. */
  readonly label: string
  readonly method: string
  readonly input: ToolInput
  /** The required arguments that the caller's request supplies. */
  readonly implied: readonly string[]
  /** What extensions before this one add to it. */
  readonly parts: readonly Part[]
  /** The schema of all its successes that are JSON; undefined if there are none. */
  readonly json: () => JsonSchema | undefined
  /** The `config.mcp` of all published routes, by what errors call them. */
  readonly published: ReadonlyMap<string, object>
}

/** What an extension adds to one tool. */
export interface Part {
  /**
   * Arguments that the route never sees. `narrows`: it makes the result smaller.
   */
  readonly arguments?: Readonly<Record<string, { readonly schema: JsonSchema, readonly narrows?: true }>>
  /** The output schema in place of the route's; false: the result comes later, from another route. */
  readonly output?: false | ((schema: JsonSchema) => JsonSchema)
  /** What the list says beyond the route, in every revision. */
  readonly define?: (definition: ToolDefinition) => ToolDefinition
  /** The same for callers who may not use what it {@link needs}. Default: the definition as it is. */
  readonly bare?: (definition: ToolDefinition) => ToolDefinition
  /** The published routes that go where it goes, by what errors call them. */
  readonly needs?: readonly string[]
  /** What `app.mcpTools` and the contract say, and lists do not. */
  readonly facts?: Partial<McpTool>
  /** What lists of the revisions before 2026-07-28 say. */
  readonly legacy?: Partial<ToolDefinition>
  /** A person answers before it runs: nothing but a client calls it, and the SDK writes its answers. */
  readonly asks?: true
  /** Who never sees it. */
  readonly hidden?: 'from models'
  readonly begin?: (call: BegunCall) => Begun
}

/** What the parts of one tool come to. */
export interface Parts {
  readonly all: readonly Part[]
  readonly arguments: ReadonlyMap<string, { readonly schema: JsonSchema, readonly narrows?: true }>
  readonly asks: boolean
  /** Whether its result comes later, from another route. */
  readonly isLater: boolean
  readonly isForModels: boolean
  readonly needs: readonly string[]
}

/** How a call becomes a request to its route. */
export interface ToolRequest {
  readonly path: readonly UrlPart[]
  readonly input: ToolInput
  /** What the schemas of the arguments say of their types, by name. */
  readonly plans: ReadonlyMap<string, Plan>
  /** Names of the arguments that every call has to pass. */
  readonly required: ReadonlySet<string>
  /** How arguments of the body are read. */
  readonly bodyReading: BodyTypes & { readonly tooDeep: string }
  /** Names that clients add for themselves, and no argument of the tool. */
  readonly ignored: ReadonlySet<string>
  /** What the schemas of the query arguments say of their shapes, by their names in the route. */
  readonly shapes: ReadonlyMap<string, QueryShape>
  readonly queryParser: QueryParser
  /** Headers that every call sends. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether an argument has alternatives, of which a validator that converts takes the first that it can. */
  readonly hasUnions: boolean
}

/** A published route, with everything needed to call it. */
export interface Tool {
  readonly public: McpTool
  /** The route as named in errors. */
  readonly label: string
  readonly request: ToolRequest
  readonly output: ToolOutput | undefined
  /** The arguments that clients repeat in headers. */
  readonly mirrored: readonly MirroredArgument[]
  /** Whether the route has a host constraint. */
  readonly isForOneHost: boolean
  /** Whether calls go through light-my-request. */
  readonly inject: boolean
  /** Whether the route declares a streamed response, whose pieces are progress. */
  readonly streams: boolean
  /** What is said of a call that may or may not have been carried out. */
  readonly open: string
  /** The header that makes a call safe to repeat, where it is an argument, and what is said of a call that has it. */
  readonly repeat: { readonly header: string, readonly open: string } | undefined
  readonly part: Parts
  /** What extensions do to each call; undefined for a plain tool. */
  readonly begin: ((call: BegunCall) => Begun) | undefined
}

/** A tool, as far as it is listed. */
export interface ListedTool {
  readonly public: ToolDefinition & Partial<Pick<McpTool, 'route' | 'implied' | 'formerly' | 'deprecated'>>
  readonly mirrored: Tool['mirrored']
  readonly part?: Parts
}

/** A call of a tool for the client of `outer`. */
export interface Call {
  readonly tool: Tool
  /** As the client sent them. */
  readonly args: Args
  readonly outer: FastifyRequest
  readonly era: Era
  /** `params._meta` of the message. */
  readonly meta: Args | undefined
  /** `params.task` of the message. */
  readonly task: unknown
  readonly stop: Stop
  readonly onChunk: OnChunk | undefined
  /** What the SDK knows of the message, if the call came that way. */
  readonly round: ServerContext['mcpReq'] | undefined
  /** The tool that made the call, where its client does not list the tool itself. */
  readonly through: string | undefined
  /** The former name by which the client called the tool; undefined if by its own. */
  readonly calledAs: string | undefined
  readonly endpoint: Endpoint
}

/** A call whose tool has a part of an extension. */
export interface BegunCall extends Call {
  /** The arguments of extensions. */
  readonly own: Args
  /** Those of the route, with those that the caller's request implies. */
  readonly given: Args
}

/** What an extension does with a call: nothing, an outcome in its place, a problem with its arguments, or more. */
export type Begun =
  | undefined
  | { readonly outcome: Outcome, readonly end?: Running['end'] }
  | { readonly problem: string, readonly end?: Running['end'] }
  | Running

/** What happens while a call runs. */
export interface Running {
  /** After the route's hooks and validation, before its handler: an outcome in place of the handler. */
  readonly gate?: (request: FastifyRequest) => Promise<Outcome | undefined>
  /** The response, before its size and form are checked. */
  readonly response?: (response: InnerResponse) => InnerResponse
  /** The result, with the request and the response that it comes from; without them, the call ended before. */
  readonly end?: (
    result: ToolResult,
    response: InnerResponse | undefined,
    request: InnerRequest | undefined
  ) => ToolResult | Promise<ToolResult>
}

/** How a call ends: a result, or an error of the protocol. */
export type Outcome = ToolResult | ProtocolError

/** A piece of a result, as the protocol defines it. */
export type Content =
  | { readonly type: 'text', readonly text: string }
  | { readonly type: 'image' | 'audio', readonly data: string, readonly mimeType: string }
  | {
    readonly type: 'resource',
    readonly resource: { readonly uri: string, readonly mimeType: string, readonly blob: string }
  }

/** JSON as it was written and parsed. */
export interface Json {
  readonly text: string
  readonly value: unknown
}

/** The result of a call, the same for every protocol revision. */
export interface ToolResult {
  readonly content: readonly Content[]
  /** The JSON of the route's response, in an object. Absent in errors and if the response is not JSON. */
  readonly structured?: Json
  readonly isError?: true
  /** A success that the output schema does not promise, which is why it is an error. */
  readonly isUnpromised?: true
  readonly _meta?: Readonly<Record<string, unknown>>
  /** The status of the route's response; undefined if there was none. */
  readonly statusCode?: number
  /** Another result of the protocol, in place of this one. This one is for writers that cannot write it. */
  readonly answer?: Readonly<Record<string, unknown>>
  /**
   * The route's 401, or its 403 for missing scopes of a token, with its `WWW-Authenticate`: clients log in only if the
   * HTTP status says so.
   */
  readonly challenge?: { readonly statusCode: number, readonly authenticate: string }
}

/** All published routes; empty until the application is ready. */
export interface Published {
  /** The tools by name, in the order of their names. */
  tools: ReadonlyMap<string, Tool>
  /** Those that had other names, by these. */
  former: ReadonlyMap<string, Tool>
  /** The tools, and the routes that are published in another way. */
  callable: readonly Tool[]
}

/** An endpoint: which tools it has, and who may use them. */
export interface Endpoint {
  readonly path: string
  /** As errors name the option that made it. */
  readonly option: string
  /** By name, in the order of their names. Empty until the application is ready, as the next. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** Its tools, and the published routes that are none but belong to it. */
  readonly callable: () => readonly Tool[]
  /** Whether two clients may see different lists. */
  readonly isPerClient: boolean
  /** The tools that the client of a request sees, sorted by name, as it sees them. */
  readonly seen: (request: FastifyRequest) => readonly Tool[] | Promise<readonly Tool[]>
  /** What it lists: those, or its own. */
  readonly listed: (request: FastifyRequest) => readonly ListedTool[] | Promise<readonly ListedTool[]>
  /** The tool that has that name, or had it, if there is one and this client may use it. */
  readonly find: (name: string, request: FastifyRequest) => Tool | undefined | Promise<Tool | undefined>
  /** Of the tools that this client sees, the one whose name is most like one that {@link find} did not find. */
  readonly nearest: (name: string, request: FastifyRequest) => Promise<Tool | undefined>
  /** What the host says about a client's use of a tool, of this endpoint or of another one. */
  readonly accessOf: (tool: Tool, request: FastifyRequest) => ToolAccess | Promise<ToolAccess>
  /** Whether it may use it, listed or not. */
  readonly mayUse: (tool: Tool, request: FastifyRequest) => Promise<boolean>
  /** How its clients call a tool: by its name, or through tools of the endpoint's own; undefined if they cannot. */
  readonly say: (tool: Tool, args: Args) => NamedCall | undefined
  readonly own: OwnTools | undefined
}

/** Tools without a route, which an endpoint lists in place of the others. */
export interface OwnTools {
  /** By name, in the order of their names. */
  readonly tools: () => ReadonlyMap<string, ListedTool>
  readonly list: (request: FastifyRequest) => Promise<readonly ListedTool[]>
  /** A result, or the call of another tool. */
  readonly call: (
    name: string,
    args: Args,
    request: FastifyRequest
  ) => Promise<
    | { readonly result: ToolResult }
    | { readonly tool: Tool, readonly args: Args, readonly calledAs: string | undefined }
  >
  readonly say: Endpoint['say']
}
