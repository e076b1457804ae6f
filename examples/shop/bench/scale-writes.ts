import knex from 'knex'
import { Client } from 'undici'
import { openPostgres } from '../src/database/index.ts'
import { launch, stop } from './shop.ts'

/** The indexes for the orders of lists, their filters and `q`. */
const INDEXES = [
  'price',
  'price_desc',
  'sku',
  'sku_desc',
  'slug',
  'updated_at',
  'status',
  'currency',
  'metadata',
  'search'
].map((name) => `products_${name}`)
/** How much longer a write may take with them. */
const MOST = 1.15
const ROUNDS = 300

/**
 * Compares writes over REST, by a server on the database and one on a copy of it without the indexes of lists.
 *
 * @param slug - of the shop that is written to
 * @returns what was missed
 */
export async function compareWrites (server: string, url: string, slug: string): Promise<readonly string[]> {
  const name = `${new URL(url).pathname.slice(1)}_bare`
  const admin = knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
  await admin.raw('create database ?? template ??', [name, new URL(url).pathname.slice(1)])
  const copy = new URL(url)
  copy.pathname = `/${name}`
  try {
    await dropIndexes(copy.href)
    return print(await onServers([copy.href, url], slug, measure))
  } finally {
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  }
}

async function dropIndexes (url: string): Promise<void> {
  const { knex, close } = openPostgres(url)
  await knex.raw(`drop index ${INDEXES.join(', ')}`)
  await knex.raw('vacuum analyze products')
  await close()
}

type Writes = Readonly<Record<string, () => Promise<unknown>>>

async function onServers<Result> (
  urls: readonly string[],
  slug: string,
  work: (writers: readonly Writes[]) => Promise<Result>
): Promise<Result> {
  const shops = []
  for (const url of urls) shops.push(await launch(url))
  const clients = shops.map(({ address }) => new Client(address))
  try {
    return await work(
      await Promise.all(shops.map(async ({ token }, n) => await writer(clients[n]!, await token(), slug)))
    )
  } finally {
    for (const client of clients) await client.close()
    for (const shop of shops) await stop(shop)
  }
}

async function writer (client: Client, token: string, slug: string): Promise<Writes> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, input?: object): Promise<any> => {
    const { statusCode, body } = await client.request({
      method,
      path,
      headers,
      ...input && { body: JSON.stringify(input) }
    })
    const text = await body.text()
    if (statusCode > 299) throw new RangeError(`${method} ${path} answered ${statusCode}: ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
  const [{ id }] = await call('GET', `/shops?filter=${encodeURIComponent(JSON.stringify({ slug: [slug] }))}`)
  const products = `/shops/${id}/products`
  const tags: string[] = []
  for (const name of ['Written', 'Also written']) tags.push((await call('POST', `/shops/${id}/tags`, { name })).id)
  let number = 0
  let made = ''
  const input = (): { name: string, price_amount: number, description: string } => ({
    name: `Written ${number++}`,
    price_amount: number,
    description: 'What it is made of, and what it is good for. '.repeat(4)
  })
  return {
    create: async () => {
      made = (await call('POST', products, input())).id
    },
    'create with tags': async () => await call('POST', products, { ...input(), tag_ids: tags }),
    'update of a price': async () => await call('PATCH', `${products}/${made}`, { price_amount: number }),
    delete: async () => await call('DELETE', `${products}/${made}`)
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
  return Object.fromEntries(
    Object.entries(times).map(([name, of]) => [name, of.map((all) => all.toSorted((a, b) => a - b)[ROUNDS / 2]!)])
  )
}

function print (medians: Readonly<Record<string, readonly number[]>>): readonly string[] {
  const rows = Object.entries(medians).map(([name, [without, all]]) => ({
    name,
    without: without!,
    all: all!,
    ratio: all! / without!
  }))
  console.table(
    Object.fromEntries(
      rows.map((
        { name, without, all, ratio }
      ) => [name, {
        'ms without': Number(without.toFixed(2)),
        'ms with': Number(all.toFixed(2)),
        ratio: Number(ratio.toFixed(2))
      }])
    )
  )
  return rows.filter(({ ratio }) => ratio > MOST).map(({ name, ratio }) =>
    `${name}: takes ${ratio.toFixed(2)} times as long as without indexes, not ${MOST}`
  )
}
