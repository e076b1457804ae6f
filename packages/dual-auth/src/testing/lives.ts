import { randomUUID } from 'node:crypto'
import { DUAL_AUTH_KEY_REPLACED } from '../errors.ts'
import { statusOfKey, type ApiKeyRecord, type ApiKeyStore, type Rotatable } from '../keys/store.ts'
import { after, has, holds, newKey, recordOf, rejects, rotation, same, START, times, type Check } from './check.ts'

const ONCE = 'Set revokedAt only where it is null, and compare the owner too.'
const TOLD =
  'Call the function that is told in the transaction of the change, after it, and undo all of the change if it rejects.'
const LOCKED =
  'rotate locks the owner as insert does, reads the key after the lock, and writes only if the key is still not ' +
  'revoked.'

/** One successor of each key, as the management routes decide. */
const once = (next: () => ReturnType<typeof rotation>) => ({ successor }: Rotatable) => {
  if (successor !== null && statusOfKey(successor, START) === 'active') throw new DUAL_AUTH_KEY_REPLACED(successor.id)
  return next()
}

/** What runs while a change of the store waits for `end`. */
function held (): { readonly begun: Promise<void>, readonly told: () => Promise<void>, end(error?: Error): void } {
  const [begin, wait] = [deferred(), deferred()]
  return {
    begun: begin.promise,
    told: async () => {
      begin.resolve()
      await wait.promise
    },
    end: (error) => {
      if (error === undefined) wait.resolve()
      else wait.reject(error)
    }
  }
}

