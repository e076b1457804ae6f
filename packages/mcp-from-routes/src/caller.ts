import type { FastifyRequest } from 'fastify'
import type { Settings } from './options.ts'

/** Forwarded headers that differ from call to call, so they do not say who calls. */
const PER_CALL = /^(?:traceparent|tracestate|baggage|b3|x-b3-[a-z]{1,20}|idempotency-key|[a-z-]{0,30}(?:request|correlation|trace)-id)$/

/** Who sends a request to the endpoint, as JSON that is the same for the same caller. */
export type CallerOf = (outer: FastifyRequest) => readonly unknown[]

/** What the option `caller` says, or else the headers that may carry a credential. */
export function callerFrom ({ caller, forwardHeaders }: Pick<Settings, 'caller' | 'forwardHeaders'>): CallerOf {
  const identifying = forwardHeaders.filter((name) => !PER_CALL.test(name))
  return (outer) => {
    const known = caller?.(outer)
    // A name cannot pass for a header: the one is a list of one item in a list, the other is not.
    return known === undefined ? identifying.map((name) => outer.raw.headers[name] ?? null) : [[known]]
  }
}
