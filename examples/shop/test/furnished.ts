import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RouteOptions } from 'fastify'
import { startPayStandIn } from 'pay-reconcile/testing'
import type { Database } from '../src/database/index.ts'
import { keyRing } from '../src/pay/key-ring.ts'
import { bearer, build, type Checked, client, openIdentityProvider, openTestDatabase } from './build.ts'
import { bodyFromSchema } from './sample.ts'

/*
 * Shops with one of everything, and the routes of the app, for tables over all of them. Nothing here lists the routes:
 * they come from the app. Of a new one the tables know how to call it when its path and body name things that are named
 * below; else they fail and say so.
 */

const PAY_KEY = 'sk_test_furnished'

/** What rows of a shop are called that others must not see. */
export const MARK = 'Theirs alone'

export type Headers = Readonly<Record<string, string>>

/** A shop with one of everything: the ids that paths name, and what bodies may say. */
export interface Furnished {
  readonly id: string
  /** By the parameter of a path, or by the whole path where the parameter's name says too little. */
  readonly params: Readonly<Record<string, string>>
  /** By the property of a body. */
  readonly values: Readonly<Record<string, unknown>>
}

/** A method of a route. */
export interface Request {
  readonly route: RouteOptions
  readonly method: string
  /** As in `GET /shops/:shop_id`. */
  readonly name: string
}

export function paramsOf ({ url }: RouteOptions): string[] {
  return [...url.matchAll(/:(\w+)/g)].map(([, param]) => param!)
}

/**
 * @returns the path with the ids of `shop`, under `inside` if that is another one; undefined when it names something
 * unknown
 */
export function pathTo ({ url }: RouteOptions, { params }: Furnished, inside = params['shop_id']!): string | undefined {
  let known = true
  const path = url.replace(/:(\w+)/g, (_, param) => {
    const id = param === 'shop_id' ? inside : params[url] ?? params[param]
    known &&= id !== undefined
    return id ?? ''
  })
  // Its shop is not in the path.
  const query = url === '/admin/accounts/unlinked-customers' ? `?shop_id=${inside}` : ''
  return known ? `${path}${query}` : undefined
}

/** The schema of the JSON that a route takes, also if it takes files. */
export function bodySchemaOf ({ schema }: RouteOptions): object | undefined {
  const body = schema?.body as { readonly content?: Readonly<Record<string, { readonly schema: object }>> } | undefined
  return body?.content === undefined ? body : body.content['application/json']!.schema
}

/** @returns how to call a route of a furnished shop */
export function callOf (
  route: RouteOptions,
  shop: Furnished
): { readonly url: string, readonly body: object | undefined } {
  const url = pathTo(route, shop)
  if (url === undefined) throw new Error(`${route.url}: say in furnish() what the parameters of its path are`)
  const schema = bodySchemaOf(route)
  const body = schema && bodyFromSchema(schema, shop.values)
  if (schema && body === undefined) throw new Error(`${route.url}: say in furnish() what its body may say`)
  return { url, body }
}

/**
 * @param opened - the database; default: an empty one
 * @returns the app with every route, its people, and how to make shops; the last of the people is an admin
 */
