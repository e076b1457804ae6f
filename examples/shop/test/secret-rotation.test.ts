import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { agent, corporate } from '../../../packages/oauth-discovery-shim/test/broker/corporate.ts'
import { base, fakeIdp, grantOf, token } from '../../../packages/oauth-discovery-shim/test/broker/world.ts'
import { keyRing } from '../src/pay/key-ring.ts'
import { SECRET_SETTINGS } from '../src/settings/files.ts'
import { bearer, build, client, createShop, openTestDatabase } from './build.ts'
import { type Id, secretOf, settingsOf } from './secret-lists.ts'

/*
 * Each secret of the settings is replaced in three steps: the new one is added at the end, it is moved to the front,
 * the old one is dropped. Two replicas are always half a step apart, and what one of them signed, the other one takes.
 */

const database = await openTestDatabase(t)
const { knex } = database
const idp = await fakeIdp(t)
const acme = await corporate(t, `${base}/oauth`, `${base}/mcp`)
const shop = await createShop(database, 'rotating')

async function replica (t: Test, ids: readonly Id[]): Promise<FastifyInstance> {
  return await build(t, database, { settings: {} } as never, {
    settings: {
      PUBLIC_BASE_URL: base,
      IDP_ISSUER: idp.issuer,
      IDP_MCP_CLIENT_ID: 'broker-client',
      MCP_IMPORTS_ENABLED: true,
      OAUTH_BROKER: true,
      OAUTH_BROKER_ASSERTION_ISSUERS: acme.issuer,
      ...settingsOf(ids, agent.id)
    }
  })
}

/** A token of ada's organization. */
async function exchange (
  app: FastifyInstance,
  id: Id
): Promise<{ readonly access_token?: string, readonly error?: string }> {
  return (await token({ app }, {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    client_id: agent.id,
    client_secret: secretOf(id, 'agent'),
    assertion: acme.assertion({ sub: 'ada' })
  })).json()
}

async function message (
  { app, key, version }: { readonly app: FastifyInstance, readonly key: string, readonly version: string },
  method: string,
  params: object,
  headers: object = {}
) {
  const { result, error } = (await app.inject({
    method: 'POST',
    url: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': version,
      'x-api-key': key,
      ...headers
    },
    payload: { jsonrpc: '2.0', id: 1, method, params }
  })).json()
  return { result, error }
}

/** A call of a client that can ask. */
async function deleteTag (app: FastifyInstance, key: string, tagId: string, requestState?: string) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' }
  }
  return await message({ app, key, version: '2026-07-28' }, 'tools/call', {
    name: 'delete_tag',
    arguments: { tag_id: tagId },
    _meta,
    ...requestState !== undefined &&
      { requestState, inputResponses: { confirm: { action: 'accept', content: { confirm: true } } } }
  }, { 'mcp-method': 'tools/call', 'mcp-name': 'delete_tag' })
}

let tags = 0

/** Whatever a replica signs, with the client secret that the organization uses now. */
async function signedBy (app: FastifyInstance, ids: readonly Id[], client_: Id) {
  const { access_token: accessToken = '' } = await exchange(app, client_)
  const ada = client(app, '', bearer(accessToken))
  const { body: { id: user } } = await ada('GET', '/me')
  await knex('shop_members').insert({ shop_id: shop, user_id: user, role: 'owner' }).onConflict(['shop_id', 'user_id'])
    .ignore()
  const { body: { plaintext: key } } = await ada('POST', `/shops/${shop}/api-keys/`, { name: 'Agent' })
  const { body: { id: tagId } } = await ada('POST', `/shops/${shop}/tags`, { name: `Tag ${tags++}` })
  const { result: { requestState } } = await deleteTag(app, key, tagId)
  const { result: { task: { taskId } } } = await message({ app, key, version: '2025-11-25' }, 'tools/call', {
    name: 'import_products',
    arguments: { format: 'jsonl', content: '{"name":"Mug"}\n' },
    task: {}
  })
  const [code, refresh] = [await grantOf({ app, idp }), await grantOf({ app, idp })]
  const { refresh_token: refreshToken } = (await token({ app }, { ...refresh })).json()
  const payKey = keyRing(settingsOf(ids, agent.id)['PAY_KEY_SECRETS']!.split(',')).seal('sk_test_x', shop)
  return { accessToken, key, tagId, requestState, taskId, code, refreshToken, refreshClient: refresh.client_id, payKey }
}

