import { createError } from '@fastify/error'

/**
 * A delivery to the webhook route that is unsigned, invalid, too old, too large or a copy, or whose shop does not
 * exist.
 */
export const PAY_RECONCILE_WEBHOOK_REFUSED = createError(
  'PAY_RECONCILE_WEBHOOK_REFUSED',
  'The delivery was refused',
  400
)
