import type { FastifyRequest } from 'fastify'
import { PARENT_REQUEST } from 'mcp-from-routes'

/** Whether this is the inner request of a tool call: the outer one was authenticated and counted already. */
export function isInner ({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return PARENT_REQUEST in raw
}
