import { callbackFrom } from 'identity-provider'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { freePort } from '../../../../shared/free-port.ts'
import { person } from '../browser.ts'
import { ada } from '../mcp-app.ts'
import { mcpRemote } from '../mcp-remote.ts'
import { lines, memory } from '../sdk.ts'
import { selfSigned } from './certificate.ts'
import { signInWorld } from './mcp-app.ts'
import { secrets } from './world.ts'

const { key, cert } = selfSigned()
const broker = { secrets, documents: { ca: cert } }

/** Serves a client's metadata document, and returns its URL. */
async function published (t: Test): Promise<string> {
  const server = createServer({ key, cert }, (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({ client_id: url, client_name: 'SDK', redirect_uris: ['http://localhost/callback'] })
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}/client.json`
  return url
}

for (const { name, Unauthorized, attempt } of lines) {
  for (const [how, spelling] of [['by registration', '/mcp/'], ['by a metadata document', '/mcp']] as const) {
    t.test(`${name} signs in ${how}, on a port that nobody registered: ${spelling}`, async (t) => {
      const { baseUrl, requests } = await signInWorld(t, { shimOptions: { broker } })
      const port = await freePort()
      const { signIn } = await person(t, port)
      const document = how === 'by a metadata document' ? await published(t) : undefined
      const store = memory(`http://localhost:${port}/callback`, document)
      const first = attempt(new URL(`${baseUrl}${spelling}`), store)
      t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
      const [page] = store.redirects
      t.match(page?.href, `${baseUrl}/oauth/authorize?`)
      t.equal(page?.searchParams.get('client_id') === document, document !== undefined)
      t.equal(requests.includes('POST /oauth/clients'), document === undefined)
      await first.finish(await signIn(page ?? new URL('about:blank')))

      const client = await attempt(new URL(`${baseUrl}${spelling}`), store).connect()
      t.teardown(() => client.close())
      t.match(await client.callTool({ name: 'hello' }), { content: [{ type: 'text', text: 'hello' }] })
      t.equal(store.redirects.length, 1)
    })
  }

  t.test(`${name}: an expired token is refreshed, and a revoked sign-in leads back to the page`, async (t) => {
    const world = await signInWorld(t, { shimOptions: { broker } })
    const port = await freePort()
    const { signIn } = await person(t, port)
    const store = memory(`http://localhost:${port}/callback`)
    const url = new URL(`${world.baseUrl}/mcp`)
    const first = attempt(url, store)
    t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
    await first.finish(await signIn(store.redirects[0] ?? new URL('about:blank')))
    const tokens = () => store.kept.tokens as { access_token: string, refresh_token: string }
    const before = tokens()
    world.revoked.add(before.access_token)
    const client = await attempt(url, store).connect()
    t.teardown(() => client.close())
    t.strictSame((await client.listTools()).tools.map((tool) => tool.name), ['hello'])
    t.not(tokens().access_token, before.access_token)
    t.not(tokens().refresh_token, before.refresh_token, 'it rotates')
    t.equal(store.redirects.length, 1)

    const { client_id: clientId } = store.kept.client as { client_id: string }
    const revoked = await fetch(`${world.baseUrl}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: tokens().refresh_token, client_id: clientId })
    })
    t.equal(revoked.status, 200)
    world.revoked.add(tokens().access_token)
    t.type(await attempt(url, store).connect().catch((error: unknown) => error), Unauthorized)
    t.equal(store.redirects.length, 2)
  })
}

t.test('mcp-remote signs in with nothing but the URL', async (t) => {
  const { baseUrl } = await signInWorld(t, { shimOptions: { broker } })
  const { client, nextAuthorizationUrl } = mcpRemote(t, `${baseUrl}/mcp`, [])
  const connected = client()
  await fetch(await callbackFrom(await nextAuthorizationUrl(), ada))
  t.strictSame((await (await connected).listTools()).tools.map((tool) => tool.name), ['hello'])
})
