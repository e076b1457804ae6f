import type { Knex } from 'knex'
import t, { type Test } from 'tap'
import { memoryStore, type ApiKeyRecord, type ApiKeyStore, type KeyPage } from '../src/index.ts'
import { createApiKeysTable, knexStore, type KnexStoreOptions } from '../src/keys/knex.ts'
import { testStore } from '../src/testing/index.ts'
import { bearer, build, products, OWNER } from './build.ts'
import { mysqlDatabase, MARIADB_URL, sqliteDatabase, type Database } from '../../../test/databases.ts'
import { newKey } from './sample-key.ts'
import { joined } from '../../../test/joined.ts'

const UNTESTED = MARIADB_URL === undefined && 'TEST_MARIADB_URL is not set'
const ENGINES = [['SQLite', async () => sqliteDatabase(), false], ['MariaDB', mysqlDatabase, UNTESTED]] as const

for (const [engine, open, skip] of ENGINES) {
  const opened = async (t: Test, options: KnexStoreOptions = {}): Promise<{ knex: Knex, store: ApiKeyStore }> => {
    const { knex, close }: Database = await open()
    t.teardown(close)
    const { owner, ...names } = options
    await createApiKeysTable(knex, names)
    return { knex, store: knexStore(knex, options) }
  }

  t.test(engine, { skip }, async (t) => {
    t.test('create, use, rotate, list, revoke; twenty creations at once stop at the limit', async (t) => {
      const { store } = await opened(t)
      const { app, issuer, mint } = await build(t, { store, apiKeys: { maxPerOwner: 5, storeTimeout: 60_000 } })
      const path = `/owners/${OWNER}/api-keys/`
      const call = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
        app.inject({ method, url, headers: bearer(issuer.user()), ...payload && { payload } })
      const use = async (key: string) => (await app.inject({ url: products(), headers: bearer(key) })).statusCode
      const { id, plaintext } = await mint()
      const rotated = (await call('POST', `${path}${id}/rotate`, {})).json()
      t.strictSame([await use(plaintext), await use(rotated.plaintext)], [200, 200])
      t.match((await call('GET', path)).json(), [
        { id: rotated.id, last_used_at: /Z$/ },
        { id, replaced_by: rotated.id }
      ])
      const statuses = (await Promise.all(Array.from({ length: 20 }, async () => call('POST', path, { name: 'x' }))))
        .map(({ statusCode }) => statusCode)
      t.strictSame(statuses.sort(), [...Array(4).fill(201), ...Array(16).fill(409)])
      t.equal((await call('DELETE', path + id)).statusCode, 204)
      t.strictSame([await use(plaintext), await use(rotated.plaintext)], [401, 200])
    })

    t.test('names of the host, and columns of the owner in every call', async (t) => {
      const names = { table: 'workspace_keys', ownerColumn: 'workspace_id' }
      const { knex, store } = await opened(t, { ...names, owner: { table: 'workspaces', columns: ['currency'] } })
      await t.rejects(store.ready!(), { code: 'DUAL_AUTH_INVALID_OPTION', message: /workspaces/ })
      await knex.schema.createTable('workspaces', (table) => {
        table.string('id').primary()
        table.string('currency')
      })
      await knex('workspaces').insert([{ id: OWNER, currency: 'JPY' }, { id: 'Blue', currency: 'EUR' }])
      await store.ready!()
      for (
        const [ownerId, owner] of [
          [OWNER, { currency: 'JPY' }],
          ['Blue', { currency: 'EUR' }],
          ['blue', null],
          ['Blue ', null]
        ] as const
      ) {
        const key = newKey({ ownerId })
        await store.insert(key, 9)
        t.match(await store.find([key.fingerprint]), { ownerId, owner }, ownerId)
      }
      t.equal((await knex('workspace_keys').where({ workspace_id: OWNER })).length, 1)
    })

    t.test('an owner who does not exist, by a foreign key, has no keys and gets none', async (t) => {
      const { knex, close } = await open()
      t.teardown(close)
      if (engine === 'SQLite') await knex.raw('pragma foreign_keys = on')
      await knex.schema.createTable('owners', (table) => {
        table.integer('id').primary()
      })
      await knex('owners').insert({ id: 7 })
      await createApiKeysTable(knex)
      // As a migration of the host would: an id that is a number.
      if (engine === 'MariaDB') {
        await knex.raw(
          'alter table api_keys modify owner_id int not null, add foreign key (owner_id) references owners (id)'
        )
      } else {
        const [{ sql }] = await knex('sqlite_master').where({ name: 'api_keys' }).select('sql')
        await knex.raw('drop table api_keys')
        await knex.raw(
          String(sql).replace('`owner_id` varchar(255) not null', '`owner_id` integer not null references owners (id)')
        )
      }
      const store = knexStore(knex)
      t.equal(await store.insert(newKey({ ownerId: '7' }), 1), true)
      t.equal(await store.insert(newKey({ ownerId: '7' }), 1), false)
      for (const ownerId of ['8', '07', '7up', 'seven', '99999999999']) {
        await t.rejects(store.insert(newKey({ ownerId }), 1), { code: 'DUAL_AUTH_OWNER_UNKNOWN' }, ownerId)
        t.equal(
          (await store.list(ownerId, { at: new Date(), skip: 0, limit: 9, filter: {}, sort: null })).count,
          0,
          ownerId
        )
      }
    })

    t.test('a missing table or column is an error at startup; a row that was written into names itself', async (t) => {
      const { knex, close } = await open()
      t.teardown(close)
      const store = knexStore(knex)
      await t.rejects(store.ready!(), {
        code: 'DUAL_AUTH_INVALID_OPTION',
        message: /api_keys.*createApiKeysTable\(knex\) creates/
      })
      await createApiKeysTable(knex)
      await store.ready!()
      const key = newKey()
      await store.insert(key, 9)
      for (const change of [{ scopes: 'read' }, { expires_at: 1.5 }, { hash: 'zz' }]) {
        if (engine === 'MariaDB' && 'expires_at' in change) continue // Its columns hold no such number.
        const before = await knex('api_keys').where({ id: key.id }).first()
        await knex('api_keys').where({ id: key.id }).update(change)
        await t.rejects(store.find([key.fingerprint]), {
          message: new RegExp(`${Object.keys(change)[0]!.replace('_at', 'At')} of the API key ${key.id}`)
        })
        await knex('api_keys').where({ id: key.id }).update(before)
      }
      await knex.schema.alterTable('api_keys', (table) => {
        table.dropColumn('networks')
      })
      await t.rejects(store.ready!(), { code: 'DUAL_AUTH_INVALID_OPTION', message: /networks/ })
    })

    t.test('hostile ids, names and searches are values, wherever they stand', async (t) => {
      const { knex, store } = await opened(t)
      const hostile = [
        "' or '1'='1",
        "\\' or 1=1 -- ",
        '`; drop table api_keys; -- ',
        '"; delete from api_keys; --',
        '?',
        '??',
        ':id',
        '%',
        '\\',
        '\u0001x',
        "' union select hash from api_keys -- ",
        '{1}',
        "\u{1F511}'"
      ]
      const victim = newKey({ ownerId: 'victim' })
      await store.insert(victim, 9)
      for (const text of hostile) {
        t.strictSame(
          await store.list(text, {
            at: new Date(),
            skip: 0,
            limit: 9,
            filter: { q: text, name: [text], id: [text] },
            sort: null
          }),
          { keys: [], count: 0, counts: { active: 0, expired: 0, revoked: 0 } },
          text
        )
        t.equal(await store.revoke(text, victim.id, text, new Date()), false)
        t.equal(await store.revoke('victim', text, text, new Date()), false)
        t.strictSame(await store.touch([{ id: text, networks: [text] }], new Date(), new Date()), [])
        const key = newKey({ ownerId: text, name: text, createdBy: text, pepperId: text, scopes: [text] })
        t.equal(await store.insert(key, 1), true, text)
        t.match(await store.find([key.fingerprint]), { ownerId: text, pepperId: text, scopes: [text], revokedAt: null })
      }
      t.match(await store.find([victim.fingerprint]), { id: victim.id, revokedAt: null })
      t.equal((await knex('api_keys')).length, hostile.length + 1)
    })
  })
}

