// API keys through Prisma, in SQLite. `schema.prisma` has the model.
import { tableStore, type ApiKeyStore } from 'dual-auth'
import type { Prisma, PrismaClient } from './generated/client.js'

export function prismaStore (prisma: PrismaClient): ApiKeyStore {
  return tableStore<Prisma.TransactionClient>({
    transaction: async (_ownerId, work) =>
      prisma.$transaction(async (transaction) => {
        // SQLite has one writer at a time: who writes first waits here. PostgreSQL: select pg_advisory_xact_lock(…).
        await transaction.apiKey.updateMany({ where: { id: '' }, data: { name: '' } })
        return work(transaction)
      }, { maxWait: 10_000, timeout: 10_000 }),
    find: async (column, values, transaction = prisma) =>
      transaction.apiKey.findMany({ where: { [column]: { in: [...values] } } }),
    due: async (at, limit) =>
      prisma.apiKey.findMany({ where: { noticeAt: { lte: at } }, orderBy: { noticeAt: 'asc' }, take: limit }),
    insert: async (row, transaction) => {
      await transaction.apiKey.create({ data: row })
    },
    async update (id, was, changes, transaction = prisma) {
      const { count } = await transaction.apiKey.updateMany({ where: { ...was, id }, data: changes })
      return count > 0
    }
  })
}
