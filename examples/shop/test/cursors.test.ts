import t from 'tap'
import { cursorFromPlace } from '../src/lists/cursor.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const limits = { RATE_LIMIT_MAX: 100_000 }
const app = await build(t, database, idp, { settings: limits })
const token = bearer(await idp.machineToken())
const request = client(app, '', token)

const shopAt = async (slug: string) => {
  const id = await createShop(database, slug)
  return { id, path: `/shops/${id}/products`, call: client(app, `/shops/${id}`, token) }
}

interface Product {
  readonly id: string
  readonly name: string
  readonly price_amount: number | null
}

/** The URL of the next page, if a page has one. */
function nextOf (path: string, { link }: Readonly<Record<string, unknown>>): string | undefined {
  if (link === undefined) return undefined
  const [, reference] = /^<(\?[^>]*)>; rel="next"$/.exec(String(link)) ?? []
  t.ok(reference !== undefined, `${String(link)} is a link to the next page`)
  return new URL(reference!, `http://localhost${path}`).href.slice('http://localhost'.length)
}

/** Follows the links from a first page. */
async function walk (
  path: string,
  query: Readonly<Record<string, string>>,
  onPage: () => Promise<void> = async () => {}
) {
  const rows: Product[] = []
  const ranges: string[] = []
  for (let url: string | undefined = `${path}?${new URLSearchParams(query).toString()}`; url !== undefined;) {
    const { status, headers, body } = await request('GET', url)
    if (status !== 200) throw new Error(JSON.stringify(body))
    rows.push(...body)
    ranges.push(String(headers['content-range']))
    url = nextOf(path, headers)
    await onPage()
  }
  return { rows, ranges }
}

t.test('following the links reads every record once, in the order of the list', async (t) => {
  const { path, call } = await shopAt('walked')
  // Ties, records without a value at a border of pages, and names that a URL has to escape.
  for (let n = 0; n < 23; n++) {
    await call('POST', '/products', {
      name: `A & "b" ü ${n % 5}`,
      slug: `p-${n}`,
      status: 'active',
      ...n % 3 > 0 && { price_amount: n % 4 }
    })
  }
  for (const sort of ['name', '-name', 'price_amount', '-price_amount', 'status', 'id', '-created_at', 'sku', '-sku']) {
    const { body: all } = await request('GET', `${path}?limit=200&sort=${sort}`)
    for (const limit of [...sort === '-price_amount' ? ['1'] : [], '8', '22', '23', '24']) {
      const { rows, ranges } = await walk(path, { sort, limit })
      t.strictSame(rows, all, `${sort}, ${limit} at a time`)
      t.equal(ranges.length, Math.ceil(23 / Number(limit)), 'no empty page at the end')
      t.strictSame(
        ranges[1] ?? 'none',
        Number(limit) < 23 ? `products ${limit}-${2 * Number(limit)}/23` : 'none',
        'with the position in the walk'
      )
    }
  }
  const filter = JSON.stringify({ price_amount: [null, 1, 2], status: ['active'] })
  const { body: some } = await request(
    'GET',
    `${path}?limit=200&sort=-price_amount&filter=${encodeURIComponent(filter)}`
  )
  t.strictSame((await walk(path, { sort: '-price_amount', limit: '4', filter })).rows, some, 'with a filter')
  t.strictSame(
    (await walk(path, { sort: '["price_amount","DESC"]', range: '[0,3]', filter })).rows,
    some,
    "from react-admin's first page"
  )
  t.strictSame(
    (await walk(path, { sort: '-price_amount', skip: '3', limit: '4', filter })).rows,
    some.slice(3),
    'from a page in the middle'
  )
  const reordered = nextOf(
    path,
    (await request('GET', `${path}?limit=4&filter=${encodeURIComponent(filter)}`)).headers
  )!
    .replace(
      encodeURIComponent(filter).replaceAll('%20', '+'),
      encodeURIComponent(JSON.stringify({ status: 'active', price_amount: [null, 1, 2] }))
    )
  t.match(reordered, 'status%22%3A%22active%22%2C')
  t.equal((await request('GET', reordered)).status, 200, 'the fields of a filter may come in another order')
})

t.test('pages that end early go on where they ended', async (t) => {
  const { path, call } = await shopAt('large')
  for (let n = 0; n < 12; n++) {
    await call('POST', '/products', { name: `Product ${n}`, slug: `p-${n}`, description: '好'.repeat(20_000) })
  }
  const { rows, ranges } = await walk(path, { sort: 'slug' })
  t.strictSame(
    rows.map(({ name }) => name),
    Array.from({ length: 12 }, (_, n) => `p-${n}`).toSorted().map((slug) => `Product ${slug.slice(2)}`)
  )
  t.strictSame(ranges, ['products 0-4/12', 'products 4-8/12', 'products 8-33/12'])
})