t.test('MariaDB: what would make changes unsafe is refused at startup', { skip: UNTESTED }, async (t) => {
  for (
    const [settings, change, reason] of [
      ["sql_mode = 'NO_BACKSLASH_ESCAPES'", '', /NO_BACKSLASH_ESCAPES/],
      ["sql_mode = ''", 'alter table api_keys engine = MyISAM', /api_keys must have the engine InnoDB/],
      ["sql_mode = ''", 'delete from api_keys_locks', /api_keys_locks lacks rows: call createApiKeysTable/]
    ] as const
  ) {
    const { knex, close } = await mysqlDatabase({ settings })
    t.teardown(close)
    await createApiKeysTable(knex)
    if (change !== '') await knex.raw(change)
    await t.rejects(build(t, { store: knexStore(knex) }), { code: 'DUAL_AUTH_INVALID_OPTION', message: reason })
  }
})

t.test(
  'MariaDB: a value that the database would cut or change quietly is refused, not stored',
  { skip: UNTESTED },
  async (t) => {
    const { knex, close } = await mysqlDatabase({ settings: "sql_mode = ''" })
    t.teardown(close)
    await createApiKeysTable(knex)
    const store = knexStore(knex)
    const long = 'a'.repeat(255)
    await store.insert(newKey({ ownerId: long }), 9)
    await t.rejects(
      store.insert(newKey({ ownerId: `${long}b` }), 9),
      { code: 'DUAL_AUTH_OWNER_UNKNOWN' },
      'it would be a key of another owner'
    )
    await knex.raw('alter table api_keys modify name varchar(255) character set latin1')
    await t.rejects(store.insert(newKey({ name: '\u{1F511}' }), 9), {
      message: /^name of a new API key is not stored as it is/
    })
    t.equal((await knex('api_keys')).length, 1)
  }
)