export const LIVES: readonly Check[] = [
  {
    title: 'revokes a key once: the first revocation stands',
    mend: ONCE,
    run: async ({ store, inserted, listed }) => {
      const { ownerId, id, fingerprint } = await inserted()
      same([await store.revoke(ownerId, id, 'ada', after(1)), await store.revoke(ownerId, id, 'eve', after(2))], [
        true,
        true
      ], 'both revocations')
      has(await store.find([fingerprint]), { revokedAt: after(1) }, 'the key that is found')
      has((await listed(ownerId)).keys[0], { revokedAt: after(1) }, 'the key that is listed')
    }
  },
  {
    title: 'revokes no key of another owner, and none that is not there',
    mend: ONCE,
    run: async ({ store, inserted }) => {
      const { ownerId, id, fingerprint } = await inserted()
      same(
        [await store.revoke(randomUUID(), id, 'eve', START), await store.revoke(ownerId, randomUUID(), 'eve', START)],
        [false, false],
        'the revocations'
      )
      has(await store.find([fingerprint]), { revokedAt: null }, 'the key')
    }
  },
  {
    title: 'tells of a revocation once, and undoes it if that fails',
    mend: TOLD,
    run: async ({ store, inserted, listed }) => {
      const key = await inserted()
      const error = new RangeError('not told')
      const told: ApiKeyRecord[] = []
      const tell = async (record: ApiKeyRecord) => {
        told.push(record)
      }
      await rejects(
        store.revoke(key.ownerId, key.id, 'ada', START, async () => {
          throw error
        }),
        error,
        'revoke, where onStored rejects'
      )
      same((await listed(key.ownerId)).keys, [recordOf(key)], 'what it left')
      for (const by of ['ada', 'ben']) await store.revoke(key.ownerId, key.id, by, START, tell)
      await store.revoke(randomUUID(), key.id, 'eve', START, tell)
      same(told, [{ ...recordOf(key), revokedAt: START }], 'what was told')
    }
  },
  {
    title: 'of ten revocations at once, one is told of',
    mend: ONCE,
    run: async ({ replica, inserted }) => {
      const { ownerId, id } = await inserted()
      let told = 0
      const results = await Promise.all(
        times(10, async (n) =>
          replica(n).revoke(ownerId, id, 'ada', after(n), async () => {
            told++
          }))
      )
      same([results, told], [times(10, () => true), 1], 'what they returned, and how many were told')
    }
  },
  {
    title: 'finds no good key after its revocation has returned, on any replica',
    mend: 'find reads the current state on every call: no cache, no replica that lags, no snapshot of a transaction ' +
      'that began before.',
    run: async ({ replica, inserted }) => {
      for (let round = 0; round < 5; round++) {
        const { ownerId, id, fingerprint } = await inserted()
        const late: unknown[] = []
        const state = { isRevoked: false }
        const looking = times(4, async (n) => {
          for (let looks = 0; looks < 6 || !state.isRevoked; looks++) await replica(n).find([fingerprint])
          late.push((await replica(n).find([fingerprint]))?.revokedAt ?? null)
        })
        await replica(round).revoke(ownerId, id, 'ada', after(1))
        state.isRevoked = true
        await Promise.all(looking)
        same(late, late.map(() => after(1)), 'revokedAt of what was found afterwards')
      }
    }
  },
  {
    title: 'a rotation reads the key, and writes it and its successor',
    mend: 'rotate passes the key, its last successor and how many keys work to plan, and writes what that returns.',
    run: async ({ store, inserted, listed }) => {
      const key = await inserted({ expiresAt: after(90) })
      await inserted({ ownerId: key.ownerId, createdAt: after(-20), expiresAt: after(-10) })
      const successor = newKey({ ownerId: key.ownerId, createdAt: after(1), createdBy: 'ada', expiresAt: after(91) })
      const told: unknown[] = []
      const rotated = await store.rotate(key.ownerId, key.id, after(1), (found) => {
        same(found, { key: recordOf(key), successor: null, working: 1 }, 'what plan gets')
        return { successor, expiresAt: after(2), revokedAt: null }
      }, async (rotated) => {
        told.push(rotated)
      })
      const wanted = {
        key: { ...recordOf(successor), replaces: key.id },
        replaced: { ...recordOf(key), expiresAt: after(2), replacedBy: successor.id }
      }
      same([rotated, told], [wanted, [wanted]], 'what is returned and told')
      same((await listed(key.ownerId)).keys.slice(1), [wanted.replaced, wanted.key], 'the list')
      has(await store.find([successor.fingerprint]), {
        id: successor.id,
        pepperId: 'p1',
        expiresAt: after(91),
        revokedAt: null
      }, 'the successor')
      has(await store.find([key.fingerprint]), { id: key.id, expiresAt: after(2), revokedAt: null }, 'the old key')
    }
  },
  {
    title: 'a rotation can end the old key at once, and follow one whose successor was lost',
    mend: 'rotate writes revokedAt if plan returns one, and replacedBy is the latest successor.',
    run: async ({ store, inserted, listed }) => {
      const { ownerId, id, fingerprint } = await inserted()
      const { successor: lost } = await store.rotate(ownerId, id, START, () => rotation(ownerId)).then((rotated) => ({
        successor: rotated!.key
      }))
      await store.revoke(ownerId, lost.id, 'ada', after(0.1))
      const next = newKey({ ownerId, createdAt: after(0.2), createdBy: 'ben' })
      await store.rotate(ownerId, id, after(0.2), ({ successor, working }) => {
        same([successor?.id, successor?.revokedAt, working], [lost.id, after(0.1), 1], 'what plan gets')
        return { successor: next, expiresAt: after(1), revokedAt: after(0.2) }
      })
      has(await store.find([fingerprint]), { expiresAt: after(1), revokedAt: after(0.2) }, 'the old key')
      has((await listed(ownerId)).keys.find((key) => key.id === id), { replacedBy: next.id }, 'the old key')
    }
  },
  {
    title: 'the successor of a key is the last in the line that works, or else the last',
    mend: 'Follow replacedBy from key to key.',
    run: async ({ store, inserted }) => {
      const { ownerId, id } = await inserted()
      const line = [id]
      for (let n = 0; n < 3; n++) {
        line.push(
          (await store.rotate(ownerId, line[n]!, START, () => ({ ...rotation(ownerId), expiresAt: after(9) })))!.key.id
        )
      }
      const stop = new RangeError('only looking')
      const successorAt = async (at: Date) => {
        let found: string | undefined
        await rejects(
          store.rotate(ownerId, id, at, ({ successor }) => {
            found = successor?.id
            throw stop
          }),
          stop,
          'rotate, where plan throws'
        )
        return line.indexOf(String(found))
      }
      same(await successorAt(after(1)), 3, 'the last one works')
      await store.revoke(ownerId, line[3]!, 'ada', START)
      same(
        [await successorAt(after(1)), await successorAt(after(9))],
        [2, 3],
        'the last one is revoked, and later the others have expired'
      )
    }
  },
  {
    title: 'a rotation that fails leaves nothing, whoever fails',
    mend: TOLD,
    run: async ({ store, inserted, listed }) => {
      const key = await inserted()
      const error = new RangeError('not this one')
      await rejects(
        store.rotate(key.ownerId, key.id, START, () => {
          throw error
        }),
        error,
        'rotate, where plan throws'
      )
      await rejects(
        store.rotate(key.ownerId, key.id, START, () => rotation(key.ownerId), async () => {
          throw error
        }),
        error,
        'rotate, where onRotated rejects'
      )
      for (const [ownerId, id] of [[randomUUID(), key.id], [key.ownerId, randomUUID()]] as const) {
        same(await store.rotate(ownerId, id, START, () => rotation(ownerId)), null, 'a key that is not there')
      }
      same((await listed(key.ownerId)).keys, [recordOf(key)], 'the keys')
    }
  },
  {
    title: 'of ten rotations at once, one makes a successor',
    mend: LOCKED,
    run: async ({ replica, inserted, listed }) => {
      const { ownerId, id } = await inserted()
      const results = await Promise.allSettled(
        times(10, async (n) => replica(n).rotate(ownerId, id, START, once(() => rotation(ownerId))))
      )
      const failed = results.filter((result) => result.status === 'rejected').map(({ reason }) =>
        reason instanceof DUAL_AUTH_KEY_REPLACED ? 'replaced' : String(reason)
      )
      same(failed, times(9, () => 'replaced'), 'how the others end')
      same((await listed(ownerId)).count, 2, 'how many keys there are')
    }
  },
  {
    title: 'a revocation and a rotation at once: the key is revoked',
    mend: LOCKED,
    run: async ({ replica, inserted, store, listed }) => {
      for (let round = 0; round < 6; round++) {
        const { ownerId, id, fingerprint } = await inserted()
        const plan = ({ key }: Rotatable) => {
          if (key.revokedAt !== null) throw new RangeError('revoked')
          return rotation(ownerId)
        }
        const [revoked, rotated] = await Promise.allSettled([
          replica(round).revoke(ownerId, id, 'ada', after(1)),
          replica(round + 1).rotate(ownerId, id, START, plan)
        ])
        same(revoked, { status: 'fulfilled', value: true }, 'the revocation')
        has(await store.find([fingerprint]), { revokedAt: after(1) }, 'the old key')
        same(
          (await listed(ownerId)).count,
          rotated.status === 'fulfilled' ? 2 : 1,
          'how many keys there are, the successor only if the rotation says so'
        )
      }
    }
  },
  {
    title: 'a revocation during a rotation that fails is not undone with it',
    mend: LOCKED,
    run: async ({ replica, store, inserted, listed }) => {
      const key = await inserted()
      const { begun, told, end } = held()
      const error = new RangeError('not told')
      const rotating = rejects(
        replica(0).rotate(key.ownerId, key.id, START, () => rotation(key.ownerId), told),
        error,
        'rotate, where onRotated rejects'
      )
      await begun
      const revoking = replica(1).revoke(key.ownerId, key.id, 'ada', after(1))
      end(error)
      await rotating
      same(await revoking, true, 'the revocation')
      same((await listed(key.ownerId)).keys, [{ ...recordOf(key), revokedAt: after(1) }], 'the keys')
      holds((await store.find([key.fingerprint]))?.revokedAt !== null, 'the key works again')
    }
  },
  {
    title: 'creations and rotations at once do not pass twice the limit',
    mend: LOCKED,
    run: async ({ replica, listed }) => {
      const ownerId = randomUUID()
      const limit = 3
      const create = async (store: ApiKeyStore) => store.insert(newKey({ ownerId }), limit)
      for (let round = 0; round < 3; round++) {
        const { keys } = await listed(ownerId)
        const rotate = (id: string) => async (store: ApiKeyStore) =>
          store.rotate(ownerId, id, START, (found) => {
            if (found.working >= 2 * limit) throw new RangeError('full')
            return once(() => rotation(ownerId))(found)
          })
        await Promise.allSettled(
          [...times(5, () => create), ...keys.map(({ id }) => rotate(id))].map(async (work, n) => work(replica(n)))
        )
      }
      const { keys } = await listed(ownerId)
      same(
        [keys.length, keys.filter(({ replacedBy }) => replacedBy === null).length],
        [2 * limit, limit],
        'how many work, and how many of them are not replaced'
      )
    }
  }
]

function deferred (): { readonly promise: Promise<void>, resolve(): void, reject(error: Error): void } {
  let [resolve, reject] = [() => {}, (_error: Error) => {}]
  const promise = new Promise<void>((_resolve, _reject) => {
    ;[resolve, reject] = [_resolve, _reject]
  })
  return { promise, resolve: () => resolve(), reject: (error) => reject(error) }
}