/** What another replica makes of it. */
async function takenBy (
  app: FastifyInstance,
  ids: readonly Id[],
  signed: Awaited<ReturnType<typeof signedBy>>,
  scraper: Id
): Promise<object> {
  const { accessToken, key, tagId, requestState, taskId, code, refreshToken, refreshClient, payKey } = signed
  const status = async (url: string, headers: object): Promise<number> =>
    (await app.inject({ url, headers: { ...headers } })).statusCode
  const question = await deleteTag(app, key, tagId, requestState)
  const task = await message({ app, key, version: '2025-11-25' }, 'tasks/get', { taskId })
  const { token_type: byCode = null } = (await token({ app }, { ...code })).json()
  const { token_type: byRefresh = null } =
    (await token({ app }, { grant_type: 'refresh_token', client_id: refreshClient, refresh_token: refreshToken }))
      .json()
  return {
    key: await status(`/shops/${shop}/tags`, { 'x-api-key': key }),
    question: question.result?.content?.[0]?.text?.slice(0, 3) ?? question.error?.code,
    task: task.result?.taskId === taskId,
    code: byCode,
    refresh: byRefresh,
    assertion: await status('/me', bearer(accessToken)),
    payKey: keyRing(settingsOf(ids, agent.id)['PAY_KEY_SECRETS']!.split(',')).opens(payKey, shop),
    metrics: await status('/metrics', bearer(secretOf(scraper, 'metrics')))
  }
}

const TAKEN = {
  key: 200,
  question: '204',
  task: true,
  code: 'Bearer',
  refresh: 'Bearer',
  assertion: 200,
  payKey: true,
  metrics: 200
}

/** The replica that is ahead, the other one, and which secret the others use who send theirs. */
const STEPS = [[['old', 'next'], ['old'], 'old'], [['next', 'old'], ['old', 'next'], 'old'], [['next', 'old'], [
  'old',
  'next'
], 'next'], [['next'], ['next', 'old'], 'next']] as const

t.test('the steps are of every secret that this server signs with or compares', async (t) => {
  const sent = [
    'IDP_MCP_CLIENT_SECRET',
    'IDP_INTROSPECTION_CLIENT_SECRET',
    'DATABASE_URL',
    'DATABASE_READ_URL',
    'PGPASSWORD',
    'REDIS_URL'
  ]
  t.strictSame(
    [...Object.keys(settingsOf(['old'], agent.id)), ...sent].toSorted(),
    [...SECRET_SETTINGS].toSorted(),
    'and the others are of a server that this one signs in at'
  )
})

let first: { readonly key: string } | undefined
for (const [ahead, behind, sender] of STEPS) {
  t.test(`replicas with ${ahead.join(', ')} and ${behind.join(', ')} take what the other signed`, async (t) => {
    const replicas = [{ app: await replica(t, ahead), ids: ahead }, { app: await replica(t, behind), ids: behind }]
    for (const [of, at] of [replicas, replicas.toReversed()]) {
      const signed = await signedBy(of!.app, of!.ids, sender)
      t.strictSame(await takenBy(at!.app, at!.ids, signed, sender), TAKEN, `${of!.ids.join()} to ${at!.ids.join()}`)
      first ??= signed
      t.equal(
        (await at!.app.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': first.key } })).statusCode,
        200,
        'the first key of all'
      )
    }
  })
}

t.test('what a dropped secret signed is refused', async (t) => {
  const [before, after] = [await replica(t, ['old']), await replica(t, ['next'])]
  const signed = await signedBy(before, ['old'], 'old')
  t.match(await takenBy(after, ['next'], signed, 'old'), {
    key: 401,
    task: false,
    code: null,
    refresh: null,
    assertion: 401,
    payKey: false,
    metrics: 401
  })
  const { key } = await signedBy(after, ['next'], 'next')
  t.match(await deleteTag(after, key, signed.tagId, signed.requestState), {
    error: { code: -32602, message: 'Invalid or expired requestState' }
  })
  t.match(await exchange(after, 'old'), { error: 'invalid_client' })
})