t.test('a walk has every record once that was there all the time, whatever others write', async (t) => {
  for (const sort of ['-created_at', 'name', 'price_amount', '-price_amount']) {
    const { path, call, id } = await shopAt(`busy-${sort.replaceAll('_', '-').replace(/^-/, 'down-')}`)
    await knex('products').insert(
      Array.from(
        { length: 120 },
        (_, n) => ({
          shop_id: id,
          name: `Product ${n % 40}`,
          slug: `p-${n}`,
          currency: 'EUR',
          price_amount: n % 7 === 0 ? null : n % 9
        })
      )
    )
    const ids: Array<{ id: string }> = await knex('products').where({ shop_id: id }).orderBy('slug').select('id')
    const stays = ids.slice(0, 80).map((product) => product.id)
    const goes = ids.slice(80)
    let number = 0
    // Others write between two pages, each of which is one statement.
    const { rows } = await walk(path, { sort, limit: '10' }, async () => {
      number++
      const gone = goes.pop()
      await Promise.all([
        call('POST', '/products', {
          name: `Product ${(number * 7) % 41}`,
          slug: `new-${number}`,
          price_amount: number % 11
        }),
        call('POST', '/products', { name: `Product ${(number * 3) % 41}`, slug: `newer-${number}` }),
        // A change of another field leaves a record where it is.
        call('PATCH', `/products/${stays[number % stays.length]!}`, { description: `Changed ${number}` }),
        ...gone === undefined ? [] : [call('DELETE', `/products/${gone.id}`)]
      ])
    })
    t.ok(number > 9, `${number} pages`)
    t.equal(new Set(rows.map((row) => row.id)).size, rows.length, `${sort}: none twice`)
    t.strictSame(stays.filter((id) => !rows.some((row) => row.id === id)), [], `${sort}: none is missing`)
  }
})

t.test('a cursor that is not from this walk is a 422 that names after', async (t) => {
  const { path, call } = await shopAt('bound')
  const other = await shopAt('bound-2')
  for (const shop of [call, other.call]) {
    for (let n = 0; n < 5; n++) {
      await shop('POST', '/products', { name: `Product ${n}`, price_amount: n })
      await shop('POST', '/tags', { name: `Tag ${n}` })
    }
  }
  const cursorOf = async (list: string, query = ''): Promise<string> =>
    new URLSearchParams(nextOf(list, (await request('GET', `${list}?limit=2${query}`)).headers)!.split('?')[1]).get(
      'after'
    )!
  const cursor = await cursorOf(path)
  const made = (
    value: string | null,
    id = '00000000-0000-0000-0000-000000000000',
    sort = 'price_amount',
    position = 2
  ) => cursorFromPlace({ path, sort }, { value, id, position })!
  t.equal(made('x'.repeat(1500)), undefined, 'none is longer than a URL may be')
  t.equal((await request('GET', `${path}?after=${cursor}`)).status, 200)
  t.equal((await request('GET', `${path}?skip=0&sort=name&after=${cursor}`)).status, 200, 'as agents write it')
  for (
    const [why, query] of [
      ['another sort', `sort=-name&after=${cursor}`],
      ['another filter', `filter={"status":"draft"}&after=${cursor}`],
      ['a cursor of another list', `after=${await cursorOf(path.replace('products', 'tags'))}`],
      ['of another shop', `after=${await cursorOf(other.path)}`],
      ['with skip', `skip=2&after=${cursor}`],
      ['with range', `range=[0,1]&after=${cursor}`],
      ['twice', `after=${cursor}&after=${cursor}`],
      ['no cursor', 'after=2'],
      ['an empty one', 'after='],
      ['a long one', `after=${'a'.repeat(5000)}`],
      ['cut', `after=${cursor.slice(0, -9)}`],
      ['only its mark', `after=${cursor.slice(0, 11)}`],
      ['a value of another type', `sort=price_amount&after=${made('red')}`],
      ['a number that is too large', `sort=price_amount&after=${made('9'.repeat(30))}`],
      ['no id', `sort=price_amount&after=${made('1', 'red')}`],
      ['no instant', `sort=created_at&after=${made('never', undefined, 'created_at')}`],
      ['half a position', `sort=price_amount&after=${made('1', undefined, undefined, 1.5)}`],
      ['NUL', `after=${made('\0', undefined, 'name')}`]
    ] as const
  ) {
    const { status, body } = await request('GET', `${path}?${query.replaceAll('"', '%22')}`)
    t.match(
      { status, body },
      { status: 422, body: { code: 'SHOP_INVALID', field: 'after' } },
      `${why}: ${JSON.stringify(body).slice(0, 200)}`
    )
  }
})

t.test('an agent walks with the cursor in the link of a page', async (t) => {
  const { call, id } = await shopAt('agent')
  for (let n = 0; n < 5; n++) await call('POST', '/tags', { name: `Tag ${n}` })
  const page = async (args: object) => {
    const { body } = await request('POST', '/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_tags', arguments: { shop_id: id, limit: 2, ...args } }
    })
    return body.result.structuredContent as { result: Array<{ name: string }>, headers: Record<string, string> }
  }
  const names: string[] = []
  let after: string | undefined
  do {
    const { result: items, headers } = await page(after === undefined ? {} : { after })
    names.push(...items.map(({ name }) => name))
    after = headers['link'] === undefined ? undefined : /after=([^&>]+)/.exec(headers['link'])![1]!
  } while (after !== undefined)
  t.strictSame(names, ['Tag 0', 'Tag 1', 'Tag 2', 'Tag 3', 'Tag 4'])
})
