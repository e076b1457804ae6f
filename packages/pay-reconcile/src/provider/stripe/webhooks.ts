import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import type { WebhookVerifier } from '../types.ts'

/** How old a signature may be, in seconds. */
const TOLERANCE = 300
const SECRET_PATTERN = /^whsec_[A-Za-z0-9+/=_-]{16,250}$/
/** Types of events, also of thin ones, which start with a version: `v1.customer.updated`. */
const ABOUT_CUSTOMERS = /^(?:v\d{1,4}\.)?customer\./
/** In characters. A header has one signature for each secret of an endpoint. */
const MAX_HEADER = 2000

/**
 * Signatures of Stripe, verified by its library.
 *
 * @see [Stripe: verify webhook signatures](https://docs.stripe.com/webhooks/signature)
 */
export function webhookVerifier ({ webhooks }: Pick<Stripe, 'webhooks'>): WebhookVerifier {
  return {
    isSecret: (secret) => SECRET_PATTERN.test(secret),

    isSigned ({ 'stripe-signature': header }) {
      const time = timeOf(header)
      // The library accepts signatures from the future.
      return time !== undefined && Math.abs(Date.now() / 1000 - time) <= TOLERANCE + 1
    },

    verify ({ headers: { 'stripe-signature': header }, body, secret }) {
      const time = timeOf(header)
      if (typeof header !== 'string' || time === undefined || !SECRET_PATTERN.test(secret)) return undefined
      try {
        // Strict: the library decodes several bodies to the same text, and then a copy would pass for another delivery.
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
        // Not `constructEvent`: it throws for thin events.
        if (webhooks.signature?.verifyHeader(text, header, secret, TOLERANCE) !== true) return undefined
        const { type } = JSON.parse(text)
        return {
          id: createHash('sha256').update(`${time}.${text}`).digest('base64url'),
          isAboutCustomers: typeof type === 'string' && ABOUT_CUSTOMERS.test(type)
        }
      } catch {
        return undefined
      }
    }
  }
}

/** The time of a signature in seconds since 1970, as the library reads it; undefined if that is not clear. */
function timeOf (header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header.length > MAX_HEADER) return undefined
  const [time, ...others] = header.split(',').filter((item) => item.startsWith('t='))
  return time !== undefined && others.length === 0 && /^t=\d{1,12}$/.test(time) ? Number(time.slice(2)) : undefined
}
