import type { FastifyRequest, onRequestAsyncHookHandler, onRequestHookHandler } from 'fastify'
import { arrayOf, FUNCTION, isFilled, OBJECT, type Table, TEXT } from '#shared/option-table'
import { isPath, settingsBy, withoutSlash } from '../checks.ts'
import type { McpTool } from '../types.ts'
import { within } from '../within.ts'

/** The name and version that clients see. */
export interface ServerInfo {
  readonly name: string
  readonly version: string
  /** A name for people. Default is `name`. */
  readonly title?: string
}

/** What `canUse` returns: true, the tool is listed and callable; false, neither; `'unlisted'`, only callable. */
export type ToolAccess = boolean | 'unlisted'

/** What the server is, and who may see and use what of it. */
export interface ServerOptions {
  /** The server's name and version, as clients see them. Required. */
  readonly serverInfo: ServerInfo
  /**
   * Whether the client of `request` may use a tool. With false it is not listed, and a call is rejected as if the tool
   * did not exist. With `'unlisted'` it is not listed either, but a call reaches the route, whose refusal tells the
   * model what is missing. The route's own checks run in any case. By default every client may use every tool.
   */
  readonly canUse?: (tool: McpTool, request: FastifyRequest) => ToolAccess | Promise<ToolAccess>
  /** `onRequest` hooks of the endpoint's own routes, such as your authentication. Default is none. */
  readonly onRequest?: onRequestHookHandler | readonly onRequestHookHandler[]
  /**
   * What the model should know about the tools as a whole: a string, or a function that returns one for the client of
   * `request`. What it throws goes to the log, and the client gets the JSON-RPC error -32603. Default is none.
   */
  readonly instructions?: string | ((request: FastifyRequest) => string | undefined | Promise<string | undefined>)
  /** Path of the endpoint; it answers with and without a slash at the end. Default is `/mcp`. */
  readonly path?: string
  /**
   * The origins, like `https://app.example.com` or `chrome-extension://abc`, whose pages may call the endpoint;
   * `http://localhost:*` is every port of a host. Requests without an Origin header, which browsers always send, pass.
   * Default is any port of localhost, 127.0.0.1 and [::1].
   */
  readonly allowedOrigins?: readonly string[]
  /**
   * Returns the caller of a request, such as the id of a user or a key: `(request) => request.user?.id`. Confirmations
   * and tasks are valid for that caller only. It runs after the hooks of the endpoint. If it returns undefined, and by
   * default, the values of `forwardHeaders` identify the caller, so a client that refreshes its access token becomes
   * another caller.
   */
  readonly caller?: (request: FastifyRequest) => string | undefined
}

/** These options, read and checked. */
export interface ServerSettings extends Pick<ServerOptions, 'serverInfo'> {
  readonly instructions: ServerOptions['instructions']
  readonly caller: ServerOptions['caller']
  readonly canUse: ServerOptions['canUse']
  readonly path: string
  readonly onRequest: readonly onRequestHookHandler[]
  readonly isAllowedOrigin: (origin: string) => boolean
}

/** As they are given. */
export type GivenServer =
  & Required<Pick<ServerOptions, 'serverInfo' | 'path' | 'onRequest'>>
  & {
    readonly [name in 'instructions' | 'allowedOrigins' | 'caller' | 'canUse']: ServerOptions[name]
  }

/** @internal */
export const SERVER: Table<GivenServer> = {
  serverInfo: { ...OBJECT, rule: 'must be an object with a name and a version', required: true },
  instructions: {
    holds: (value) => isFilled(value) || typeof value === 'function',
    rule: 'must be a non-empty string or a function'
  },
  path: {
    holds: isPath,
    rule: 'must start with a slash and have no parameters, wildcard, query or fragment',
    default: '/mcp'
  },
  onRequest: {
    holds: (hooks) => [hooks].flat().every(FUNCTION.holds),
    rule: 'must be a function or an array of functions',
    default: []
  },
  allowedOrigins: arrayOf(isOrigin, 'origins like https://app.example.com, without a path'),
  caller: FUNCTION,
  canUse: FUNCTION
}

const INFO: Table<ServerInfo> = {
  name: { ...TEXT, required: true },
  version: { ...TEXT, required: true },
  title: TEXT
}

/**
 * @param timeout - how long functions of the host may take, in milliseconds
 * @throws {@link MCP_FROM_ROUTES_INVALID_OPTION}
 */
export function serverSettings (given: GivenServer, timeout: number): ServerSettings {
  const { serverInfo, instructions, path, onRequest, allowedOrigins, caller, canUse } = given
  settingsBy(INFO, serverInfo, 'serverInfo')
  return {
    serverInfo,
    instructions: typeof instructions !== 'function'
      ? instructions
      : (request) => within(instructions(request), 'instructions', timeout),
    path: withoutSlash(path),
    onRequest: [onRequest].flat().map(awaited),
    isAllowedOrigin: allowedOrigins === undefined ? isLoopback : oneOfOrigins(allowedOrigins),
    caller,
    canUse: canUse && ((tool, request) => within(canUse(tool, request), 'canUse', timeout))
  }
}

function oneOfOrigins (origins: readonly string[]): (origin: string) => boolean {
  const allowed = new Set(origins)
  const isAnyPort = (origin: string): boolean => allowed.has(`${origin.replace(/:\d+$/, '')}:*`) && URL.canParse(origin)
  return (origin) => allowed.has(origin) || isAnyPort(origin)
}

/** The URL standard defines no origin for `chrome-extension://abc` and the like, which browsers send as they are. */
function isOrigin (text: unknown): boolean {
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
