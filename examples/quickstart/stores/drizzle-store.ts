// API keys through Drizzle, in PostgreSQL.
import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { bigint, index, pgTable, smallint, text } from 'drizzle-orm/pg-core'
import { tableStore, type ApiKeyStore, type KeyRow } from 'dual-auth'

const time = (column: string) => bigint(column, { mode: 'number' })

/** The properties are those of KeyRow; the columns may have other names. */
export const apiKeys = pgTable('api_keys', {
  id: text().primaryKey(),
  ownerId: text('owner_id').notNull(),
  name: text().notNull(),
  prefix: text().notNull().unique(),
  scopes: text().notNull(),
  fingerprint: text().notNull().unique(),
  pepperId: text('pepper_id').notNull(),
  hash: text().notNull(),
  createdAt: time('created_at').notNull(),
  createdBy: text('created_by').notNull(),
  lastUsedAt: time('last_used_at'),
  lastUsedNetwork: text('last_used_network'),
  networks: text().notNull(),
  expiresAt: time('expires_at'),
  revokedAt: time('revoked_at'),
  revokedBy: text('revoked_by'),
  replaces: text(),
  replacedBy: text('replaced_by'),
  expiryNotice: smallint('expiry_notice'),
  unusedNoticeAt: time('unused_notice_at'),
  noticeAt: time('notice_at')
}, (table) => [index().on(table.ownerId), index().on(table.noticeAt)])

type Transaction = Parameters<Parameters<NodePgDatabase['transaction']>[0]>[0]

export function drizzleStore (db: NodePgDatabase): ApiKeyStore {
  const matches = (id: string, was: Partial<KeyRow>) =>
    and(
      eq(apiKeys.id, id),
      ...Object.entries(was).map(([name, value]) => {
        const column = apiKeys[name as keyof KeyRow]
        return value === null ? isNull(column) : eq(column, value)
      })
    )
  return tableStore<Transaction>({
    transaction: async (ownerId, work) =>
      db.transaction(async (transaction) => {
        // One after another for each owner. Other databases: lock a row, or write first.
        await transaction.execute(sql`select pg_advisory_xact_lock(hashtextextended(${ownerId}, 0))`)
        return work(transaction)
      }, { isolationLevel: 'read committed' }),
    find: async (column, values, transaction) =>
      (transaction ?? db).select().from(apiKeys).where(inArray(apiKeys[column], [...values])),
    due: async (at, limit) =>
      db.select().from(apiKeys).where(lte(apiKeys.noticeAt, at)).orderBy(asc(apiKeys.noticeAt)).limit(limit),
    insert: async (row, transaction) => {
      await transaction.insert(apiKeys).values(row)
    },
    async update (id, was, changes, transaction) {
      const changed = await (transaction ?? db).update(apiKeys).set(changes).where(matches(id, was)).returning({
        id: apiKeys.id
      })
      return changed.length > 0
    }
  })
}
