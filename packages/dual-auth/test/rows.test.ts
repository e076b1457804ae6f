import t from 'tap'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { crc32 } from 'node:zlib'
import createKnex from 'knex'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { memoryStore, type ApiKeyStore, type StoredApiKey } from '../src/index.ts'
import { fingerprint } from '../src/keys/format.ts'
import { costFromHash } from '../src/keys/hash.ts'
import { embeddedDatabase } from '../../../test/databases.ts'
import { bearer, build, countScrypt, PEPPER, products, REFUSED, OWNER } from './build.ts'
import { joined } from '../../../test/joined.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function withChecksum (body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = DIGITS.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return body + digits
}

const database = await embeddedDatabase()
await createApiKeysTable(database.knex)
t.teardown(() => database.close())

t.test('the dumped table is of no use: no value in it is a key, nor can be made into one', async (t) => {
  const { app, mint } = await build(t, { store: knexStore(database.knex) })
  const { plaintext, prefix } = await mint()
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  const row = await database.knex('api_keys').where({ prefix }).first()
  t.notMatch(JSON.stringify(row), plaintext.split('_')[3])

  const values: string[] = [row.id, row.prefix, row.pepper_id]
  for (const column of ['fingerprint', 'hash']) {
    const bytes = Buffer.from(row[column])
    for (const encoding of ['hex', 'base64', 'base64url', 'latin1'] as const) values.push(bytes.toString(encoding))
    // As many characters as a secret has, of the alphabet it has, under a checksum that is right.
    const secret = [...bytes, ...bytes].map((byte) => DIGITS.charAt(byte % 62)).join('').slice(0, 43)
    values.push(withChecksum(`shop_test_${prefix}_${secret}`))
    values.push(withChecksum(`shop_test_${prefix}_${bytes.toString('hex').slice(0, 43)}`))
  }
  for (const value of values) {
    for (
      const headers of [
        { 'x-api-key': value.replace(/[^\x20-\x7e]/g, '?') },
        bearer(value.replace(/[^\x20-\x7e]/g, '?'))
      ]
    ) {
      const response = await app.inject({ url: products(), headers })
      t.equal(response.statusCode, 401)
      t.strictSame(response.json(), REFUSED)
    }
  }
})

