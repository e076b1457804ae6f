import { randomUUID } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['boss'])
const routes: RouteOptions[] = []
const app = await build(t, database, idp, {
  settings: { CORS_ORIGINS: 'https://shop.example', RATE_LIMIT_MAX: 100_000 },
  onRoute: (route) => routes.push({ ...route })
})
const boss = bearer(await idp.userToken('boss'))
const { id: bossId } = (await app.inject({ url: '/me', headers: boss })).json()
await knex('users').update({ roles: ['admin'] })
const shopId = await createShop(database, 'here')
await knex('shop_members').insert({ shop_id: shopId, user_id: bossId, role: 'owner' })
const call = client(app, '', boss)
const here = client(app, `/shops/${shopId}`, boss)
const ifMatch = (tag: string, headers = {}) => client(app, '', { ...boss, ...headers, 'if-match': tag })

const made = async (path: string, body: object): Promise<string> =>
  `/shops/${shopId}${path}/${(await here('POST', path, body)).body.id}`
const inserted = async (table: string, row: object): Promise<string> =>
  (await knex(table).insert(row).returning('id'))[0].id
const person = async (): Promise<string> => await inserted('users', { subject: randomUUID(), name: 'Ann' })
const account = async (): Promise<string> => await made('/accounts', { name: 'Ann' })

/** How to make each record that can be changed, and two changes of it. The route table says which there must be. */
const records: Readonly<
  Record<string, { readonly make: () => Promise<string>, readonly changes: readonly [object, object] }>
> = {
  '/shops/:shop_id/products/:product_id': {
    make: async () => await made('/products', { name: `Mug ${randomUUID()}` }),
    changes: [{ tag_ids: [] }, { description: 'Blue' }]
  },
  '/shops/:shop_id/categories/:category_id': {
    make: async () => await made('/categories', { name: `Cups ${randomUUID()}` }),
    changes: [{ position: 1 }, { position: 2 }]
  },
  '/shops/:shop_id/tags/:tag_id': {
    make: async () => await made('/tags', { name: `New ${randomUUID()}` }),
    changes: [{ name: 'One' }, { name: 'Two' }]
  },
  '/shops/:shop_id/attributes/:attribute_id': {
    make: async () => await made('/attributes', { name: `Size ${randomUUID()}`, type: 'text' }),
    changes: [{ unit: 'cm' }, { unit: 'in' }]
  },
  '/shops/:shop_id/prices/:price_id': {
    make: async () =>
      await made('/prices', {
        product_id: (await made('/products', { name: randomUUID() })).slice(-36),
        currency: 'USD',
        amount: 1
      }),
    changes: [{ amount: 2 }, { amount: 3 }]
  },
  '/shops/:shop_id/accounts/:account_id': { make: account, changes: [{ details: { a: 1 } }, { name: 'Bob' }] },
  '/shops/:shop_id/orders/:order_id': {
    make: async () =>
      `/shops/${shopId}/orders/${await inserted('orders', { shop_id: shopId, currency: 'EUR', total_amount: 1 })}`,
    changes: [{ status: 'paid' }, { status: 'cancelled' }]
  },
  '/shops/:shop_id/members/:user_id': {
    make: async () => {
      const id = await person()
      await here('POST', '/members', { user_id: id })
      return `/shops/${shopId}/members/${id}`
    },
    changes: [{ role: 'owner' }, { role: 'staff' }]
  },
  '/shops/:shop_id/config': {
    make: async () => `/shops/${shopId}/config`,
    changes: [{ locale: 'de' }, { locale: 'fr' }]
  },
  '/shops/:shop_id/limits': {
    make: async () => `/shops/${shopId}/limits`,
    changes: [{ calls_per_day: 1000 }, { calls_per_day: 2000 }]
  },
  '/shops/:shop_id/api-keys/:key_id/limits': {
    make: async () =>
      `/shops/${shopId}/api-keys/${(await here('POST', '/api-keys/', { name: 'Agent' })).body.id}/limits`,
    changes: [{ writes_per_day: 1000 }, { calls_per_day: 2000 }]
  },
  '/shops/:shop_id': {
    make: async () => `/shops/${(await call('POST', '/shops', { name: randomUUID(), currency: 'EUR' })).body.id}`,
    changes: [{ name: 'One' }, { name: 'Two' }]
  },
  '/admin/users/:user_id': {
    make: async () => `/admin/users/${await person()}`,
    changes: [{ active: false }, { active: true }]
  }
}

