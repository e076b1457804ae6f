import type { RouteOptions } from 'fastify'
import t from 'tap'
import { bearer, client } from './build.ts'
import {
  bodySchemaOf,
  callOf,
  type Furnished,
  type Headers,
  MARK,
  openFurnished,
  paramsOf,
  pathTo
} from './furnished.ts'
import { bodyFromSchema } from './sample.ts'

const { app, knex, people, machine, requests, routes, furnish, prepare, send, tool, settled } = await openFurnished(t, [
  'owner',
  'stranger',
  'clerk',
  'landlord',
  'boss'
])
const [owner, stranger, clerk, landlord, boss] = people.map(({ headers }) => headers) as [
  Headers,
  Headers,
  Headers,
  Headers,
  Headers
]
const idOf = (person: Headers): string => people.find(({ headers }) => headers === person)!.id

/** What everybody may call. */
const publicRoutes = [
  '/.well-known/oauth-protected-resource',
  '/.well-known/oauth-protected-resource/mcp',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-authorization-server/oauth',
  '/.well-known/openid-configuration',
  '/.well-known/openid-configuration/oauth',
  '/oauth/.well-known/openid-configuration',
  '/oauth/register',
  '/admin/accounts/webhooks/:shop_id',
  '/',
  '/docs',
  '/docs/*',
  '/docs/json',
  '/docs/yaml',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/pictures/:shop/:file'
]

const { rows: tables } = await knex.raw(`select table_name as name from information_schema.tables
  where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'knex_%' order by 1`)

/**
 * Of these tables not every row or column counts: when and from where a key was used last, and the events of keys,
 * which are their own shop's.
 */
const parts: Readonly<Record<string, string>> = {
  api_keys: "select to_jsonb(api_keys) - '{last_used_at,last_used_network,networks}'::text[] from api_keys",
  history: "select * from history where action <> 'event'"
}

/** What all rows of a table add up to, in any order. */
const dumped = tables.map(({ name }: { name: string }) =>
  `select '${name}' as name, count(*) as count, sum(hashtextextended(row::text, 0)) as rows from ` +
  `(${parts[name] ?? `select * from "${name}"`}) row`
).join(' union all ')

async function dump (): Promise<ReadonlyArray<{ readonly name: string }>> {
  return (await knex.raw(dumped)).rows
}

/** Written when its time has come, whatever is called. */
const counted = ['daily_usage', 'failed_calls', 'key_calls', 'key_clients', 'tool_calls']
const uncounted = (tables: ReadonlyArray<{ readonly name: string }>) =>
  tables.filter(({ name }) => !counted.includes(name))

const isEndpoint = ({ url }: RouteOptions): boolean => url === '/mcp' // the tools' own routes are all here
const isPublic = ({ url }: RouteOptions): boolean => publicRoutes.includes(url === '/' ? url : url.replace(/\/$/, ''))

/** Makes somebody a member. */
const join = async (person: Headers, { id }: Furnished, role: 'owner' | 'staff'): Promise<void> =>
  await knex('shop_members').insert({ shop_id: id, user_id: idOf(person), role })

/** Calls that change nothing: dry runs, the link that is there, the end of what is over. */
const isIdle = (name: string): boolean =>
  /verify|history|link-pay|checkout|DELETE .*(imports|reconcile|webhook-secret)/.test(name)

/** With its UUIDs in capitals. */
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const inCapitals = (text: string): string => text.replace(IDS, (id) => id.toUpperCase())

const own = await furnish()
await join(owner, own, 'owner')
/** Reads leave it as it is. */
const read = await furnish()
const key = {
  'x-api-key': (await client(app, `/shops/${own.id}`, machine)('POST', '/api-keys/', { name: 'ours' })).body.plaintext
}

t.test('without good credentials every route answers 401, but for the public ones', async (t) => {
  t.ok(requests.length > 100)
  for (const { route, method, name } of requests) {
    const url = pathTo(route, own) ?? route.url
    // Where keys count, a bad one decides; elsewhere it is not looked at.
    const beside = isEndpoint(route) || route.schema?.tags?.includes('mcp') ? owner : bearer('nonsense')
    for (
      const headers of [{}, bearer('nonsense'), { ...beside, 'x-api-key': `${key['x-api-key']}x` }, { 'x-api-key': '' }]
    ) {
      const { statusCode } = await send(method, url, headers, undefined)
      if (isPublic(route)) t.not(statusCode, 401, name)
      else t.equal(statusCode, 401, `${name} with ${Object.keys(headers).join()}`)
    }
  }
  const urls = routes.map(({ url }) => url)
  t.strictSame(publicRoutes.filter((url) => !urls.includes(url)), [], 'and there is a route for each of those')
})

