// npm run scale:migrations [-- products]: how long the migrations of fast lists keep writers waiting, there and back, on a
// filled database (TEST_DATABASE_URL, as a superuser). To reach: no write waits for a lock for more than a second. The longest
// write is shown too: it also waits for the processor and the disk.
import { loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/database/migrate.ts'
import { countedLists } from '../src/migrations/017-counted-lists.ts'
import { listIndexes } from '../src/migrations/017-list-indexes.ts'
import type { Migration } from '../src/migrations/migration.ts'
import { fillShops, settle } from './fill.ts'
import { onDatabase } from './shop.ts'

/** In milliseconds. */
const MOST = 1000
/** Between two writes. */
const PAUSE = 20

const products = Number(process.argv[2] ?? 500_000)
const postgres = process.env['TEST_DATABASE_URL']

if (postgres === undefined) console.log('NOT MEASURED: set TEST_DATABASE_URL to a PostgreSQL server on which databases may be created.')
else await onDatabase(postgres, measure)

async function measure (url: string): Promise<void> {
  const database = openPostgres(url)
  const { knex } = database
  await migrate(database)
  // Made again below.
  await listIndexes.down(knex)
  await fillShops(knex, ['filled'], products)
  await settle(knex)
  const { id } = await knex('shops').where({ slug: 'filled' }).first('id')
  const rows: Record<string, object> = {}
  rows['no migration'] = await during(url, id, async () => { await delay(3000) })
  for (const [name, migration, direction] of [
    ['017-counted-lists, back', countedLists, 'down'], ['017-counted-lists', countedLists, 'up'],
    ['017-list-indexes', listIndexes, 'up'], ['017-list-indexes, back', listIndexes, 'down']
  ] as const) rows[name] = await during(url, id, async () => { await run(migration, direction) })
  console.log(`${products} products, load ${loadavg()[0]!.toFixed(1)}`)
  console.table(rows)
  await database.close()

  async function run (migration: Migration, direction: 'up' | 'down'): Promise<void> {
    if (migration.online === true) await migration[direction](knex)
    else await knex.transaction(async (trx) => { await trx.raw('set local statement_timeout = 0'); await migration[direction](trx) })
  }
}

/** Does the work while another connection writes. */
async function during (url: string, shop: string, work: () => Promise<void>): Promise<object> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(`set lock_timeout = ${MOST}`)
  const over = new AbortController()
  let longest = 0
  let writes = 0
  let locked = 0
  const write = async (sql: string, values: unknown[]): Promise<void> => {
    const start = performance.now()
    try {
      await client.query(sql, values)
    } catch (error) {
      if ((error as { code?: string }).code !== '55P03') throw error
      locked += 1
    }
    longest = Math.max(longest, performance.now() - start)
    writes += 1
  }
  const writing = (async () => {
    while (!over.signal.aborted) {
      await write('insert into products (shop_id, name, slug, currency) select $1, s, s, $2 from gen_random_uuid() u, lateral (select u::text) n(s)', [shop, 'EUR'])
      await write("update products set description = 'changed' where id = (select id from products where shop_id = $1 order by created_at desc limit 1)", [shop])
      await delay(PAUSE)
    }
  })()
  const start = performance.now()
  await work()
  const took = performance.now() - start
  over.abort()
  await writing
  await client.end()
  if (locked > 0) process.exitCode = 1
  return { seconds: Number((took / 1000).toFixed(1)), writes, 'locked for more than 1 s': locked, 'longest write in ms': Math.round(longest) }
}
