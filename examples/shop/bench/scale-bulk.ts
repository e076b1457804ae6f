import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import type { Pool } from 'undici'
import type { Shop } from './shop.ts'

/** How many products are written, and at most how long batches of so many may take for all of them, in seconds. */
const PRODUCTS = 10_000
const BATCH = 500
const MOST = 20
/** At most how many seconds of PostgreSQL's processor time an import takes, and how many times as long its undo. */
const MOST_OF_IMPORT = { seconds: 3, undo: 2 }

/**
 * Writes products in batches, and by an import, and takes the import back.
 *
 * @param shopId - of a shop that exists
 * @param tables - the database, as a superuser
 * @returns what was missed
 */
export async function measureBulk (tables: Knex, client: Pool, shop: Shop, shopId: string): Promise<readonly string[]> {
  const headers = { authorization: `Bearer ${await shop.token()}` }
  const send = async (method: 'GET' | 'POST', path: string, type: string, body?: string): Promise<any> => {
    const answer = await client.request({
      method,
      path: `/shops/${shopId}${path}`,
      headers: { ...headers, ...body !== undefined && { 'content-type': type } },
      ...body !== undefined && { body }
    })
    const text = await answer.body.text()
    if (answer.statusCode > 299) throw new RangeError(`${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`)
    return JSON.parse(text)
  }
  const post = async (path: string, body: object): Promise<any> =>
    await send('POST', path, 'application/json', JSON.stringify(body))
  const product = (kind: string, n: number): object => ({
    name: `${kind} ${n}`,
    sku: `${kind}-${n}`,
    price_amount: n,
    status: 'active',
    description: 'What it is made of, and what it is good for. '.repeat(4)
  })
  const products = (kind: string, from: number, count: number): object[] =>
    Array.from({ length: count }, (_, n) => product(kind, from + n))

  const alone = await timed(async () => {
    for (const one of products('Alone', 0, BATCH)) await post('/products', one)
  })
  const batches = await timed(async () => {
    for (let from = 0; from < PRODUCTS; from += BATCH) {
      await post('/products/batch', { items: products('Batch', from, BATCH) })
    }
  })
  let id = ''
  const file = products('Import', 0, PRODUCTS).map((one) => JSON.stringify(one)).join('\n')
  const used = async (): Promise<number> =>
    (await tables.raw(
      `select sum(split_part(pg_read_file('/proc/' || pid || '/schedstat'), ' ', 1)::float8) / 1e9 as seconds
    from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
      and pid <> pg_backend_pid()`
    )).rows[0].seconds
  const before = await used()
  const received = await timed(async () => {
    ;({ id } = await send('POST', '/imports', 'application/x-ndjson', file))
  })
  const applied = await timed(async () => {
    while (['pending', 'running'].includes((await send('GET', `/imports/${id}`, '')).status)) await sleep(50)
  })
  const imported = await used()
  const undone = await timed(async () => {
    await post('/history/revert', { import_id: id })
  })
  const [ofImport, ofUndo] = [imported - before, await used() - imported]
  console.log(`${PRODUCTS} products, in seconds`)
  console.table({
    [`one by one, from ${BATCH}`]: alone * PRODUCTS / BATCH,
    [`in batches of ${BATCH}`]: batches,
    'an import is checked': received,
    '… and applied': applied,
    '… and undone': undone,
    'processor time of PostgreSQL for the import': ofImport,
    '… and for the undo': ofUndo
  })
  return [
    ...batches > MOST ? [`batches: ${batches.toFixed(1)} s, not ${MOST}`] : [],
    ...ofImport > MOST_OF_IMPORT.seconds
      ? [`the import: ${ofImport.toFixed(1)} s of PostgreSQL's processor time, not ${MOST_OF_IMPORT.seconds}`]
      : [],
    ...ofUndo > MOST_OF_IMPORT.undo * ofImport
      ? [`the undo: ${(ofUndo / ofImport).toFixed(1)} times the import, not ${MOST_OF_IMPORT.undo}`]
      : []
  ]
}

/** @returns seconds */
async function timed (work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return Math.round(performance.now() - start) / 1000
}
