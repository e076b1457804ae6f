import type { ApiKeyOwner } from 'fastify'
import { DUAL_AUTH_INVALID_OPTION, DUAL_AUTH_KEY_INACTIVE, DUAL_AUTH_OWNER_UNKNOWN } from '../errors.ts'
import { pageOf } from './page.ts'
import {
  COLUMNS,
  hex,
  readRow,
  recordFromRow,
  rowFromNewKey,
  storedFromRow,
  textFromSecrets,
  type FoundRow,
  type KeyRow
} from './key-row.ts'
import { usedRow } from './key-use.ts'
import { noticed, noticesDue } from './notices-due.ts'
import {
  recordFromNewKey,
  statusOfKey,
  type ApiKeyRecord,
  type ApiKeyStore,
  type KeyNotice,
  type NotableUse
} from './store.ts'

/** A change of the row with this id, if its columns have the values of `was`. */
export interface RowChange {
  readonly id: string
  readonly was: Partial<KeyRow>
  readonly changes: Partial<KeyRow>
}

/**
 * A table of keys in any database: five functions over rows of strings and whole numbers. {@link tableStore} makes a
 * store of it. Rows that are found may be more than those asked for, as where a collation ignores case: the store
 * compares again.
 */
export interface KeyTable<Transaction = unknown> {
  /** Called once at startup, as {@link ApiKeyStore.ready} is. */
  ready?(): Promise<void>
  /**
   * Runs the work in a transaction that no other with the same `ownerId` runs beside: by a lock that it takes first, or
   * in one transaction at a time. Reads after the lock must see what others committed before it: `read committed`, or a
   * lock in the first statement. Undone if the work rejects.
   *
   * Where an owner's id has several spellings, as a UUID has, the work also gets the one that is stored: null if no
   * owner can have this id.
   */
  transaction<T>(
    ownerId: string,
    work: (transaction: Transaction, storedOwnerId?: string | null) => Promise<T>
  ): Promise<T>
  /**
   * The same without a lock, for a revocation: it then does not wait while `onKeyChange` runs for another key of the
   * owner. The database must let `update` wait for others that change the row. Default: `transaction`.
   */
  revocation?: KeyTable<Transaction>['transaction']
  /**
   * Reads the rows with one of these values in a column; inside a transaction if there is one.
   *
   * @param workingAt - if it is set, keys that are revoked, or ended at or before this time, may be left out: an owner
   *   may have thousands
   */
  find(
    column: 'id' | 'fingerprint' | 'ownerId',
    values: readonly string[],
    transaction: Transaction | undefined,
    workingAt?: number
  ): Promise<readonly FoundRow[]>
  /** Reads the rows whose `noticeAt` is at or before a time, the earliest first, at most so many. */
  due(at: number, limit: number): Promise<readonly FoundRow[]>
  /** @throws {@link DUAL_AUTH_OWNER_UNKNOWN} if the table knows the owners and this one does not exist */
  insert(row: KeyRow, transaction: Transaction): Promise<void>
  /**
   * Changes the row with this id if its columns have the values of `was`, where null is null, in one statement.
   *
   * @returns whether it did
   */
  update(
    id: string,
    was: Partial<KeyRow>,
    changes: Partial<KeyRow>,
    transaction: Transaction | undefined
  ): Promise<boolean>
  /**
   * Updates many rows, in one statement and in the order of their ids; all change the same columns. Default: one
   * `update` after another.
   *
   * @returns the ids of those that it changed
   */
  updateAll?(changes: readonly RowChange[]): Promise<readonly string[]>
  /**
   * What `request.identity.owner` becomes; null: there is no such owner, and the key is 401. Called after each `find`.
   */
  owner?(ownerId: string): Promise<ApiKeyOwner | null>
}

/** How often a use is tried to be written while others write to the same row. */
const TRIES = 50

/**
 * The store of keys in a table. What keys may do is decided here, in the same way over every database. A list reads
 * every key of its owner.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} if one of the five is missing
 */
