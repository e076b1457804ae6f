import t from 'tap'
import { createKnownHashes } from '../src/keys/known-hashes.ts'
import type { StoredApiKey } from '../src/index.ts'

const row = (id: string, hash = 1): StoredApiKey =>
  ({ id, hash: Buffer.alloc(96, hash), fingerprint: Buffer.alloc(32), pepperId: 'p', shopId: 's', scopes: [], expiresAt: null, revokedAt: null })
const fingerprint = (byte: number): Buffer => Buffer.alloc(32, byte)

t.test('a hash is known with the row and the key that it was verified with, and with no other', async t => {
  const known = createKnownHashes()
  known.add(row('a'), fingerprint(1))
  for (const [title, expected, stored, key] of [
    ['the same', true, row('a'), fingerprint(1)],
    ['another row', false, row('b'), fingerprint(1)],
    ['another hash', false, row('a', 2), fingerprint(1)],
    ['a shorter hash', false, { ...row('a'), hash: Buffer.alloc(95, 1) }, fingerprint(1)],
    ['no hash', false, { ...row('a'), hash: Buffer.alloc(0) }, fingerprint(1)],
    ['another key', false, row('a'), fingerprint(2)]
  ] as const) t.equal(known.has(stored, key), expected, title)
  known.add(row('a', 2), fingerprint(1))
  t.notOk(known.has(row('a'), fingerprint(1)), 'the earlier one is forgotten')
})

t.test('the one that was used longest ago is forgotten when there are too many', async t => {
  const known = createKnownHashes(2)
  for (const id of ['a', 'b', 'b']) known.add(row(id), fingerprint(1))
  t.ok(known.has(row('a'), fingerprint(1)))
  known.add(row('c'), fingerprint(1))
  t.strictSame(['a', 'b', 'c'].map(id => known.has(row(id), fingerprint(1))), [true, false, true])
})

t.test('a key whose hash has changed counts as used when that was verified', async t => {
  const known = createKnownHashes(2)
  for (const [id, hash] of [['a', 1], ['b', 1], ['a', 2], ['c', 1]] as const) known.add(row(id, hash), fingerprint(1))
  t.strictSame([['a', 2], ['b', 1], ['c', 1]].map(([id, hash]) => known.has(row(id as string, hash as number), fingerprint(1))), [true, false, true])
})