export async function openFurnished (t: Checked, names: readonly string[], opened?: Database) {
  const standIn = await startPayStandIn({
    accounts: { [PAY_KEY]: { customers: [{ id: 'cus_known' }] } },
    log: () => {}
  })
  t.teardown(async () => await standIn.close())
  const database = opened ?? await openTestDatabase(t)
  const { knex } = database
  const idp = await openIdentityProvider(t, names)
  const routes: RouteOptions[] = []
  const settings = {
    MCP_IMPORTS_ENABLED: true,
    PAY_API_URL: standIn.url,
    PAY_WEBHOOKS_ENABLED: true,
    RATE_LIMIT_MAX: 100_000,
    RATE_LIMIT_ANONYMOUS_MAX: 100_000,
    RATE_LIMIT_REFUSED_MAX: 100_000
  }
  const app = await build(t, database, idp, { settings, onRoute: (route) => routes.push(route) })
  const ring = keyRing([idp.settings['PAY_KEY_SECRETS']!])
  const machine = bearer(await idp.machineToken())
  const people = await Promise.all(names.map(async (name) => {
    const headers: Headers = bearer(await idp.userToken(name))
    return { headers, id: (await client(app, '', headers)('GET', '/me')).body.id as string }
  }))
  await knex('users').where({ id: people.at(-1)!.id }).update({ roles: ['admin'] })
  const requests: readonly Request[] = routes.flatMap((route) =>
    [route.method].flat().map((method) => ({ route, method, name: `${method} ${route.url}` }))
  )
    .filter(({ method }) => method !== 'OPTIONS') // of CORS
  let made = 0

  async function furnish (): Promise<Furnished> {
    const number = ++made
    const insert = async (table: string, row: object): Promise<string> =>
      (await knex(table).insert(row).returning('*'))[0].id
    const id = await insert('shops', { slug: `shop-${number}`, name: MARK, currency: 'EUR' })
    await knex('shops').where({ id }).update({ pay_secret_key: ring.seal(PAY_KEY, id) })
    const named = { shop_id: id, name: MARK }
    const product = await insert('products', {
      ...named,
      slug: 'theirs',
      sku: 'T-1',
      currency: 'EUR',
      price_amount: 100,
      status: 'active'
    })
    const [category, parent] = [
      await insert('categories', { ...named, slug: 'theirs' }),
      await insert('categories', { ...named, slug: 'above' })
    ]
    const tag = await insert('tags', { ...named, slug: 'theirs' })
    const attribute = await insert('attributes', { ...named, code: 'theirs', type: 'text' })
    const account = await insert('accounts', { ...named, details: { pay_customer_id: 'cus_known' } })
    const order = await insert('orders', { shop_id: id, account_id: account, currency: 'EUR', total_amount: 100 })
    await knex('order_lines').insert({
      ...named,
      order_id: order,
      position: 0,
      product_id: product,
      unit_amount: 100,
      quantity: 1
    })
    const price = await insert('prices', { shop_id: id, product_id: product, currency: 'USD', amount: 110 })
    const [member, outsider] = [
      await insert('users', { subject: randomUUID(), name: MARK }),
      await insert('users', { subject: randomUUID(), name: MARK })
    ]
    await knex('shop_members').insert({ shop_id: id, user_id: member, role: 'owner' })
    const key = (await client(app, `/shops/${id}`, machine)('POST', '/api-keys/', { name: MARK })).body.id
    await knex('api_keys').where({ id: key }).update({
      created_by: knex('users').where({ id: member }).select('subject')
    })
    const run = randomUUID()
    await knex('pay_reconcile_runs').insert({
      registration: 'accounts',
      id: run,
      mode: 'check',
      dry_run: true,
      shop_id: id,
      actor: MARK,
      finished_at: knex.fn.now()
    })
    await knex('pay_reconcile_run_shops').insert({
      registration: 'accounts',
      run_id: run,
      shop_id: id,
      status: 'done',
      total: 0
    })
    const change = await insert('pay_reconcile_audit', {
      registration: 'accounts',
      actor: MARK,
      action: 'sync',
      account_id: account,
      shop_id: id,
      before: {},
      after: {}
    })
    await knex('pay_reconcile_snapshots').insert({
      registration: 'accounts',
      audit_id: change,
      account_id: account,
      shop_id: id,
      customer: { id: 'cus_known' }
    })
    const imported = await insert('imports', { shop_id: id, status: 'cancelled', actor: { kind: 'machine', id: MARK } })
    await knex('import_lines').insert({
      shop_id: id,
      import_id: imported,
      position: 1,
      line: 1,
      status: 'failed',
      message: MARK
    })
    const reverted = await insert('history', {
      shop_id: id,
      actor_kind: 'machine',
      actor_id: MARK,
      operation: 'test',
      action: 'update',
      record_kind: 'tag',
      record_id: tag,
      record_name: MARK,
      changes: { name: { before: 'changed', after: MARK } }
    })
    return {
      id,
      params: {
        shop_id: id,
        product_id: product,
        category_id: category,
        tag_id: tag,
        attribute_id: attribute,
        account_id: account,
        order_id: order,
        price_id: price,
        import_id: imported,
        user_id: member,
        key_id: key,
        id: account,
        '/admin/accounts/reconcile/:id': run,
        '/admin/accounts/audit/:id/snapshot': change,
        '/shops/:shop_id/history/:id/revert': reverted
      },
      values: {
        shop_id: id,
        // Of an item of a batch.
        id: product,
        product_id: product,
        category_ids: [category],
        parent_id: parent,
        tag_ids: [tag],
        attributes: [{ attribute_id: attribute, value: 'changed' }],
        image_urls: ['/changed.svg'],
        account_id: account,
        order_id: order,
        user_id: outsider,
        slug: `changed-${number}`,
        type: 'text',
        currency: 'USD',
        metadata: { changed: true },
        details: { changed: true },
        scopes: ['read'],
        expires_at: '2040-01-01T00:00:00Z',
        valid_from: '2040-01-01T00:00:00Z',
        valid_to: '2041-01-01T00:00:00Z',
        locale: 'pt-BR',
        time_zone: 'Europe/Lisbon',
        contact_email: 'changed@example.com',
        pay_secret_key: PAY_KEY,
        pay_webhook_secret: `whsec_${'s'.repeat(32)}`,
        pay_customer_id: 'cus_known',
        actor_kind: 'machine',
        actor_id: MARK,
        since: '2020-01-01T00:00:00Z',
        until: '2100-01-01T00:00:00Z',
        content: '{ "name": "Imported" }',
        // The changes of an actor are reverted, not chosen ones or those of an import.
        ids: undefined,
        import_id: undefined,
        mode: 'check',
        dry_run: true,
        // What becomes of the member's key: it is revoked, and handed over to nobody.
        keys: 'revoke',
        keys_to: undefined,
        // Each of them is for some modes only.
        accounts: undefined,
        accept: undefined,
        failed_in: undefined,
        synced_before: undefined
      }
    }
  }

  return {
    app,
    database,
    knex,
    idp,
    machine,
    people,
    routes,
    requests,
    furnish,

    /** Makes possible what a route does. */
    async prepare (name: string, shop: Furnished): Promise<void> {
      const { id, values } = shop
      // The last owner of a shop stays one.
      if (/^(PATCH|DELETE) .*members\/:user_id$/.test(name)) {
        await knex('shop_members').insert({ shop_id: id, user_id: values['user_id'], role: 'owner' })
      }
      if (name === 'DELETE /shops/:shop_id') await knex('orders').where({ shop_id: id }).delete()
    },

    send: async (method: string, url: string, headers: Headers, body?: object) =>
      await app.inject({ method: method as 'GET', url, headers: { ...headers }, ...(body && { payload: body }) }),

    /** Calls a tool. */
    tool: async (headers: Headers, name: string, args: object) =>
      await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { ...headers, accept: 'application/json, text/event-stream' },
        payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
      }),

    /** Leaves no run in the background that would write while rows are compared. */
    async settled (): Promise<void> {
      for (const table of ['pay_reconcile_run_shops', 'imports']) {
        while ((await knex(table).whereIn('status', ['pending', 'running'])).length > 0) await sleep(20)
      }
      await sleep(0)
    }
  }
}
