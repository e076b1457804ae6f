import type { FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import type { ToolCallEvent } from './call/call.ts'
import { MCP_FROM_ROUTES_BAD_OPTION } from './errors.ts'
import { NEVER_FORWARDED } from './headers.ts'
import type { McpTool } from './tool/tool.ts'

/** Who the server says it is. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  /** A name for people. Default is `name`. */
  readonly title?: string
}

/** Options of the plugin. Wrong ones make the boot fail with `MCP_FROM_ROUTES_BAD_OPTION`. */
export interface McpFromRoutesOptions {
  /** Name and version that clients are told. Required. */
  readonly serverInfo: ServerInfo
  /**
   * Text for the model about the tools as a whole; as a function, what to tell the client of `request`. What that
   * throws is for the host's error handler. Default is none.
   */
  readonly instructions?: string | ((request: FastifyRequest) => string | undefined | Promise<string | undefined>)
  /** Path of the endpoint; it answers with and without a slash at the end. Default is `/mcp`. */
  readonly path?: string
  /** The tag in `schema.tags` that makes a route a tool. Default is `mcp`. */
  readonly exposedTag?: string
  /** The tag that marks a tool whose result can be large. Default is `large`. */
  readonly largeTag?: string
  /** Hooks for requests to the endpoint alone: the host's authentication. Default is none. */
  readonly onRequest?: onRequestHookHandler | readonly onRequestHookHandler[]
  /**
   * Names of the headers that reach the route of a tool as the client sent them. Cookies, conditional headers, those
   * that describe one hop and accept-version cannot be named. Default is authorization, x-api-key, traceparent and tracestate.
   */
  readonly forwardHeaders?: readonly string[]
  /**
   * Names of the headers of a route's answer that come back beside a result.
   * Default is content-range, link, location and retry-after.
   */
  readonly resultHeaders?: readonly string[]
  /**
   * The origins, like `https://app.example.com` or `chrome-extension://abc`, whose pages may call the endpoint;
   * `http://localhost:*` is every port of a host. Requests without an Origin,
   * which browsers always send, are not concerned. Default is any port of localhost, 127.0.0.1 and [::1].
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * The largest message that the endpoint takes, in bytes. The body of a call is part of it, and has to fit into the
   * `bodyLimit` of its route too. Default is the `bodyLimit` of the app.
   */
  readonly bodyLimit?: number
  /**
   * Whether the app parses JSON in query strings before it validates, as in a `preValidation` hook: a query argument
   * may then be an object, although the `querystringParser` reads none. Default is false.
   */
  readonly jsonQuery?: boolean
  /** The largest result of one call, in bytes of the route's answer. Default is 1,000,000. */
  readonly maxResultBytes?: number
  /** How long the route of a tool may take to answer, in milliseconds. Default is 60,000. */
  readonly toolTimeout?: number
  /**
   * Whether the client of `request` may use a tool. One it may not use is not listed, and a call of it is answered
   * as that of a tool that does not exist. The route's own checks run in any case. Default is that all may use all.
   */
  readonly canUse?: (tool: McpTool, request: FastifyRequest) => boolean | Promise<boolean>
  /**
   * Told of every call when it has ended, for metrics and audit. No caller waits for it; what it throws, or rejects
   * with, is logged. Default is none.
   */
  readonly onToolCall?: (event: ToolCallEvent) => void | Promise<void>
  /** How long a client of revision 2026-07-28 may keep the list, in milliseconds. Default is 300,000. */
  readonly cacheTtl?: number
  /**
   * Whether a shared cache may hand the list, and what the server says of itself, from one client of revision
   * 2026-07-28 to another. `public` is for an endpoint that says the same to everybody, and that everybody may reach:
   * not with `canUse`, nor with `instructions` as a function. Default is `private`.
   */
  readonly cacheScope?: 'public' | 'private'
  /** Tools on one page of the list. Default is all. */
  readonly pageSize?: number
  /**
   * Whether answers are as their response schemas say even where the serializer is not Fastify's own, because the
   * host's checks what it writes. Without this, tools of routes with such a serializer have no output schema.
   * Default is false.
   */
  readonly trustSerializer?: boolean
}

/** The options with defaults in place and names in lower case. */
export interface Settings extends Required<Omit<McpFromRoutesOptions, 'instructions' | 'onRequest' | 'allowedOrigins' | 'bodyLimit' | 'canUse' | 'onToolCall'>> {
  readonly bodyLimit: McpFromRoutesOptions['bodyLimit']
  readonly instructions: McpFromRoutesOptions['instructions']
  readonly canUse: McpFromRoutesOptions['canUse']
  readonly onToolCall: McpFromRoutesOptions['onToolCall']
  readonly onRequest: readonly onRequestHookHandler[]
  readonly isAllowedOrigin: (origin: string) => boolean
}

/** The longest that setTimeout waits. */
const MAX_TIMEOUT = 2_147_483_647
const TOKEN = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

/** Every option, so that one that is misspelt, as a list of allowed origins may be, is not passed over. */
const KNOWN: Readonly<Record<keyof McpFromRoutesOptions, true>> = {
  allowedOrigins: true,
  bodyLimit: true,
  cacheScope: true,
  cacheTtl: true,
  canUse: true,
  exposedTag: true,
  forwardHeaders: true,
  instructions: true,
  jsonQuery: true,
  largeTag: true,
  maxResultBytes: true,
  onRequest: true,
  onToolCall: true,
  pageSize: true,
  path: true,
  resultHeaders: true,
  serverInfo: true,
  toolTimeout: true,
  trustSerializer: true
}
/** What Fastify's own `register` takes among the options of a plugin. */
const OF_REGISTER: readonly string[] = ['logLevel', 'logSerializers', 'prefix']