t.test('a table or a column that is missing is told at startup', async (t) => {
  const empty = await embeddedDatabase()
  t.teardown(() => empty.close())
  const refused = async (reason: string) =>
    t.rejects(build(t, { store: knexStore(empty.knex) }), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: apiKeys.store must be able to read the table api_keys, but ${reason}`
    })
  await refused('the table is missing: create it with createApiKeysTable(knex)')
  // The call that it tells creates the table that the store reads.
  await t.rejects(build(t, { store: knexStore(empty.knex, { table: 'desk_keys' }) }), {
    message: /create it with createApiKeysTable\(knex, \{ table: 'desk_keys', ownerColumn: 'owner_id' \}\)$/
  })
  await t.rejects(createApiKeysTable(empty.knex, { tabel: 'desk_keys' } as never), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message: 'dual-auth: createApiKeysTable.tabel is not an option. Did you mean table?'
  })
  await createApiKeysTable(empty.knex)
  await t.resolves(build(t, { store: knexStore(empty.knex) }))
  await empty.knex.raw('alter table api_keys drop replaced_by, drop networks')
  await refused('it has no column networks, replaced_by')
  await t.rejects(createApiKeysTable(empty.knex), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message:
      'dual-auth: createApiKeysTable changes no table that exists, and api_keys has no column networks, replaced_by'
  })
})

t.test('a database that is away at startup may come later', async (t) => {
  const store: ApiKeyStore = { ...memoryStore(), ready: () => Promise.reject(new RangeError('connection refused')) }
  const { app } = await build(t, { store })
  t.equal((await app.inject('/health')).statusCode, 200)
})

t.test('a table that somebody wrote into: the key is 401, not 500, and the row is named in the log', async (t) => {
  const logged: string[] = []
  const { app, mint } = await build(t, {
    store: knexStore(database.knex),
    server: { logger: { level: 'error', stream: { write: (line: string) => logged.push(line) } } }
  })
  const other = await mint()
  const [{ hash: otherHash, fingerprint: otherFingerprint }] = await database.knex('api_keys').where({ id: other.id })
  const changes: Record<string, (hash: Buffer) => Record<string, unknown>> = {
    'a hash of 95 bytes': (hash) => ({ hash: hash.subarray(0, 95) }),
    'a hash of 97 bytes': (hash) => ({ hash: Buffer.concat([hash, Buffer.alloc(1)]) }),
    'an empty hash': () => ({ hash: Buffer.alloc(0) }),
    'a hash that asks for 1 TiB': (hash) => {
      hash.writeUInt8(30, 7)
      return { hash }
    },
    'a hash with r = 1': (hash) => {
      hash.writeUInt32BE(1, 8)
      return { hash }
    },
    'a hash with p = 1024': (hash) => {
      hash.writeUInt32BE(1024, 12)
      return { hash }
    },
    'a hash that is damaged': (hash) => {
      hash.writeUInt8(hash.readUInt8(40) ^ 0xff, 40)
      return { hash }
    },
    'the hash of another row': () => ({ hash: otherHash })
  }
  for (
    const [title, change, isUsed] of Object.entries(changes).flatMap(([title, change]) =>
      [[title, change, false], [`${title}, after the key was used`, change, true]] as const
    )
  ) {
    const { id, plaintext } = await mint()
    const [{ hash }] = await database.knex('api_keys').where({ id })
    if (isUsed) t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
    await database.knex('api_keys').where({ id }).update(change(Buffer.from(hash)))
    const response = await app.inject({ url: products(), headers: bearer(plaintext) })
    t.equal(response.statusCode, 401, title)
    t.strictSame(response.json(), REFUSED, title)
    t.match(logged.join(''), id, title)
  }

  // The fingerprint of another row: its key finds a row whose hash was made from a different key.
  const victim = await mint()
  await database.knex('api_keys').where({ id: other.id }).update({ fingerprint: Buffer.alloc(32, 1) })
  await database.knex('api_keys').where({ id: victim.id }).update({ fingerprint: otherFingerprint })
  for (const { plaintext } of [other, victim]) {
    t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 401)
  }
})

t.test('with a knex whose names the store cannot follow nothing is decided: the server does not start', async (t) => {
  const upper = (row: unknown) =>
    typeof row === 'object' && row !== null
      ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value]))
      : row
  const { knex, close } = await embeddedDatabase({
    postProcessResponse: (result) => Array.isArray(result) ? result.map(upper) : upper(result)
  })
  t.teardown(close)
  await t.rejects(build(t, { store: knexStore(knex) }), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message: /postProcessResponse/
  })
})

t.test('a knex of another database is refused as soon as it is given', async (t) => {
  for (const dialect of ['mssql', 'oracledb']) {
    const Client = createRequire(import.meta.url)(`knex/lib/dialects/${dialect}`)
    const knex = createKnex({
      client: class extends Client {
        _driver () {
          return {}
        }
      } as never,
      useNullAsDefault: true
    })
    const refusal = {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: joined(
        /^dual-auth: knexStore needs PostgreSQL, MySQL, MariaDB or SQLite, /,
        /but this knex speaks (?:mssql|oracle): tableStore makes a store of any database$/
      )
    }
    t.throws(() => knexStore(knex), refusal)
    await t.rejects(createApiKeysTable(knex), refusal)
  }
})

t.test('the documented query counts the keys that a pepper is still needed for', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  const { app, issuer, mint } = await build(t, { store: knexStore(knex) })
  const [, revoked, expired, limited] = [
    await mint(),
    await mint(),
    await mint(),
    await mint(OWNER, { name: 'x', expires_at: '2099-01-01T00:00:00Z' })
  ]
  await app.inject({ method: 'DELETE', url: `/owners/${OWNER}/api-keys/${revoked.id}`, headers: bearer(issuer.user()) })
  await knex('api_keys').where({ id: expired.id }).update({ expires_at: new Date(0) })
  const query = /`(select count\(\*\) from api_keys [^`]+)`/.exec(
    readFileSync(new URL('../docs/api-keys.md', import.meta.url), 'utf8')
  )?.[1] ?? ''
  const needed = async () => Number((await knex.raw(query.replace('$1', '?'), [PEPPER.id])).rows[0].count)
  t.equal(await needed(), 2)
  await knex('api_keys').where({ id: limited.id }).update({ pepper_id: 'p2' })
  t.equal(await needed(), 1)
})

t.test('a call that was past the check when its key was revoked finishes; the next is refused', async (t) => {
  const inner = memoryStore()
  let revokeNow = async () => {}
  const store: ApiKeyStore = {
    ...inner,
    async find (fingerprints) {
      const row = await inner.find(fingerprints)
      await revokeNow()
      return row
    }
  }
  const { app, mint } = await build(t, { store })
  const { id, plaintext } = await mint()
  revokeNow = async () => {
    await inner.revoke(OWNER, id, 'ada', new Date())
  }
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 401)
})

/** The row of a key as it is when the server has closed, so with all rehashing done. */
async function rowAfter (
  t: Parameters<typeof build>[0],
  store: ApiKeyStore,
  plaintext: string,
  apiKeys: object,
  peppers = [PEPPER]
): Promise<{ row: StoredApiKey | null, runs: number, statuses: number[] }> {
  const { app } = await build(t, { store, apiKeys: { peppers, ...apiKeys } })
  const scrypt = countScrypt()
  const statuses = []
  for (let i = 0; i < 2; i++) {
    statuses.push((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode)
  }
  await app.close()
  scrypt.stop()
  return { row: await store.find(peppers.map((pepper) => fingerprint(plaintext, pepper))), runs: scrypt.runs, statuses }
}

t.test('a hash of another cost is replaced when its key is used, quietly', async (t) => {
  const store = memoryStore()
  const first = await build(t, { store, apiKeys: { logN: 3 } })
  const { plaintext } = await first.mint()
  const { row, statuses } = await rowAfter(t, store, plaintext, { logN: 5 })
  t.strictSame(statuses, [200, 200])
  t.equal(row && costFromHash(row.hash), 5)
  const again = await rowAfter(t, store, plaintext, { logN: 5 })
  t.equal(again.runs, 1, 'and not again; a hash that is known needs no scrypt')
})

t.test('peppers rotate: an older one is good, and the key is moved to the newest', async (t) => {
  const store = memoryStore()
  const first = await build(t, { store })
  const { plaintext } = await first.mint()
  const newest = { id: 'p2', secret: 'another pepper of thirty-two bytes or more' }
  const { row, statuses } = await rowAfter(t, store, plaintext, {}, [newest, PEPPER])
  t.strictSame(statuses, [200, 200])
  t.equal(row?.pepperId, 'p2')
  t.strictSame((await rowAfter(t, store, plaintext, {}, [newest])).statuses, [200, 200])
  t.strictSame((await rowAfter(t, store, plaintext, {}, [PEPPER])).statuses, [401, 401])
})
