import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { RedirectKind } from '../../src/client-document/redirect-uri.ts'
import { sealer, type Purpose } from '../../src/broker/seal.ts'
import { consentPage, warnings } from '../../src/broker/sign-in/consent.ts'
import {
  createBrokerTable,
  createGrantTable,
  knexBrokerStore,
  knexGrantStore,
  memoryBrokerStore,
  redisBrokerStore,
  type BrokerStore
} from '../../src/broker/index.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from '../../../../test/databases.ts'

t.test('a value that an earlier build sealed opens', async (t) => {
  const { open } = sealer([{ id: 's1', secret: 'a-secret-of-thirty-two-bytes-abc' }], 'https://shop.example')
  const sealed = 's1.lE4a-e-qRLQ5Ibdnm5CIuRIzmUWEg90JiEhFGtkU8v2oNFN3L7vb0zL-S9ODdcT038YQd5OdvvMo_tswo6Ptxd9v'
  t.strictSame(open('refresh', sealed), { sub: 'ada', scope: 'read ü' })
  t.equal(open('code', sealed), undefined)
})

t.test('sealed values', (t) => {
  let now = 1_000_000
  const one = { id: '1', secret: 'x'.repeat(32) }
  const two = { id: '2', secret: 'y'.repeat(32) }
  const seals = sealer([one], 'https://a.example.com', () => now)
  const sealed = seals.seal('code', { a: 'é' }, 60)
  t.match(sealed, /^1\.[\w-]+$/)
  t.strictSame(seals.open('code', sealed), { a: 'é' })
  t.not(seals.seal('code', { a: 'é' }, 60), sealed, 'never the same twice')
  for (const purpose of ['client', 'request', 'transaction', 'consent', 'refresh'] as Purpose[]) {
    t.equal(seals.open(purpose, sealed), undefined, purpose)
  }
  for (
    const [what, other] of [
      ['another issuer', sealer([one], 'https://b.example.com', () => now)],
      ['another secret under the id', sealer([{ ...two, id: '1' }], 'https://a.example.com', () => now)],
      ['an unknown id', sealer([two], 'https://a.example.com', () => now)]
    ] as const
  ) t.equal(other.open('code', sealed), undefined, what)
  t.strictSame(
    sealer([two, one], 'https://a.example.com', () => now).open('code', sealed),
    { a: 'é' },
    'an older secret of the ring'
  )
  const [id, encoded = ''] = sealed.split('.')
  const bytes = Buffer.from(encoded, 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    t.equal(seals.open('code', `${id}.${changed.toString('base64url')}`), undefined, `byte ${i}`)
  }
  for (
    const text of [
      '',
      '.',
      '1.',
      `${sealed}.`,
      `${sealed}=`,
      `${sealed} `,
      ` ${sealed}`,
      sealed.replace('.', '..'),
      `1.${encoded.slice(0, 30)}`,
      '__proto__.x',
      `1.${'A'.repeat(30_000)}`
    ]
  ) t.equal(seals.open('code', text), undefined, text.slice(0, 40))
  now += 59_999
  t.ok(seals.open('code', sealed))
  now += 1
  t.equal(seals.open('code', sealed), undefined, 'expired')
  // 18,430 bytes in base64url, with the id and its dot: 28 are the IV and the tag, and some the JSON around the value.
  const fits = 18_430 - 28 - JSON.stringify([null, { a: '' }]).length
  const [longest, longer] = [0, 1].map((more) => seals.seal('code', { a: 'x'.repeat(fits + more) }))
  t.strictSame([longest!.length, seals.open<{ a: string }>('code', longest!)?.a.length], [24_576, fits])
  t.strictSame([longer!.length, seals.open('code', longer!)], [24_577, undefined], 'too long')
  const lasting = seals.seal('client', {})
  now += 1e12
  t.ok(seals.open('client', lasting), 'without a time it does not expire')
  t.end()
})

