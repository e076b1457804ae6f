import connect, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { knexStore, createApiKeysTable, type KnexStoreOptions } from '../src/keys/knex.ts'
import { memoryStore, type ApiKeyOptions, type ApiKeyStore } from '../src/index.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from '../../../test/databases.ts'
import { mintKey } from '../src/keys/format.ts'
import { bearer, build, OTHER_OWNER, PEPPER, products, REFUSED, OWNER } from './build.ts'

const CREATE_OWNERS =
  "create table owners (id text primary key, status text not null default 'active', plan jsonb, currency char(3))"

/** The table of keys beside one of owners, with two owners in it. */
async function databaseWithOwners (t: Test): Promise<Knex> {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw(CREATE_OWNERS)
  await knex.raw('insert into owners (id, plan, currency) values (?, ?, ?), (?, null, ?)', [
    OWNER,
    '{"seats":3}',
    'EUR',
    OTHER_OWNER,
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

const owner = { table: 'owners', columns: ['status', 'plan', 'currency'] }

t.test('one statement reads a key and the columns of its owner', async (t) => {
  const knex = await databaseWithOwners(t)
  const { app, mint } = await build(t, { store: knexStore(knex, { owner }) })
  for (
    const [id, row] of [
      [OWNER, { status: 'active', plan: { seats: 3 }, currency: 'EUR' }],
      [OTHER_OWNER, { status: 'active', plan: null, currency: 'JPY' }]
    ] as const
  ) {
    const key = await mint(id)
    const sent = await statementsOf(knex, async () => {
      const response = await app.inject({ url: products(id), headers: bearer(key.plaintext) })
      t.strictSame(response.json(), { kind: 'api-key', keyId: key.id, ownerId: id, scopes: [], owner: row })
    })
    t.equal(sent.length, 1, sent.join('\n'))
  }
})

t.test('calls that arrive together share statements, and each has the answer of its own key', async (t) => {
  const knex = await databaseWithOwners(t)
  const peppers = [{ id: 'p2', secret: 'another pepper of thirty-two bytes or more' }, PEPPER] as const
  const store = knexStore(knex, { owner })
  const before = await build(t, { store })
  const { app, mint } = await build(t, { store, apiKeys: { peppers } })
  const of = async ({ mint }: Pick<typeof before, 'mint'>, ownerId: string) => ({ ownerId, ...await mint(ownerId) })
  const good = [
    await of(before, OWNER),
    await of(before, OTHER_OWNER),
    await of({ mint }, OWNER),
    await of({ mint }, OTHER_OWNER)
  ]
  const revoked = await mint()
  await store.revoke(OWNER, revoked.id, 'somebody', new Date(), undefined)
  const strange = mintKey('shop_test').plaintext
  const call = async (key: string, url = products()) => (await app.inject({ url, headers: bearer(key) })).json()
  const wrong = [revoked.plaintext, strange, revoked.plaintext]
  const calls = Array.from({ length: 5 }, () => [...good.map(({ plaintext }) => plaintext), ...wrong]).flat()
  const sent = await statementsOf(knex, async () => {
    const answers = await Promise.all(
      calls.map(async (key) => await call(key, products(good.find(({ plaintext }) => plaintext === key)?.ownerId)))
    )
    for (const [i, answer] of answers.entries()) {
      const key = good.find(({ plaintext }) => plaintext === calls[i])
      if (key === undefined) t.strictSame(answer, REFUSED)
      else {
        t.match(answer, {
          keyId: key.id,
          ownerId: key.ownerId,
          owner: { currency: key.ownerId === OWNER ? 'EUR' : 'JPY' }
        })
      }
    }
  })
  t.ok(sent.length >= 3 && sent.length < calls.length / 2, `${sent.length} statements for ${calls.length} calls`)
})

t.test('calls that share a statement which fails are all 503, and the next ones work', async (t) => {
  const knex = await databaseWithOwners(t)
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

t.test('the very next call has what has changed in the owner, and an owner that is gone is 401', async (t) => {
  const knex = await databaseWithOwners(t)
  const logged: string[] = []
  const { app, mint } = await build(t, {
    store: knexStore(knex, { owner: { ...owner, columns: ['status'] } }),
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
  t.strictSame((await call()).owner, { status: 'active' })
  await knex.raw("update owners set status = 'suspended' where id = ?", [OWNER])
  t.strictSame((await call()).owner, { status: 'suspended' })
  await knex.raw('delete from owners where id = ?', [OWNER])
  t.strictSame(await call(), REFUSED)
  t.match(logged.join(''), /the owner of the API key does not exist/)
})

t.test('the owner of an identity is a frozen copy of what the store returns', async (t) => {
  const own = { status: 'active' }
  const inner = memoryStore()
  const store: ApiKeyStore = {
    ...inner,
    async find (fingerprints) {
      const row = await inner.find(fingerprints)
      return row && { ...row, owner: own as never }
    }
  }
  const { app, mint } = await build(t, {
    store,
    routes: (app) => {
      app.get(
        '/frozen',
        { config: { auth: 'any-key' } },
        async ({ identity }) => identity?.kind === 'api-key' && [Object.isFrozen(identity.owner), identity.owner]
      )
    }
  })
  const { plaintext } = await mint()
  t.strictSame((await app.inject({ url: '/frozen', headers: bearer(plaintext) })).json(), [true, own])
  t.notOk(Object.isFrozen(own))
})

t.test('owners in another schema, under another key, by a knex that renames columns', async (t) => {
  const { knex, close } = await embeddedDatabase({
    wrapIdentifier: (name, wrap) => wrap(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))
  })
  t.teardown(close)
  await createApiKeysTable(knex)
  await knex.raw('create schema app')
  await knex.raw('create table app.tenants (key_of text unique, id integer, owner_id text)')
  await knex.raw("insert into app.tenants values (?, 7, 'a')", [OWNER])
  const { app, mint } = await build(t, {
    store: knexStore(knex, { owner: { table: 'app.tenants', key: 'keyOf', columns: ['id', 'ownerId'] } })
  })
  const { plaintext } = await mint()
  t.match((await app.inject({ url: products(), headers: bearer(plaintext) })).json(), {
    ownerId: OWNER,
    owner: { id: 7, ownerId: 'a' }
  })
})

t.test('a wrong option is an error at once', async (t) => {
  const COLUMNS = 'knexStore.owner.columns must be a non-empty array of column names'
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  for (
    const [options, message] of [
      [{ owners: owner }, 'knexStore.owners is not an option. Did you mean owner?'],
      [{ namedStatements: 'yes' }, "knexStore.namedStatements must be true or false (got 'yes')"],
      [{ owner: 'owners' }, "knexStore.owner must be an object (got 'owners')"],
      [{ owner: { ...owner, column: 'id' } }, 'knexStore.owner.column is not an option. Did you mean columns?'],
      [{ owner: { columns: ['id'] } }, 'knexStore.owner.table must be the name of a table (got undefined)'],
      [
        { owner: { ...owner, table: 'owners as s' } },
        "knexStore.owner.table must be the name of a table (got 'owners as s')"
      ],
      [{ owner: { ...owner, table: 'a.b.c' } }, "knexStore.owner.table must be the name of a table (got 'a.b.c')"],
      [{ owner: { ...owner, key: 'id::text' } }, "knexStore.owner.key must be the name of a column (got 'id::text')"],
      [{ owner: { ...owner, columns: 'status' } }, `${COLUMNS} (got 'status')`],
      [{ owner: { ...owner, columns: ['*'] } }, `${COLUMNS} (got [ '*' ])`],
      [{ owner: { ...owner, columns: ['a?'] } }, `${COLUMNS} (got [ 'a?' ])`],
      [{ owner: { ...owner, columns: [] } }, `${COLUMNS} (got [])`],
      [{ owner: { ...owner, columns: ['a', 'a'] } }, 'knexStore.owner.columns must be different']
    ] as const
  ) {
    t.throws(() => knexStore(knex, options as unknown as KnexStoreOptions), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: ${message}`
    })
  }
})

t.test('owners that cannot be read, or a key that is not unique, are errors at startup', async (t) => {
  const knex = await databaseWithOwners(t)
  for (
    const sql of [
      'create table twice (id text, part text, status text, unique (id, part))',
      "create unique index on twice (id) where status = 'active'",
      'create unique index on twice (lower(id))',
      'create table numbered (id integer primary key, status text)'
    ]
  ) await knex.raw(sql)
  const start = async (change: object) =>
    build(t, { store: knexStore(knex, { owner: { table: 'owners', columns: ['status'], ...change } }) })
  for (
    const [change, message] of [
      [
        { table: 'nowhere' },
        'knexStore.owner must name a table and columns that can be read, and a key of the type of ' +
        'api_keys.owner_id: relation "nowhere" does not exist'
      ],
      [{ columns: ['nothing'] }, /: column owner\.nothing does not exist$/],
      [{ table: 'numbered' }, /: operator does not exist: integer = text$/],
      [{ key: 'status' }, 'knexStore.owner.key must be unique: owners has no unique index on status alone'],
      [{ table: 'twice' }, 'knexStore.owner.key must be unique: twice has no unique index on id alone']
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
  await knex.raw(CREATE_OWNERS)
  await knex.raw('insert into owners (id) values (?)', [OWNER])
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
      [{ owner, namedStatements: false }, 0],
      [{}, 1],
      [{}, 0],
      [{ owner }, 1],
      [{ owner: { ...owner, columns: ['plan'] } }, 1]
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
    const call = await open({ owner })
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
  const call = await open({ owner })
  for (let i = 0; i < 8; i++) t.equal(await call(), 200)
  await knex.raw('alter table owners alter currency type text')
  t.equal(await call(), 200)
})

t.test('calls are answered while the tests of a host hold its timers', needsServer, async (t) => {
  const { open } = await connection(t)
  const call = await open({})
  t.equal(await call(), 200)
  t.intercept(globalThis, 'setImmediate', { value: () => {} })
  t.equal(await call(), 200)
})