/**
 * Checks the options and fills in the defaults.
 * @throws {@link MCP_FROM_ROUTES_BAD_OPTION}
 */
export function settingsFromOptions (options: McpFromRoutesOptions): Settings {
  const {
    serverInfo, instructions, path = '/mcp', exposedTag = 'mcp', largeTag = 'large', onRequest = [],
    forwardHeaders = ['authorization', 'x-api-key', 'traceparent', 'tracestate'],
    resultHeaders = ['content-range', 'link', 'location', 'retry-after'],
    allowedOrigins, bodyLimit, jsonQuery = false, maxResultBytes = 1_000_000, toolTimeout = 60_000, canUse, onToolCall, cacheTtl = 300_000,
    cacheScope = 'private', pageSize = Number.MAX_SAFE_INTEGER, trustSerializer = false
  } = options
  for (const name in options) check(name in KNOWN || OF_REGISTER.includes(name), name, 'is not known')
  check(isText(serverInfo?.name) && isText(serverInfo.version), 'serverInfo', 'must have a name and a version')
  check(serverInfo.title === undefined || isText(serverInfo.title), 'serverInfo', 'must have a title that is a text, or none')
  check(instructions === undefined || isText(instructions) || typeof instructions === 'function', 'instructions', 'must be a text or a function')
  check(/^\/[^?#:*]*$/.test(path), 'path', 'must start with a slash and have no parameters')
  check(isText(exposedTag), 'exposedTag', 'must be a text')
  check(isText(largeTag) && largeTag !== exposedTag, 'largeTag', 'must be a text other than exposedTag')
  for (const [name, value] of Object.entries({ bodyLimit: bodyLimit ?? 1, maxResultBytes, toolTimeout, pageSize })) {
    check(Number.isSafeInteger(value) && value > 0, name, 'must be a positive integer')
  }
  check(toolTimeout <= MAX_TIMEOUT, 'toolTimeout', `must be at most ${MAX_TIMEOUT}`)
  check(Number.isSafeInteger(cacheTtl) && cacheTtl >= 0, 'cacheTtl', 'must be a whole number of milliseconds')
  for (const [name, value] of Object.entries({ canUse, onToolCall })) {
    check(value === undefined || typeof value === 'function', name, 'must be a function')
  }
  check(cacheScope === 'private' || cacheScope === 'public', 'cacheScope', 'must be private or public')
  check(cacheScope === 'private' || canUse === undefined, 'cacheScope', 'must not be public with canUse: a cache would show one client the tools of another')
  check(cacheScope === 'private' || typeof instructions !== 'function', 'cacheScope', 'must not be public with instructions that are a function: a cache would tell one client what is for another')
  for (const [name, value] of Object.entries({ jsonQuery, trustSerializer })) check(typeof value === 'boolean', name, 'must be true or false')
  const hooks = [onRequest].flat()
  check(hooks.every((hook) => typeof hook === 'function'), 'onRequest', 'must be a function or an array of functions')
  return {
    serverInfo,
    instructions,
    path: path.length > 1 ? path.replace(/\/$/, '') : path,
    exposedTag,
    largeTag,
    onRequest: hooks.map(awaited),
    forwardHeaders: headerNames('forwardHeaders', forwardHeaders, (name) => !NEVER_FORWARDED.test(name)),
    resultHeaders: headerNames('resultHeaders', resultHeaders, (name) => name !== 'set-cookie'),
    isAllowedOrigin: allowedOrigins === undefined ? isLoopback : oneOf(allowedOrigins),
    bodyLimit,
    jsonQuery,
    maxResultBytes,
    toolTimeout,
    canUse,
    onToolCall,
    cacheTtl,
    cacheScope,
    pageSize,
    trustSerializer
  }
}

function check (holds: boolean, option: string, rule: string): asserts holds {
  if (!holds) throw new MCP_FROM_ROUTES_BAD_OPTION(option, rule)
}

function isText (value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function headerNames (option: string, names: readonly string[], isAllowed: (name: string) => boolean): readonly string[] {
  check(Array.isArray(names) && names.every(isText), option, 'must be an array of header names')
  return names.map((name) => name.toLowerCase()).map((name) => {
    check(TOKEN.test(name) && isAllowed(name), option, `must not contain ${name}`)
    return name
  })
}

function oneOf (origins: readonly string[]): (origin: string) => boolean {
  check(Array.isArray(origins) && origins.every(isOrigin), 'allowedOrigins', 'must be an array of origins like https://app.example.com, without a path')
  const allowed = new Set(origins)
  return (origin) => allowed.has(origin) || allowed.has(`${origin.replace(/:\d+$/, '')}:*`)
}

/** Of `chrome-extension://abc` and its like, which browsers send as they are, the URL standard knows no origin. */
function isOrigin (text: string): boolean {
  if (!isText(text)) return false
  const host = text.replace(/:\*$/, '')
  if (!URL.canParse(host)) return false
  const { origin } = new URL(host)
  return origin === 'null' ? /^[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]+(:\d+)?$/.test(host) : origin === host
}

function isLoopback (origin: string): boolean {
  return URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}

/**
 * A hook as Fastify can wait for it: one without a callback that returns no promise, as `() => {}`, would leave every
 * request without an answer.
 */
function awaited (hook: onRequestHookHandler): onRequestHookHandler {
  if (hook.length > 2) return hook
  const promising: onRequestAsyncHookHandler = async function (request, reply) {
    return (hook as onRequestAsyncHookHandler).call(this, request, reply)
  }
  return promising
}