/** What nobody reads before they change it: secrets, work that is cancelled, and what becomes of keys. */
const unread = [
  '/admin/accounts/reconcile/:id',
  '/shops/:shop_id/api-keys/:key_id',
  '/shops/:shop_id/imports/:import_id',
  '/shops/:shop_id/members/:user_id/api-keys',
  '/shops/:shop_id/pay/key'
]

const writes = routes.filter(({ method, schema }) =>
  ['PATCH', 'PUT', 'DELETE'].includes(String(method)) && schema?.hide !== true
)
const answers = (url: string, method: string): boolean =>
  writes.some((route) => route.url === url && route.method === method)

t.test('every record that can be changed has a version', (t) => {
  t.strictSame(
    [...new Set(writes.map(({ url }) => url.replace(/\/$/, '')))].toSorted(),
    [...Object.keys(records), ...unread].toSorted()
  )
  t.end()
})

for (const [url, { make, changes: [one, two] }] of Object.entries(records)) {
  t.test(`${url}: nobody overwrites what they have not seen`, async (t) => {
    const path = await make()
    const read = await call('GET', path)
    const tag = String(read.headers.etag)
    t.match(tag, /^"[^"\s]+"$/, 'strong')
    t.equal((await app.inject({ method: 'HEAD', url: path, headers: boss })).headers.etag, tag)
    const cached = await client(app, '', { ...boss, 'if-none-match': `"other", W/${tag}` })('GET', path)
    t.strictSame([cached.status, cached.headers.etag], [304, tag])

    const changed = await ifMatch(`"other", ${tag}`)('PATCH', path, one)
    t.equal(changed.status, 200)
    t.not(changed.headers.etag, tag, 'another state has another tag')
    const now = await call('GET', path)
    t.strictSame([now.headers.etag, now.body], [changed.headers.etag, changed.body])

    for (const method of ['PATCH', 'DELETE'].filter((method) => answers(url, method))) {
      for (const stale of [tag, `W/${now.headers.etag}`, '"*"', `${tag},, "other"`, tag.slice(1, -1)]) {
        const refused = await ifMatch(stale)(method as 'PATCH', path, method === 'PATCH' ? two : undefined)
        t.match(
          refused,
          {
            status: 412,
            headers: { etag: now.headers.etag },
            body: { code: 'SHOP_PRECONDITION_FAILED', current: now.body }
          },
          `${method} with ${stale}`
        )
        t.strictSame(Object.keys(refused.body.current).toSorted(), Object.keys(now.body).toSorted(), 'and nothing else')
      }
      for (const none of ['', ' , ', 'two words', '"open', '"a" "b"', '"a", *']) {
        t.match(
          await ifMatch(none)(method as 'PATCH', path, method === 'PATCH' ? two : undefined),
          { status: 422, body: { field: 'if-match' } },
          none
        )
      }
    }
    t.strictSame((await call('GET', path)).body, now.body, 'nothing was changed')

    const both = await Promise.all(
      [two, two].map(async (change) => await ifMatch(String(now.headers.etag))('PATCH', path, change))
    )
    t.strictSame(both.map(({ status }) => status).toSorted(), [200, 412], 'of two writers one wins')
    for (const any of ['*', ' * ']) t.equal((await ifMatch(any)('PATCH', path, {})).status, 200)
    for (const written of [(tag: string) => `, "other" ,,${tag},`, (tag: string) => tag.slice(1, -1)]) {
      const { etag } = (await call('GET', path)).headers
      t.equal((await ifMatch(written(String(etag)))('PATCH', path, {})).status, 200, written(''))
    }
    if (!answers(url, 'DELETE')) return
    t.equal((await ifMatch(String((await call('GET', path)).headers.etag))('DELETE', path)).status, 204)
    t.equal((await ifMatch('*')('DELETE', path)).status, 404)
  })
}

