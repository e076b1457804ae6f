import { randomUUID } from 'node:crypto'
import { Value } from '@sinclair/typebox/value'
import { about } from '../about.ts'
import { fingerprint, mintKey } from './format.ts'
import { demand, text } from '../option-checks.ts'
import { DUAL_AUTH_EXPIRY_PAST, DUAL_AUTH_KEY_LIMIT } from '../errors.ts'
import { hashFromKey } from './hash.ts'
import type { ApiKeyOptions, ResolvedApiKeyOptions } from '../options.ts'
import type { Queue } from './queue.ts'
import { resolveApiKeys } from '../resolve.ts'
import { NewKey } from '../management/schemas.ts'
import { recordFromNewKey, type ApiKeyRecord, type NewApiKey, type OnStored } from './store.ts'

/** What a new key is for. */
export interface KeyRequest {
  /** The shop's id as the host keeps it. */
  readonly shopId: string
  /** A label: 1 to 100 characters without control characters. */
  readonly name: string
  /** `read`, `write` or operation ids. Not compared with the routes. @default [], every operation of the shop */
  readonly scopes?: readonly string[]
  /** @default null, never */
  readonly expiresAt?: Date | null
  /** Who makes it, for the record. */
  readonly createdBy: string
}

/** A key that was made and stored. */
export interface CreatedKey {
  readonly key: ApiKeyRecord
  /** The key itself. It exists nowhere else. */
  readonly plaintext: string
}

/**
 * Makes and stores a key outside of a request, for a command or a script. Whoever can call it needs no token: it
 * takes the peppers and the store.
 *
 * @param options the `apiKeys` that the plugin is registered with
 * @param onStored called in the transaction of the insertion; if it rejects, there is no key
 * @throws {@link DUAL_AUTH_OPTION_INVALID} for options or a request of the wrong form
 * @throws {@link DUAL_AUTH_EXPIRY_PAST}, {@link DUAL_AUTH_KEY_LIMIT}, {@link DUAL_AUTH_SHOP_UNKNOWN}, and what the store throws
 */
export async function createApiKey (options: ApiKeyOptions, request: KeyRequest, onStored?: OnStored): Promise<CreatedKey> {
  const apiKeys = resolveApiKeys(options)
  const { shopId, name, scopes, createdBy } = request
  text('shopId', shopId)
  text('createdBy', createdBy)
  demand(Value.Check(NewKey.properties.name, name), 'name must be 1 to 100 characters without control characters')
  demand(scopes === undefined || scopes.length === 0 || Value.Check(NewKey.properties.scopes, scopes), 'scopes must be at most 64 different names of letters, digits and _.:/-')
  const { stored, plaintext } = await newKey(apiKeys, request, async work => work())
  if (!await apiKeys.store.insert(stored, apiKeys.maxPerShop, onStored)) throw new DUAL_AUTH_KEY_LIMIT(apiKeys.maxPerShop)
  return { key: recordFromNewKey(stored), plaintext }
}

/**
 * A key and what is stored of it.
 *
 * @param queue where the hash waits for the thread pool
 * @throws {@link DUAL_AUTH_EXPIRY_PAST}
 */
export async function newKey ({ marker, peppers, logN }: ResolvedApiKeyOptions, { shopId, name, scopes = [], expiresAt = null, createdBy }: KeyRequest, queue: Queue): Promise<{ stored: NewApiKey, plaintext: string }> {
  const createdAt = new Date()
  if (expiresAt !== null && !(expiresAt > createdAt)) throw about('expires_at', new DUAL_AUTH_EXPIRY_PAST())
  const { prefix, plaintext } = mintKey(marker)
  const [pepper] = peppers
  const secrets = { fingerprint: fingerprint(plaintext, pepper), pepperId: pepper.id, hash: await queue(async () => hashFromKey(plaintext, logN)) }
  return { stored: { id: randomUUID(), shopId, name, prefix, scopes, createdAt, createdBy, expiresAt, ...secrets }, plaintext }
}
