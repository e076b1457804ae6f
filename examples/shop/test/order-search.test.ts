import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
const token = bearer(await idp.machineToken())

/** A shop with an order of each account, which are by their names. */
async function shopWith (slug: string, accounts: ReadonlyArray<readonly [name: string, email: string | undefined]>) {
  const shop = client(app, `/shops/${await createShop(database, slug)}`, token)
  const { body: product } = await shop('POST', '/products', { name: 'Kettle', status: 'active', price_amount: 4900 })
  const orders = new Map<string, { readonly id: string, readonly account_id: string }>()
  for (const [name, email] of accounts) {
    const { body: { id } } = await shop('POST', '/accounts', { name, details: { ...email !== undefined && { email } } })
    const lines = [{ product_id: product.id, quantity: 2 }]
    orders.set(name, (await shop('POST', '/orders', { account_id: id, lines })).body)
  }
  const found = async (q: string, list = 'orders') => {
    const { status, headers, body } = await shop('GET', `/${list}?filter=${encodeURIComponent(JSON.stringify({ q }))}`)
    t.equal(status, 200, q)
    return { total: Number(String(headers['content-range']).split('/')[1]), ids: body.map(({ id }: any) => id) }
  }
  return { shop, product, orders, found }
}

const people = [
  ['Ana Silva', 'ana@silva.example'],
  ['Ana Souza', 'souza@example.com'],
  ['Bea Face', undefined]
] as const
const here = await shopWith('here', people)
const elsewhere = await shopWith('elsewhere', people)

t.test('an order is found by the start of its id, in either case, and by no other part of it', async (t) => {
  for (const { id } of here.orders.values()) {
    for (const q of [id.slice(0, 8), id.slice(0, 8).toUpperCase(), id.slice(0, 13), id]) {
      t.strictSame((await here.found(q)).ids, [id], q)
    }
    t.strictSame((await here.found(id.slice(9))).ids, [], 'the rest of it')
    t.strictSame((await elsewhere.found(id.slice(0, 8))).ids, [], 'in another shop')
    t.match(await elsewhere.shop('GET', `/orders/${id}`), { status: 404 })
  }
})

t.test('an order is found by words of the name and e-mail address of its account, in its shop alone', async (t) => {
  const ids = (...names: readonly string[]) => names.map((name) => here.orders.get(name)!.id)
  for (
    const [q, names] of [
      ['ana', ['Ana Silva', 'Ana Souza']],
      ['SILVA ana', ['Ana Silva']],
      ['souza@example.com', ['Ana Souza']],
      ['ana example.com', ['Ana Souza']],
      [`${ids('Ana Souza')[0]!.slice(0, 8)} souza`, ['Ana Souza']],
      [`${ids('Ana Souza')[0]!.slice(0, 8)} silva`, []],
      // Also how an id may begin.
      ['face', ['Bea Face']],
      ['kettle', []]
    ] as const
  ) {
    const { ids: found, total } = await here.found(q)
    t.strictSame(new Set(found), new Set(ids(...names)), q)
    t.equal(total, names.length, q)
  }
})

t.test('the total of a search follows the accounts: renamed, erased', async (t) => {
  const { shop, orders, found } = await shopWith('moving', people)
  const { id, account_id: account } = orders.get('Ana Silva')!
  const total = async (q: string) => (await found(q)).total
  t.equal(await total('ana'), 2)
  await shop('PATCH', `/accounts/${account}`, { name: 'Anna Silva' })
  t.equal(await total('ana silva'), 1, 'by the address')
  t.equal(await total('anna'), 1)
  await shop('PATCH', `/accounts/${account}`, { name: 'Mia', details: { email: null } })
  t.equal(await total('ana'), 1)
  t.equal((await shop('DELETE', `/accounts/${account}`)).status, 204)
  t.equal(await total('mia'), 0)
  t.strictSame((await found(id.slice(0, 8))).ids, [id], 'an order without an account keeps its number')
})

t.test('a line of a deleted product keeps its words', async (t) => {
  const { shop, product, orders } = await shopWith('sold-out', people)
  t.equal((await shop('DELETE', `/products/${product.id}`)).status, 204)
  t.match((await shop('GET', `/orders/${orders.get('Ana Silva')!.id}`)).body, {
    total_amount: 9800,
    lines: [{ product_id: null, name: 'Kettle', unit_amount: 4900, quantity: 2 }]
  })
})

t.test('an account is found by its e-mail address too', async (t) => {
  for (const q of ['souza@example.com', 'ana EXAMPLE.com']) {
    t.strictSame((await here.found(q, 'accounts')).ids, [here.orders.get('Ana Souza')!.account_id], q)
  }
})
