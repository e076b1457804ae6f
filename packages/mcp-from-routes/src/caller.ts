import type { FastifyRequest } from 'fastify'
import type { Settings } from './options.ts'

/** Forwarded headers that differ from call to call, so they do not say who calls. */
const PER_CALL = /^(?:traceparent|tracestate|baggage|b3|x-b3-[a-z]{1,20}|idempotency-key|[a-z-]{0,30}(?:request|correlation|trace)-id)$/

/** Who sends a request to the endpoint, as JSON that is the same for the same caller. */
export type CallerOf = (outer: FastifyRequest) => readonly unknown[]

/**
 * What the option `caller` says, or else the headers that may carry a credential.
 * @returns a function that throws if the option does, or says anything but a string: two callers must never be the same by accident
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
      // Its own words are not for clients.
      throw new Error('The caller cannot be identified')
    }
  }

  return (outer) => {
    const known = named(outer)
    // A name cannot pass for a header: the one is a list in a list, the other is not.
    return known === undefined ? identifying.map((name) => outer.raw.headers[name] ?? null) : [[known]]
  }
}
