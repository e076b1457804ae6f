import { randomBytes, randomUUID } from 'node:crypto'
import type { ApiKeyRecord, NewApiKey } from '../src/index.ts'
import { SHOP } from './build.ts'

/** A row to insert, whose key nobody knows. */
export const newKey = (change: Partial<NewApiKey> = {}): NewApiKey => ({
  id: randomUUID(),
  shopId: SHOP,
  name: "O'Neill <b>\u{1F511}</b>",
  prefix: randomBytes(6).toString('hex'),
  scopes: ['read', 'a,b', '{"x"}'],
  fingerprint: randomBytes(32),
  pepperId: 'p1',
  hash: randomBytes(96),
  createdAt: new Date(),
  createdBy: 'user-1',
  expiresAt: null,
  ...change
})

/** What a list shows of a key that nothing has happened to. */
export const recordOf = ({ id, shopId, name, prefix, scopes, createdAt, createdBy, expiresAt }: NewApiKey): ApiKeyRecord =>
  ({ id, shopId, name, prefix, scopes, createdAt, createdBy, lastUsedAt: null, lastUsedNetwork: null, expiresAt, revokedAt: null, replaces: null, replacedBy: null })
