import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { whoIn } from '../access/caller.ts'

/** Who made a request, and in which shop: for the log and for spans. Nothing in it is a name or a secret. */
export interface CalledBy {
  readonly caller: 'api-key' | 'user' | 'machine' | 'anybody'
  /**
   * The id of the person or API key, or the client id of the machine. Undefined for anybody, and for a person who was
   * refused before they were looked up.
   */
  readonly callerId: string | undefined
  /** Of a person, see {@link digestOfSubject}. */
  readonly subjectDigest: string | undefined
  readonly shopId: string | undefined
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** How many hexadecimal digits of the digest are kept. */
const DIGITS = 16

/** Who made a request, also one that was refused: a key that was revoked or has another shop still names its holder. */
export function calledBy (request: FastifyRequest): CalledBy {
  const { told, identity, refusedKey, params } = request
  const named = (params as { readonly shop_id?: string } | null)?.shop_id
  const shopOfPath = named !== undefined && ID.test(named) ? named : undefined
  const refused = told?.limited ?? (refusedKey && { keyId: refusedKey.id, shopId: shopOfPath ?? refusedKey.ownerId })
  if (refused) return { caller: 'api-key', callerId: refused.keyId, subjectDigest: undefined, shopId: refused.shopId }
  const { kind, id } = whoIn(request)
  return {
    // A person is looked up after the limits.
    caller: identity?.kind ?? (kind === 'user' ? kind : 'anybody'),
    callerId: id ?? undefined,
    subjectDigest: identity?.kind === 'user' ? digestOfSubject(request.server.personOf(identity)) : undefined,
    shopId: identity?.kind === 'api-key' ? identity.ownerId : told?.shopId ?? request.shop?.id ?? shopOfPath
  }
}

/**
 * The beginning of the SHA-256 of what a person is known by, in hexadecimal. `users.subject` has the value itself, so
 * the database can find whose it is.
 */
export function digestOfSubject (subject: string): string {
  return createHash('sha256').update(subject).digest('hex').slice(0, DIGITS)
}