t.test('what has no version is not changed on a condition', async (t) => {
  for (const url of unread) {
    const path = url.replace(':shop_id', shopId).replace(/:\w+/, randomUUID())
    t.match(
      await ifMatch('"any"')(
        url.endsWith('/key') ? 'PUT' : 'DELETE',
        path,
        url.endsWith('/key') ? { pay_secret_key: 'sk_test_123456789012345678' } : undefined
      ),
      { status: 422, body: { field: 'if-match' } }
    )
  }
})

t.test('a version rises with every change, even if the clock of the database was set back', async (t) => {
  const path = await made('/tags', { name: 'Clock' })
  await knex('tags').where({ id: path.slice(-36) }).update({ updated_at: '2100-01-01T00:00:00.0005Z' })
  const tags = new Set([(await call('GET', path)).headers.etag])
  for (const name of ['a', 'b', 'c']) tags.add((await call('PATCH', path, { name })).headers.etag)
  t.equal(tags.size, 4)
})

t.test('what others do to a record changes its version', async (t) => {
  const tag = await made('/tags', { name: 'Passing' })
  const product = await made('/products', { name: 'Tagged', tag_ids: [tag.slice(-36)] })
  const customer = await account()
  const member = await records['/shops/:shop_id/members/:user_id']!.make()
  const others: ReadonlyArray<readonly [path: string, what: () => Promise<unknown>]> = [
    [product, async () => await call('DELETE', tag)],
    [
      customer,
      async () => await call('POST', `/admin/accounts/${customer.slice(-36)}/link-pay`, { pay_customer_id: 'cus_1' })
    ],
    [member, async () => await call('PATCH', `/admin/users/${member.slice(-36)}`, { active: false })]
  ]
  for (const [path, what] of others) {
    const before = await call('GET', path)
    await what()
    const after = await call('GET', path)
    t.not(after.headers.etag, before.headers.etag, path)
    t.notSame(after.body, before.body)
  }
})

t.test('pages of other origins can read the version', async (t) => {
  const { headers } = await client(app, '', { ...boss, origin: 'https://shop.example' })(
    'GET',
    `/admin/users/${bossId}`
  )
  t.match(headers['access-control-expose-headers'], 'etag')
})

t.test('an agent can pass the updated_at that it read', async (t) => {
  const key = (await here('POST', '/api-keys/', { name: 'Agent', scopes: ['read', 'write'] })).body.plaintext
  const tool = async (name: string, args: object): Promise<any> => {
    const { body } = await client(app, '', { 'x-api-key': key, accept: 'application/json, text/event-stream' })(
      'POST',
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
    )
    return body.result
  }
  for (const one of ['product', 'category', 'tag', 'attribute']) {
    const several = one.replace(/y$/, 'ie') + 's'
    const id = {
      [`${one}_id`]:
        (await made(`/${several}`, { name: `Versioned ${one}`, ...one === 'attribute' && { type: 'text' } })).slice(-36)
    }
    const read = JSON.parse((await tool(`get_${one}`, id)).content[0].text)
    const update = async (name: string, ifMatch?: string) =>
      await tool(`update_${one}`, { ...id, name, ...ifMatch !== undefined && { if_match: ifMatch } })
    t.equal((await update('Mine', read.updated_at)).isError, undefined)
    const late = await update('Late', read.updated_at)
    t.equal(late.isError, true)
    t.match(
      late.content[0].text,
      /^412 Precondition Failed: This has changed since you read it.*"name":"Mine"/s,
      'and says what it is now'
    )
    const { current } = JSON.parse(/^\{.*\}$/m.exec(late.content[0].text)![0])
    t.equal((await update('Again', `"${current.updated_at}"`)).isError, undefined, 'which is enough to go on')
    t.equal((await update('Regardless')).isError, undefined, 'without it nothing is compared')
  }
})
