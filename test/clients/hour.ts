import { isDeepStrictEqual } from 'node:util'
import { anHour } from '../../examples/shop/test/an-hour.ts'
import { PROVIDER_KINDS, type ProviderKind } from '../../examples/shop/test/strict-provider.ts'
import { openEmbedded } from '../../examples/shop/src/database/index.ts'
import { migrate } from '../../examples/shop/src/migrations/migrate.ts'
import type { Client } from './client.ts'
import { normal } from './normal.ts'
import { data } from './scene.ts'
import { openSession } from './session.ts'
import type { Outcome } from './visit.ts'

/** What the server says to every call: the shop has no tags. */
const says = data('[]', 'content-range: tags 0-25/0')

/** How many times a client must renew its sign-in, at least. */
const REFRESHES = 3

/** More than an hour at each kind of provider. It moves the clock of this process, so nothing else runs meanwhile. */
export async function hoursOf (
  client: Client,
  place: { readonly folder: string, readonly node: string }
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const kind of PROVIDER_KINDS) {
    const problems = await problemsOf(client, place, kind).catch((error: unknown) => [String(error)])
    outcomes.push({ client, scene: `an hour at ${kind}`, told: [], problems })
  }
  return outcomes
}

async function problemsOf (
  client: Client,
  place: { readonly folder: string, readonly node: string },
  kind: ProviderKind
): Promise<readonly string[]> {
  const database = await openEmbedded(null)
  await migrate(database)
  const [{ id: shopId }] = await database.knex('shops').insert({ slug: 'hours', name: 'Hours', currency: 'EUR' })
    .returning('id')
  const call = { name: `${client.prefix ?? ''}list_tags`, arguments: { shop_id: shopId } }
  let end = async (): Promise<unknown> => undefined
  try {
    const { calls, requests } = await anHour(kind, database, async (baseUrl) => {
      // The provider asks for nothing: it knows the person.
      const session = await openSession(client, { ...place, url: `${baseUrl}/mcp`, headers: {} }, {
        username: '',
        password: ''
      })
      end = session.end
      if (client.loads) await session.call(client.loads([call.name]))
      return async () => (await session.call(call)).told?.map(normal)
    })
    const count = (grant: string): number => requests.filter(({ form }) => form['grant_type'] === grant).length
    const expected = client.shows(says, 'list_tags')
    return [
      ...calls.flatMap(({ minutes, outcome }) =>
        isDeepStrictEqual(outcome, expected)
          ? []
          : [`after ${minutes} minutes the model reads ${JSON.stringify(outcome)}`]
      ),
      ...requests.flatMap(({ error, form }) =>
        error === undefined ? [] : [`the provider refuses ${form['grant_type']}: ${error}`]
      ),
      ...(count('authorization_code') === 1 ? [] : [`the person signs in ${count('authorization_code')} times`]),
      ...(count('refresh_token') >= REFRESHES ? [] : [`it refreshes ${count('refresh_token')} times`])
    ]
  } finally {
    await end()
    await database.close()
  }
}
