import { randomUUID } from 'node:crypto'
import type { RouteOptions } from 'fastify'
import { fetchUtils } from 'ra-core'
import simpleRestProvider from 'ra-data-simple-rest'
import t from 'tap'
import { UUID } from '../src/http/schemas.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * Every list of the route table, tried with the whole grammar. A new list is tried without anybody adding it here: it
 * only needs records, below.
 */

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['boss'])
const routes: RouteOptions[] = []
const limits = { RATE_LIMIT_MAX: 100_000, RATE_LIMIT_ANONYMOUS_MAX: 100_000, RATE_LIMIT_REFUSED_MAX: 100_000 }
const app = await build(t, database, idp, { settings: limits, onRoute: (route) => routes.push({ ...route }) })
const boss = bearer(await idp.userToken('boss'))
await app.inject({ url: '/me', headers: boss })
await knex('users').update({ roles: ['admin'] })

const shopId = await createShop(database, 'here')
await createShop(database, 'there', 'USD')
await knex('shops').where({ slug: 'there' }).update({ status: 'archived' })
await createShop(database, 'nowhere')
const importId = randomUUID()
await fill()

/** What a list computes from other fields: a filter finds it, and nothing sorts by it. */
const derived = new Set(['/shops/:shop_id/api-keys status'])

/**
 * Whether a field names something of the shop. Ids of requests, and what pay-reconcile keeps of its host's ids, are
 * strings like any others.
 */
const isId = (url: string, field: string): boolean =>
  /(^|_)id$/.test(field) && field !== 'request_id' && !/^\/admin\/accounts\/(audit|reconcile)/.test(url)

/** What the lists of the catalog, which models read, are not filtered by. */
const isLeftOut = (url: string, field: string): boolean =>
  /\/(products|categories|tags|attributes)$/.test(url) &&
  ['shop_id', 'description', 'created_at', 'updated_at'].includes(field)

interface ListSchema {
  type?: string
  items?: { properties: Record<string, { type?: string }> }
}
type Row = Record<string, unknown>

const lists = routes.flatMap(({ method, url, schema }) => {
  const response =
    (schema?.response as Record<string, ListSchema & { content?: Record<string, { schema: ListSchema }> }> | undefined)
      ?.['200']
  // Some lists have other forms beside JSON.
  const answer = response?.content?.['application/json']?.schema ?? response
  // The twin with a slash at its end is the same list.
  if (
    method !== 'GET' || answer?.type !== 'array' ||
    (url.endsWith('/') && routes.some((other) => other.url === url.slice(0, -1)))
  ) return []
  return [{
    url,
    path: url.replace(':shop_id', shopId).replace(':import_id', importId),
    fields: Object.keys(answer.items!.properties)
  }]
})

const get = client(app, '', boss)
const list = async (path: string, query: Record<string, string>) =>
  await get('GET', `${path}?${new URLSearchParams(query).toString()}`)

t.test('these are all lists', async (t) => {
  t.strictSame(lists.map(({ url }) => url).toSorted(), [
    '/admin/accounts',
    '/admin/accounts/audit',
    '/admin/accounts/reconcile',
    '/admin/audit',
    '/admin/users',
    '/shops',
    '/shops/:shop_id/accounts',
    '/shops/:shop_id/api-keys',
    '/shops/:shop_id/attributes',
    '/shops/:shop_id/audit',
    '/shops/:shop_id/categories',
    '/shops/:shop_id/history',
    '/shops/:shop_id/imports',
    '/shops/:shop_id/imports/:import_id/lines',
    '/shops/:shop_id/members',
    '/shops/:shop_id/orders',
    '/shops/:shop_id/prices',
    '/shops/:shop_id/products',
    '/shops/:shop_id/tags'
  ])
})

