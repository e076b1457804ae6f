import type { FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import { check, isFilled, isPath, withoutSlash } from './checks.ts'
import { isObject } from './schema/json-schema.ts'
import type { ImpliedArguments } from './tool/implied.ts'
import { isOutputDetail, type OutputDetail } from './tool/trim.ts'
import type { ToJsonSchema } from './schema/reader.ts'
import { within } from './within.ts'
import type { McpTool, ToolCallEvent } from './types.ts'

/** The name and version that clients see. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  /** A name for people. Default is `name`. */
  readonly title?: string
}

/** What `canUse` returns: true, the tool is listed and callable; false, neither; `'unlisted'`, only callable. */
export type ToolAccess = boolean | 'unlisted'

/** Options of the core. */
export interface CoreOptions {
  /** The server's name and version, as clients see them. Required. */
  readonly serverInfo: ServerInfo
  /**
   * What the model should know about the tools as a whole: a string, or a function that returns one for the client of
   * `request`. What it throws goes to the log, and the client gets the JSON-RPC error -32603. Default is none.
   */
  readonly instructions?: string | ((request: FastifyRequest) => string | undefined | Promise<string | undefined>)
  /** Path of the endpoint; it answers with and without a slash at the end. Default is `/mcp`. */
  readonly path?: string
  /** The tag in `schema.tags` that makes a route a tool. Default is `mcp`. */
  readonly exposedTag?: string
  /** The tag that marks a tool whose result can be large. Default is `large`. */
  readonly largeTag?: string
  /** `onRequest` hooks of the endpoint's own routes, such as your authentication. Default is none. */
  readonly onRequest?: onRequestHookHandler | readonly onRequestHookHandler[]
  /**
   * Names of request headers that reach the route of a tool. Cookies, conditional headers, hop-by-hop headers and
   * accept-version are not allowed. Default is authorization, x-api-key, traceparent and tracestate.
   */
  readonly forwardHeaders?: readonly string[]
  /**
   * Names of response headers of the route that the result includes.
   * Default is content-range, link, location and retry-after.
   */
  readonly resultHeaders?: readonly string[]
  /**
   * The origins, like `https://app.example.com` or `chrome-extension://abc`, whose pages may call the endpoint;
   * `http://localhost:*` is every port of a host. Requests without an Origin header, which browsers always send, pass.
   * Default is any port of localhost, 127.0.0.1 and [::1].
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * The largest message that the endpoint accepts, in bytes. The body of a call is part of it, and must not exceed the
   * `bodyLimit` of its route either. Default is the `bodyLimit` of the app.
   */
  readonly bodyLimit?: number
  /**
   * Whether the app parses JSON in query strings before validation, for example in a `preValidation` hook. Query
   * arguments may then be objects, even if the `querystringParser` reads none. Default is false.
   */
  readonly jsonQuery?: boolean
  /**
   * How much of the output schemas is published: `'full'`, `'brief'` (names and types without explanations) or `false`
   * (nothing). A route's `config.mcp.output` takes precedence. Results are not changed. Default is `'full'`.
   */
  readonly output?: OutputDetail
  /** The largest result of one call, in bytes of the route's response. Default is 1,000,000. */
  readonly maxResultBytes?: number
  /** How long the route of a tool may take to respond, in milliseconds. Default is 60,000. */
  readonly toolTimeout?: number
  /**
   * Whether the client of `request` may use a tool. With false it is not listed, and a call is rejected as if the tool
   * did not exist. With `'unlisted'` it is not listed either, but a call reaches the route, whose refusal tells the
   * model what is missing. The route's own checks run in any case. By default every client may use every tool.
   */
  readonly canUse?: (tool: McpTool, request: FastifyRequest) => ToolAccess | Promise<ToolAccess>
  /**
   * Functions that supply arguments from the caller's request, by the arguments' names, such as the shop of an API key:
   * `{ shop_id: (request) => request.identity?.shopId }`. If the function returns a value, the caller may leave the
   * argument out; a value that the caller passes takes precedence. Only required arguments of the path and the query
   * string are supplied, never a part of the body. Default is none.
   */
  readonly impliedArguments?: ImpliedArguments
  /**
   * Names of arguments that clients add to calls for themselves. A tool that has no such argument ignores it instead of
   * rejecting the call. `random_string` is ignored only by tools without arguments. Default is task_progress (Cline),
   * wait_for_previous (Gemini CLI) and random_string (Cursor).
   */
  readonly ignoredArguments?: readonly string[]
  /**
   * Returns the caller of a request, such as the id of a user or a key: `(request) => request.user?.id`. Confirmations
   * and tasks are valid for that caller only. It runs after the hooks of the endpoint. If it returns undefined, and by
   * default, the values of `forwardHeaders` identify the caller, so a client that refreshes its access token becomes
   * another caller.
   */
  readonly caller?: (request: FastifyRequest) => string | undefined
  /**
   * Called after every call, for metrics and audit. Callers do not wait for it; errors that it throws are logged.
   * Default is none.
   */
  readonly onToolCall?: (event: ToolCallEvent) => void | Promise<void>
  /** How long a client of revision 2026-07-28 may keep the list, in milliseconds. Default is 300,000. */
  readonly cacheTtl?: number
  /**
   * Whether a shared cache may serve the list, and the server's description of itself, to other clients of revision
   * 2026-07-28. Use `public` only if everybody may reach the endpoint and gets the same answers: not with `canUse`,
   * `impliedArguments`, or `instructions` as a function. Default is `private`.
   */
  readonly cacheScope?: 'public' | 'private'
  /** Tools on one page of the list. Default is all. */
  readonly pageSize?: number
  /**
   * Set it if the app's custom serializer checks that responses match their schemas. Otherwise tools of routes with a
   * custom serializer have no output schema. Default is false.
   */
  readonly trustSerializer?: boolean
  /**
   * Converts a schema that is no JSON Schema and cannot convert itself, such as one of Zod 3, as the `transform` of
   * @fastify/swagger does: `(schema) => schema instanceof z.ZodType ? zodToJsonSchema(schema) : undefined`. Called for
   *   each schema of a route with `{ io: 'input' | 'output' }`; undefined leaves it as it is. The route goes on
   *   validating with its own. Default is none.
   */
  readonly toJsonSchema?: ToJsonSchema
}

