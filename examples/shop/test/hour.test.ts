import { callbackFrom } from 'identity-provider'
import t from 'tap'
import { type Line, lines, memory } from '../../../packages/oauth-discovery-shim/test/sdk.ts'
import { freePort } from '../../../shared/free-port.ts'
import { anHour } from './an-hour.ts'
import { createShop, openTestDatabase } from './build.ts'
import { PROVIDER_KINDS } from './strict-provider.ts'

const database = await openTestDatabase(t)
const shopId = await createShop(database, 'hours')
const listTags = { name: 'list_tags', arguments: { shop_id: shopId } }

for (const kind of PROVIDER_KINDS) {
  t.test(`${kind}: both SDKs work for more than an hour, through three refreshes and a restart`, async (t) => {
    const people: Array<Pick<Line, 'name' | 'attempt'> & { readonly store: ReturnType<typeof memory> }> = []
    const { calls, requests } = await anHour(kind, database, async (baseUrl) => {
      const url = new URL(`${baseUrl}/mcp`)
      for (const { name, Unauthorized, attempt } of lines) {
        const store = memory(`http://localhost:${await freePort()}/callback`)
        const first = attempt(url, store)
        const refused = await first.connect().catch((error: unknown) => error)
        t.type(refused, Unauthorized, { refused })
        // The provider asks for nothing: it knows the person.
        await first.finish((await callbackFrom(store.redirects[0]!, { username: '', password: '' })).searchParams)
        people.push({ name, store, attempt })
      }
      // Both clients at once, as agents do: each asks for tools and calls one.
      return async () =>
        await Promise.all(people.map(async ({ store, attempt }) => {
          const client = await attempt(url, store).connect()
          const [{ tools }, answer] = await Promise.all([client.listTools(), client.callTool(listTags)])
          await client.close()
          return [tools.length, (answer as { content: [{ text: string }] }).content[0].text]
        }))
    })
    for (const { minutes, outcome } of calls) {
      t.strictSame(outcome, people.map(() => [20, '[]']), `after ${minutes} minutes`)
    }
    const refreshes = requests.filter(({ form }) => form['grant_type'] === 'refresh_token')
    t.ok(refreshes.length >= 3 * people.length, `${refreshes.length} refreshes`)
    t.strictSame(requests.flatMap(({ error }) => error ?? []), [], 'the provider refused nothing')
    t.ok(people.every(({ store }) => store.redirects.length === 1), 'nobody signed in again')
  })
}
