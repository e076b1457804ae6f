import { arrayOf, FUNCTION, integer, isFilled, type Table } from '#shared/option-table'
import { NEVER_FORWARDED } from '../call/headers.ts'
import { check } from '../checks.ts'
import type { ToolCallEvent } from '../types.ts'

/** What a call brings to its route and back, and what it may take. */
export interface CallOptions {
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
   * The largest message that the endpoint accepts, in bytes. The body of a call is part of it, and must not exceed the
   * `bodyLimit` of its route either. Default is the `bodyLimit` of the app.
   */
  readonly bodyLimit?: number
  /** The largest result of one call, in bytes of the route's response: more is an error. Default is 1,000,000. */
  readonly maxResultBytes?: number
  /** How long the route of a tool may take to respond, in milliseconds. Default is 60,000. */
  readonly toolTimeout?: number
  /**
   * How long a client waits without a byte, in milliseconds: a call that takes longer becomes an event stream with a
   * comment each time that this has passed, for clients that accept one. 0: never. Default is 10,000.
   */
  readonly keepAliveInterval?: number
  /**
   * Called after every call, for metrics and audit. Callers do not wait for it; errors that it throws are logged.
   * Default is none.
   */
  readonly onToolCall?: (event: ToolCallEvent) => void | Promise<void>
}

/** These options, read and checked, with header names in lower case. */
export interface CallSettings extends Required<Omit<CallOptions, 'bodyLimit' | 'onToolCall'>> {
  readonly bodyLimit: CallOptions['bodyLimit']
  readonly onToolCall: CallOptions['onToolCall']
}

/** The longest delay of setTimeout. */
const MAX_TIMEOUT = 2_147_483_647
const TOKEN = /^[a-z0-9!#$%&'*+.^_`|~-]+$/

const HEADERS = arrayOf(isFilled, 'header names')

/** @internal */
export const CALLS: Table<CallSettings> = {
  forwardHeaders: { ...HEADERS, default: ['authorization', 'x-api-key', 'traceparent', 'tracestate'] },
  resultHeaders: { ...HEADERS, default: ['content-range', 'link', 'location', 'retry-after'] },
  bodyLimit: integer(1),
  maxResultBytes: { ...integer(1), default: 1_000_000 },
  toolTimeout: { ...integer(1, MAX_TIMEOUT), default: 60_000 },
  keepAliveInterval: { ...integer(0, MAX_TIMEOUT), default: 10_000 },
  onToolCall: FUNCTION
}

/** @throws {@link MCP_FROM_ROUTES_INVALID_OPTION} */
export function headerSettings (
  { forwardHeaders, resultHeaders }: CallSettings
): Pick<CallSettings, 'forwardHeaders' | 'resultHeaders'> {
  return {
    forwardHeaders: headerNames('forwardHeaders', forwardHeaders, NEVER_FORWARDED, 'is never forwarded'),
    resultHeaders: headerNames('resultHeaders', resultHeaders, /^set-cookie$/, 'is never shown to a model')
  }
}

function headerNames (option: string, names: readonly string[], never: RegExp, refusal: string): readonly string[] {
  return names.map((name) => name.toLowerCase()).map((name) => {
    check(TOKEN.test(name), option, `must not contain ${JSON.stringify(name)}, which is not the name of a header`)
    check(!never.test(name), option, `must not contain ${name}, which ${refusal}`)
    return name
  })
}
