import type { ApiKeyOwner } from 'fastify'
import { DUAL_AUTH_INVALID_OPTION, DUAL_AUTH_OWNER_UNKNOWN } from '../errors.ts'
import { pageOf } from './page.ts'
import {
  COLUMNS,
  hex,
  networksOf,
  readRow,
  recordFromRow,
  rowFromNewKey,
  storedFromRow,
  textFromSecrets,
  type FoundRow,
  type KeyRow
} from './key-row.ts'
import { noticed, noticesDue } from './notices-due.ts'
import {
  KNOWN_NETWORKS,
  recordFromNewKey,
  statusOfKey,
  type ApiKeyRecord,
  type ApiKeyStore,
  type KeyNotice,
  type NotableUse
} from './store.ts'

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
   */
  transaction<T>(ownerId: string, work: (transaction: Transaction) => Promise<T>): Promise<T>
  /** Reads the rows with one of these values in a column; inside a transaction if there is one. */
  find(
    column: 'id' | 'fingerprint' | 'ownerId',
    values: readonly string[],
    transaction: Transaction | undefined
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
   * What `request.identity.owner` becomes; null: there is no such owner, and the key is 401. Called after each `find`.
   */
  owner?(ownerId: string): Promise<ApiKeyOwner | null>
}

/** How often a use is tried to be written while others write to the same row. */
const TRIES = 50

