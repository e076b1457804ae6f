import t from 'tap'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { testStore } from '../src/testing/index.ts'
import { bearer, build, products, OWNER } from './build.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL, type Database } from '../../../test/databases.ts'
import { newKey } from './sample-key.ts'

/** What a host may have set for its database, for reasons of its own. */
const FOREIGN = {
  datestyle: 'German, DMY',
  default_transaction_isolation: 'serializable',
  timezone: 'Asia/Kathmandu',
  intervalstyle: 'sql_standard',
  bytea_output: 'escape',
  standard_conforming_strings: 'off',
  escape_string_warning: 'off',
  extra_float_digits: '-15'
}

/**
 * OIDs whose values a host may want otherwise: bool, bytea, int8, int4, json, float8, timestamptz, numeric, uuid,
 * jsonb, text[].
 */
const TYPES = [16, 17, 20, 23, 114, 701, 1184, 1700, 2950, 3802, 1009]

const camel = (text: string) => text.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const renamed = (row: unknown) =>
  typeof row === 'object' && row !== null
    ? Object.fromEntries(Object.entries(row).map(([name, value]) => [camel(name), value]))
    : row
/** As Objection's knexSnakeCaseMappers, and for rows of raw statements too. */
const MAPPERS = {
  postProcessResponse: (result: unknown) => {
    if (Array.isArray(result)) return result.map(renamed)
    return typeof result === 'object' && result !== null && 'rows' in result && Array.isArray(result.rows)
      ? { ...result, rows: result.rows.map(renamed) }
      : result
  },
  wrapIdentifier: (name: string, wrap: (name: string) => string) =>
    wrap(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
}

async function opened (database: Promise<Database>): Promise<Database> {
  const { knex, close } = await database
  t.teardown(close)
  await createApiKeysTable(knex)
  return { knex, close }
}

const databases: Array<[name: string, database: Database]> = [[
  'PGlite with foreign settings',
  await opened(embeddedDatabase(MAPPERS, FOREIGN))
]]
if (SERVER_URL === undefined) {
  t.test('PostgreSQL', {
    skip: 'TEST_DATABASE_URL is not set: foreign sessions were tested on PGlite only, without the checks of ' +
      'dual-auth/testing'
  }, async () => {})
} else {
  databases.push(
    ['PostgreSQL with foreign settings', await opened(serverDatabase({ settings: FOREIGN }))],
    [
      'PostgreSQL under repeatable read',
      await opened(
        serverDatabase({ settings: { default_transaction_isolation: 'repeatable read', datestyle: 'SQL, MDY' } })
      )
    ],
    [
      'PostgreSQL with a driver that parses nothing',
      await opened(serverDatabase({ types: Object.fromEntries(TYPES.map((oid) => [oid, (text: string) => text])) }))
    ],
    ['PostgreSQL with a knex that renames columns', await opened(serverDatabase({ config: MAPPERS }))],
    [
      'PostgreSQL with the locale C',
      await opened(serverDatabase({ locale: "template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'" }))
    ],
    // For dates this is what the driver itself makes of a DateStyle that it cannot read.
    ['PostgreSQL with a driver that reads dates as null', await opened(serverDatabase({ types: { 1184: () => null } }))]
  )
}

for (const [name, { knex }] of databases) {
  // The tests below say on the embedded engine what such settings break.
  if (!name.startsWith('PGlite')) {
    t.test(name, async (t) => {
      testStore((title, check) => t.test(title, check), knexStore(knex))
    })
  }

  t.test(`${name}: a revoked key and an expired one are 401, and the list says why`, async (t) => {
    const { app, issuer, mint } = await build(t, { store: knexStore(knex) })
    const headers = bearer(issuer.user())
    const [revoked, expired] = [await mint(), await mint(OWNER, { name: 'x', expires_at: '2099-01-01T00:00:00.000Z' })]
    const call = async ({ plaintext }: { plaintext: string }) =>
      (await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode
    t.strictSame([await call(revoked), await call(expired)], [200, 200])
    t.equal(
      (await app.inject({ method: 'DELETE', url: `/owners/${OWNER}/api-keys/${revoked.id}`, headers })).statusCode,
      204
    )
    // Which ends with the note that the keys were used: a write to the same row would disturb it.
    t.equal((await app.inject({ url: `/owners/${OWNER}/api-keys/`, headers })).statusCode, 200)
    await knex.raw("update api_keys set expires_at = '2020-02-03T04:05:06.789Z' where id = ?", [expired.id])
    t.strictSame([await call(revoked), await call(expired)], [401, 401])
    const filter = encodeURIComponent(JSON.stringify({ id: [revoked.id, expired.id] }))
    const listed: Array<
      { id: string, status: string, expires_at: string | null, revoked_at: string | null, last_used_at: string | null }
    > = (await app.inject({ url: `/owners/${OWNER}/api-keys/?filter=${filter}`, headers })).json()
    const byId = new Map(listed.map((key) => [key.id, key]))
    t.equal(byId.get(revoked.id)?.status, 'revoked')
    t.ok(Math.abs(Date.parse(byId.get(revoked.id)?.revoked_at ?? '') - Date.now()) < 60_000)
    t.ok(Math.abs(Date.parse(byId.get(expired.id)?.last_used_at ?? '') - Date.now()) < 60_000)
    t.match(byId.get(expired.id), { status: 'expired', expires_at: '2020-02-03T04:05:06.789Z' })
    t.equal(
      (await app.inject({
        method: 'POST',
        url: `/owners/${OWNER}/api-keys/${expired.id}/rotate`,
        headers,
        payload: {}
      }))
        .statusCode,
      409
    )
  })

  t.test(`${name}: a moment that a list shows finds the key, whatever microseconds are stored`, async (t) => {
    const store = knexStore(knex)
    const key = newKey()
    await store.insert(key, 1000)
    for (const column of ['created_at', 'last_used_at', 'expires_at', 'revoked_at']) {
      await knex.raw(`update api_keys set ${column} = '2031-05-06T07:08:09.123987Z' where id = ?`, [key.id])
      t.match(
        await store.list(OWNER, {
          at: new Date(),
          skip: 0,
          limit: 9,
          sort: null,
          filter: { id: [key.id], [column]: ['2031-05-06T07:08:09.123Z'] }
        }),
        { count: 1, keys: [{ id: key.id }] },
        column
      )
    }
  })

  t.test(`${name}: infinite times mean what they say, and keep no list from being read`, async (t) => {
    const { app, issuer, mint } = await build(t, { store: knexStore(knex) })
    const headers = bearer(issuer.user())
    const { id, plaintext } = await mint()
    for (
      const [column, value, code, shown] of [
        ['expires_at', 'infinity', 200, { status: 'active', expires_at: null }],
        ['expires_at', '12000-01-01', 200, { status: 'active', expires_at: '9999-12-31T23:59:59.999Z' }],
        ['expires_at', '-infinity', 401, { status: 'expired', expires_at: '0001-01-01T00:00:00.000Z' }],
        ['revoked_at', 'infinity', 401, { status: 'revoked', revoked_at: '9999-12-31T23:59:59.999Z' }],
        ['revoked_at', '-infinity', 401, { status: 'revoked', revoked_at: '0001-01-01T00:00:00.000Z' }]
      ] as const
    ) {
      await knex.raw(`update api_keys set ${column} = '${value}' where id = ?`, [id])
      t.equal(
        (await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode,
        code,
        `${column} ${value}`
      )
      const listed = await app.inject({
        url: `/owners/${OWNER}/api-keys/?filter=${encodeURIComponent(JSON.stringify({ id: [id] }))}`,
        headers
      })
      t.match([listed.statusCode, listed.json()], [200, [shown]], `${column} ${value}`)
      await knex.raw(`update api_keys set ${column} = null where id = ?`, [id])
    }
    t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  })
}
