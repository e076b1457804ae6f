import type { FastifyContextConfig, FastifyRequest, FastifySchema } from 'fastify'
import type { JsonSchema } from './schema/json-schema.ts'
import type { ArgumentOverrides } from './tool/overrides.ts'
import type { ToolOutputDetail } from './tool/trim.ts'

/** A route's `config.mcp`: what its tool says beyond the schema. Everything is optional. */
export interface McpRouteConfig {
  /** A name for people. Default is `schema.summary` when there is a description as well. */
  readonly title?: string
  /** What the model reads instead of `schema.description`. */
  readonly description?: string
  /**
   * Names that the tool had before, by which clients with an older list may still call it: `['add_note']`. Calls by
   * them work as calls by its name, and their results say what it is called now. Lists do not show them. Default is
   * none.
   */
  readonly formerly?: readonly string[]
  /** Hints that override those of the HTTP method. */
  readonly annotations?: Partial<ToolAnnotations>
  /**
   * Names and fixed values of inputs, by the part of the request and their name in the route:
   * `{ body: { id: { name: 'id' } }, headers: { 'x-tenant': { value: 'acme' } } }`. Two inputs with the same name, such
   * as an id in the path and in the body, become one argument. A header is an argument only if it has a name here:
   * `{ headers: { 'idempotency-key': { name: 'idempotency_key' } } }`. Default is that each other input is the argument
   * of its name.
   */
  readonly arguments?: ArgumentOverrides
  /**
   * How much of the output schema is published: `'full'`, `'brief'` (names and types without explanations), `false`
   * (nothing), or the fields that agents use of the record, or of each record of a list. The result itself stays as it
   * is. Default is the option `output`.
   */
  readonly output?: ToolOutputDetail
  /**
   * Words by which a client that loads tools on demand finds this one: `anthropic/searchHint`, a hint that clients may
   * ignore. Default is none.
   */
  readonly searchHint?: string
  /**
   * Whether a client that loads tools on demand has this one from the start: `anthropic/alwaysLoad`, a hint that
   * clients may ignore. Default is that the client decides.
   */
  readonly alwaysLoad?: boolean
  /** Complete argument objects that the tool takes, shown to the model. */
  readonly examples?: ReadonlyArray<Readonly<Record<string, unknown>>>
  /**
   * `inject` sends calls to this route through light-my-request, as `app.inject` does, instead of the plugin's own
   * request and response. Use it for a handler that needs more of a socket than those offer. Streamed responses then
   * report no progress.
   */
  readonly loopback?: 'inject'
  /**
   * Set it on a route whose handler calls `reply.hijack()`: such a route cannot be a tool, and startup fails if it is
   * tagged.
   */
  readonly hijack?: boolean
}

/** All four hints, always explicit: the protocol's defaults call every tool destructive. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The revisions of the protocol that the endpoint speaks, the newest first. */
export const PROTOCOL_VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const

/** The protocol as of 2026-07-28, or as of the revisions before it. */
export type Era = 'legacy' | 'modern'

/** A tool as `tools/list` shows it. */
export interface ToolDefinition {
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations: ToolAnnotations
  /** In the revisions before 2026-07-28, for tools whose calls may become tasks. */
  readonly execution?: { readonly taskSupport: 'optional' }
  readonly _meta?: Readonly<Record<string, unknown>>
}

/** A tool, and the route it calls. */
export interface McpTool extends ToolDefinition {
  /**
   * The required arguments that `impliedArguments` supplies to some callers, for whom they are optional; absent if
   * none.
   */
  readonly implied?: readonly string[]
  /** The names that the tool had, by which it can be called too; absent if none. */
  readonly formerly?: readonly string[]
  /** Present if the route's schema says `deprecated: true`. */
  readonly deprecated?: true
  readonly route: {
    readonly method: string,
    /** The route's path with its prefix, as it was registered: `/products/:id`. */
    readonly url: string,
    readonly tags: readonly string[],
    /** The route's `schema`, as it was registered. */
    readonly schema: FastifySchema,
    /** The route's `config`. */
    readonly config: Readonly<FastifyContextConfig>,
    /**
     * The schema that the route declares for a success, with the enums, formats and lengths that `outputSchema` leaves
     * out; undefined if a success may be something other than JSON. Derived when it is read, and not enumerable.
     */
    readonly output: JsonSchema | undefined,
    /**
     * What `outputSchema` would be without the argument `fields`, which makes every field optional; undefined for a
     * tool without that argument, or without an output schema. Derived when it is read, and not enumerable.
     */
    readonly whole: JsonSchema | undefined
  }
}

/** The route's response. */
export interface InnerResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | readonly string[] | number | undefined>>
  readonly body: Buffer | string
  /** Whether the body was cut off because it is too large. */
  readonly cut?: boolean
}

/** Receives each piece of a response as the route writes it, with the response so far. */
export type OnChunk = (chunk: Buffer, response: InnerResponse) => void

/** The inner request that a call becomes. */
export interface InnerRequest {
  readonly method: string
  /** Path and query string. */
  readonly url: string
  /** The path parameters that the router must find in `url`. */
  readonly params: ReadonlyMap<string, string>
  readonly headers: Record<string, string>
  readonly body: string | undefined
  /** What the body says, if the route's validator may make something else of it. */
  readonly sent?: unknown
}

/** A call as texts tell models to make it. */
export interface NamedCall {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** Why a call ended before its route responded. */
export type StopReason = 'client gone' | 'timeout' | 'too large' | 'closing'

/** The argument of `onToolCall`: a call that has ended. */
export interface ToolCallEvent {
  readonly tool: McpTool
  /** The former name by which it was called, one of `tool.formerly`; undefined if by its name. */
  readonly calledAs: string | undefined
  /** The request to the endpoint. */
  readonly request: FastifyRequest
  /**
   * As the client sent them, before they are checked: they may be wrong, large, and contain secrets. Do not change
   * them.
   */
  readonly arguments: Readonly<Record<string, unknown>>
  /** From the call's arrival to its result, in milliseconds. */
  readonly duration: number
  /** Whether the model got an error. */
  readonly isError: boolean
  /**
   * What the model reads as the error, at most about 4,000 characters. It may quote the arguments. Undefined if it got
   * none.
   */
  readonly error: string | undefined
  /**
   * The status of the route's response; undefined if it sent none: the arguments were refused, or the call ended early.
   */
  readonly statusCode: number | undefined
  /** Why the call ended early. */
  readonly ended: StopReason | undefined
}
