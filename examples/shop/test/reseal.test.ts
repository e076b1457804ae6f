import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { SHORT_LIVED } from '../../../test/node-flags.js'
import { run as shop } from '../src/commands/run.ts'
import { openDatabase } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { keyRing } from '../src/pay/key-ring.ts'
import { resealPayKeys } from '../src/pay/pay-keys.ts'
import { createShop, openTestDatabase, TEST_DATABASE_URL } from './build.ts'
import { dataForTables } from './process.ts'

const [lost, older, newer] = [`2024:${'l'.repeat(32)}`, `2025:${'o'.repeat(32)}`, `2026:${'n'.repeat(32)}`]
const ring = keyRing([newer, older])
const KEY = 'sk_test_canary'

t.test('a key that an earlier build sealed opens for its shop, as it was written', async (t) => {
  const { open, opens } = keyRing(['2026:a-secret-of-thirty-two-bytes-abc'])
  const shopId = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
  const [iv, text, tag] = ['kNyBkpnw7hznAR0w', '9qhF3GYed9aDAgnLXWgZd80-', 'hdOt2ok4csqgjlkKOKAtdg']
  t.equal(open(`v1:2026:${iv}:${text}:${tag}`, shopId), 'sk_test_ofThisShop')
  for (
    const other of [
      `v1:2026:${iv}${text}::${tag}`,
      `v1:2026:${iv}:${text}${tag}:`,
      `v1:2026:${iv}:${text}:${tag.slice(0, -6)}`,
      `v1:2026:${iv}:${text}:${tag}:`,
      `v2:2026:${iv}:${text}:${tag}`,
      `v1:2025:${iv}:${text}:${tag}`
    ]
  ) t.notOk(opens(other, shopId), other)
})

t.test('keys under an older secret move to the newest, all others stay as they are', async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  const store = async (slug: string, sealer: ReturnType<typeof keyRing> | null): Promise<string> => {
    const id = await createShop(database, slug)
    await knex('shops').where({ id }).update({ pay_secret_key: sealer?.seal(`${KEY}${slug}`, id) ?? null })
    return id
  }
  const sealedIn = async (id: string): Promise<string> =>
    (await knex('shops').where({ id }).first('pay_secret_key')).pay_secret_key
  const [old, another] = [await store('old', keyRing([older])), await store('another', keyRing([older]))]
  const [current, none, unreadable] = [
    await store('current', ring),
    await store('none', null),
    await store('unreadable', keyRing([lost]))
  ]
  const before = await Promise.all([current, none, unreadable].map(sealedIn))

  t.strictSame(await resealPayKeys(knex, ring), { resealed: 2, current: 1, unreadable: [unreadable] })
  t.equal(keyRing([newer]).open(await sealedIn(old), old), `${KEY}old`, 'the old secret is needed no longer')
  t.equal(keyRing([newer]).open(await sealedIn(another), another), `${KEY}another`)
  t.strictSame(await Promise.all([current, none, unreadable].map(sealedIn)), before)
  t.strictSame(
    await resealPayKeys(knex, ring),
    { resealed: 0, current: 3, unreadable: [unreadable] },
    'and once is enough'
  )
})

t.test('a key that is set meanwhile stays as it was set', {
  skip: TEST_DATABASE_URL === undefined && 'two connections are needed for that: set TEST_DATABASE_URL'
}, async (t) => {
  const database = await openTestDatabase(t)
  const { knex } = database
  const id = await createShop(database, 'busy')
  await knex('shops').where({ id }).update({ pay_secret_key: keyRing([older]).seal(KEY, id) })
  const set = ring.seal('sk_test_set', id)
  const trx = await knex.transaction()
  await trx('shops').where({ id }).update({ pay_secret_key: set })
  const resealing = resealPayKeys(knex, ring)
  const waiting = async () =>
    (await knex.raw(
      "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    )).rows[0].count
  while (await waiting() === 0) await sleep(10)
  await trx.commit()
  t.strictSame(await resealing, { resealed: 0, current: 0, unreadable: [] })
  t.equal((await knex('shops').where({ id }).first('pay_secret_key')).pay_secret_key, set)
})

t.test('npm run shop -- reseal does it with the settings of the server, and says what it did', async (t) => {
  const data = await dataForTables(t)
  const open = async () =>
    await openDatabase({
      DATA_DIR: data.DATA_DIR,
      ...(data.DATABASE_URL !== '' && { DATABASE_URL: data.DATABASE_URL })
    })
  const first = await open()
  await migrate(first)
  const [old, unreadable] = [await createShop(first, 'old'), await createShop(first, 'unreadable')]
  await first.knex('shops').where({ id: old }).update({ pay_secret_key: keyRing([older]).seal(KEY, old) })
  await first.close()

  const settings = {
    ...data,
    IDP_ISSUER: 'http://127.0.0.1:9',
    API_KEY_PEPPERS: newer!,
    PAY_KEY_SECRETS: `${newer},${older}`
  }
  const program = fileURLToPath(new URL('../dist/commands/shop.js', import.meta.url))
  t.match(
    await promisify(execFile)(process.execPath, [...SHORT_LIVED, program, 'reseal'], {
      env: { PATH: process.env['PATH'], ...settings }
    }),
    { stdout: 'Payment keys re-encrypted: 1; already under the newest secret: 0.\n', stderr: '' }
  )

  const second = await open()
  t.equal(
    keyRing([newer]).open((await second.knex('shops').where({ id: old }).first('pay_secret_key')).pay_secret_key, old),
    KEY
  )
  await second.knex('shops').where({ id: unreadable }).update({ pay_secret_key: keyRing([lost]).seal(KEY, unreadable) })
  await second.close()
  t.match(await shop(['reseal'], settings), {
    code: 1,
    stdout: 'Payment keys re-encrypted: 0; already under the newest secret: 1.\n',
    stderr: `No secret in PAY_KEY_SECRETS decrypts the payment keys of these shops: ${unreadable}.\n`
  })
})