/** What the suite says of a store: the first sentence of each failure. */
async function failures (store: ApiKeyStore): Promise<string[]> {
  const failed: string[] = []
  const checks: Array<() => Promise<void>> = []
  testStore((_title, check) => {
    checks.push(check)
  }, store)
  for (const check of checks) {
    await check().catch((error: Error) => {
      failed.push(error.message)
    })
  }
  return failed
}

const inner = () => memoryStore()
const local = (date: Date | null) => (date === null ? null : date.toLocaleString('de-DE')) as unknown as Date
const shuffled = ({ keys, ...page }: KeyPage): KeyPage => ({ ...page, keys: keys.toSorted(() => Math.random() - 0.5) })

const BROKEN: Readonly<Record<string, readonly [ApiKeyStore, RegExp]>> = {
  'counts before it inserts, without a lock': [
    ((store) =>
      ({
        ...store,
        async insert (key, limit, onStored) {
          const { counts } = await store.list(key.ownerId, {
            at: key.createdAt,
            skip: 0,
            limit: 1,
            filter: {},
            sort: null
          })
          return counts.active < limit ? store.insert(key, 1e6, onStored) : false
        }
      }) satisfies ApiKeyStore)(inner()),
    joined(
      /twenty creations at once do not pass the limit\. /,
      /Count and insert in one transaction that locks the owner first.* /,
      /Found: how many of 20 were stored at a limit of 3: expected 3, found 20/
    )
  ],
  'compares owners as MySQL does by default': [
    ((store) =>
      ({
        ...store,
        insert: async (key, ...rest) => store.insert({ ...key, ownerId: key.ownerId.toLowerCase().trimEnd() }, ...rest),
        list: async (ownerId, ...rest) => store.list(ownerId.toLowerCase().trimEnd(), ...rest),
        revoke: async (ownerId, ...rest) => store.revoke(ownerId.toLowerCase().trimEnd(), ...rest)
      }) satisfies ApiKeyStore)(inner()),
    /keeps odd owners apart.* The default collation of MySQL/
  ],
  'returns times as local strings': [
    ((store) =>
      ({
        ...store,
        async find (fingerprints) {
          const key = await store.find(fingerprints)
          return key && { ...key, expiresAt: local(key.expiresAt), revokedAt: local(key.revokedAt) }
        }
      }) satisfies ApiKeyStore)(inner()),
    joined(
      /keeps the end of a key to the millisecond\. /,
      /Store moments, to the millisecond, in a form that no time zone changes.* expected /,
      /.*Date\(2030-06-01T12:00:00\.001Z\)/
    )
  ],
  'loses the last use': [
    ((store) => ({ ...store, touch: async () => [] }) satisfies ApiKeyStore)(inner()),
    /writes when and from where keys were used\. touch sets lastUsedAt and lastUsedNetwork.* found .*"lastUsedAt":null/
  ],
  'orders by nothing last': [
    ((store) =>
      ({
        ...store,
        async list (ownerId, { skip, limit, ...query }) {
          const page = shuffled(await store.list(ownerId, { ...query, skip: 0, limit: 1e6 }))
          return { ...page, keys: page.keys.slice(skip, skip + limit) }
        }
      }) satisfies ApiKeyStore)(inner()),
    /pages have each key once, also where all keys are equal\. Order by the id last/
  ],
  'caches what it found': [
    ((store) => {
      const cache = new Map<string, Awaited<ReturnType<ApiKeyStore['find']>>>()
      return {
        ...store,
        async find (fingerprints) {
          const name = fingerprints.join()
          const found = cache.get(name) ?? await store.find(fingerprints)
          cache.set(name, found)
          return found
        }
      } satisfies ApiKeyStore
    })(inner()),
    joined(
      /finds no good key after its revocation has returned, on any replica\. /,
      /find reads the current state on every call: no cache/
    )
  ],
  'tells the host before the change is certain': [
    ((store) =>
      ({
        ...store,
        async revoke (ownerId, id, by, at, onStored) {
          const [key] = (await store.list(ownerId, { at, skip: 0, limit: 1, filter: { id: [id] }, sort: null })).keys
          const isRevoked = await store.revoke(ownerId, id, by, at)
          if (isRevoked) await onStored?.({ ...key as ApiKeyRecord, revokedAt: at }, undefined)
          return isRevoked
        }
      }) satisfies ApiKeyStore)(inner()),
    joined(
      /tells of a revocation once, and undoes it if that fails\. /,
      /Call the function that is told in the transaction of the change/
    )
  ]
}

for (const [what, [store, sentence]] of Object.entries(BROKEN)) {
  t.test(`the suite fails a store that ${what}, and says what to mend`, async (t) => {
    const failed = await failures(store)
    t.ok(failed.some((message) => sentence.test(message)), failed.join('\n'))
  })
}

t.test('the suite has nothing to say of a store that is right, and is no framework of its own', async (t) => {
  t.strictSame(await failures(inner()), [])
  t.throws(() => testStore(() => {}, []), { message: 'testStore needs a store' })
})
