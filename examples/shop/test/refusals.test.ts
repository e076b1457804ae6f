import { agentOf } from 'mcp-from-routes/testing'
import t from 'tap'
import { lines, memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { clientLines, connect, type Agent } from './mcp-clients.ts'
import { toolNames } from './tool-names.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['ada'])
const app = await build(t, database, idp, { settings: { RATE_LIMIT_REFUSED_MAX: 100_000 } })
const mcpUrl = `${await app.listen({ host: '127.0.0.1', port: 0 })}/mcp`
const [here, elsewhere] = [await createShop(database, 'here'), await createShop(database, 'elsewhere')]
const machine = bearer(await idp.machineToken())
const makeKey = async (scopes?: readonly string[], shop = here): Promise<string> =>
  (await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, { name: 'test', ...scopes && { scopes } })).body
    .plaintext
const reading = toolNames.filter((name) => /^(list|get)_/.test(name))

const namesOf = async (agent: Agent): Promise<string[]> => (await agent.listTools()).tools.map(({ name }) => name)

const toolsOf = async (headers: Readonly<Record<string, string>>) => await (await agentOf(app, { headers })).tools()

/** A JSON-RPC request as it goes over the wire. */
async function ask (method: string, params: object, headers: Readonly<Record<string, string>>) {
  return await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    payload: { jsonrpc: '2.0', id: 1, method, params }
  })
}

for (const line of clientLines) {
  t.test(`${line}: a key that may read sees what it can call, and which scope another tool needs`, async (t) => {
    const agent = await connect(t, line, mcpUrl, { 'x-api-key': await makeKey(['read']) })
    t.strictSame(await namesOf(agent), reading)
    for (let round = 0; round < 2; round++) {
      t.match(await agent.callTool({ name: 'create_tag', arguments: { name: 'Sale' } }), {
        isError: true,
        content: [{
          type: 'text',
          text: '403 Forbidden: create_tag needs the scope write or create_tag. This API key has only the scope ' +
            'read (DUAL_AUTH_SCOPE_INSUFFICIENT)'
        }]
      })
      t.notOk((await agent.callTool({ name: 'list_tags', arguments: {} })).isError, 'the server is still there for it')
    }
  })
}

for (const { name, attempt } of lines) {
  t.test(`${name}: a missing scope of a key opens no browser and registers no client`, async (t) => {
    const store = memory()
    // A client that could sign in, as Claude Code can, and has a key.
    const fetched: string[] = []
    const realFetch = globalThis.fetch
    const key = await makeKey(['read'])
    globalThis.fetch = async (input, init) => {
      fetched.push(String(input instanceof Request ? input.url : input))
      return await realFetch(input, {
        ...init,
        headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-api-key': key }
      })
    }
    t.teardown(() => {
      globalThis.fetch = realFetch
    })
    const agent = await attempt(new URL(mcpUrl), store).connect() as unknown as Agent & { close(): Promise<void> }
    t.teardown(async () => await agent.close())
    t.match(await agent.callTool({ name: 'create_tag', arguments: { name: 'Sale' } }), {
      isError: true,
      content: [{ text: /create_tag needs the scope write or create_tag/ }]
    })
    t.strictSame(store.redirects, [])
    t.strictSame([...new Set(fetched)], [mcpUrl])
  })
}

t.test('a missing scope is 200 with a tool error at the endpoint, and 403 at the route', async (t) => {
  const headers = { 'x-api-key': await makeKey(['read']) }
  for (const extra of [{}, { extra: 1 }]) {
    const answer = await ask('tools/call', { name: 'delete_tag', arguments: { tag_id: here }, ...extra }, headers)
    t.strictSame([answer.statusCode, answer.headers['www-authenticate']], [200, undefined])
    t.match(answer.body, /delete_tag needs the scope write or delete_tag/)
  }
  const rest = await app.inject({ method: 'POST', url: `/shops/${here}/tags`, headers, payload: { name: 'Sale' } })
  t.strictSame([rest.statusCode, rest.headers['www-authenticate']], [403, undefined])
  t.strictSame(rest.json(), {
    statusCode: 403,
    code: 'DUAL_AUTH_SCOPE_INSUFFICIENT',
    error: 'Forbidden',
    message: 'create_tag needs the scope write or create_tag. This API key has only the scope read'
  })
})

t.test('each set of scopes lists the tools that they open, and every credential without scopes all 20', async (t) => {
  const listed = async (headers: Readonly<Record<string, string>>): Promise<string[]> =>
    (await toolsOf(headers)).map(({ name }) => name)
  const all = [...toolNames]
  const writing = all.filter((name) => !reading.includes(name))
  for (
    const [scopes, names] of [
      [undefined, all],
      [['read'], reading],
      [['write'], writing],
      [['read', 'write'], all],
      [['create_tag'], ['create_tag']],
      [['read', 'delete_tag'], all.filter((name) => reading.includes(name) || name === 'delete_tag')]
    ] as const
  ) {
    const key = await makeKey(scopes)
    t.strictSame(await listed({ 'x-api-key': key }), names, String(scopes))
    t.strictSame(await listed(bearer(key)), names, `${String(scopes)} as bearer token`)
  }
  t.strictSame(await listed(machine), all)
  t.strictSame(
    await listed(bearer(await idp.userToken('ada'))),
    all,
    'a person without a shop, too: it may be given one'
  )
})

