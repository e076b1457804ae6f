import { once } from 'node:events'
import { get } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * Work that goes on for longer than a moment, and callers who lose their access in the middle of it: they get nothing
 * more, nothing more is written, and the answer or the record says why.
 */

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member'])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_MAX: 100_000, MCP_IMPORTS_ENABLED: true } })
const base = await app.listen({ port: 0, host: '127.0.0.1' })
const machine = bearer(await idp.machineToken())
const member = bearer(await idp.userToken('member'))
const { id: memberId } = (await client(app, '', member)('GET', '/me')).body

// Who is a member of no shop.
await knex('users').insert({ subject: 'left' })

type Headers = Readonly<Record<string, string>>
interface Place {
  readonly id: string
  readonly key: string
}

/** The ways to lose access, in SQL, each with what the caller is told, and who that is. */
const losses = [
  [
    'is no member any more',
    member,
    ({ id }: Place) => knex('shop_members').where({ shop_id: id, user_id: memberId }).delete(),
    'SHOP_FORBIDDEN',
    /no access/
  ],
  [
    'is inactive',
    member,
    () => knex('users').where({ id: memberId }).update({ active: false }),
    'SHOP_USER_INACTIVE',
    /inactive/
  ],
  [
    'is in an archived shop',
    member,
    ({ id }: Place) => knex('shops').where({ id }).update({ status: 'archived' }),
    'SHOP_FORBIDDEN',
    /no access/
  ],
  [
    'has a revoked key',
    undefined,
    ({ key }: Place) => knex('api_keys').where({ id: key }).update({ revoked_at: knex.fn.now() }),
    'SHOP_FORBIDDEN',
    /no access/
  ],
  [
    'has a key that expires',
    undefined,
    ({ key }: Place) =>
      knex('api_keys').where({ id: key }).update({ expires_at: knex.raw("now() - interval '1 second'") }),
    'SHOP_FORBIDDEN',
    /no access/
  ],
  [
    'has a key whose maker has left',
    undefined,
    ({ key }: Place) => knex('api_keys').where({ id: key }).update({ created_by: 'left' }),
    'SHOP_FORBIDDEN',
    /no access/
  ]
] as const

const LINES = Array.from({ length: 3000 }, (_, n) => `{"name":"New ${n}"}\n`)
const count = async (id: string): Promise<number> =>
  Number((await knex('products').where({ shop_id: id }).count().first())!['count'])

/** A message of a client that takes tasks. */
const message = async (as: Headers, method: string, params: object) =>
  (await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25', ...as },
    payload: { jsonrpc: '2.0', id: 1, method, params }
  })).json()

/** How access is lost, and what is said of it then. */
interface Loss {
  readonly lose: () => Promise<unknown>
  readonly code: string
  readonly why: RegExp
}

/** The works, each begun by a caller, who loses access meanwhile. */
const works: Readonly<Record<string, (t: Test, place: Place, as: Headers, loss: Loss) => Promise<unknown>>> = {
  'a file on its way to the client': async (t, { id }, as, { lose }) => {
    await knex.raw(
      "insert into products (shop_id, name, slug, currency, description) select ?, 'P', 'p-' || n, 'EUR', " +
        "repeat('x', 20000) from generate_series(1, 600) n",
      [id]
    )
    const [response] = await once(get(`${base}/shops/${id}/products/export?format=jsonl`, { headers: as }), 'response')
    t.equal(response.statusCode, 200)
    await once(response, 'readable')
    await lose()
    let text = ''
    const end = await (async () => {
      for await (const chunk of response) text += String(chunk)
    })().then(() => 'whole', ({ code }: { code: string }) => code)
    t.equal(end, 'ECONNRESET', 'the client sees that it is not whole')
    t.ok(text.split('\n').length < 600)
  },
  'a file on its way to the server': async (t, { id }, as, { lose, code }) => {
    for (const query of ['', '?dry_run=true']) {
      const payload = Readable.from((async function* () {
        yield* LINES.slice(0, 700)
        await lose()
        yield* LINES.slice(700)
      })())
      const { statusCode, body } = await app.inject({
        method: 'POST',
        url: `/shops/${id}/imports${query}`,
        headers: { ...as, 'content-type': 'application/x-ndjson' },
        payload
      })
      t.match([statusCode, JSON.parse(body)], [403, { code }])
      if (as !== member) break
      await restore({ id })
    }
    t.equal(await count(id), 0)
    t.equal((await knex('imports').where({ shop_id: id })).length, 0, 'nothing is left of it')
  },
  'an import': async (t, { id }, as, { lose, why }) => {
    const { result: { task } } = await message(as, 'tools/call', {
      name: 'import_products',
      arguments: { shop_id: id, format: 'jsonl', content: LINES.slice(0, 1000).join('') },
      task: {}
    })
    const followed = message(as, 'tasks/result', { taskId: task.taskId })
    while (await knex('imports').where({ shop_id: id, status: 'running' }).first('id') === undefined) await sleep(5)
    await lose()
    // What was checked a second ago is checked again.
    const now = performance.now.bind(performance)
    t.intercept(performance, 'now', { value: () => now() + 1000 })
    t.ok((await followed).error, 'who follows the task is told nothing more')
    for (;;) {
      const [{ status, error, created }] = (await client(app, `/shops/${id}`, machine)('GET', '/imports')).body
      if (['pending', 'running'].includes(status)) await sleep(20)
      else {
        t.match([status, error], ['failed', why])
        t.equal(await count(id), created)
        return t.ok(created < 1000)
      }
    }
  },
  'an undo of many changes': async (t, { id }, as, { lose, code }) => {
    const shop = client(app, `/shops/${id}`, as)
    t.equal((await shop('POST', '/products/batch', { items: [{ name: 'A' }, { name: 'B' }] })).status, 200)
    for (const dry of [true, false]) {
      // Once it has begun to write.
      await knex.raw(
        'create or replace function lose() returns trigger language plpgsql as $$ begin ' +
          `${(lose() as unknown as { toQuery: () => string }).toQuery()}; return new; end $$`
      )
      await knex.raw(
        'create trigger lose before insert on history for each row when (new.reverts is not null) execute ' +
          'function lose()'
      )
      const { status, body } = await shop('POST', '/history/revert', {
        actor_kind: 'user',
        actor_id: memberId,
        since: '2020-01-01T00:00:00Z',
        dry_run: dry
      })
      await knex.raw('drop function lose() cascade')
      t.match([status, body], [403, { code }])
    }
    t.equal(await count(id), 2, 'nothing is undone')
  }
}

/** Gives the member access again. */
async function restore ({ id }: Pick<Place, 'id'>): Promise<void> {
  await knex('users').where({ id: memberId }).update({ active: true })
  await knex('shops').where({ id }).update({ status: 'active' })
  await knex('shop_members').insert({ shop_id: id, user_id: memberId }).onConflict(['shop_id', 'user_id']).ignore()
}

let shops = 0
for (const [work, begin] of Object.entries(works)) {
  for (const [loss, person, lose, code, why] of losses) {
    // Keys import, and do none of the rest.
    if (person === undefined && !/import|server/.test(work)) continue
    t.test(`${work}, whose caller ${loss}`, async (t) => {
      const id = await createShop(database, `shop-${++shops}`)
      await restore({ id })
      const { id: key, plaintext } =
        (await client(app, `/shops/${id}`, machine)('POST', '/api-keys/', { name: 'Agent' })).body
      const place = { id, key }
      const as = person ?? { 'x-api-key': plaintext }
      await begin(t, place, as, { lose: () => lose(place) as Promise<unknown>, code, why })
    })
  }
}
