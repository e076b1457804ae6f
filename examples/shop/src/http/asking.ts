import type { FastifyRequest } from 'fastify'
import type { Confirm } from 'mcp-from-routes/confirm'

/** The question to a person before an agent's call runs, and what it was about. */
export interface Asking<Effects> {
  readonly confirm: Extract<Confirm, (...args: never) => unknown>
  /**
   * Holds a call to its question: others may change the shop after that, and the handler reads it again.
   *
   * @returns a function that gets what the handler would do, and throws {@link SHOP_CONFLICT} if the question would now
   *   be another
   *   one, or if there was none and would be one; undefined for a request that is no such call
   */
  readonly holder: (request: FastifyRequest) => ((effects: Effects) => void) | undefined
}
