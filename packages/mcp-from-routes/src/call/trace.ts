/** The trace fields that `_meta` of a message may have, in the formats of the headers of the same names. */
export interface TraceContext {
  readonly traceparent?: string
  readonly tracestate?: string
  readonly baggage?: string
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?$/
/** What a header can hold, and so many characters: each of both is at most 8,192 bytes long in W3C Baggage. */
const SENDABLE = /^[\x20-\x7e]{1,8192}$/

/**
 * The trace context of a call.
 * @param meta - `params._meta` of the message
 * @returns undefined when it has none; what is malformed is left out
 * @see [SEP-414](https://modelcontextprotocol.io/seps/414-request-meta)
 */
export function traceFromMeta (meta: Readonly<Record<string, unknown>> | undefined): TraceContext | undefined {
  if (meta === undefined || (meta.traceparent === undefined && meta.baggage === undefined)) return undefined
  const { traceparent, tracestate, baggage } = meta
  const isTraced = isSendable(traceparent) && TRACEPARENT.test(traceparent)
  return {
    ...isTraced && { traceparent },
    // A tracestate belongs to one traceparent and means nothing with another.
    ...isTraced && isSendable(tracestate) && { tracestate },
    ...isSendable(baggage) && { baggage }
  }
}

function isSendable (value: unknown): value is string {
  return typeof value === 'string' && SENDABLE.test(value)
}

/**
 * Puts the trace context of a call into the headers of its inner request. It counts more than headers of the outer
 * request: those describe one hop of HTTP, and `_meta` the call.
 * @param forwardHeaders - only these travel
 * @see [Semantic conventions for MCP](https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/#context-propagation)
 */
export function addTrace (
  headers: Record<string, string>,
  trace: TraceContext,
  forwardHeaders: ReadonlySet<string>
): void {
  if (trace.traceparent !== undefined && forwardHeaders.has('traceparent')) {
    headers.traceparent = trace.traceparent
    delete headers.tracestate
    if (trace.tracestate !== undefined && forwardHeaders.has('tracestate')) headers.tracestate = trace.tracestate
  }
  if (trace.baggage !== undefined && forwardHeaders.has('baggage')) headers.baggage = trace.baggage
}
