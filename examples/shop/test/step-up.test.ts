import {
  Client,
  StreamableHTTPClientTransport,
  UnauthorizedError,
  type OAuthClientProvider
} from '@modelcontextprotocol/client'
import dualAuth, { memoryStore, scopesFromRoute } from 'dual-auth'
import Fastify from 'fastify'
import { startIdentityProvider } from 'identity-provider'
import mcpFromRoutes from 'mcp-from-routes'
import oauthDiscoveryShim from 'oauth-discovery-shim'
import t, { type Test } from 'tap'
import { person } from '../../../packages/oauth-discovery-shim/test/browser.ts'
import { callbackPort } from '../../../packages/oauth-discovery-shim/test/callback-port.ts'
import { freePort } from '../../../shared/free-port.ts'
import { memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { bearer } from './build.ts'

const ada = { username: 'ada', password: 'correct horse battery' }
const callback = await callbackPort(t)

/** The demo's identity provider, and an app in which reading takes a sign-in, and writing two scopes more. */
const port = await freePort()
const baseUrl = `http://localhost:${port}`
const mcpUrl = new URL(`${baseUrl}/mcp`)
const idp = await startIdentityProvider({
  port: 0,
  users: [ada],
  resource: baseUrl,
  clientId: 'notes-mcp',
  m2m: { clientId: 'robot', clientSecret: 'robot secret' }
})
t.teardown(idp.close)
const app = Fastify({ forceCloseConnections: true })
t.teardown(async () => await app.close())
const isEndpoint = (url: string): boolean => url === '/mcp' || url === '/mcp/'
await app.register(dualAuth, {
  apiKeys: { marker: 'notes', peppers: [{ id: '1', secret: 'p'.repeat(32) }], store: memoryStore() },
  jwt: { issuer: idp.issuer, userClients: ['notes-mcp'], audience: [baseUrl, `${baseUrl}/mcp`] },
  policy: ({ url, schema }) => isEndpoint(url) || schema?.tags?.includes('mcp') ? 'any-key' : 'jwt',
  scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
  tokenScopes: ({ method, schema }) =>
    schema?.tags?.includes('mcp') && method === 'POST' ? ['openid', 'email', 'profile'] : null,
  challenge: { resourceMetadata: `${baseUrl}/.well-known/oauth-protected-resource/mcp`, scope: 'openid' }
})
await app.register(oauthDiscoveryShim, {
  publicBaseUrl: baseUrl,
  issuer: idp.issuer,
  clientId: 'notes-mcp',
  config: { auth: 'public' }
})
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', version: '1.0.0' },
  canUse: ({ route }, request) => request.mayCall(route) || 'unlisted'
})
const written: unknown[] = []
app.get(
  '/notes',
  { schema: { operationId: 'list_notes', description: 'List notes.', tags: ['mcp'] } },
  async ({ identity }) => ({ scopes: identity?.scopes.toSorted() })
)
app.post('/notes', {
  schema: {
    operationId: 'create_note',
    description: 'Create a note.',
    tags: ['mcp'],
    body: { type: 'object', properties: { text: { type: 'string' } } }
  }
}, async ({ identity, body }) => {
  written.push(body)
  return { scopes: identity?.scopes.toSorted() }
})
await app.listen({ port, host: '127.0.0.1' })

/** A client with what an application keeps for it, which it is given again after each visit to the browser. */
async function connected (
  t: Test,
  store: ReturnType<typeof memory>
): Promise<{ client: Client, transport: StreamableHTTPClientTransport }> {
  const transport = new StreamableHTTPClientTransport(mcpUrl, { authProvider: store as unknown as OAuthClientProvider })
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  t.teardown(async () => await client.close())
  await client.connect(transport)
  return { client, transport }
}

t.test('a client that signed in for less steps up when a tool needs more, and then calls it', async (t) => {
  const { signIn } = await person(t, callback, ada)
  const store = memory()
  const scopesOf = (redirect: URL | undefined): string[] =>
    (redirect?.searchParams.get('scope') ?? '').split(' ').toSorted()
  const first = new StreamableHTTPClientTransport(mcpUrl, { authProvider: store as unknown as OAuthClientProvider })
  await t.rejects(new Client({ name: 'test', version: '1.0.0' }).connect(first), UnauthorizedError)
  t.strictSame(scopesOf(store.redirects[0]), ['openid'], 'it asks for what the 401 names')
  await first.finishAuth(await signIn(store.redirects[0]!))

  const { client, transport } = await connected(t, store)
  t.strictSame(
    (await client.listTools()).tools.map(({ name }) => name),
    ['create_note', 'list_notes'],
    'a tool for which it can step up is listed'
  )
  t.match(await client.callTool({ name: 'list_notes' }), { structuredContent: { scopes: ['openid'] } })
  t.equal(store.redirects.length, 1)

  await t.rejects(client.callTool({ name: 'create_note', arguments: { text: 'too early' } }), UnauthorizedError)
  t.strictSame(written, [])
  t.equal(store.redirects.length, 2)
  t.strictSame(scopesOf(store.redirects[1]), ['email', 'openid', 'profile'], 'it asks for all that the tool needs')
  await transport.finishAuth(await signIn(store.redirects[1]!))

  t.match(await client.callTool({ name: 'create_note', arguments: { text: 'now' } }), {
    structuredContent: { scopes: ['email', 'openid', 'profile'] }
  })
  t.strictSame(written, [{ text: 'now' }])
  t.match(await client.callTool({ name: 'list_notes' }), {
    structuredContent: { scopes: ['email', 'openid', 'profile'] }
  })
  t.equal(store.redirects.length, 2, 'twice in the browser was enough')

  const { access_token: token } = store.kept.tokens as { access_token: string }
  t.equal(
    (await app.inject({ method: 'POST', url: '/notes', headers: bearer(token), payload: {} })).statusCode,
    200,
    'the token opens REST, too'
  )
})