for (const { url, path, fields } of lists) {
  t.test(`${url} speaks the list grammar`, async (t) => {
    const whole = await list(path, { limit: '200' })
    const all: Row[] = whole.body
    const [, unit, count] = /^([a-z-]+) 0-200\/(\d+)$/.exec(String(whole.headers['content-range'])) ?? []
    t.strictSame([whole.status, all.length], [200, Number(count)], 'limit')
    t.ok(all.length >= 3, 'there are records to try it with')
    const found = async (query: Record<string, string>): Promise<Row[]> => {
      const { status, body } = await list(path, { limit: '200', ...query })
      t.equal(status, 200, JSON.stringify(query))
      return status === 200 ? body : []
    }

    const page = await list(path, { skip: '1', limit: '1' })
    t.strictSame([page.headers['content-range'], page.body], [`${unit} 1-2/${count}`, [all[1]]], 'skip')
    const range = await list(path, { range: '[1,1]' })
    t.strictSame([range.headers['content-range'], range.body], [`${unit} 1-2/${count}`, [all[1]]], 'range')
    t.match(await list(path, { skip: '1000', limit: '5' }), {
      headers: { 'content-range': `${unit} 1000-1005/${count}` },
      body: []
    }, 'past the end')
    const head = await app.inject({ method: 'HEAD', url: `${path}?limit=1`, headers: boss })
    t.equal(head.headers['content-range'], `${unit} 0-1/${count}`, 'HEAD counts')

    for (const field of fields) {
      const isEmpty = (value: unknown): boolean =>
        value === null || value === undefined || (Array.isArray(value) && value.length === 0)
      const record = all.find((row) => !isEmpty(row[field]))
      if (record === undefined) {
        t.fail(`no record has a ${field}: fill() must make one`)
        continue
      }
      if (isLeftOut(url, field)) {
        const filter = JSON.stringify({ [field]: record[field] })
        t.match(
          await list(path, { filter }),
          { status: 422, body: { field: `filter/${field}` } },
          `no filter by ${field}`
        )
        continue
      }
      const matching = await found({ filter: JSON.stringify({ [field]: record[field] }) })
      t.ok(matching.some(({ id }) => id === record['id']), `filter by ${field}`)
      if (typeof record[field] === 'object') {
        t.match(await list(path, { sort: field }), { status: 422, body: { field: 'sort' } }, `no sort by ${field}`)
        continue
      }
      t.strictSame(matching, all.filter((row) => row[field] === record[field]), `only those with that ${field}`)
      if (isId(url, field) && UUID.test(String(record[field]))) {
        t.strictSame(
          await found({ filter: JSON.stringify({ [field]: String(record[field]).toUpperCase() }) }),
          matching,
          `${field} in capitals`
        )
      }
      if (field === 'description' || derived.has(`${url} ${field}`)) {
        t.match(await list(path, { sort: field }), { status: 422, body: { field: 'sort' } }, `no sort by ${field}`)
        continue
      }
      if (all.some((row) => isEmpty(row[field]))) {
        t.strictSame(
          await found({ filter: JSON.stringify({ [field]: null }) }),
          all.filter((row) => isEmpty(row[field])),
          `without ${field}`
        )
      }
      const up = await found({ sort: field })
      const down = await found({ sort: `["${field}","DESC"]` })
      t.strictSame(
        up.map(({ id }) => id).toSorted(),
        all.map(({ id }) => id).toSorted(),
        `sort by ${field} loses nothing`
      )
      t.strictSame(
        down.filter((row) => !isEmpty(row[field])),
        up.filter((row) => !isEmpty(row[field])).toReversed(),
        'descending is the other way round'
      )
      for (const rows of [up, down]) {
        t.ok(
          rows.findLastIndex((row) => !isEmpty(row[field])) < (rows.findIndex((row) => isEmpty(row[field])) >>> 0),
          `no ${field} comes last`
        )
      }
    }

    t.strictSame(await found({ sort: '-id' }), await found({ sort: '["id","DESC"]' }), 'both spellings of descending')
    t.strictSame(await found({ sort: 'id' }), await found({ sort: '["id","ASC"]' }), 'and of ascending')
    const ids = [all[2]!['id'], all[0]!['id']]
    t.strictSame(
      new Set((await found({ filter: JSON.stringify({ id: ids }) })).map(({ id }) => id)),
      new Set(ids),
      'filter by several ids'
    )
    const many = JSON.stringify({ id: [...Array.from({ length: 119 }, () => randomUUID()), all[0]!['id']] })
    t.match(await list(path, { filter: many }), {
      headers: { 'content-range': `${unit} 0-120/1` },
      body: [{ id: all[0]!['id'] }]
    }, 'a page holds all ids that are asked for')

    for (
      const [query, field] of [
        ['page=2', 'page'],
        ['__proto__=1', '__proto__'],
        ['limit=0', 'limit'],
        ['limit=5000', 'limit'],
        ['limit=x', 'limit'],
        ['skip=-1', 'skip'],
        ['skip=1.5', 'skip'],
        ['range=[0,24]&skip=1', 'range'],
        ['range=[0,24]&limit=1', 'range'],
        ['range=[5,4]', 'range'],
        ['range=[0,5000]', 'range'],
        ['range=[0]', 'range'],
        ['range=[-1,5]', 'range'],
        ['range=["0","5"]', 'range'],
        ['range=0-24', 'range'],
        ['range=null', 'range'],
        ['filter=', 'filter'],
        ['filter=x', 'filter'],
        ['filter=[]', 'filter'],
        ['filter=null', 'filter'],
        ['filter={}&filter={}', 'filter'],
        ['filter={"colour":1}', 'filter/colour'],
        ['filter={"__proto__":1}', 'filter/__proto__'],
        ['filter={"id":[]}', 'filter/id'],
        ['filter={"id":{"a":1}}', 'filter/id'],
        ['sort=', 'sort'],
        ['sort=colour', 'sort'],
        ['sort=["id"]', 'sort'],
        ['sort=["id","sideways"]', 'sort'],
        ['sort=["id","ASC","DESC"]', 'sort'],
        ['sort=id&sort=-id', 'sort']
      ] as const
    ) {
      const { status, body } = await get('GET', `${path}?${query.replaceAll('"', '%22')}`)
      t.equal(status, 422, `${query}: ${JSON.stringify(body).slice(0, 200)}`)
      t.ok(body.field === field || body.field.startsWith(`${field}/`), `${query} names ${body.field}`)
      t.match(body.message, field.split('/').at(-1)!, query)
    }
  })
}

