import { randomBytes, randomUUID } from 'node:crypto'
import t from 'tap'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { openDatabase } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { serve } from '../src/commands/serve.ts'
import { keyRing } from '../src/pay/key-ring.ts'
import { storedSecrets } from '../src/operations/stored-secrets.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { dataForTables } from './process.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t)
const machine = bearer(await idp.machineToken())
const shop = await createShop(database, 'here')
const right = {
  API_KEY_PEPPERS: [idp.settings['API_KEY_PEPPERS']!],
  PAY_KEY_SECRETS: [idp.settings['PAY_KEY_SECRETS']!],
  ALLOW_INSECURE: []
}
const other = `test:${'o'.repeat(32)}`

/** Compares, and returns what was logged and what readiness says. */
async function compare (settings: typeof right | object): Promise<{ logged: readonly string[], state: string }> {
  const logged: string[] = []
  const stored = storedSecrets(knex, { ...right, ...settings }, {
    error: (line: string) => {
      logged.push(line)
    }
  } as never)
  await stored.compare()
  return { logged, state: stored.state }
}

t.beforeEach(async () => {
  await knex('api_keys').delete()
  await knex('shops').update({ pay_secret_key: null })
})

const maker = await build(t, database, idp)

async function makeKey (): Promise<{ id: string, plaintext: string }> {
  return (await maker.inject({
    method: 'POST',
    url: `/shops/${shop}/api-keys/`,
    headers: machine,
    payload: { name: 'stored' }
  })).json()
}

t.test('an empty database fits every secret', async (t) => {
  t.strictSame(await compare({ API_KEY_PEPPERS: [other], PAY_KEY_SECRETS: [other] }), { logged: [], state: 'ok' })
})

t.test('a pepper with the right id and another secret is told, whether it is the only one or an old one', async (t) => {
  const { id } = await makeKey()
  t.strictSame(await compare({}), { logged: [], state: 'ok' })
  t.strictSame(await compare({ API_KEY_PEPPERS: [`new:${'n'.repeat(32)}`, ...right.API_KEY_PEPPERS] }), {
    logged: [],
    state: 'ok'
  }, 'an older one is enough')
  const said =
    'API_KEY_PEPPERS lacks the secrets of 1 of 1 stored API keys (ids: test). Every call with these keys gets 401. ' +
    'Add them after the newest secret, each with its id. If they are lost for good, revoke these keys and ' +
    'create new ones.'
  await t.rejects(compare({ API_KEY_PEPPERS: [other] }), {
    code: 'SHOP_SETTINGS',
    message: `These settings cannot be used:\n  ${said} To allow this, add lost-secrets to ALLOW_INSECURE`
  })
  t.strictSame(await compare({ API_KEY_PEPPERS: [other], ALLOW_INSECURE: ['lost-secrets'] }), {
    logged: [said],
    state: 'API_KEY_PEPPERS lacks a secret that stored API keys need'
  })
  for (const end of [{ revoked_at: new Date() }, { revoked_at: null, expires_at: new Date(0) }]) {
    await knex('api_keys').where({ id }).update(end)
    t.strictSame(
      await compare({ API_KEY_PEPPERS: [other] }),
      { logged: [], state: 'ok' },
      'a key that is no longer good needs none'
    )
  }
})

t.test('when some keys are lost the server starts, and says so', async (t) => {
  await makeKey()
  await knex('api_keys').insert({
    id: randomUUID(),
    shop_id: shop,
    name: 'lost',
    prefix: 'lost',
    fingerprint: randomBytes(32),
    pepper_id: '2024:check',
    hash: randomBytes(96),
    created_at: new Date(),
    created_by: 'test'
  })
  const another = await createShop(database, 'there')
  await knex('shops').where({ id: shop }).update({
    pay_secret_key: keyRing(right.PAY_KEY_SECRETS).seal('sk_test_x', shop)
  })
  await knex('shops').where({ id: another }).update({
    pay_secret_key: keyRing([`2024:${'l'.repeat(32)}`]).seal('sk_test_x', another)
  })
  t.match(await compare({}), {
    logged: [
      /^API_KEY_PEPPERS lacks the secrets of 1 of 2 stored API keys \(ids: 2024\)\. /,
      joined(
        /^PAY_KEY_SECRETS lacks the secrets of 1 of 2 stored payment keys \(ids: 2024\)\. /,
        /Every call to the payment provider for these shops gets 500\. /
      )
    ],
    state: 'API_KEY_PEPPERS lacks a secret that stored API keys need; PAY_KEY_SECRETS lacks a secret that stored ' +
      'payment keys need'
  })

  const app = await build(t, database, idp)
  await app.storedSecrets.compare()
  const { statusCode, body } = await app.inject('/readyz')
  t.match([statusCode, JSON.parse(body)], [200, {
    status: 'ready',
    checks: { secrets: /^API_KEY_PEPPERS lacks .*; PAY_KEY_SECRETS lacks / }
  }])
})

t.test('a server whose secret opens no stored payment key does not start', async (t) => {
  const data = await dataForTables(t)
  const config = settingsFromEnvironment({
    ...data,
    PORT: '0',
    LOG_LEVEL: 'silent',
    IDP_ISSUER: 'http://127.0.0.1:9',
    API_KEY_PEPPERS: right.API_KEY_PEPPERS[0],
    PAY_KEY_SECRETS: other
  })
  const before = await openDatabase(config)
  await migrate(before)
  const id = await createShop(before, 'sealed')
  await before.knex('shops').where({ id }).update({
    pay_secret_key: keyRing(right.PAY_KEY_SECRETS).seal('sk_test_x', id)
  })
  await before.close()
  await t.rejects(serve(config), {
    code: 'SHOP_SETTINGS',
    message: joined(
      /^These settings cannot be used:\n {2}/,
      /PAY_KEY_SECRETS lacks the secrets of 1 of 1 stored payment keys \(ids: test\)\. /
    )
  })
})