async function raises (t: Test, store: BrokerStore, prefix = ''): Promise<void> {
  const key = (name: string) => `${prefix}${name}`
  t.strictSame(await store.raise(key('a'), 1, 60), { raised: true })
  const before = Date.now()
  const again = await store.raise(key('a'), 1, 60)
  t.match(again, { raised: false, value: 1 })
  t.ok(!again.raised && Math.abs(again.since - before) < 60_000)
  t.match(await store.raise(key('a'), 0, 60), { raised: false, value: 1 })
  t.strictSame(await store.raise(key('a'), 5, 60), { raised: true })
  t.match(await store.raise(key('a'), 3, 60), { raised: false, value: 5 })
  t.strictSame(await store.raise(key('a'), 2_147_483_647, 60), { raised: true }, 'a whole number of 32 bits')
  const answers = await Promise.all(Array.from({ length: 20 }, () => store.raise(key('b'), 1, 60)))
  t.equal(answers.filter(({ raised }) => raised).length, 1, 'one of many at the same time')
  for (const [value, seconds] of [[1, 1], [2, 60]] as const) {
    t.strictSame(await store.raise(key('d'), value, seconds), { raised: true })
  }
  t.strictSame(await store.raise(key('c'), 1, 1), { raised: true })
  for (let tries = 0; !(await store.raise(key('c'), 1, 1)).raised; tries++) {
    if (tries > 100) {
      t.fail('it is not forgotten')
      return
    }
    await sleep(50)
  }
  t.match(await store.raise(key('d'), 2, 60), { raised: false, value: 2 }, 'kept as long as was said last')
}

t.test('the store of one process', async (t) => {
  await raises(t, memoryBrokerStore())
  let now = 0
  const store = memoryBrokerStore(() => now)
  for (let i = 0; i < 1000; i++) await store.raise(`code:${i}`, 1, 10)
  now = 60_000
  await store.raise('x', 1, 10)
  t.strictSame(await store.raise('code:1', 1, 10), { raised: true }, 'it was swept')
  t.strictSame(await store.raise('lasting', 1, 61), { raised: true })
  now = 120_000
  t.strictSame(await store.raise('lasting', 1, 61), { raised: false, value: 1, since: 60_000 }, 'it was not')
  now = 121_000
  t.strictSame(await store.raise('lasting', 1, 61), { raised: true }, 'kept for 61 seconds, and not longer')
})

t.test('the store in a table', async (t) => {
  const { knex, close } = await embeddedDatabase()
  t.teardown(close)
  await createBrokerTable(knex)
  await createBrokerTable(knex, { table: 'other' })
  const store = knexBrokerStore(knex)
  await raises(t, store)
  t.strictSame(
    await knexBrokerStore(knex, { table: 'other' }).raise('a', 1, 60),
    { raised: true },
    'each table has its own'
  )
  const { rows: [{ seconds }] } = await knex.raw(
    "select extract(epoch from expires_at - now())::int as seconds from oauth_broker where key = 'a'"
  )
  t.ok(seconds > 0 && seconds <= 60, 'kept as long as was said')
  await knex('oauth_broker').where({ key: 'b' }).update({ expires_at: knex.raw("now() - interval '1 second'") })
  await store.raise('d', 1, 60)
  t.equal((await knex('oauth_broker').where({ key: 'b' })).length, 1, 'not swept with every call')
  await knexBrokerStore(knex).raise('d', 1, 60)
  t.strictSame(await knex('oauth_broker').where({ key: 'b' }), [], 'swept')
})