t.test("react-admin's simple REST provider works on every list", async (t) => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const provider = simpleRestProvider(
    url,
    (address, options = {}) =>
      fetchUtils.fetchJson(address, { ...options, user: { authenticated: true, token: boss.authorization } })
  )
  for (const { url, path, fields } of lists) {
    const resource = path.slice(1)
    const all: Row[] = (await list(path, { limit: '200', sort: 'id' })).body
    const sort = { field: 'id', order: 'ASC' } as const
    t.match(await provider.getList(resource, { pagination: { page: 2, perPage: 2 }, sort, filter: {} }), {
      data: all.slice(2, 4),
      total: all.length
    }, path)
    const ids = all.map(({ id }) => String(id))
    t.strictSame((await provider.getMany(resource, { ids })).data.map(({ id }) => id).toSorted(), ids, `${path}: many`)
    const target = fields.find((field) =>
      !['id', 'scopes'].includes(field) && !isLeftOut(url, field) && typeof all[0]![field] === 'string'
    )!
    const { data, total } = await provider.getManyReference(resource, {
      target,
      id: String(all[0]![target]),
      pagination: { page: 1, perPage: 200 },
      sort,
      filter: {}
    })
    t.strictSame(
      [data, total],
      [all.filter((row) => row[target] === all[0]![target]), data.length],
      `${path}: those of one ${target}`
    )
  }
})

