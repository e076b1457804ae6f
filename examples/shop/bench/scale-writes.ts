import type { FastifyRequest } from 'fastify'
import knex, { type Knex } from 'knex'
import { productRepository } from '../src/catalog/product-repository.ts'
import { migrations } from '../src/migrations/index.ts'
import { openPostgres } from '../src/database/index.ts'
import { ShopScope } from '../src/shops/scope.ts'

/** What fast lists are made of. */
const STEPS = ['017-list-indexes', '017-counted-lists']
/** How much longer a write may take with them. */
const MOST = 1.15
const ROUNDS = 300

/**
 * Compares writes, without HTTP, on the database and on a copy of it that is as it was before lists were fast.
 *
 * @param slug - of the shop that is written to
 * @returns what was missed
 */
export async function compareWrites (server: string, url: string, slug: string): Promise<readonly string[]> {
  const name = `${new URL(url).pathname.slice(1)}_before`
  const admin = knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
  await admin.raw('create database ?? template ??', [name, new URL(url).pathname.slice(1)])
  const copy = new URL(url)
  copy.pathname = `/${name}`
  const databases = [openPostgres(copy.href), openPostgres(url)]
  try {
    for (const step of STEPS) await databases[0]!.knex.transaction(async (trx) => { await trx.raw('set local statement_timeout = 0'); await migrations[step]!.down(trx) })
    for (const { knex } of databases) await knex.raw('vacuum analyze products')
    return print(await measure(await Promise.all(databases.map(async ({ knex }) => await writer(knex, slug)))))
  } finally {
    for (const database of databases) await database.close()
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  }
}

type Writes = Readonly<Record<string, () => Promise<unknown>>>

async function writer (knex: Knex, slug: string): Promise<Writes> {
  const { id } = await knex('shops').where({ slug }).first('id')
  const request = { params: { shop_id: id }, currentUser: null, id: 'bench', method: 'POST', routeOptions: {}, raw: {} } as unknown as FastifyRequest
  await ShopScope.open(knex)(request)
  const { shop } = request
  const products = productRepository(knex)
  const tags = (await knex('tags').where({ shop_id: id }).limit(2).select('id')).map((tag: { id: string }) => tag.id)
  let number = 0
  let made = ''
  const input = (): { name: string, price_amount: number, description: string } => ({ name: `Written ${number++}`, price_amount: number, description: 'What it is made of, and what it is good for. '.repeat(4) })
  return {
    create: async () => { made = (await products.create(shop, input())).id },
    'create with tags': async () => await products.create(shop, { ...input(), tag_ids: tags }),
    'update of a price': async () => await products.update(shop, made, { price_amount: number }),
    delete: async () => await products.remove(shop, made)
  }
}

async function measure (writers: readonly Writes[]): Promise<Readonly<Record<string, readonly number[]>>> {
  const times: Record<string, number[][]> = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(writers[0]!)) {
      // Which is first changes: the second finds what they share in the processor's memory.
      for (const n of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const start = performance.now()
        await writers[n]![name]!()
        ;((times[name] ??= [[], []])[n]!).push(performance.now() - start)
      }
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, of]) => [name, of.map((all) => all.toSorted((a, b) => a - b)[ROUNDS / 2]!)]))
}

function print (medians: Readonly<Record<string, readonly number[]>>): readonly string[] {
  const rows = Object.entries(medians).map(([name, [before, after]]) => ({ name, before: before!, after: after!, ratio: after! / before! }))
  console.table(Object.fromEntries(rows.map(({ name, before, after, ratio }) => [`${name}, no HTTP`, { 'ms before': Number(before.toFixed(2)), 'ms after': Number(after.toFixed(2)), ratio: Number(ratio.toFixed(2)) }])))
  return rows.filter(({ ratio }) => ratio > MOST).map(({ name, ratio }) => `${name}: takes ${ratio.toFixed(2)} times as long as before, not ${MOST}`)
}
