import type { FastifyRequest } from 'fastify'
import type { Settings } from '../settings.ts'
import { NEVER_FORWARDED } from './headers.ts'
import type { Tool } from '../tool/tool.ts'

/** Names of headers that may carry a credential. */
const CREDENTIAL = /auth|credential|key|passw|secret|session|token/

/**
 * Logs, once, that a route answered 401 to a caller who sent headers that did not reach it. The endpoint may
 * authenticate by one of them: then the list works, and every call is a 401.
 */
export function unforwardedRemark (
  settings: Pick<Settings, 'forwardHeaders'>
): (tool: Tool, outer: FastifyRequest) => void {
  const forwarded = new Set([...settings.forwardHeaders, 'idempotency-key'])
  let isSaid = false
  return ({ public: { name: tool } }, { raw, log }) => {
    if (isSaid) return
    const headers = Object.keys(raw.headers).filter((name) =>
      CREDENTIAL.test(name) && !forwarded.has(name) && !NEVER_FORWARDED.test(name)
    )
    if (headers.length === 0) return
    isSaid = true
    log.warn(
      { tool, headers },
      'the route of a tool answered 401, and these headers of the call did not reach it. If one carries the ' +
        'credential, add it to forwardHeaders'
    )
  }
}