/** Makes records of every kind, each field of which some record has. */
async function fill (): Promise<void> {
  const shop = client(app, `/shops/${shopId}`, boss)
  const make = async (path: string, body: object): Promise<Row & { id: string }> => {
    const { status, body: made } = await shop('POST', path, body)
    if (status >= 300) throw new Error(`${path}: ${JSON.stringify(made)}`)
    return made
  }
  const category = await make('/categories', { name: 'Kitchen', description: 'Pots and pans' })
  for (const name of ['Pots', 'Pans']) await make('/categories', { name, parent_id: category.id, position: 2 })
  // More than a page holds unless told otherwise.
  for (let n = 0; n < 30; n++) await make('/tags', { name: `Tag ${n}` })
  const tag = await make('/tags', { name: 'Sale' })
  const size = await make('/attributes', { name: 'Size', type: 'select', options: ['S', 'M'] })
  for (const [name, unit] of [['Depth', 'cm'], ['Width', null]] as const) {
    await make('/attributes', { name, type: 'number', unit })
  }
  const products = []
  for (
    const product of [
      {
        name: 'Apple',
        price_amount: 300,
        status: 'active',
        sku: 'A-1',
        tag_ids: [tag.id],
        image_urls: ['/a.svg', 'https://cdn.example/a.jpg'],
        metadata: { erp: { id: 7, tags: ['x', 'y'] } }
      },
      {
        name: 'Banana',
        price_amount: 100,
        status: 'active',
        description: '100%_ripe',
        attributes: [{ attribute_id: size.id, value: 'S' }]
      },
      {
        name: 'Cherry',
        currency: 'USD',
        category_ids: [category.id],
        attributes: [{ attribute_id: size.id, value: 'M' }]
      }
    ]
  ) products.push(await make('/products', product))
  for (
    const [from, to] of [[null, null], ['2030-01-01T00:00:00Z', null], ['2031-01-01T00:00:00Z', '2032-01-01T00:00:00Z']]
  ) {
    await make('/prices', { product_id: products[0]!.id, amount: 250, valid_from: from, valid_to: to })
  }
  for (const [name, hashName] of [['Ada', 'h1'], ['Bob', null], ['Cid', 'h3']]) {
    const account = await make('/accounts', { name, hash_name: hashName, details: { tier: 'gold' } })
    await make('/orders', {
      account_id: account.id,
      lines: [{ product_id: products[0]!.id, quantity: 2 }, { product_id: products[1]!.id }]
    })
    if (name === 'Ada') {
      await knex('accounts').where({ id: account.id }).update({
        details: { tier: 'gold', pay_customer_id: 'cus_1', pay_synced_at: '2026-01-01T00:00:00.000Z' }
      })
    }
  }
  for (const name of ['staff', 'owner', null]) {
    const [{ id }] = await knex('users').insert({ subject: randomUUID(), name, active: name !== null }).returning('id')
    await knex('shop_members').insert({ shop_id: shopId, user_id: id, role: name ?? 'staff' })
  }
  for (const [mode, finished] of [['check', true], ['sync', false], ['link', true]]) {
    const id = randomUUID()
    await knex('pay_reconcile_runs').insert({
      registration: 'accounts',
      id,
      mode,
      dry_run: mode === 'check',
      shop_id: mode === 'link' ? null : shopId,
      actor: 'boss',
      scheduled_for: mode === 'check' ? '2026-01-01T03:00:00Z' : null,
      finished_at: finished ? knex.fn.now() : null
    })
    await knex('pay_reconcile_run_shops').insert({
      registration: 'accounts',
      run_id: id,
      shop_id: shopId,
      status: finished ? 'done' : 'running',
      total: 3,
      processed: 2,
      outcomes: { synced: 2 },
      differences: { missing: 1 },
      leased_until: '2100-01-01T00:00:00Z'
    })
  }
  for (
    const [id, status, error] of [
      [importId, 'done', null],
      [randomUUID(), 'failed', 'The quota is used up'],
      [randomUUID(), 'cancelled', null]
    ]
  ) {
    const isDone = status === 'done'
    const counts = isDone ? { total: 6, processed: 5, created: 4, updated: 3, unchanged: 2, failed: 1 } : {}
    await knex('imports').insert({
      id,
      shop_id: shopId,
      status,
      error,
      actor: { kind: 'user', id: status, ...isDone && { name: 'Sam' } },
      file_name: isDone ? 'teas.csv' : null,
      ...counts,
      started_at: isDone ? knex.fn.now() : null,
      finished_at: isDone ? null : knex.fn.now()
    })
  }
  for (const [index, status] of ['created', 'failed', 'skipped'].entries()) {
    const isCreated = status === 'created'
    const problem = status === 'failed' ? { field: 'sku', message: 'sku is taken in this shop' } : {}
    await knex('import_lines').insert({
      shop_id: shopId,
      import_id: importId,
      position: index + 1,
      line: index + 2,
      status,
      product_id: isCreated ? products[0]!.id : null,
      change_id: isCreated ? randomUUID() : null,
      ...problem
    })
  }
  for (const action of ['link', 'create', 'sync']) {
    const isSync = action === 'sync'
    await knex('pay_reconcile_audit').insert({
      registration: 'accounts',
      actor: 'boss',
      action,
      account_id: randomUUID(),
      shop_id: shopId,
      run_id: isSync ? randomUUID() : null,
      before: { pay_customer_id: null, pay_synced_at: null, snapshot_sha256: null },
      after: { pay_customer_id: action, pay_synced_at: null, snapshot_sha256: null },
      provider_request_id: isSync ? 'req_1' : null,
      request_id: isSync ? randomUUID() : null
    })
  }
  // Of a settings change through a tool, which there is none for, and its revert.
  await knex('history').insert({
    shop_id: shopId,
    actor_kind: 'api-key',
    actor_name: 'Printer',
    actor_prefix: 'abc',
    operation: 'test',
    tool: 'test',
    confirmed: 'a client',
    action: 'update',
    record_kind: 'shop_config',
    record_id: shopId,
    record_name: 'here',
    reverts: (await knex('history').insert({
      shop_id: shopId,
      actor_kind: 'machine',
      operation: 'test',
      action: 'update',
      record_kind: 'shop_config',
      record_id: shopId
    }).returning('id'))[0].id
  })
  for (
    const body of [{ name: 'Printer' }, {
      name: 'Till',
      scopes: ['read', 'list_tags'],
      expires_at: '2040-01-01T00:00:00Z'
    }, { name: 'Gone' }]
  ) {
    const { id, plaintext } = await make('/api-keys/', body) as Row & { id: string, plaintext: string }
    if (body.name === 'Printer') await app.inject({ url: `/shops/${shopId}/tags`, headers: { 'x-api-key': plaintext } })
    if (body.name === 'Till') await make(`/api-keys/${id}/rotate`, {})
    if (body.name === 'Gone') {
      await app.inject({ method: 'DELETE', url: `/shops/${shopId}/api-keys/${id}`, headers: boss })
    }
  }
}
