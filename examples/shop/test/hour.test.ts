import t from 'tap'
import { type Line, lines, memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { freePort } from '../src/demo/ports.ts'
import { makeAdmins } from '../src/users/repository.ts'
import { build, createShop, openTestDatabase } from './build.ts'
import { PROVIDER_KINDS, strictProvider } from './strict-provider.ts'

const database = await openTestDatabase(t)
const shopId = await createShop(database, 'hours')
const listTags = { name: 'list_tags', arguments: { shop_id: shopId } }
const now = Date.now
t.afterEach(() => { Date.now = now })

for (const kind of PROVIDER_KINDS) {
  t.test(`${kind}: both SDKs work for more than an hour, through three refreshes and a restart`, async (t) => {
    const port = await freePort(0)
    const baseUrl = `http://localhost:${port}`
    const provider = await strictProvider(kind, `${baseUrl}/oauth/callback`)
    t.teardown(async () => await provider.close())
    await makeAdmins(database.knex, [provider.subject])
    const open = async () => {
      const app = await build(t, database, { settings: {} } as never, {
        settings: { ...provider.settings, PUBLIC_BASE_URL: baseUrl, API_KEY_PEPPERS: `test:${'p'.repeat(32)}`, PAY_KEY_SECRETS: `test:${'k'.repeat(32)}`, OAUTH_BROKER: true, OAUTH_BROKER_SECRETS: `test:${'b'.repeat(32)}` }
      })
      await app.listen({ port, host: '127.0.0.1' })
      return app
    }
    let app = await open()
    const people: Array<Pick<Line, 'name' | 'attempt'> & { readonly store: ReturnType<typeof memory> }> = []
    for (const { name, Unauthorized, attempt } of lines) {
      const store = memory(`http://localhost:${await freePort(0)}/callback`)
      const first = attempt(new URL(`${baseUrl}/mcp`), store)
      t.type(await first.connect().catch((error: unknown) => error), Unauthorized)
      await first.finish(await agreed(store.redirects[0]!))
      people.push({ name, store, attempt })
    }
    // Both clients at once, as agents do: each asks for tools and calls one.
    const work = async (): Promise<unknown[]> => await Promise.all(people.map(async ({ store, attempt }) => {
      const client = await attempt(new URL(`${baseUrl}/mcp`), store).connect()
      const [{ tools }, answer] = await Promise.all([client.listTools(), client.callTool(listTags)])
      await client.close()
      return [tools.length, (answer as { content: [{ text: string }] }).content[0].text]
    }))
    const works = people.map(() => [20, '[]'])
    t.strictSame(await work(), works)
    const step = Math.max(provider.lifetime, 1500)
    const steps = Math.max(3, Math.ceil(3600 / step))
    for (let i = 1; i <= steps; i++) {
      if (i === 2) {
        await app.close()
        app = await open()
      }
      Date.now = () => now() + i * (step + 10) * 1000
      t.strictSame(await work(), works, `after ${Math.round(i * step / 60)} minutes`)
    }
    Date.now = now
    const refreshes = provider.requests.filter(({ form }) => form['grant_type'] === 'refresh_token')
    t.ok(refreshes.length >= 3 * people.length, `${refreshes.length} refreshes`)
    t.strictSame(provider.requests.flatMap(({ error }) => error ?? []), [], 'the provider refused nothing')
    t.ok(people.every(({ store }) => store.redirects.length === 1), 'nobody signed in again')
    await app.close()
  })
}

/** The person agrees at the broker, and the provider knows them. @returns what comes with the browser */
async function agreed (url: URL): Promise<URLSearchParams> {
  let cookie = ''
  const load = async (location: string, form?: Readonly<Record<string, string>>): Promise<Response> => {
    const response = await fetch(location, { redirect: 'manual', headers: { cookie }, ...form && { method: 'POST', body: new URLSearchParams(form) } })
    cookie = [cookie, ...response.headers.getSetCookie().map((text) => text.split(';')[0])].filter(Boolean).join('; ')
    return response
  }
  const page = await (await load(url.href)).text()
  const sealed = /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const provider = (await load(`${url.origin}${url.pathname}`, { request: sealed, decision: 'allow' })).headers.get('location')!
  const callback = (await fetch(provider, { redirect: 'manual' })).headers.get('location')!
  const landed = (await load(callback)).headers.get('location')!
  return new URL(landed).searchParams
}
