import { DUAL_AUTH_KEY_INACTIVE, DUAL_AUTH_KEY_LIMIT, DUAL_AUTH_KEY_REPLACED } from '../errors.ts'
import { LATEST } from './new-key.ts'
import { statusOfKey, type ApiKeyRecord, type NewApiKey, type Rotatable, type Rotation } from './store.ts'

/** How long a key works beside its successor, in seconds: a day, if the request does not say. */
export const DEFAULT_GRACE = 86_400
/** 30 days. A key that works for longer is a second key: create one. */
export const MAX_GRACE = 2_592_000

/** How a key is to be rotated. */
export interface RotationRequest {
  /** The new key. Its name and scopes become those of the key that it replaces, and so may its expiry. */
  readonly minted: NewApiKey
  /** How long the old key works, in seconds; with 0 it is revoked. */
  readonly grace: number
  /** Whether the successor never expires, whatever the key did. */
  readonly isEndless?: boolean
  /** `maxPerOwner`. */
  readonly limit: number
}

/**
 * Decides what a rotation writes. The successor has the name, owner and scopes of the key. Unless the request names an
 * expiry, or none, it lives from now for as long as the key was created to live. The grace never makes the old key live
 * longer.
 *
 * An owner at its limit can rotate, because a key and its working successor count as one; but no more than twice the
 * limit of keys work at once.
 *
 * @throws {@link DUAL_AUTH_KEY_INACTIVE}, {@link DUAL_AUTH_KEY_REPLACED}, {@link DUAL_AUTH_KEY_LIMIT}
 */
export function rotationFrom (
  { key, successor, working }: Rotatable,
  { minted, grace, limit, isEndless = false }: RotationRequest
): Rotation {
  const now = minted.createdAt
  const status = statusOfKey(key, now)
  if (status !== 'active') throw new DUAL_AUTH_KEY_INACTIVE(status)
  if (successor !== null && statusOfKey(successor, now) === 'active') throw new DUAL_AUTH_KEY_REPLACED(successor.id)
  if (!(working < 2 * limit)) throw new DUAL_AUTH_KEY_LIMIT(working)
  const { name, scopes } = key
  // The expiry of a key that was rotated before is the end of its grace; the last of its successors, which is lost, has
  // the length of life.
  const expiresAt = minted.expiresAt ?? (isEndless ? null : expiryAfter(now, successor ?? key))
  return {
    successor: { ...minted, name, scopes, expiresAt },
    ...(grace === 0
      ? { expiresAt: key.expiresAt, revokedAt: now }
      : { expiresAt: earlier(new Date(+now + grace * 1000), key.expiresAt), revokedAt: null })
  }
}

function expiryAfter (now: Date, { createdAt, expiresAt }: ApiKeyRecord): Date | null {
  return expiresAt === null ? null : new Date(Math.min(+now + +expiresAt - +createdAt, LATEST))
}

function earlier (end: Date, other: Date | null): Date {
  return new Date(Math.min(+end, +(other ?? end)))
}
