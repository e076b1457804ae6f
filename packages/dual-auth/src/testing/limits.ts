import { randomUUID } from 'node:crypto'
import type { ApiKeyRecord } from '../keys/store.ts'
import { after, has, newKey, recordOf, rejects, rotation, same, START, times, type Check } from './check.ts'

const COUNT =
  'insert counts the keys of the owner that are neither revoked nor expired at createdAt, and that no other replaces.'
const RACE =
  'Count and insert in one transaction that locks the owner first, and read after the lock what others have committed.'
const TOLD = 'Call onStored in the transaction of the change, after it, and undo the change if it rejects.'

export const LIMITS: readonly Check[] = [
  {
    title: 'stores a key if there is room, and none above the limit',
    mend: COUNT,
    run: async ({ store, listed }) => {
      const ownerId = randomUUID()
      same(
        [
          await store.insert(newKey({ ownerId }), 2),
          await store.insert(newKey({ ownerId }), 2),
          await store.insert(newKey({ ownerId }), 2)
        ],
        [true, true, false],
        'three keys at a limit of 2'
      )
      same((await listed(ownerId)).count, 2, 'how many are stored')
    }
  },
  {
    title: 'counts no revoked and no expired key',
    mend: COUNT,
    run: async ({ store, inserted }) => {
      const { id, ownerId } = await inserted()
      await inserted({ ownerId, createdAt: after(-2), expiresAt: after(-1) })
      same(await store.insert(newKey({ ownerId }), 1), false, 'one active key at a limit of 1')
      await store.revoke(ownerId, id, 'ada', START)
      same(await store.insert(newKey({ ownerId }), 1), true, 'after the active key was revoked')
    }
  },
  {
    title: 'counts a key until the millisecond in which it ends',
    mend: 'A key has expired when expiresAt is at or before the moment. Compare milliseconds, not seconds.',
    run: async ({ store }) => {
      const ownerId = randomUUID()
      await store.insert(newKey({ ownerId, createdAt: new Date(+START - 2), expiresAt: START }), 1)
      same(
        await store.insert(newKey({ ownerId, createdAt: new Date(+START - 1) }), 1),
        false,
        'a millisecond before the end'
      )
      same(await store.insert(newKey({ ownerId, createdAt: START }), 1), true, 'at the end')
    }
  },
  {
    title: 'counts the keys of one owner only',
    mend: COUNT,
    run: async ({ store }) => {
      for (const ownerId of times(3, () => randomUUID())) {
        same(await store.insert(newKey({ ownerId }), 1), true, 'the first key of an owner')
      }
    }
  },
  {
    title: 'twenty creations at once do not pass the limit',
    mend: RACE,
    run: async ({ replica, listed }) => {
      const ownerId = randomUUID()
      const results = await Promise.all(times(20, async (n) => replica(n).insert(newKey({ ownerId }), 3)))
      same(results.filter(Boolean).length, 3, 'how many of 20 were stored at a limit of 3')
      same((await listed(ownerId)).count, 3, 'how many there are')
    }
  },
  {
    title: 'of two that want the last place at once, one gets it',
    mend: RACE,
    run: async ({ replica, inserted }) => {
      for (let round = 0; round < 8; round++) {
        const { ownerId } = await inserted()
        const results = await Promise.all(times(2, async (n) => replica(n).insert(newKey({ ownerId }), 2)))
        same(results.filter(Boolean).length, 1, 'how many of two got the last place')
      }
    }
  },
  {
    title: 'the first keys of twenty owners at once are all stored',
    mend: 'Lock a row that exists, or by a named lock: a lock on rows that are not there yet is one on the gap ' +
      'between others, and two of those wait for each other.',
    run: async ({ replica }) => {
      const results = await Promise.allSettled(times(20, async (n) => replica(n).insert(newKey(), 1)))
      same(
        results.filter(({ status }) => status === 'rejected').map((result) =>
          String((result as PromiseRejectedResult).reason)
        ),
        [],
        'what failed'
      )
    }
  },
  {
    title: 'a key that is replaced makes room for its successor, and no more than twice the limit work',
    mend: `${COUNT} It also returns false if twice the limit of keys work, replaced ones included.`,
    run: async ({ store, inserted, listed }) => {
      const { ownerId, id } = await inserted()
      const other = await inserted({ ownerId })
      const insert = async () => store.insert(newKey({ ownerId }), 2)
      for (const [n, replaced] of [id, other.id].entries()) {
        const { successor } = rotation(ownerId)
        await store.rotate(ownerId, replaced, START, ({ working }) => {
          same(working, 2 + n, 'how many work')
          return { successor, expiresAt: after(1), revokedAt: null }
        })
        same(await insert(), false, 'a successor counts for the key that it replaces')
        await store.revoke(ownerId, successor.id, 'ada', START)
        same(await insert(), true, 'the successor was lost: the old key works and leaves room')
      }
      same(await insert(), false, 'four work')
      const [one, another] = (await listed(ownerId)).keys.filter(({ replacedBy, revokedAt }) =>
        replacedBy === null && revokedAt === null
      )
      await store.revoke(ownerId, one!.id, 'ada', START)
      await store.rotate(ownerId, another!.id, START, () => rotation(ownerId))
      same(await insert(), false, 'four work, of which one was not replaced')
    }
  },
  {
    title: 'tells of a key that is stored, once, and undoes it if that fails',
    mend: TOLD,
    run: async ({ store, listed }) => {
      const key = newKey()
      const error = new RangeError('not told')
      const told: ApiKeyRecord[] = []
      const tell = async (record: ApiKeyRecord) => {
        told.push(record)
      }
      await rejects(
        store.insert(key, 1, async () => {
          throw error
        }),
        error,
        'insert, where onStored rejects'
      )
      same(
        await listed(key.ownerId),
        { keys: [], count: 0, counts: { active: 0, expired: 0, revoked: 0 } },
        'what it left'
      )
      same(await store.insert(key, 1, tell), true, 'the key')
      same(await store.insert(newKey({ ownerId: key.ownerId }), 1, tell), false, 'one too many')
      same(told, [recordOf(key)], 'what was told')
    }
  },
  {
    title: 'replaces derived values only while the hash is still the previous one',
    mend: 'rehash compares the hash in the statement that writes.',
    run: async ({ store, replica, inserted }) => {
      const key = await inserted()
      const next = times(2, () => ({ fingerprint: newKey().fingerprint, pepperId: 'p2', hash: newKey().hash }))
      await store.rehash(key.id, newKey().hash, next[0]!)
      same(await store.find([next[0]!.fingerprint]), null, 'with another previous hash')
      await Promise.all(next.map(async (secrets, n) => replica(n).rehash(key.id, key.hash, secrets)))
      same(await store.find([key.fingerprint]), null, 'the old fingerprint')
      const found = (await Promise.all(next.map(async ({ fingerprint }) => store.find([fingerprint])))).filter((row) =>
        row !== null
      )
      same(found.length, 1, 'how many of two at once were written')
      has(found[0], {
        id: key.id,
        ownerId: key.ownerId,
        scopes: key.scopes,
        pepperId: 'p2',
        hash: next.find(({ fingerprint }) => fingerprint.equals(found[0]!.fingerprint))!.hash
      }, 'the key')
    }
  }
]
