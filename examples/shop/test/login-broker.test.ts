import { callbackFrom } from 'identity-provider'
import t from 'tap'
import { doctor, report } from 'oauth-discovery-shim/doctor'
import { person } from '../../../packages/oauth-discovery-shim/test/browser.ts'
import { mcpRemote } from '../../../packages/oauth-discovery-shim/test/mcp-remote.ts'
import { lines, memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { freePort } from '../../../shared/free-port.ts'
import { bearer } from './build.ts'
import { call, seededData, readDemo, start } from './process.ts'

const settings = await seededData(t)
const demo = await start(t, 'demo/start', settings)
const { base_url: baseUrl, mcp_url: mcpUrl, shops, users } = readDemo(settings.DATA_DIR)
const kim = users.find(({ username }) => username === 'kim')!
const listTags = { name: 'list_tags', arguments: { shop_id: shops[0]!.id } }
const nowhere = new URL('about:blank')

/** What an application keeps of sign-ins, by the name of the SDK. */
const stores = new Map<string, ReturnType<typeof memory>>()

for (const { name, Unauthorized, attempt } of lines) {
  t.test(`${name} gets from nothing but the URL, on any port, to a tool's answer`, async (t) => {
    const port = await freePort()
    const { signIn } = await person(t, port, kim)
    const store = memory(`http://localhost:${port}/callback`)
    stores.set(name, store)
    const first = attempt(new URL(mcpUrl), store)
    t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
    await first.finish(await signIn(store.redirects[0] ?? nowhere))

    const client = await attempt(new URL(mcpUrl), store).connect()
    t.teardown(async () => await client.close())
    t.equal((await client.listTools()).tools.length, 20)
    t.match(await client.callTool(listTags), { content: [{ type: 'text', text: /"slug":"bestseller"/ }] })
    t.equal(store.redirects.length, 1, 'one sign-in was enough')
    const { access_token: token } = store.kept.tokens as { access_token: string }
    t.equal(
      (await call('GET', `${baseUrl}/shops/${shops[0]!.id}/tags`, { headers: bearer(token) })).status,
      200,
      "the token is the identity provider's, so it opens REST, too"
    )
  })
}

t.test("mcp-remote gets from nothing but the URL to a tool's answer", async (t) => {
  const { client, nextAuthorizationUrl } = mcpRemote(t, mcpUrl, [])
  const connected = client()
  await fetch(await callbackFrom(await nextAuthorizationUrl(), kim))
  t.match(await (await connected).callTool(listTags), { content: [{ type: 'text', text: /"slug":"bestseller"/ }] })
})

t.test('the doctor sends every client to the sign-in page, except those that cannot reach this machine', async (t) => {
  const verdicts = await doctor(baseUrl)
  t.comment(report(verdicts))
  t.strictSame(
    verdicts.filter(({ obstacle }) => obstacle !== undefined).map((
      { client, obstacle }
    ) => [client.id, obstacle?.reason]),
    [['chatgpt', 'unreachable'], ['claude-ai', 'unreachable']]
  )
})

t.test('after a restart of the server nobody has to register or sign in again', async (t) => {
  await demo.stop('SIGTERM')
  await start(t, 'demo/start', { ...settings, PORT: new URL(baseUrl).port })
  for (const { name } of lines) {
    const { kept } = stores.get(name)!
    const { client_id: clientId } = kept.client as { client_id: string }
    const { refresh_token: refreshToken } = kept.tokens as { refresh_token: string }
    const response = await fetch(`${baseUrl}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
    })
    t.match(await response.json(), { token_type: 'Bearer', access_token: String, refresh_token: String }, name)
    const page = await fetch(
      `${baseUrl}/oauth/authorize?${
        new URLSearchParams({
          client_id: clientId,
          response_type: 'code',
          code_challenge: 'x'.repeat(43),
          code_challenge_method: 'S256',
          redirect_uri: 'http://localhost:1/callback'
        }).toString()
      }`
    )
    t.equal(page.status, 200, 'its registration is known')
  }
})
