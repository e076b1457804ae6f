// The shops of the month, with their keys, people and payment accounts, as they are when it begins.
import type { Knex } from 'knex'
import type { Client } from './client.ts'
import { fillShops, settle } from '../fill.ts'
import type { Shop } from '../shop.ts'

/** How many shops have how many products: 200 shops, most of them small. */
const SIZES = [[60, 50], [60, 150], [50, 300], [20, 500], [6, 5000], [2, 10_000], [2, 20_000]] as const
/** From this many products on, a shop is a large one. */
const LARGE = 5000
/** Of each shop, that calls name. */
const KNOWN_PRODUCTS = 200
/** Each owns ten shops, or works in twenty. */
const [OWNERS, STAFF] = [20, 20]
/** Shops that take payments, and the customers of each. */
export const PAYING = { shops: 10, accounts: 20 } as const

export const ADMIN = 'admin'
const VISITOR = 'visitor'
const OWNER_NAMES = Array.from({ length: OWNERS }, (_, n) => `owner-${n}`)
const STAFF_NAMES = Array.from({ length: STAFF }, (_, n) => `staff-${n}`)
const STAYING = [ADMIN, ...OWNER_NAMES, ...STAFF_NAMES]
export const PEOPLE: readonly string[] = [...STAYING, VISITOR]

/** One of the shops. */
export interface Place {
  readonly id: string
  readonly size: number
  key: string
  keyId: string
  readonly owner: string
  readonly staff: readonly string[]
  /** Ids of products that nobody deletes. */
  readonly products: readonly string[]
  readonly tags: readonly string[]
  readonly categories: readonly string[]
  /** Ids of products that were created during the month and not deleted yet, the oldest first. */
  readonly made: string[]
}

export interface World {
  readonly client: Client
  readonly shops: readonly Place[]
  readonly large: readonly Place[]
  readonly small: readonly Place[]
  /** Headers with a token of the machine, and of each person: valid for an hour. */
  readonly headers: Map<string, Readonly<Record<string, string>>>
  /** Of each person. */
  readonly ids: ReadonlyMap<string, string>
  /** Gives everybody another token. */
  signIn(): Promise<void>
  /** @returns headers with a token of somebody who does not stay */
  visitor(): Promise<Readonly<Record<string, string>>>
}

export const MACHINE = 'machine'

/** @param payKey - of the n-th shop that takes payments, which the provider knows */
export async function openWorld (
  tables: Knex,
  shop: Shop,
  client: Client,
  payKey: (n: number) => string
): Promise<World> {
  for (const [count, size] of SIZES) {
    await fillShops(tables, Array.from({ length: count }, (_, n) => `of-${size}-${n}`), size)
  }
  await settle(tables)
  const headers: World['headers'] = new Map()
  const signIn = async (): Promise<void> => {
    headers.set(MACHINE, { authorization: `Bearer ${await shop.token()}` })
    for (const name of STAYING) headers.set(name, { authorization: `Bearer ${await shop.personToken(name)}` })
  }
  await signIn()
  const ids = new Map<string, string>()
  for (const name of STAYING) {
    ids.set(name, (await client.send({ name: 'get_me', path: '/me', headers: headers.get(name)! })).id)
  }
  // As `npm run shop -- admin add` does.
  await tables('users').where({ id: ids.get(ADMIN) }).update({ roles: ['admin'] })
  const machine = headers.get(MACHINE)!
  const rows = await tables('shops').whereLike('slug', 'of-%').orderBy('slug').select('id', 'slug')
  const shops: Place[] = []
  for (const [n, { id, slug }] of rows.entries()) {
    const idsOf = async (table: string): Promise<string[]> =>
      (await tables(table).where({ shop_id: id }).orderByRaw('random()').limit(KNOWN_PRODUCTS).select('id')).map((
        row
      ) => row.id)
    const path = `/shops/${id}`
    const owner = OWNER_NAMES[n % OWNERS]!
    const staff = [STAFF_NAMES[n % STAFF]!, STAFF_NAMES[(n + 7) % STAFF]!]
    const made = await client.send({
      name: 'create_api_key',
      method: 'POST',
      path: `${path}/api-keys/`,
      headers: machine,
      body: { name: 'month' }
    })
    for (const [name, role] of [[owner, 'owner'], ...staff.map((name) => [name, 'staff'])] as Array<[string, string]>) {
      const body = { user_id: ids.get(name), role }
      await client.send({ name: 'add_member', method: 'POST', path: `${path}/members`, headers: machine, body })
    }
    shops.push({
      id,
      size: Number(slug.split('-')[1]),
      key: made.plaintext,
      keyId: made.id,
      owner,
      staff,
      products: await idsOf('products'),
      tags: await idsOf('tags'),
      categories: await idsOf('categories'),
      made: []
    })
  }
  for (const [n, place] of shops.slice(0, PAYING.shops).entries()) {
    const body = { pay_secret_key: payKey(n) }
    const path = `/shops/${place.id}/pay/key`
    await client.send({ name: 'set_pay_key', method: 'PUT', path, headers: machine, body })
  }
  return {
    client,
    shops,
    large: shops.filter(({ size }) => size >= LARGE),
    small: shops.filter(({ size }) => size < LARGE),
    headers,
    ids,
    signIn,
    visitor: async () => ({ authorization: `Bearer ${await shop.personToken(VISITOR)}` })
  }
}

export function oneOf<T> (all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)]!
}
