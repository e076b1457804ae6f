import { callbackFrom } from 'identity-provider'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { person } from './browser.ts'
import { callbackPort } from './callback-port.ts'
import { ada, signInWorld, type World } from './mcp-app.ts'
import { mcpRemote } from './mcp-remote.ts'
import { callback, lines, memory, type Line } from './sdk.ts'

const spellings = ['/mcp', '/mcp/']

/** Discovery as the strict clients do it: no document of the root is asked for. */
const steps = (spelling: string) => [
  `POST ${spelling}`,
  'GET /.well-known/oauth-protected-resource/mcp',
  'GET /.well-known/oauth-authorization-server/oauth',
  'POST /oauth/register'
]

t.test("from only the URL to a tool's answer", async (t) => {
  const port = await callbackPort(t)

  for (const { name, Unauthorized, attempt } of lines) {
    for (const spelling of spellings) {
      for (const challenge of [true, false]) {
        await t.test(`${name}, ${spelling}, ${challenge ? 'with' : 'without'} a challenge`, async (t) => {
          const { baseUrl, issuer, requests } = await signInWorld(t, { challenge })
          const { signIn } = await person(t, port)
          const store = memory()
          const url = new URL(`${baseUrl}${spelling}`)

          const first = attempt(url, store)
          t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
          t.strictSame(requests, steps(spelling), 'the documents it asked for')
          const [authorizationUrl] = store.redirects
          t.match(authorizationUrl, { origin: issuer, pathname: '/auth' })
          t.match(Object.fromEntries(authorizationUrl?.searchParams ?? []), {
            response_type: 'code',
            client_id: 'public-client-1',
            code_challenge_method: 'S256',
            redirect_uri: callback,
            scope: 'openid email profile',
            resource: `${baseUrl}/mcp`
          })

          await first.finish(await signIn(authorizationUrl ?? new URL('about:blank')))
          const client = await attempt(url, store).connect()
          t.teardown(() => client.close())
          t.strictSame((await client.listTools()).tools.map((tool) => tool.name), ['hello'])
          t.match(await client.callTool({ name: 'hello' }), { content: [{ type: 'text', text: 'hello' }] })
          t.equal(store.redirects.length, 1)
        })
      }
    }
  }

  for (const spelling of spellings) {
    await t.test(`mcp-remote, ${spelling}`, async (t) => {
      const { baseUrl, accepted, revoked } = await signInWorld(t)
      const { client, nextAuthorizationUrl } = mcpRemote(t, `${baseUrl}${spelling}`)
      const connected = client()

      const authorizationUrl = await nextAuthorizationUrl()
      t.match(Object.fromEntries(authorizationUrl.searchParams), {
        response_type: 'code',
        client_id: 'public-client-1',
        code_challenge_method: 'S256',
        redirect_uri: callback,
        scope: 'openid email profile',
        resource: `${baseUrl}/mcp`
      })
      await fetch(await callbackFrom(authorizationUrl, ada))

      const remote = await connected
      t.strictSame((await remote.listTools()).tools.map((tool) => tool.name), ['hello'])
      t.match(await remote.callTool({ name: 'hello' }), { content: [{ type: 'text', text: 'hello' }] })

      t.equal(accepted.size, 1)
      for (const token of accepted) revoked.add(token)
      t.match(
        await remote.callTool({ name: 'hello' }),
        { content: [{ type: 'text', text: 'hello' }] },
        'a refused token is refreshed'
      )
      t.equal(accepted.size, 2)
    })
  }

  for (const { name, Unauthorized, attempt } of lines) {
    await t.test(`${name}: a refused token is refreshed; without a refresh token it leads to sign-in`, async (t) => {
      const world = await signInWorld(t)
      const { signIn } = await person(t, port)
      const store = memory()
      const url = new URL(`${world.baseUrl}/mcp`)
      const first = attempt(url, store)
      t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
      await first.finish(await signIn(store.redirects[0] ?? new URL('about:blank')))
      const client = await attempt(url, store).connect()
      t.teardown(() => client.close())
      // It asks for a stream on its own: refused later, that request would refresh the token as well.
      while (!world.requests.includes('GET /mcp')) await sleep(10)

      const before = tokensOf(store)
      world.revoked.add(before.access_token)
      t.strictSame((await client.listTools()).tools.map((tool) => tool.name), ['hello'], 'it goes on')
      t.not(tokensOf(store).access_token, before.access_token, 'with another access token')
      t.equal(store.redirects.length, 1, 'and nobody was asked to sign in')

      world.revoked.add(tokensOf(store).access_token)
      await revokeRefreshToken(t, world, tokensOf(store).refresh_token)
      t.type(await client.listTools().catch((error: unknown) => error), Unauthorized)
      t.equal(store.redirects.length, 2, 'the person is sent to sign in')
      t.equal((await signIn(store.redirects[1] ?? new URL('about:blank'))).has('code'), true, 'and can')
    })
  }

  await t.test('an expired token is refused by the endpoint and refreshed by the client', async (t) => {
    const { baseUrl } = await signInWorld(t, { idpOptions: { accessTokenSeconds: 1 } })
    const { signIn } = await person(t, port)
    const store = memory()
    const [{ Unauthorized, attempt }] = lines as [Line]
    const first = attempt(new URL(`${baseUrl}/mcp`), store)
    t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
    await first.finish(await signIn(store.redirects[0] ?? new URL('about:blank')))
    const { access_token: token } = tokensOf(store)
    const status = async () => (await fetch(`${baseUrl}/mcp`, { headers: { authorization: `Bearer ${token}` } })).status
    while (await status() !== 401);

    const client = await attempt(new URL(`${baseUrl}/mcp`), store).connect()
    t.teardown(() => client.close())
    t.strictSame((await client.listTools()).tools.map((tool) => tool.name), ['hello'])
    t.equal(store.redirects.length, 1)
  })
})

function tokensOf (store: ReturnType<typeof memory>) {
  return store.kept.tokens as { access_token: string, refresh_token: string }
}

async function revokeRefreshToken (t: Test, { issuer }: World, token: string): Promise<void> {
  const response = await fetch(`${issuer}/token/revocation`, {
    method: 'POST',
    body: new URLSearchParams({ token, client_id: 'public-client-1', token_type_hint: 'refresh_token' })
  })
  t.equal(response.status, 200)
}