/** The options, read and checked, with header names in lower case. */
export interface Settings extends
  Required<
    Omit<
      CoreOptions,
      | 'instructions'
      | 'onRequest'
      | 'allowedOrigins'
      | 'bodyLimit'
      | 'caller'
      | 'canUse'
      | 'onToolCall'
      | 'toJsonSchema'
    >
  >
{
  readonly toJsonSchema: CoreOptions['toJsonSchema']
  readonly bodyLimit: CoreOptions['bodyLimit']
  readonly instructions: CoreOptions['instructions']
  readonly caller: CoreOptions['caller']
  readonly canUse: CoreOptions['canUse']
  readonly onToolCall: CoreOptions['onToolCall']
  readonly onRequest: readonly onRequestHookHandler[]
  readonly isAllowedOrigin: (origin: string) => boolean
}

/** With these, a host that trusts its proxy, or reads them itself, sees the same client in the inner request. */
export const IDENTITY: ReadonlySet<string> = new Set([
  'forwarded',
  'user-agent',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip'
])
/** Headers of one hop or one message, cookies, and the version of a route, which would lead to another route. */
export const NEVER_FORWARDED =
  /^(accept-encoding|accept-version|connection|content-.*|cookie|date|expect|host|if-.*|keep-alive|mcp-.*|proxy-.*|range|te|trailer|transfer-encoding|upgrade|:.*)$/
/** The longest delay of setTimeout. */
const MAX_TIMEOUT = 2_147_483_647
/** Options that Fastify's `register` takes itself and passes on. */
const OF_REGISTER: readonly string[] = ['logLevel', 'logSerializers', 'prefix']
const TOKEN = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

