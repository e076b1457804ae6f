import type { FastifyRequest } from 'fastify'
import type { Settings } from '../settings.ts'

/** Forwarded headers that differ from call to call, so they do not identify the caller. */
const PER_CALL =
  /^(?:traceparent|tracestate|baggage|b3|x-b3-[a-z]{1,20}|idempotency-key|[a-z-]{0,30}(?:request|correlation|trace)-id)$/

/** Who sends a request to the endpoint, as JSON that is the same for the same caller. */
export type CallerOf = (outer: FastifyRequest) => readonly unknown[]

/**
 * Identifies a caller by the option `caller`, or else by the headers that may carry a credential.
 * @returns a function that throws if the option does, or returns anything but a string: two callers must never be taken
 *   for one
 */
export function callerFrom ({ caller, forwardHeaders }: Pick<Settings, 'caller' | 'forwardHeaders'>): CallerOf {
  const identifying = forwardHeaders.filter((name) => !PER_CALL.test(name))

  function named (outer: FastifyRequest): string | undefined {
    try {
      const known: unknown = caller?.(outer)
      if (known === undefined || (typeof known === 'string' && known !== '')) return known
      throw new TypeError('caller must return a non-empty string or undefined')
    } catch (error) {
      outer.log.error({ err: error }, 'caller failed')
      // The host's own message is not for clients.
      throw new Error('The caller cannot be identified')
    }
  }

  return (outer) => {
    const known = named(outer)
    // The name is nested in a list of its own, so that it cannot equal the headers of another caller.
    return known === undefined ? identifying.map((name) => outer.raw.headers[name] ?? null) : [[known]]
  }
}