const isRead = ({ method }: { readonly method: string }): boolean => ['GET', 'HEAD'].includes(method)
const closed = requests.filter(({ route }) => !isPublic(route) && !isEndpoint(route))
const unread = await dump()

for (const { route, method, name } of [...closed.filter(isRead), ...closed.filter((request) => !isRead(request))]) {
  t.test(`${name} keeps to its shop`, async (t) => {
    const reads = isRead({ method })
    const theirs = reads ? read : await furnish()
    await prepare(name, theirs)
    const { url, body } = callOf(route, theirs)
    const takesKeys = route.schema?.tags?.includes('mcp') === true
    const params = paramsOf(route)
    const { description = '' } = route.schema as { readonly description?: string }
    const isAdmins = /Admins only/.test(description) || !url.startsWith('/shops')

    await settled()
    const before = reads ? undefined : await dump()
    const refused = async (
      what: string,
      request: Promise<{ statusCode: number, body: string }>,
      allowed: readonly number[]
    ): Promise<void> => {
      const { statusCode, body: text } = await request
      t.ok(allowed.includes(statusCode), `${what}: ${statusCode}`)
      t.notMatch(text, MARK, what)
    }

    if (params.length > 0) {
      await refused('a key of another shop', send(method, url, key, body), takesKeys ? [403] : [401])
      await refused('an owner of another shop', send(method, url, owner, body), [403])
      await refused('a member of none', send(method, url, stranger, body), [403])
    }
    if (params.length > 1 && params.includes('shop_id')) {
      const inside = pathTo(route, theirs, own.id)!
      await refused(
        'a key, with the row of another shop in its own',
        send(method, inside, key, body),
        takesKeys ? [404] : [401]
      )
      await refused('an owner, with the row of another shop in their own', send(method, inside, owner, body), [
        isAdmins ? 403 : 404
      ])
      await refused('an admin, with the row of another shop', send(method, inside, boss, body), [404])
    }
    if (body && params.includes('shop_id')) {
      // One at a time: a refusal of the account would hide that any product may be ordered.
      const idsIn = (shop: Furnished): readonly string[] => JSON.stringify(callOf(route, shop).body).match(IDS) ?? []
      const right = idsIn(own)
      for (const [n, id] of idsIn(theirs).entries()) {
        if (!idsOf(theirs).test(id)) continue
        const mixed = JSON.stringify(callOf(route, own).body).replaceAll(right[n]!, id)
        await refused(
          `an owner, whose body names a row of another shop: ${mixed}`,
          send(method, pathTo(route, own)!, owner, JSON.parse(mixed)),
          [404, 422]
        )
      }
    }
    if (params.length === 0) {
      const isOpen = ['/me', '/shops'].includes(url) && method !== 'POST'
      for (const person of [owner, stranger]) {
        const { statusCode, body: text } = await send(method, url, person, body)
        t.equal(statusCode, isOpen ? 200 : 403, 'with no id')
        t.notMatch(text, theirs.id)
      }
      t.equal((await send(method, url, key, body)).statusCode, 401)
    }
    const told = async (person: Headers): Promise<readonly [number, string]> => {
      const { statusCode, body: text } = await send(method, url, person, body)
      await settled()
      return [statusCode, text]
    }
    await settled()
    if (!reads) t.strictSame(await dump(), before, 'nothing has changed')

    // Right in their own shop, the owner has no more here than other staff.
    await join(clerk, theirs, 'staff')
    await join(owner, theirs, 'staff')
    await join(landlord, theirs, 'owner')
    const joined = reads ? undefined : await dump()
    const isOwners = / owners of the shop/.test(description) ||
      (url.includes('/api-keys') && method !== 'GET' && method !== 'HEAD')
    const ofShop = isOwners ? landlord : clerk
    const allowed = isAdmins ? boss : ofShop
    if (params.length > 0 && (allowed !== clerk || method === 'GET')) {
      const staffs = await told(clerk)
      t.equal(staffs[0], allowed === clerk ? 200 : 403, 'staff')
      t.strictSame(await told(owner), staffs, 'the owner of another shop gets what other staff get')
      if (isAdmins) {
        for (const other of [landlord, machine]) {
          t.equal((await told(other))[0], 403, 'the owner of the shop, and machines')
        }
      }
      if (/Staff see/.test(description)) t.notSame(await told(landlord), staffs, 'owners see more')
      if (!reads) t.strictSame(await dump(), joined, 'nothing has changed')
    }

    // Or all of this was refused for another reason than whose it is. Ids in capitals are the same ids.
    const inLowerCase = method === 'GET' ? await told(allowed) : undefined
    const { statusCode, body: text } = await send(
      method,
      inCapitals(url),
      allowed,
      body && JSON.parse(inCapitals(JSON.stringify(body)))
    )
    t.ok(
      statusCode < 300,
      `who may gets ${statusCode} ${text.slice(0, 200)}: if that is not right, say in furnish() how to call it`
    )
    if (inLowerCase !== undefined) {
      t.strictSame([statusCode, text], inLowerCase)
      t.equal((await send(method, url, boss)).statusCode, 200, 'admins reach every shop')
    }
    await settled()
    if (takesKeys && method === 'GET') {
      const [lower, upper] = await Promise.all(
        [(path: string) => path, inCapitals].map(async (spell) => await send(method, spell(pathTo(route, own)!), key))
      )
      t.strictSame([upper!.statusCode, upper!.body], [200, lower!.body], 'a key, with ids in capitals')
    }
    if (!reads && !isIdle(name)) t.notSame(await dump(), joined, 'something has changed')
    await knex('shop_members').where({ shop_id: theirs.id }).whereIn('user_id', [clerk, owner, landlord].map(idOf))
      .delete()
    if (name === closed.findLast(isRead)!.name) {
      t.strictSame(uncounted(await dump()), uncounted(unread), 'no read has changed anything')
    }
  })
}