export function tableStore<Transaction> (table: KeyTable<Transaction>): ApiKeyStore {
  for (const name of ['transaction', 'find', 'due', 'insert', 'update'] as const) {
    if (typeof (table as Partial<KeyTable> | undefined)?.[name] !== 'function') {
      throw new DUAL_AUTH_INVALID_OPTION(`tableStore: ${name} must be a function`)
    }
  }
  async function find (
    column: 'id' | 'fingerprint' | 'ownerId',
    values: readonly string[],
    transaction?: Transaction,
    workingAt?: number
  ): Promise<KeyRow[]> {
    return (await table.find(column, values, transaction, workingAt)).map((row) => readRow(row)).filter((row) =>
      values.includes(row[column])
    )
  }

  async function working (ownerId: string, at: Date, transaction: Transaction): Promise<readonly ApiKeyRecord[]> {
    return (await find('ownerId', [ownerId], transaction, +at)).map(recordFromRow).filter((key) =>
      statusOfKey(key, at) === 'active'
    )
  }

  /** Of the line of successors that begins with a key, the last one that works, or else the last one. */
  async function lastSuccessor (key: KeyRow, at: Date, transaction: Transaction): Promise<ApiKeyRecord | null> {
    const line = new Map<string, ApiKeyRecord>()
    for (let next = key.replacedBy; next !== null && !line.has(next);) {
      const [row] = await find('id', [next], transaction)
      if (row === undefined) break
      line.set(next, recordFromRow(row))
      next = row.replacedBy
    }
    const successors = [...line.values()]
    return successors.findLast((key) => statusOfKey(key, at) === 'active') ?? successors.at(-1) ?? null
  }

  /** Stores the row, and looks at what was stored: databases cut long text and replace letters, quietly. */
  async function add (row: KeyRow, transaction: Transaction): Promise<void> {
    await table.insert(noticed(row, row.createdAt), transaction)
    const [stored] = (await table.find('id', [row.id], transaction)).map((row) => readRow(row))
    // A table may compute `noticeAt`.
    const column = COLUMNS.find((name) => name !== 'noticeAt' && stored?.[name] !== row[name])
    if (column === 'ownerId') throw new DUAL_AUTH_OWNER_UNKNOWN()
    if (column !== undefined) {
      throw new Error(
        `${column} of a new API key is not stored as it is: the table must keep strings, of every letter and ` +
          'length, and whole numbers up to 2^53'
      )
    }
  }

  async function updateAll (changes: readonly RowChange[]): Promise<ReadonlySet<string>> {
    if (changes.length === 0) return new Set()
    if (table.updateAll !== undefined) return new Set(await table.updateAll(changes))
    const changed = new Set<string>()
    for (const { id, was, changes: change } of changes) {
      if (await table.update(id, was, change, undefined)) changed.add(id)
    }
    return changed
  }

  return {
    async ready () {
      await table.ready?.()
    },
    async find (fingerprints) {
      const [row] = await find('fingerprint', fingerprints.map(hex))
      if (row === undefined) return null
      return { ...storedFromRow(row), ...(table.owner !== undefined && { owner: await table.owner(row.ownerId) }) }
    },
    async insert (key, limit, onStored) {
      return table.transaction(key.ownerId, async (transaction, ownerId = key.ownerId) => {
        if (ownerId === null) throw new DUAL_AUTH_OWNER_UNKNOWN()
        const keys = await working(ownerId, key.createdAt, transaction)
        if (keys.length >= 2 * limit || keys.filter(({ replacedBy }) => replacedBy === null).length >= limit) {
          return false
        }
        const stored = { ...key, ownerId }
        await add(rowFromNewKey(stored), transaction)
        await onStored?.(recordFromNewKey(stored), transaction)
        return true
      })
    },
    async list (ownerId, query) {
      return pageOf((await find('ownerId', [ownerId])).map(recordFromRow), query)
    },
    async revoke (givenId, id, by, at, onStored) {
      const begin = table.revocation === undefined ? 'transaction' : 'revocation'
      return table[begin]!(givenId, async (transaction, ownerId = givenId) => {
        if (ownerId === null) return false
        const [row] = await find('id', [id], transaction)
        if (row?.ownerId !== ownerId) return false
        const { changes } = changeOf(row, at, { revokedAt: +at, revokedBy: by })
        const isRevoked = row.revokedAt === null && await table.update(id, { revokedAt: null }, changes, transaction)
        // Read again: it may have been rotated or used meanwhile.
        const [revoked] = isRevoked ? await find('id', [id], transaction) : []
        if (revoked !== undefined) await onStored?.(recordFromRow(revoked), transaction)
        return true
      })
    },
    async rotate (givenId, id, at, plan, onRotated) {
      return table.transaction(givenId, async (transaction, ownerId = givenId) => {
        if (ownerId === null) return null
        const [row] = await find('id', [id], transaction)
        if (row?.ownerId !== ownerId) return null
        const { successor, expiresAt, revokedAt } = plan({
          key: recordFromRow(row),
          successor: await lastSuccessor(row, at, transaction),
          working: (await working(ownerId, at, transaction)).length
        })
        const next = { ...successor, ownerId }
        // This first: a foreign key locks the row of the owner, and a transaction that deletes the owner locks that row
        // before its keys.
        await add(rowFromNewKey(next, id, row.networks), transaction)
        const { changes, after } = changeOf(row, at, {
          replacedBy: next.id,
          expiresAt: expiresAt && +expiresAt,
          ...(revokedAt !== null && { revokedAt: +revokedAt, revokedBy: next.createdBy })
        })
        // The lock of the owner keeps other rotations away, but no revocation.
        if (!await table.update(id, { revokedAt: row.revokedAt }, changes, transaction)) {
          throw new DUAL_AUTH_KEY_INACTIVE('revoked')
        }
        const rotated = { key: recordFromNewKey(next, id), replaced: recordFromRow(after) }
        await onRotated?.(rotated, transaction)
        return rotated
      })
    },
    async rehash (id, previous, next) {
      await table.update(id, { hash: hex(previous) }, textFromSecrets(next), undefined)
    },
    async touch (uses, at, unlessAfter) {
      const notable: NotableUse[] = []
      let left = uses
      for (let tries = 0; left.length > 0; tries++) {
        if (tries === TRIES) {
          throw new Error(
            'the uses of API keys were not written: update of the table must return whether it changed a row'
          )
        }
        const rows = new Map((await find('id', left.map(({ id }) => id))).map((row) => [row.id, row]))
        const worthy = left.flatMap((use) => {
          const row = rows.get(use.id)
          const used = row === undefined ? null : usedRow(row, use.networks, at, unlessAfter)
          if (row === undefined || used === null) return []
          return [{ ...used, ...changeOf(row, at, used.changes), id: row.id, use }]
        })
        const changed = await updateAll(worthy)
        for (const { id, after, isFirst, newNetworks } of worthy) {
          if (!changed.has(id) || (!isFirst && newNetworks.length === 0)) continue
          notable.push({ key: recordFromRow(after), isFirst, newNetworks })
        }
        // Others wrote to the same rows.
        left = worthy.filter(({ id }) => !changed.has(id)).map(({ use }) => use)
      }
      return notable
    },
    async takeNotices (at, limit) {
      const notices: KeyNotice[] = []
      for (let isProgress = true; isProgress && notices.length < limit;) {
        const rows = (await table.due(+at, limit - notices.length)).map((row) => readRow(row))
        // Without an end, it would be found again and again.
        const early = rows.find(({ noticeAt }) => noticeAt === null || noticeAt > +at)
        if (early !== undefined) {
          throw new Error(
            `due of the table must return rows whose noticeAt is at or before the time, not ${String(early.noticeAt)}`
          )
        }
        // Another replica may be faster; and what is due no more is only given its next time.
        const changed = await updateAll(rows.map((row) => {
          const { id, lastUsedAt, expiresAt, revokedAt, replacedBy, expiryNotice, unusedNoticeAt, noticeAt } = row
          const was = { lastUsedAt, expiresAt, revokedAt, replacedBy, expiryNotice, unusedNoticeAt, noticeAt }
          const given = noticesDue(row, +at).map(({ given }) => given)
          const changes = Object.assign({ expiryNotice, unusedNoticeAt }, ...given) as Partial<KeyRow>
          return { id, was, ...changeOf(row, at, changes) }
        }))
        isProgress = changed.size > 0
        for (const row of rows.filter(({ id }) => changed.has(id))) {
          notices.push(...noticesDue(row, +at).map(({ type, days }) => ({ type, days, key: recordFromRow(row) })))
        }
      }
      return notices
    }
  }
}

/** What to write for a change: with the time of the next notice. */
function changeOf (
  row: KeyRow,
  at: Date,
  changes: Partial<KeyRow>
): { readonly changes: Partial<KeyRow>, readonly after: KeyRow } {
  const after = noticed({ ...row, ...changes }, +at)
  return { changes: { ...changes, noticeAt: after.noticeAt }, after }
}
