import { callbackFrom } from 'identity-provider'
import t from 'tap'
import { doctor, report } from 'oauth-discovery-shim/doctor'
import { person } from '../../../packages/oauth-discovery-shim/test/browser.ts'
import { callbackPort } from '../../../packages/oauth-discovery-shim/test/callback-port.ts'
import { mcpRemote } from '../../../packages/oauth-discovery-shim/test/mcp-remote.ts'
import { lines, memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { bearer } from './build.ts'
import { call, seededData, readDemo, start } from './process.ts'

const settings = { ...await seededData(t), OAUTH_BROKER: 'false' }
await start(t, 'demo/start', settings)
const { base_url: baseUrl, mcp_url: mcpUrl, idp, shops, users } = readDemo(settings.DATA_DIR)
const kim = users.find(({ username }) => username === 'kim')!
const listTags = (shop: number) => ({ name: 'list_tags', arguments: { shop_id: shops[shop]!.id } })
const nowhere = new URL('about:blank')

const port = await callbackPort(t)

for (const url of [mcpUrl, `${mcpUrl}/`]) {
  for (const { name, Unauthorized, attempt } of lines) {
    t.test(`${name} gets from nothing but ${new URL(url).pathname} to a tool's answer, by signing in`, async (t) => {
      const { signIn } = await person(t, port, kim)
      const store = memory()
      const first = attempt(new URL(url), store)
      t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
      await first.finish(await signIn(store.redirects[0] ?? nowhere))

      const client = await attempt(new URL(url), store).connect()
      t.teardown(async () => await client.close())
      t.equal((await client.listTools()).tools.length, 20)
      t.match(await client.callTool(listTags(0)), { content: [{ type: 'text', text: /"slug":"bestseller"/ }] })
      t.equal(store.redirects.length, 1, 'one sign-in was enough')

      const { access_token: token } = store.kept.tokens as { access_token: string }
      t.equal(
        (await call('GET', `${baseUrl}/shops/${shops[0]!.id}/tags`, { headers: bearer(token) })).status,
        200,
        'the token opens REST, too'
      )
      t.equal(
        (await call('GET', `${baseUrl}/shops/${shops[1]!.id}/tags`, { headers: bearer(token) })).status,
        403,
        'but not a shop that is not hers'
      )
    })
  }

  t.test(`mcp-remote gets from nothing but ${new URL(url).pathname} to a tool's answer, by signing in`, async (t) => {
    const { client, nextAuthorizationUrl } = mcpRemote(t, url)
    const connected = client()
    await fetch(await callbackFrom(await nextAuthorizationUrl(), kim))
    const remote = await connected
    t.equal((await remote.listTools()).tools.length, 20)
    t.match(await remote.callTool(listTags(0)), { content: [{ type: 'text', text: /"slug":"bestseller"/ }] })
  })
}

t.test('the documents at the root are those of the contract', async (t) => {
  const { body: resource } = await call('GET', `${baseUrl}/.well-known/oauth-protected-resource`)
  t.match(resource, { resource: mcpUrl, authorization_servers: [baseUrl] })
  const { body: server } = await call('GET', `${baseUrl}/.well-known/oauth-authorization-server`)
  t.match(server, { issuer: idp.issuer, registration_endpoint: `${baseUrl}/oauth/register` })
  const { status, body } = await call('POST', `${baseUrl}/oauth/register`, { body: { client_name: 'any' } })
  t.match([status, body.client_id], [201, idp.mcp_client_id])
})

t.test('the doctor finds nothing that keeps the official clients from the sign-in page', async (t) => {
  const verdicts = await doctor(baseUrl)
  t.comment(report(verdicts))
  for (const id of ['sdk-1', 'sdk-2']) t.equal(verdicts.find(({ client }) => client.id === id)?.obstacle, undefined, id)
})