/**
 * Checks the options and fills in the defaults.
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function settingsFromOptions (options: CoreOptions): Settings {
  const {
    serverInfo,
    instructions,
    path = '/mcp',
    exposedTag = 'mcp',
    largeTag = 'large',
    onRequest = [],
    forwardHeaders = ['authorization', 'x-api-key', 'traceparent', 'tracestate'],
    resultHeaders = ['content-range', 'link', 'location', 'retry-after'],
    allowedOrigins,
    bodyLimit,
    jsonQuery = false,
    maxResultBytes = 1_000_000,
    toolTimeout = 60_000,
    canUse,
    impliedArguments = {},
    ignoredArguments = ['task_progress', 'wait_for_previous', 'random_string'],
    onToolCall,
    cacheTtl = 300_000,
    cacheScope = 'private',
    pageSize = Number.MAX_SAFE_INTEGER,
    output = 'full',
    trustSerializer = false,
    toJsonSchema,
    caller,
    ...others
  } = options
  for (const name in others) check(OF_REGISTER.includes(name), name, 'is not an option')
  const { prefix } = others as { readonly prefix?: unknown }
  check(!prefix, 'prefix', `has no effect on a plugin of the whole app. Set path: '${String(prefix)}${String(path)}'`)
  check(isFilled(serverInfo?.name) && isFilled(serverInfo.version), 'serverInfo', 'must have a name and a version')
  check(
    serverInfo.title === undefined || isFilled(serverInfo.title),
    'serverInfo',
    'must have a title that is a non-empty string, or no title'
  )
  check(
    instructions === undefined || isFilled(instructions) || typeof instructions === 'function',
    'instructions',
    'must be a non-empty string or a function'
  )
  check(isPath(path), 'path', 'must start with a slash and have no parameters, wildcard, query or fragment')
  check(isFilled(exposedTag), 'exposedTag', 'must be a non-empty string')
  check(isFilled(largeTag) && largeTag !== exposedTag, 'largeTag', 'must be a non-empty string other than exposedTag')
  for (const [name, value] of Object.entries({ bodyLimit: bodyLimit ?? 1, maxResultBytes, toolTimeout, pageSize })) {
    check(Number.isSafeInteger(value) && value > 0, name, 'must be a positive integer')
  }
  check(toolTimeout <= MAX_TIMEOUT, 'toolTimeout', `must be at most ${MAX_TIMEOUT}`)
  check(Number.isSafeInteger(cacheTtl) && cacheTtl >= 0, 'cacheTtl', 'must be a whole number of milliseconds')
  for (const [name, value] of Object.entries({ caller, canUse, onToolCall, toJsonSchema })) {
    check(value === undefined || typeof value === 'function', name, 'must be a function')
  }
  check(
    isObject(impliedArguments) && Object.values(impliedArguments).every((implied) => typeof implied === 'function'),
    'impliedArguments',
    'must be an object of functions'
  )
  check(
    Array.isArray(ignoredArguments) && ignoredArguments.every(isFilled),
    'ignoredArguments',
    'must be an array of argument names'
  )
  check(isOutputDetail(output), 'output', "must be 'full', 'brief' or false")
  check(cacheScope === 'private' || cacheScope === 'public', 'cacheScope', 'must be private or public')
  check(
    cacheScope === 'private' || canUse === undefined,
    'cacheScope',
    'must not be public with canUse: a cache would show one client the tools of another'
  )
  check(
    cacheScope === 'private' || Object.keys(impliedArguments).length === 0,
    'cacheScope',
    'must not be public with impliedArguments: a cache would show one client the arguments of another'
  )
  check(
    cacheScope === 'private' || typeof instructions !== 'function',
    'cacheScope',
    'must not be public with instructions that are a function: a cache would show one client those of another'
  )
  for (const [name, value] of Object.entries({ jsonQuery, trustSerializer })) {
    check(typeof value === 'boolean', name, 'must be true or false')
  }
  const hooks = [onRequest].flat()
  check(hooks.every((hook) => typeof hook === 'function'), 'onRequest', 'must be a function or an array of functions')
  return {
    serverInfo,
    instructions: typeof instructions !== 'function'
      ? instructions
      : (request) => within(instructions(request), 'instructions', toolTimeout),
    path: withoutSlash(path),
    exposedTag,
    largeTag,
    onRequest: hooks.map(awaited),
    forwardHeaders: headerNames(
      'forwardHeaders',
      forwardHeaders,
      (name) => !NEVER_FORWARDED.test(name),
      'is never forwarded'
    ),
    resultHeaders: headerNames(
      'resultHeaders',
      resultHeaders,
      (name) => name !== 'set-cookie',
      'is never shown to a model'
    ),
    isAllowedOrigin: allowedOrigins === undefined ? isLoopback : oneOf(allowedOrigins),
    bodyLimit,
    jsonQuery,
    maxResultBytes,
    toolTimeout,
    caller,
    canUse: canUse && ((tool, request) => within(canUse(tool, request), 'canUse', toolTimeout)),
    impliedArguments,
    ignoredArguments,
    onToolCall,
    cacheTtl,
    cacheScope,
    pageSize,
    output,
    trustSerializer,
    toJsonSchema
  }
}

function headerNames (
  option: string,
  names: readonly string[],
  isAllowed: (name: string) => boolean,
  refusal: string
): readonly string[] {
  check(Array.isArray(names) && names.every(isFilled), option, 'must be an array of header names')
  return names.map((name) => name.toLowerCase()).map((name) => {
    check(TOKEN.test(name), option, `must not contain ${JSON.stringify(name)}, which is not the name of a header`)
    check(isAllowed(name), option, `must not contain ${name}, which ${refusal}`)
    return name
  })
}

function oneOf (origins: readonly string[]): (origin: string) => boolean {
  check(
    Array.isArray(origins) && origins.every(isOrigin),
    'allowedOrigins',
    'must be an array of origins like https://app.example.com, without a path'
  )
  const allowed = new Set(origins)
  const isAnyPort = (origin: string): boolean => allowed.has(`${origin.replace(/:\d+$/, '')}:*`) && URL.canParse(origin)
  return (origin) => allowed.has(origin) || isAnyPort(origin)
}

/** The URL standard defines no origin for `chrome-extension://abc` and the like, which browsers send as they are. */
function isOrigin (text: string): boolean {
  if (!isFilled(text)) return false
  const host = text.replace(/:\*$/, '')
  if (!URL.canParse(host)) return false
  const { origin } = new URL(host)
  return origin === 'null' ? /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:\d+)?$/.test(host) : origin === host
}

function isLoopback (origin: string): boolean {
  return URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}

/** Makes a hook return a promise: `() => {}`, without a callback or a promise, would hang every request. */
function awaited (hook: onRequestHookHandler): onRequestHookHandler {
  if (hook.length > 2) return hook
  const promising: onRequestAsyncHookHandler = async function (request, reply) {
    return (hook as onRequestAsyncHookHandler).call(this, request, reply)
  }
  return promising
}
