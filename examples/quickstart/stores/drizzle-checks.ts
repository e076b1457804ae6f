import { after, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import { drizzle as drizzleOnServer, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { drizzle } from 'drizzle-orm/pglite'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { testStore } from 'dual-auth/testing'
import { apiKeys, drizzleStore } from './drizzle-store.js'

// As drizzle-kit would, of the same table.
const { columns } = getTableConfig(apiKeys)
const definitions = columns.map((column) =>
  [
    column.name,
    column.getSQLType(),
    ...column.notNull ? ['not null'] : [],
    ...column.primary ? ['primary key'] : [],
    ...column.isUnique && !column.primary ? ['unique'] : []
  ].join(' ')
)
const TABLE = `create table api_keys (${definitions.join(', ')})`

const { TEST_DATABASE_URL } = process.env
if (TEST_DATABASE_URL === undefined) {
  const engine = new PGlite()
  after(async () => engine.close())
  const db = drizzle(engine)
  await db.execute(TABLE)
  testStore(test, drizzleStore(db as unknown as NodePgDatabase))
} else {
  const { Pool } = (await import('pg')).default
  const pool = new Pool({ connectionString: TEST_DATABASE_URL, options: '-c search_path=drizzle_lab' })
  const db = drizzleOnServer(pool)
  await db.execute('drop schema if exists drizzle_lab cascade')
  await db.execute('create schema drizzle_lab')
  await db.execute(TABLE)
  after(async () => {
    await db.execute('drop schema drizzle_lab cascade')
    await pool.end()
  })
  testStore(test, [drizzleStore(db), drizzleStore(db)])
}
