import { randomUUID } from 'node:crypto'
import { isDate } from 'node:util/types'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { type Complete, type Table, TEXT } from '#shared/option-table'
import { DUAL_AUTH_EXPIRY_PAST, DUAL_AUTH_KEY_LIMIT, DUAL_AUTH_NAME_BLANK } from '../errors.ts'
import { errorOfField } from '../field-error.ts'
import { settingsBy } from '../option-checks.ts'
import { apiKeySettings, type ApiKeyOptions, type ApiKeySettings } from '../options.ts'
import { fingerprint, mintKey } from './format.ts'
import { hashFromKey } from './hash.ts'
import { keyName } from './key-name.ts'
import type { Queue } from './queue.ts'
import { hasEnded, recordFromNewKey, type ApiKeyRecord, type NewApiKey, type OnStored } from './store.ts'

/** What a new key is for. */
export interface KeyRequest {
  /** The owner's id as the host stores it. */
  readonly ownerId: string
  /**
   * A label: 1 to 100 characters without control characters. Spaces around it, and characters that show nothing, are
   * dropped.
   */
  readonly name: string
  /**
   * `'all'`, every operation of the owner; or at least one of `read`, `write` and operation ids. Not compared with the
   * routes.
   */
  readonly scopes: readonly string[] | 'all'
  /** @default null, never */
  readonly expiresAt?: Date | null
  /** Who creates it, for the record. */
  readonly createdBy: string
}

/** A key that was created and stored. */
export interface CreatedKey {
  readonly key: ApiKeyRecord
  /** The key itself. It exists nowhere else. */
  readonly plaintext: string
}

/** Later dates are written with a sign and a six-digit year, which RFC 3339 does not allow. */
export const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

// No control characters: PostgreSQL rejects NUL, and the others garble a list. No half of a surrogate pair: no database
// stores one as it came. The same with and without the flag `u`, which Ajv sets and TypeBox does not.
export const PRINTABLE = '^(?:[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$'
export const KeyName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: PRINTABLE,
  description: 'A label of your own'
})
const KeyScopes = Type.Array(
  Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.:/-]+$' }),
  { minItems: 1, maxItems: 64, uniqueItems: true }
)
/** In the body of a request: one schema, so that errors name the field and not the members of a union. */
export const KeyScopesOrAll = Type.Unsafe<string[] | 'all'>({
  ...KeyScopes,
  type: ['array', 'string'],
  pattern: '^all$',
  description: 'read, write or operation ids. all, or left out: every operation'
})

const REQUEST: Table<Complete<KeyRequest, 'expiresAt'>> = {
  ownerId: { ...TEXT, required: true },
  name: {
    holds: (name) => Value.Check(KeyName, name),
    rule: 'must be 1 to 100 characters without control characters and lone surrogates',
    required: true
  },
  scopes: {
    holds: (scopes) => scopes === 'all' || (Value.Check(KeyScopes, scopes) && !scopes.includes('all')),
    rule: "must be 'all', or an array of 1 to 64 different names of letters, digits and _.:/-",
    required: true
  },
  expiresAt: { holds: (at) => at === null || isDate(at), rule: 'must be a Date, or null' },
  createdBy: { ...TEXT, required: true }
}

/**
 * Creates and stores a key outside of a request, for a command or a script. The caller needs no token, but the peppers
 * and the store.
 *
 * @param options - the `apiKeys` that the plugin is registered with
 * @param onStored - called in the transaction of the insertion; if it rejects, no key is created
 * @throws {@link DUAL_AUTH_INVALID_OPTION} for wrong options or a malformed request
 * @throws {@link DUAL_AUTH_EXPIRY_PAST}, {@link DUAL_AUTH_NAME_BLANK}, {@link DUAL_AUTH_KEY_LIMIT},
 *   {@link DUAL_AUTH_OWNER_UNKNOWN}, and what the store throws
 */
export async function createApiKey (
  options: ApiKeyOptions,
  request: KeyRequest,
  onStored?: OnStored
): Promise<CreatedKey> {
  const settings = apiKeySettings(options)
  // With `scope` and `expires_at` ignored, the key would open everything, for ever.
  settingsBy(REQUEST, request, 'createApiKey')
  const { stored, plaintext } = await newKey(settings, request, async (work) => work())
  if (!await settings.store.insert(stored, settings.maxPerOwner, onStored)) {
    throw new DUAL_AUTH_KEY_LIMIT(settings.maxPerOwner)
  }
  return { key: recordFromNewKey(stored), plaintext }
}

/**
 * Generates a key, and the row to store for it.
 *
 * @param queue - where the hash waits for the thread pool
 * @throws {@link DUAL_AUTH_EXPIRY_PAST}, {@link DUAL_AUTH_NAME_BLANK}
 */
export async function newKey (
  { marker, peppers, logN }: ApiKeySettings,
  { ownerId, name, scopes, expiresAt = null, createdBy }: KeyRequest,
  queue: Queue
): Promise<{ stored: NewApiKey, plaintext: string }> {
  const label = keyName(name)
  // The name of a successor comes from the key that it replaces.
  if (label === '' && name !== '') throw errorOfField('name', new DUAL_AUTH_NAME_BLANK())
  // As verification reads the clock.
  const createdAt = new Date(Date.now())
  if (hasEnded(expiresAt, createdAt)) throw errorOfField('expires_at', new DUAL_AUTH_EXPIRY_PAST())
  const { prefix, plaintext } = mintKey(marker)
  const [pepper] = peppers
  const secrets = {
    fingerprint: fingerprint(plaintext, pepper),
    pepperId: pepper.id,
    hash: await queue(async () => hashFromKey(plaintext, logN))
  }
  const key = { id: randomUUID(), ownerId, name: label, prefix, createdAt, createdBy, expiresAt, ...secrets }
  return { stored: { ...key, scopes: scopes === 'all' ? [] : scopes }, plaintext }
}