t.test('a key need not name its shop, and tokens must', async (t) => {
  const required = async (headers: Readonly<Record<string, string>>): Promise<Array<readonly string[]>> =>
    (await toolsOf(headers)).map(({ inputSchema: { properties = {}, required = [] } }) => {
      t.ok('shop_id' in properties)
      return required
    })
  const key = { 'x-api-key': await makeKey() }
  t.ok((await required(key)).every((names) => !names.includes('shop_id')))
  t.ok((await required(machine)).every((names) => names.includes('shop_id')))

  const result = async (name: string, args: object, headers: Readonly<Record<string, string>>) =>
    (await ask('tools/call', { name, arguments: args }, headers)).json().result
  const { structuredContent: tag } = await result('create_tag', { name: 'Implied' }, key)
  t.match(tag, { shop_id: here, name: 'Implied' })
  t.match(await result('get_tag', { tag_id: tag.id }, key), { structuredContent: { id: tag.id } })
  t.match(await result('update_tag', { tag_id: tag.id, name: 'Changed' }, key), {
    structuredContent: { name: 'Changed' }
  })
  t.match(await result('list_tags', {}, key), { structuredContent: { result: [{ id: tag.id }] } })
  t.match(await result('list_tags', { shop_id: here.toUpperCase() }, key), {
    structuredContent: { result: [{ id: tag.id }] }
  }, 'in another spelling')
  for (const shop of [elsewhere, '00000000-0000-4000-8000-000000000000', 'x']) {
    t.match(await result('list_tags', { shop_id: shop }, key), {
      isError: true,
      content: [{ text: '403 Forbidden: The API key has no access to this path (DUAL_AUTH_OWNER_FORBIDDEN)' }]
    }, 'a shop that is named counts')
  }
  t.match(await result('get_tag', { tag_id: tag.id }, { 'x-api-key': await makeKey(undefined, elsewhere) }), {
    isError: true,
    content: [{ text: /^404 / }]
  }, 'the key of another shop implies that one')
  for (const headers of [machine, bearer(await idp.userToken('ada'))]) {
    t.strictSame(await result('list_tags', {}, headers), {
      content: [{ type: 'text', text: 'shop_id is missing' }],
      isError: true
    })
  }
  t.match(await result('delete_tag', { tag_id: tag.id }, key), { isError: undefined })
})

t.test('of two credentials a bad one is not rescued, and the key is what implies', async (t) => {
  const [own, other] = [await makeKey(['read']), await makeKey(undefined, elsewhere)]
  for (
    const headers of [
      { 'x-api-key': own, ...bearer(other) },
      { 'x-api-key': `${own}x`, ...bearer(other) },
      {
        'x-api-key': `${own}x`,
        ...machine
      }
    ]
  ) {
    for (const method of ['tools/list', 'tools/call']) {
      t.equal(
        (await ask(method, { ...method === 'tools/call' && { name: 'list_tags', arguments: {} } }, headers)).statusCode,
        401
      )
    }
  }
  const both = { 'x-api-key': own, ...machine }
  t.strictSame((await toolsOf(both)).map(({ name }) => name), reading, 'the scopes of the key hold beside a token')
  t.match(
    (await ask('tools/call', { name: 'create_tag', arguments: { name: 'Both' } }, both)).body,
    /create_tag needs the scope write/
  )
  t.match(
    (await ask('tools/call', { name: 'list_tags', arguments: { shop_id: elsewhere } }, both)).body,
    /has no access to this path/
  )
})

t.test('a revoked key is 401 and leads to the sign-in, without calling the key a token', async (t) => {
  const { body: { id, plaintext } } = await client(app, '', machine)('POST', `/shops/${here}/api-keys/`, {
    name: 'gone'
  })
  t.equal((await ask('tools/list', {}, { 'x-api-key': plaintext })).statusCode, 200)
  await client(app, '', machine)('DELETE', `/shops/${here}/api-keys/${id}`)
  const where =
    'resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource/mcp", scope="openid email profile"'
  const refused = async (headers: Readonly<Record<string, string>>) => (await ask('tools/list', {}, headers))
  t.match(await refused({ 'x-api-key': plaintext }), {
    statusCode: 401,
    headers: { 'www-authenticate': `Bearer ${where}` }
  })
  t.equal(
    (await app.inject({ url: `/shops/${here}/tags`, headers: { 'x-api-key': plaintext } })).statusCode,
    401,
    'over REST, too'
  )
  t.match(await refused(bearer(plaintext)), {
    statusCode: 401,
    headers: { 'www-authenticate': `Bearer error="invalid_token", ${where}` }
  })
})