/**
 * The store of keys in a table. What keys may do is decided here, in the same way over every database. A list, a
 * creation and a rotation read every key of their owner.
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
    transaction?: Transaction
  ): Promise<KeyRow[]> {
    return (await table.find(column, values, transaction)).map(readRow).filter((row) => values.includes(row[column]))
  }

  /** Stores the row, and looks at what was stored: databases cut long text and replace letters, quietly. */
  async function add (row: KeyRow, transaction: Transaction): Promise<void> {
    await table.insert(row, transaction)
    const [stored] = (await table.find('id', [row.id], transaction)).map(readRow)
    const column = COLUMNS.find((name) => stored?.[name] !== row[name])
    if (column === 'ownerId') throw new DUAL_AUTH_OWNER_UNKNOWN()
    if (column !== undefined) {
      throw new Error(
        `${column} of a new API key is not stored as it is: the table must keep strings, of every letter and ` +
          'length, and whole numbers up to 2^53'
      )
    }
  }

  /** @returns the row after the change; null if it was another one */
  async function update (
    row: KeyRow,
    at: Date,
    was: Partial<KeyRow>,
    changes: Partial<KeyRow>,
    transaction?: Transaction
  ): Promise<KeyRow | null> {
    const changed = noticed({ ...row, ...changes }, +at)
    return await table.update(row.id, was, { ...changes, noticeAt: changed.noticeAt }, transaction) ? changed : null
  }

  const working = (rows: readonly KeyRow[], at: Date): readonly ApiKeyRecord[] =>
    rows.map(recordFromRow).filter((key) => statusOfKey(key, at) === 'active')

  async function touchOne (
    row: KeyRow,
    networks: readonly string[],
    at: Date,
    unlessAfter: Date
  ): Promise<NotableUse | null | 'again'> {
    const known = networksOf(row)
    const unknown = networks.filter((network) => !known.includes(network))
    if (row.revokedAt !== null || (row.lastUsedAt !== null && row.lastUsedAt >= +unlessAfter && unknown.length === 0)) {
      return null
    }
    const used = await update(row, at, { lastUsedAt: row.lastUsedAt, networks: row.networks, revokedAt: null }, {
      lastUsedAt: +at,
      lastUsedNetwork: networks.at(-1) ?? row.lastUsedNetwork,
      networks: JSON.stringify([...unknown, ...known].slice(0, KNOWN_NETWORKS))
    })
    if (used === null) return 'again'
    const use = {
      key: recordFromRow(used),
      isFirst: row.lastUsedAt === null,
      newNetworks: known.length > 0 ? unknown : []
    }
    return use.isFirst || use.newNetworks.length > 0 ? use : null
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
      return table.transaction(key.ownerId, async (transaction) => {
        const keys = working(await find('ownerId', [key.ownerId], transaction), key.createdAt)
        if (keys.length >= 2 * limit || keys.filter(({ replacedBy }) => replacedBy === null).length >= limit) {
          return false
        }
        await add(noticed(rowFromNewKey(key), +key.createdAt), transaction)
        await onStored?.(recordFromNewKey(key), transaction)
        return true
      })
    },
    async list (ownerId, query) {
      return pageOf((await find('ownerId', [ownerId])).map(recordFromRow), query)
    },
    async revoke (ownerId, id, by, at, onStored) {
      return table.transaction(ownerId, async (transaction) => {
        const [row] = await find('id', [id], transaction)
        if (row?.ownerId !== ownerId) return false
        const revoked = row.revokedAt === null
          ? await update(row, at, { revokedAt: null }, { revokedAt: +at, revokedBy: by }, transaction)
          : null
        if (revoked !== null) await onStored?.(recordFromRow(revoked), transaction)
        return true
      })
    },
    async rotate (ownerId, id, at, plan, onRotated) {
      return table.transaction(ownerId, async (transaction) => {
        const rows = await find('ownerId', [ownerId], transaction)
        const row = rows.find((row) => row.id === id)
        if (row === undefined) return null
        const line: ApiKeyRecord[] = []
        for (let next: KeyRow | undefined = row; next !== undefined && line.length <= rows.length;) {
          const { replacedBy }: KeyRow = next
          next = rows.find((row) => row.id === replacedBy)
          if (next !== undefined) line.push(recordFromRow(next))
        }
        const successor = line.findLast((key) => statusOfKey(key, at) === 'active') ?? line.at(-1) ?? null
        const { successor: next, expiresAt, revokedAt } = plan({
          key: recordFromRow(row),
          successor,
          working: working(rows, at).length
        })
        await add(noticed(rowFromNewKey(next, id, row.networks), +next.createdAt), transaction)
        const replaced = await update(row, at, { revokedAt: row.revokedAt }, {
          replacedBy: next.id,
          expiresAt: expiresAt && +expiresAt,
          ...(revokedAt !== null && { revokedAt: +revokedAt, revokedBy: next.createdBy })
        }, transaction)
        if (replaced === null) {
          throw new Error(
            `the API key ${id} changed during its rotation: the table's transaction must keep others of the ` +
              'same owner out'
          )
        }
        const rotated = { key: recordFromNewKey(next, id), replaced: recordFromRow(replaced) }
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
        const again: typeof uses[number][] = []
        for (const use of left) {
          const row = rows.get(use.id)
          const outcome = row === undefined ? null : await touchOne(row, use.networks, at, unlessAfter)
          if (outcome === 'again') again.push(use)
          else if (outcome !== null) notable.push(outcome)
        }
        left = again
      }
      return notable
    },
    async takeNotices (at, limit) {
      const notices: KeyNotice[] = []
      for (let isProgress = true; isProgress && notices.length < limit;) {
        isProgress = false
        // Another replica may be faster; and what is due no more is only given its next time.
        for (const row of (await table.due(+at, limit - notices.length)).map(readRow)) {
          // Without an end, it would be found again and again.
          if (row.noticeAt === null || row.noticeAt > +at) {
            throw new Error(
              `due of the table must return rows whose noticeAt is at or before the time, not ${String(row.noticeAt)}`
            )
          }
          const due = noticesDue(row, +at)
          const { lastUsedAt, expiresAt, revokedAt, replacedBy, expiryNotice, unusedNoticeAt, noticeAt } = row
          const changes = Object.assign({}, ...due.map(({ given }) => given)) as Partial<KeyRow>
          if (
            await update(row, at, {
              lastUsedAt,
              expiresAt,
              revokedAt,
              replacedBy,
              expiryNotice,
              unusedNoticeAt,
              noticeAt
            }, changes) === null
          ) continue
          isProgress = true
          notices.push(...due.map(({ type, days }) => ({ type, days, key: recordFromRow(row) })))
        }
      }
      return notices
    }
  }
}