t.test('the store in a table, whatever the sessions of the database are set to', {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: needs connections at once'
}, async (t) => {
  for (const level of ['repeatable read', 'serializable']) {
    const { knex, close } = await serverDatabase({
      settings: {
        default_transaction_isolation: level,
        datestyle: 'German, DMY',
        timezone: 'Asia/Kathmandu',
        intervalstyle: 'sql_standard'
      }
    })
    t.teardown(close)
    await createBrokerTable(knex)
    await raises(t, knexBrokerStore(knex))
    // Another replica is in the middle of the same.
    const other = await knex.transaction()
    await knexBrokerStore(other).raise('met', 1, 60)
    const raised = knexBrokerStore(knex).raise('met', 2, 60)
    while (
      (await other.raw(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
      )).rows.length === 0
    ) await sleep(10)
    await other.commit()
    t.strictSame(await raised, { raised: true }, level)
    await createGrantTable(knex)
    const now = Date.now()
    const grant = {
      id: 'a',
      clientId: null,
      clientName: 'Desk',
      scope: 's',
      createdAt: new Date(now),
      usedAt: new Date(now),
      accessExpiresAt: new Date(now + 60_000),
      expiresAt: new Date(now + 90_000)
    }
    await knexGrantStore(knex).record({ ...grant, subject: 'ada' })
    t.strictSame(
      await knexGrantStore(knex).list('ada'),
      [{ ...grant, providerToken: undefined }],
      'times as they were written'
    )
  }
})

const client = { dialect: 'postgresql' }

t.test('a knex of another database is refused as soon as it is given', async (t) => {
  const mysql = { client: { dialect: 'mysql' }, raw: async () => ({ rows: [] }) }
  const refusal = {
    code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
    message: /needs PostgreSQL, but this knex speaks mysql/
  }
  t.throws(() => knexBrokerStore(mysql), refusal)
  await t.rejects(createBrokerTable(mysql), refusal)
  t.throws(() => knexGrantStore(mysql), refusal)
  await t.rejects(createGrantTable(mysql), refusal)
})

