import type { FastifyRequest } from 'fastify'
import { PARENT_REQUEST } from 'mcp-from-routes'
import { CONFIRMATION } from 'mcp-from-routes/confirm'

/** Whether this is the inner request of a tool call: the outer one was authenticated and counted already. */
export function isInner ({ raw }: Pick<FastifyRequest, 'raw'>): boolean {
  return PARENT_REQUEST in raw
}

/** Characters that are kept of the name that a client gives itself. */
const NAME = 40

/** The client in which a person confirmed this call, as it calls itself; null where nobody was asked. */
export function confirmedIn ({ raw }: Pick<FastifyRequest, 'raw'>): string | null {
  const confirmation = raw[CONFIRMATION]
  if (confirmation === undefined) return null
  return confirmation.client?.replace(/[^\x20-\x7e]/g, '').slice(0, NAME).trim() || 'unknown'
}
