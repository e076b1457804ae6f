import type { KeyRow } from './key-row.ts'
import { tableStore, type KeyTable } from './key-table.ts'
import type { ApiKeyStore } from './store.ts'

/** What undoes the changes of a transaction, in their order. */
type Undo = Array<() => void>

/** A store that loses everything when the process ends: for first steps and for tests. */
export function memoryStore (): ApiKeyStore {
  const { insert, revoke, rotate, ...store } = tableStore(memoryTable())
  // The host has nothing to write into.
  const without = <T>(tell?: (change: T, transaction: unknown) => Promise<void>) =>
    tell && (async (change: T) => tell(change, undefined))
  return {
    ...store,
    insert: async (key, limit, onStored) => insert(key, limit, without(onStored)),
    revoke: async (ownerId, id, by, at, onStored) => revoke(ownerId, id, by, at, without(onStored)),
    rotate: async (ownerId, id, at, plan, onRotated) => rotate(ownerId, id, at, plan, without(onRotated))
  }
}

function memoryTable (): KeyTable<Undo> {
  const rows = new Map<string, KeyRow>()
  let last: Promise<unknown> = Promise.resolve()

  return {
    async transaction (_ownerId, work) {
      const undo: Undo = []
      // One after another: while the host's function runs for one, no other may build on it.
      const result = last.then(async () => work(undo))
      last = result.catch(() => {
        for (const step of undo.toReversed()) step()
      })
      await last
      return result
    },
    async find (column, values) {
      return [...rows.values()].filter((row) => values.includes(row[column]))
    },
    async due (at, limit) {
      return [...rows.values()].filter(({ noticeAt }) => noticeAt !== null && noticeAt <= at).sort((a, b) =>
        a.noticeAt! - b.noticeAt!
      ).slice(0, limit)
    },
    async insert (row, undo) {
      if (
        [...rows.values()].some(({ id, fingerprint, prefix }) =>
          id === row.id || fingerprint === row.fingerprint || prefix === row.prefix
        )
      ) throw new Error('an API key with this id, fingerprint or prefix is stored already')
      rows.set(row.id, row)
      undo.push(() => {
        rows.delete(row.id)
      })
    },
    async update (id, was, changes, undo) {
      const row = rows.get(id)
      if (
        row === undefined || (Object.keys(was) as Array<keyof KeyRow>).some((column) => row[column] !== was[column])
      ) return false
      rows.set(id, { ...row, ...changes })
      // Only what it changed: uses are written meanwhile.
      const before = Object.fromEntries(
        (Object.keys(changes) as Array<keyof KeyRow>).map((column) => [column, row[column]])
      )
      undo?.push(() => {
        rows.set(id, { ...rows.get(id)!, ...before })
      })
      return true
    }
  }
}