t.test('a misspelt option of a store is named: its rows would be in the usual table', async (t) => {
  const knex = { client, raw: async () => ({ rows: [] }) }
  const misspelt = { tableName: 'auth.grants' } as object
  const refusal = { code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION', message: 'tableName is not an option' }
  t.throws(() => knexBrokerStore(knex, misspelt), refusal)
  await t.rejects(createBrokerTable(knex, misspelt), refusal)
  t.throws(() => knexGrantStore(knex, misspelt), refusal)
  await t.rejects(createGrantTable(knex, misspelt), refusal)
})

t.test('a number that another replica swept in between was raised', async (t) => {
  t.strictSame(await knexBrokerStore({ client, raw: async () => ({ rows: [] }) }).raise('a', 1, 60), { raised: true })
})

t.test('the store in Redis asks for one step, and reads its answer', async (t) => {
  const asked: unknown[][] = []
  const answers = [[], ['5', '1700000000000']]
  const store = redisBrokerStore({
    eval: async (_script, ...args) => {
      asked.push(args)
      return answers.shift()
    }
  })
  const before = Date.now()
  t.strictSame(await store.raise('family:x', 3, 60), { raised: true })
  t.strictSame(await store.raise('family:x', 4, 70), { raised: false, value: 5, since: 1_700_000_000_000 })
  t.strictSame(asked.map(([keys, key, value, , seconds]) => [keys, key, value, seconds]), [[
    1,
    'oauth-broker:family:x',
    3,
    60
  ], [1, 'oauth-broker:family:x', 4, 70]])
  for (const [, , , time] of asked) t.ok(Number(time) >= before && Number(time) <= Date.now(), 'since when')
})

const TEST_REDIS_URL = process.env['TEST_REDIS_URL']
t.test('the store in Redis', { skip: TEST_REDIS_URL === undefined && 'TEST_REDIS_URL is not set' }, async (t) => {
  const { Redis } = await import('ioredis')
  const redis = new Redis(TEST_REDIS_URL!)
  t.teardown(() => redis.disconnect())
  await raises(t, redisBrokerStore(redis, `test-${process.pid}-${Date.now()}:`))
})

t.test('the consent page', async (t) => {
  const sources = { registration: 'abc', document: 'https://agent.example.com/client.json', list: 'desk' } as const
  const recipient = (
    source: keyof typeof sources,
    redirectUri: string,
    kind: RedirectKind,
    id: string = sources[source]
  ) =>
    ({
      client: { id, source, name: 'Agent', redirectUris: [redirectUri], auth: 'none' },
      redirectUri,
      kind,
      state: undefined
    }) as const
  const page = (of: ReturnType<typeof recipient>, scope = 'openid') =>
    consentPage({ ...of, resource: 'Shop', scope, action: '/oauth/authorize', sealed: 'sealed' }).text

  const local = recipient('registration', 'http://127.0.0.1:1/cb', 'loopback')
  for (
    const [scope, meaning] of [
      ['openid', 'know who you are'],
      ['openid email', 'know who you are and see your email address'],
      ['profile phone offline_access', 'see your name and profile, see your phone number and stay signed in'],
      ['catalog/read', 'catalog/read']
    ] as const
  ) t.match(page(local, scope), `It can also ${meaning}.</dd>`, scope)

  const [anyProgram, unknown] = [
    'Any program on this computer can ask like this. Go on only if you have just started this sign-in yourself, ' +
    'in the app named above.',
    'This server does not know site.example.com. Whoever runs that site will be able to act in your name. Go on ' +
    'only if you trust it and started this there.'
  ]
  const letters = 'The address has letters that can look like others (xn--). Compare it with the one that you expect.'
  const other = (own: string, host: string) =>
    `The app is described by ${own}, but your sign-in goes to ${host}, which is another site.`
  for (
    const [of, who, where, said] of [
      [
        local,
        'The app chose this name itself. Nobody has checked it.',
        'To a program on <strong>this computer</strong>.',
        [anyProgram]
      ],
      [
        recipient('registration', 'https://site.example.com/cb', 'https'),
        'The app chose this name itself.',
        'To the site <strong>site.example.com</strong>.',
        [unknown]
      ],
      [
        recipient('registration', 'cursor://x/y', 'app'),
        'The app chose this name itself.',
        'To the app on <strong>this computer</strong> that opens links with <strong>cursor:</strong>',
        [anyProgram]
      ],
      [
        recipient('list', 'https://site.example.com/cb', 'https'),
        'Known to this server.',
        'To the site <strong>site.example.com</strong>.',
        []
      ],
      [
        recipient('list', 'https://xn--site.example.com/cb', 'https'),
        'Known to this server.',
        'To the site <strong>xn--site.example.com</strong>.',
        [letters]
      ],
      [
        recipient('document', 'https://agent.example.com/cb', 'https'),
        'Described by <strong>agent.example.com</strong>, at <code>https://agent.example.com/client.json</code>.',
        'To the site <strong>agent.example.com</strong>.',
        []
      ],
      [
        recipient('document', 'https://site.example.com/cb', 'https'),
        'Described by <strong>agent.example.com</strong>',
        'To the site <strong>site.example.com</strong>.',
        [other('agent.example.com', 'site.example.com')]
      ],
      [
        recipient('document', 'http://localhost/cb', 'loopback'),
        'Described by <strong>agent.example.com</strong>',
        'To a program on <strong>this computer</strong>.',
        [anyProgram]
      ],
      [
        recipient('document', 'http://localhost/cb', 'loopback', 'https://a.xn--site.example.com/c'),
        'Described by <strong>a.xn--site.example.com</strong>',
        'To a program',
        [anyProgram, letters]
      ],
      [
        recipient('document', 'xn--app.example:/cb', 'app'),
        'Described by <strong>agent.example.com</strong>',
        'To the app on <strong>this computer</strong> that opens links with <strong>xn--app.example:</strong>',
        [anyProgram]
      ]
    ] as const
  ) {
    const text = page(of)
    t.ok(text.includes(`<bdi>Agent</bdi><br>${who}`), text)
    t.ok(text.includes(`<dd>${where}`) && text.includes(`<br><code>${of.redirectUri}</code></dd>`), text)
    t.strictSame(warnings(of), said, of.redirectUri)
    t.ok(
      text.includes(`</dl>\n${said.map((sentence) => `<p class="warning">${sentence}</p>`).join('')}\n<p>You will`),
      text
    )
  }
  t.match(
    page(local),
    '<form method="post" action="/oauth/authorize">\n<input type="hidden" name="request" value="sealed">'
  )
})
