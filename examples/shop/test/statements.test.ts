import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['member'])
const app = await build(t, database, idp)

const shop = await createShop(database, 'here')
const machine = bearer(await idp.machineToken())
const member = bearer(await idp.userToken('member'))
const keyOf = async (id: string) => ({
  'x-api-key': (await client(app, '', machine)('POST', `/shops/${id}/api-keys/`, { name: 'test' })).body
    .plaintext as string
})
const key = await keyOf(shop)
const tag = (await client(app, '', machine)('POST', `/shops/${shop}/tags`, { name: 'Tea' })).body.id
await app.inject({ url: '/me', headers: member })
await knex('shop_members').insert({
  shop_id: shop,
  user_id: (await knex('users').where({ name: 'member' }).first('id')).id
})

// Who is a member of no shop.
await knex('users').insert({ subject: 'left' })

const KEY_AND_SHOP = /^select .* from "api_keys" .*left join "shops"/
const USER_AND_SHOP = /^\s*select .* from users left join shops /s
const SHOP = /^select .* from "shops"/
const TAGS = /"tags"/
/** Whether who made a key is still there: known for a second. */
const MAKER = /^\s*select .* as works\s+from .* maker$/s

const toolCall = (name: string, args: object) => ({
  method: 'POST',
  url: '/mcp',
  payload: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }
} as const)

/**
 * After a call, at most once a minute: that the key was used, and the event of its first use. And every few seconds
 * what was counted of calls.
 */
const AFTERWARDS = new RegExp([
  '^select .* from "api_keys" as "api_keys" where "id" in',
  '^\\s*with found as \\(\\s*select wanted',
  '^\\s*with (given|counted) as',
  '^insert into "history"',
  '^BEGIN TRANSACTION .* read committed;',
  '^COMMIT;'
].join('|'))

/** The statements of the work that asks: what the server does meanwhile by itself is not of a call. */
const asking = new AsyncLocalStorage<string[]>()
knex.on('query', ({ sql }: { sql: string }) => {
  if (!AFTERWARDS.test(sql)) asking.getStore()?.push(sql)
})

/** What the work asks the database for. */
async function statementsOf (work: () => Promise<unknown>): Promise<string[]> {
  const asked: string[] = []
  await asking.run(asked, work)
  return asked
}

t.test('a call asks the database twice: for caller and shop, and for the records', async (t) => {
  const moment = performance.now()
  t.intercept(performance, 'now', { value: () => moment })
  const first = await statementsOf(async () => {
    t.equal((await app.inject({ url: `/shops/${shop}/tags`, headers: key })).statusCode, 200)
  })
  t.equal(first.length, 3, 'the first call with a key in a second')
  for (const [i, pattern] of [KEY_AND_SHOP, MAKER, TAGS].entries()) t.match(first[i], pattern)
  for (
    const [name, headers, overRest, overMcp = overRest] of [['a key', key, [KEY_AND_SHOP, TAGS]], [
      'a machine',
      machine,
      [SHOP, TAGS]
    ], ['a person', member, [USER_AND_SHOP, TAGS], [USER_AND_SHOP, SHOP, TAGS]]] as const
  ) {
    for (
      const request of [
        { url: `/shops/${shop}/tags` },
        { url: `/shops/${shop}/tags/${tag}` },
        { method: 'POST', url: `/shops/${shop}/tags`, payload: { name: `Coffee of ${name}` } },
        toolCall('list_tags', { shop_id: shop }),
        toolCall('get_tag', { shop_id: shop, tag_id: tag })
      ] as const
    ) {
      const expected: readonly RegExp[] = request.url === '/mcp' ? overMcp : overRest
      const asked = await statementsOf(async () => {
        const { statusCode, body } = await app.inject({
          ...request,
          headers: { accept: 'application/json, text/event-stream', ...headers }
        })
        t.ok(statusCode < 300 && !body.includes('"isError":true'), `${name}: ${statusCode} ${body}`)
      })
      t.equal(asked.length, expected.length, `${name}: ${asked.join('\n')}`)
      for (const [i, pattern] of expected.entries()) t.match(asked[i], pattern)
    }
  }
})

/** A connection on which a call of a tool is sent piece by piece. */
async function slowCall (t: Test, port: number, headers: Readonly<Record<string, string>>, body: object) {
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
  })
  let answer = ''
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text
  })
  const text = JSON.stringify(body)
  const lines = Object.entries({
    host: 'localhost',
    connection: 'close',
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'content-length': text.length,
    ...headers
  })
  socket.write(`POST /mcp HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`)
  return {
    async finish (): Promise<string> {
      socket.write(text)
      await once(socket, 'close')
      return answer
    }
  }
}

/** Resolves when the next key has been read. */
async function keyIsRead (): Promise<void> {
  await new Promise<void>((resolve) => {
    const listen = (_rows: unknown, { sql }: { sql: string }): void => {
      if (!KEY_AND_SHOP.test(sql)) return
      knex.removeListener('query-response', listen)
      resolve()
    }
    knex.on('query-response', listen)
  })
}

/** What happens while calls with a key wait, by the shop. */
const MEANWHILE: Readonly<Record<string, (shop: string) => PromiseLike<unknown>>> = {
  'a shop that is archived': (id) => knex('shops').where({ id }).update({ status: 'archived' }),
  'the shop of a key that is revoked': (id) =>
    knex('api_keys').where({ shop_id: id }).update({ revoked_at: knex.fn.now() }),
  'the shop of a key whose maker leaves': (id) => knex('api_keys').where({ shop_id: id }).update({ created_by: 'left' })
}
let closed = 0
for (const [what, happens] of Object.entries(MEANWHILE)) {
  t.test(`${what} while a call waits for its body, or for its turn, is closed to it`, async (t) => {
    let bodyAwaited = (): void => {}
    const bodyIsAwaited = new Promise<void>((resolve) => {
      bodyAwaited = resolve
    })
    const busy = await build(t, database, idp, {
      settings: { MAX_CONCURRENT_CALLS: 1 },
      onRoute (route) {
        if (route.url === '/mcp') route.preParsing = [async () => bodyAwaited(), ...[route.preParsing ?? []].flat()]
      }
    })
    await busy.listen({ host: '127.0.0.1', port: 0 })
    const { port } = busy.server.address() as AddressInfo
    const closing = await createShop(database, `closing-${++closed}`)
    const headers = await keyOf(closing)

    const tool = await slowCall(t, port, headers, toolCall('list_tags', { shop_id: closing }).payload)
    await bodyIsAwaited
    // The one place is taken by the tool call, so this one waits.
    const read = keyIsRead()
    const waiting = busy.inject({ url: `/shops/${closing}/tags`, headers })
    await read
    await happens(closing)
    t.match(
      await tool.finish(),
      /"isError":true.*You have no access to this shop|You have no access to this shop.*"isError":true/
    )
    t.match((await waiting).json(), { statusCode: 403, code: 'SHOP_FORBIDDEN' })
  })
}