/** Those of rows that have a shop; people have none. */
function idsOf ({ params, values }: Furnished): RegExp {
  const { user_id: _, ...ids } = params
  return new RegExp([...Object.values(ids), values['parent_id']].join('|'))
}

t.test('a tool keeps to its shop, whatever its arguments name', async (t) => {
  const theirs = await furnish()
  await settled()
  const before = await dump()
  const tools = requests.filter(({ route, method }) => method !== 'HEAD' && route.schema?.tags?.includes('mcp'))
  t.equal(tools.length, 23)
  for (const { route } of tools) {
    const { operationId: name } = route.schema as { operationId: string }
    const schema = bodySchemaOf(route)
    const body = schema && bodyFromSchema(schema, theirs.values)
    const ids = Object.fromEntries(paramsOf(route).map((param) => [param, theirs.params[param]]))
    const call = async (headers: Headers, shop: string) => await tool(headers, name, { ...body, ...ids, shop_id: shop })
    for (const headers of [key, owner, stranger]) {
      const { statusCode, body: text } = await call(headers, theirs.id)
      t.ok(statusCode === 403 || /"isError":true/.test(text), `${name}: ${statusCode}`)
      t.match(text, /403|Forbidden|SHOP_FORBIDDEN|not belong to this shop/, name)
      t.notMatch(text, MARK, name)
    }
    if (Object.keys(ids).length > 1) {
      const { body: text } = await call(key, own.id)
      t.match(text, /"isError":true.*404 Not Found|404 Not Found.*"isError":true/, `${name} in its own shop`)
    }
  }
  t.strictSame(uncounted(await dump()), uncounted(before))
  for (const table of counted) {
    t.strictSame(await knex(table).where({ shop_id: theirs.id }), [], `${table} has nothing of them`)
  }
})

t.test('refused keys are told to the shop that they belong to, and not to the one that they knocked at', async (t) => {
  const entries = await knex('history').where({ action: 'event' })
  t.ok(entries.some(({ operation }) => operation === 'api_key.refused'))
  for (const { shop_id: shop, record_id: id } of entries) {
    t.equal(shop, id === 'unknown' ? null : (await knex('api_keys').where({ id }).first('shop_id'))?.shop_id, id)
  }
})

t.test('a list of shops holds those that the caller reaches', async (t) => {
  const ids = async (headers: Headers): Promise<string[]> =>
    (await client(app, '', headers)('GET', '/shops?limit=200')).body.map(({ id }: { id: string }) => id)
  t.strictSame(await ids(owner), [own.id])
  t.strictSame(await ids(stranger), [])
  for (const everywhere of [boss, machine]) {
    const { headers, body } = await client(app, '', everywhere)('GET', '/shops?limit=200')
    t.equal(headers['content-range'], `shops 0-200/${(await knex('shops').count().first())?.['count']}`)
    t.ok(body.length > 20)
  }
})
