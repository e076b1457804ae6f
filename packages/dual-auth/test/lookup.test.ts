import connect, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { knexStore, createApiKeysTable, type KnexStoreOptions } from '../src/keys/knex.ts'
import { memoryStore, type ApiKeyOptions, type ApiKeyStore } from '../src/index.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from './databases.ts'
import { mintKey } from '../src/keys/format.ts'
import { bearer, build, OTHER_SHOP, PEPPER, products, REFUSED, SHOP } from './build.ts'

const CREATE_SHOPS =
  "create table shops (id text primary key, status text not null default 'active', plan jsonb, currency char(3))"

/** The table of keys beside one of shops, with two shops in it. */
async function databaseWithShops (t: Test): Promise<Knex> {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw(CREATE_SHOPS)
  await knex.raw('insert into shops (id, plan, currency) values (?, ?, ?), (?, null, ?)', [
    SHOP,
    '{"seats":3}',
    'EUR',
    OTHER_SHOP,
    'JPY'
  ])
  return knex
}

/** The statements that the work sends, but for the note that a key was used. */
async function statementsOf (knex: Knex, work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = []
  const listen = ({ sql }: { sql: string }) => {
    if (!/^update "?api_keys"? set "?last_used_at/.test(sql)) sent.push(sql)
  }
  knex.on('query', listen)
  await work()
  knex.removeListener('query', listen)
  return sent
}

const shop = { table: 'shops', columns: ['status', 'plan', 'currency'] }

t.test('one statement reads a key and the columns of its shop', async (t) => {
  const knex = await databaseWithShops(t)
  const { app, mint } = await build(t, { store: knexStore(knex, { shop }) })
  for (
    const [id, row] of [
      [SHOP, { status: 'active', plan: { seats: 3 }, currency: 'EUR' }],
      [OTHER_SHOP, { status: 'active', plan: null, currency: 'JPY' }]
    ] as const
  ) {
    const key = await mint(id)
    const sent = await statementsOf(knex, async () => {
      const response = await app.inject({ url: products(id), headers: bearer(key.plaintext) })
      t.strictSame(response.json(), { kind: 'api-key', keyId: key.id, shopId: id, scopes: [], shop: row })
    })
    t.equal(sent.length, 1, sent.join('\n'))
  }
})

t.test('calls that arrive together share statements, and each has the answer of its own key', async (t) => {
  const knex = await databaseWithShops(t)
  const peppers = [{ id: 'p2', secret: 'another pepper of thirty-two bytes or more' }, PEPPER] as const
  const store = knexStore(knex, { shop })
  const before = await build(t, { store })
  const { app, mint } = await build(t, { store, apiKeys: { peppers } })
  const of = async ({ mint }: Pick<typeof before, 'mint'>, shopId: string) => ({ shopId, ...await mint(shopId) })
  const good = [
    await of(before, SHOP),
    await of(before, OTHER_SHOP),
    await of({ mint }, SHOP),
    await of({ mint }, OTHER_SHOP)
  ]
  const revoked = await mint()
  await store.revoke(SHOP, revoked.id, 'somebody', new Date(), undefined)
  const strange = mintKey('shop_test').plaintext
  const call = async (key: string, url = products()) => (await app.inject({ url, headers: bearer(key) })).json()
  const wrong = [revoked.plaintext, strange, revoked.plaintext]
  const calls = Array.from({ length: 5 }, () => [...good.map(({ plaintext }) => plaintext), ...wrong]).flat()
  const sent = await statementsOf(knex, async () => {
    const answers = await Promise.all(
      calls.map(async (key) => await call(key, products(good.find(({ plaintext }) => plaintext === key)?.shopId)))
    )
    for (const [i, answer] of answers.entries()) {
      const key = good.find(({ plaintext }) => plaintext === calls[i])
      if (key === undefined) t.strictSame(answer, REFUSED)
      else {
        t.match(answer, {
          keyId: key.id,
          shopId: key.shopId,
          shop: { currency: key.shopId === SHOP ? 'EUR' : 'JPY' }
        })
      }
    }
  })
  t.ok(sent.length >= 3 && sent.length < calls.length / 2, `${sent.length} statements for ${calls.length} calls`)
})

t.test('calls that share a statement which fails are all 503, and the next ones work', async (t) => {
  const knex = await databaseWithShops(t)
  const { app, mint } = await build(t, { store: knexStore(knex) })
  const { plaintext } = await mint()
  const calls = async () =>
    await Promise.all(
      Array.from({ length: 3 }, async () =>
        (await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode)
    )
  await knex.raw('alter table api_keys rename to elsewhere')
  t.strictSame(await calls(), [503, 503, 503])
  await knex.raw('alter table elsewhere rename to api_keys')
  t.strictSame(await calls(), [200, 200, 200])
})

t.test('the very next call has what has changed in the shop, and a shop that is gone is 401', async (t) => {
  const knex = await databaseWithShops(t)
  const logged: string[] = []
  const { app, mint } = await build(t, {
    store: knexStore(knex, { shop: { ...shop, columns: ['status'] } }),
    server: {
      logger: {
        stream: {
          write: (line: string) => {
            logged.push(line)
          }
        }
      }
    }
  })
  const { plaintext } = await mint()
  const call = async () => (await app.inject({ url: products(), headers: bearer(plaintext) })).json()
  t.strictSame((await call()).shop, { status: 'active' })
  await knex.raw("update shops set status = 'suspended' where id = ?", [SHOP])
  t.strictSame((await call()).shop, { status: 'suspended' })
  await knex.raw('delete from shops where id = ?', [SHOP])
  t.strictSame(await call(), REFUSED)
  t.match(logged.join(''), /the shop of the API key does not exist/)
})

t.test('the shop of an identity is a frozen copy of what the store returns', async (t) => {
  const own = { status: 'active' }
  const inner = memoryStore()
  const store: ApiKeyStore = {
    ...inner,
    async find (fingerprints) {
      const row = await inner.find(fingerprints)
      return row && { ...row, shop: own as never }
    }
  }
  const { app, mint } = await build(t, {
    store,
    routes: (app) => {
      app.get(
        '/frozen',
        { config: { auth: 'any-key' } },
        async ({ identity }) => identity?.kind === 'api-key' && [Object.isFrozen(identity.shop), identity.shop]
      )
    }
  })
  const { plaintext } = await mint()
  t.strictSame((await app.inject({ url: '/frozen', headers: bearer(plaintext) })).json(), [true, own])
  t.notOk(Object.isFrozen(own))
})

t.test('shops in another schema, under another key, by a knex that renames columns', async (t) => {
  const { knex, close } = await embeddedDatabase({
    wrapIdentifier: (name, wrap) => wrap(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  })
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('create schema app')
  await knex.raw('create table app.tenants (key_of text unique, id integer, shop_id text)')
  await knex.raw("insert into app.tenants values (?, 7, 'a')", [SHOP])
  const { app, mint } = await build(t, {
    store: knexStore(knex, { shop: { table: 'app.tenants', key: 'keyOf', columns: ['id', 'shopId'] } })
  })
  const { plaintext } = await mint()
  t.match((await app.inject({ url: products(), headers: bearer(plaintext) })).json(), {
    shopId: SHOP,
    shop: { id: 7, shopId: 'a' }
  })
})

t.test('a wrong option is an error at once', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  for (
    const [options, message] of [
      [{ shops: shop }, 'knexStore.shops is not an option'],
      [{ namedStatements: 'yes' }, 'knexStore.namedStatements must be true or false'],
      [{ shop: 'shops' }, 'knexStore.shop must be an object'],
      [{ shop: { ...shop, column: 'id' } }, 'knexStore.shop.column is not an option'],
      [{ shop: { columns: ['id'] } }, 'knexStore.shop.table must be a non-empty string'],
      [{ shop: { ...shop, table: 'shops as s' } }, 'knexStore.shop.table must be the name of a table'],
      [{ shop: { ...shop, table: 'a.b.c' } }, 'knexStore.shop.table must be the name of a table'],
      [{ shop: { ...shop, key: 'id::text' } }, 'knexStore.shop.key must be the name of a column'],
      [{ shop: { ...shop, columns: 'status' } }, 'knexStore.shop.columns must be a list of column names'],
      [{ shop: { ...shop, columns: ['*'] } }, 'knexStore.shop.columns must be a list of column names'],
      [{ shop: { ...shop, columns: ['a?'] } }, 'knexStore.shop.columns must be a list of column names'],
      [{ shop: { ...shop, columns: [] } }, 'knexStore.shop.columns must be a list of different column names'],
      [{ shop: { ...shop, columns: ['a', 'a'] } }, 'knexStore.shop.columns must be a list of different column names']
    ] as const
  ) {
    t.throws(() => knexStore(knex, options as unknown as KnexStoreOptions), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: ${message}`
    })
  }
})

t.test('shops that cannot be read, or a key that is not unique, are errors at startup', async (t) => {
  const knex = await databaseWithShops(t)
  for (
    const sql of [
      'create table twice (id text, part text, status text, unique (id, part))',
      "create unique index on twice (id) where status = 'active'",
      'create unique index on twice (lower(id))',
      'create table numbered (id integer primary key, status text)'
    ]
  ) await knex.raw(sql)
  const start = async (change: object) =>
    build(t, { store: knexStore(knex, { shop: { table: 'shops', columns: ['status'], ...change } }) })
  for (
    const [change, message] of [
      [
        { table: 'nowhere' },
        'knexStore.shop must name a table and columns that can be read, and a key of the type of ' +
        'api_keys.shop_id: relation "nowhere" does not exist'
      ],
      [{ columns: ['nothing'] }, /: column shop\.nothing does not exist$/],
      [{ table: 'numbered' }, /: operator does not exist: integer = text$/],
      [{ key: 'status' }, 'knexStore.shop.key must be unique: shops has no unique index on status alone'],
      [{ table: 'twice' }, 'knexStore.shop.key must be unique: twice has no unique index on id alone']
    ] as const
  ) {
    await t.rejects(start(change), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: typeof message === 'string' ? `dual-auth: ${message}` : message
    })
  }
  await t.resolves(start({}))
})

const needsServer = {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: the embedded engine of these tests ignores names'
}

/** One connection to a database of its own, which shows what it has prepared. */
async function connection (t: Test) {
  const { url, close } = await serverDatabase()
  const knex = connect({ client: 'pg', connection: url, pool: { min: 1, max: 1 } })
  t.teardown(async () => {
    await knex.destroy()
    await close()
  })
  await createApiKeysTable(knex)
  await knex.raw(CREATE_SHOPS)
  await knex.raw('insert into shops (id) values (?)', [SHOP])
  return {
    knex,
    prepared: async (): Promise<string[]> =>
      (await knex.raw('select name from pg_prepared_statements order by 1')).rows.map(({ name }: { name: string }) =>
        name
      ),
    async open (options: KnexStoreOptions, peppers: ApiKeyOptions['peppers'] = [PEPPER]) {
      const { app, mint } = await build(t, { store: knexStore(knex, options), apiKeys: { peppers } })
      const { plaintext } = await mint()
      return async () => (await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode
    }
  }
}

t.test('a connection prepares the statement once, under a name that means one text', needsServer, async (t) => {
  const { prepared, open } = await connection(t)
  const peppers = [{ id: 'p2', secret: 'another pepper of thirty-two bytes or more' }, PEPPER]
  let known = 0
  for (
    const [options, more] of [
      [{ shop, namedStatements: false }, 0],
      [{}, 1],
      [{}, 0],
      [{ shop }, 1],
      [{ shop: { ...shop, columns: ['plan'] } }, 1]
    ] as const
  ) {
    const call = await open(options)
    for (let i = 0; i < 8; i++) t.equal(await call(), 200)
    t.equal((await prepared()).length, known += more)
  }
  t.equal(await (await open({}, peppers))(), 200)
  const names = await prepared()
  t.equal(names.length, known + 1)
  for (const name of names) t.match(name, /^dual_auth_[0-9a-f]{16}$/)
})

t.test(
  'calls that meet a connection without the statement succeed, and use no name from then on',
  needsServer,
  async (t) => {
    const { knex, prepared, open } = await connection(t)
    const call = await open({ shop })
    t.equal(await call(), 200)
    t.equal((await prepared()).length, 1)
    // As behind a pooler: the driver believes that the connection has it.
    await knex.raw('deallocate all')
    t.equal(await call(), 200)
    t.strictSame(await Promise.all([call(), call(), call()]), [200, 200, 200])
    t.strictSame(await prepared(), [])
  }
)

t.test('a column that gets another type while the server runs is no failure', needsServer, async (t) => {
  const { knex, open } = await connection(t)
  const call = await open({ shop })
  for (let i = 0; i < 8; i++) t.equal(await call(), 200)
  await knex.raw('alter table shops alter currency type text')
  t.equal(await call(), 200)
})

t.test('calls are answered while the tests of a host hold its timers', needsServer, async (t) => {
  const { open } = await connection(t)
  const call = await open({})
  t.equal(await call(), 200)
  t.intercept(globalThis, 'setImmediate', { value: () => {} })
  t.equal(await call(), 200)
})
