import type { FastifyRequest } from 'fastify'
import { PARENT_REQUEST } from 'mcp-from-routes'

/** Whether the request is the inner one of a tool call: part of a request that has been let in and counted already. */
export function isInner ({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return PARENT_REQUEST in raw
}
