import t from 'tap'
import Fastify from 'fastify'
import knexFrom from 'knex'
import payReconcile, { type PayReconcileOptions } from '../src/index.ts'
import {
  createAccountIndexes,
  createPayReconcileTables,
  dropPayReconcileTables,
  knexAccountStore,
  knexRunStore,
  forgetAccounts
} from '../src/knex/index.ts'
import { csv } from '../src/csv/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { startPayStandIn } from '../src/testing/index.ts'
import { knexWebhookSecrets, webhooks } from '../src/webhooks/index.ts'
import { engines, pglite } from './database.ts'
import { build } from './world.ts'
import { joined } from '../../../test/joined.ts'

/** The value that was passed may follow. */
const beginning = (message: string): RegExp =>
  new RegExp(`^pay-reconcile: ${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?: \\(got .*\\))?$`)

t.test('wrong options are rejected at startup', async (t) => {
  const knex = await pglite.connect(t)
  const right: PayReconcileOptions = {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'a'
  }
  for (
    const [message, wrongs] of [
      ['accounts must be an AccountStore, such as knexAccountStore(knex)', [{ accounts: undefined }]],
      ['provider must be a PayProvider, such as stripeProvider()', [{ provider: undefined }]],
      ['mayContinue must be a function', [{ mayContinue: true as never }]],
      ['comparedFields must be a non-empty array of fields such as email or address.city', [
        { comparedFields: 'email' as never },
        { comparedFields: [] },
        { comparedFields: ['email', ''] },
        { comparedFields: ['address..city'] },
        { comparedFields: [5 as never] }
      ]],
      ['authorize must be a function: these routes show and change the accounts of every shop', [{
        authorize: undefined
      }]],
      ['actor must be a function: the audit records who changed an account', [{ actor: undefined }]],
      ['prefix must be a path such as /admin/accounts', [{ prefix: '' }, { prefix: '/admin/' }]],
      ['callTimeout must be an integer of milliseconds from 1 to 2147483647', [
        { callTimeout: 0 },
        { callTimeout: 2 ** 31 },
        { callTimeout: null as never }
      ]],
      ['attempts must be an integer from 1 to 2147483647', [{ attempts: 1.5 }]],
      ['emailOf must be a function', [{ emailOf: 'email' as never }]],
      ['runs must be a RunStore, such as knexRunStore(knex)', [{ runs: knex as never }]],
      ['perSecond must be a number greater than 0 and less than 2147483648', [{ perSecond: NaN }]],
      ['leaseDuration must be an integer of milliseconds from 1 to 2147483647', [{ leaseDuration: Infinity }]],
      ['authorize must take request and reply and return a promise: it gets no callback', [{
        authorize: (_request: unknown, _reply: unknown, _done: unknown) => {}
      }]],
      ['callTimeOut is not an option. Did you mean callTimeout?', [{ callTimeOut: 5000 }]],
      ...['schedule', 'webhooks', 'csv'].map((name) =>
        [
          `${name} needs an extension: import { ${name} } from 'pay-reconcile/${name}' and add ${name}(…) to the ` +
          'option extensions',
          [{ [name]: {} }]
        ] as const
      ),
      ['extensions must be an array of what functions such as schedule() of pay-reconcile/schedule return', [
        { extensions: csv() as never },
        { extensions: [csv as never] },
        { extensions: [null as never] }
      ]],
      ['extensions has pay-reconcile/csv twice', [{ extensions: [csv(), csv()] }]]
    ] as const
  ) {
    for (const wrong of wrongs) {
      const app = Fastify()
      app.register(payReconcile, { ...right, ...wrong } as unknown as PayReconcileOptions)
      await t.rejects(async () => {
        await app.ready()
      }, { code: 'PAY_RECONCILE_INVALID_OPTION', message: beginning(message) })
    }
  }
})

t.test('a misspelt option of a store or of the provider is rejected, not ignored', async (t) => {
  const knex = await pglite.connect(t)
  for (
    const [name, make, near] of [
      ['knexAccountStore.keepSnapshot', () => knexAccountStore(knex, { keepSnapshot: 365 } as object), 'keepSnapshots'],
      ['knexRunStore.keepRun', () => knexRunStore(knex, { keepRun: 365 } as object), 'keepRuns'],
      ['columns.ids', () => knexRunStore(knex, { columns: { ids: 'id' } } as object)],
      ['shop.secretkey', () => knexAccountStore(knex, { shop: { secretkey: 'sk_test_1' } } as object), 'secretKey'],
      ['stripeProvider.platformkey', () => stripeProvider({ platformkey: 'sk_test_1' } as object), 'platformKey'],
      [
        'knexWebhookSecrets.openSecrets',
        () => knexWebhookSecrets(knex, { openSecrets: (stored: string) => stored } as object),
        'openSecret'
      ],
      [
        'forgetAccounts.registration_',
        () => forgetAccounts(knex, { accountId: '1', registration_: 'a' } as never),
        'registration'
      ]
    ] as const
  ) {
    await t.rejects(async () => make(), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: near === undefined
        ? `pay-reconcile: ${name} is not an option. Known: id, shopId, name, hashName, details, customerId, email`
        : `pay-reconcile: ${name} is not an option. Did you mean ${near}?`
    })
  }
})

t.test('a misspelt option of the fake provider is rejected, too', async (t) => {
  for (
    const [options, message] of [
      [{ account: {} }, 'startPayStandIn.account is not an option. Did you mean accounts?'],
      [{ accounts: { sk_test_1: { searchlags: 0 } } }, 'account.searchlags is not an option. Did you mean searchLag?']
    ] as const
  ) await t.rejects(startPayStandIn(options as never), { name: 'TypeError', message })
})

t.test('no message shows a secret', async (t) => {
  const knex = await pglite.connect(t)
  const secret = 'hunter2'
  const right = {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'a'
  }
  const start = (wrong: object) => async () => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(payReconcile, { ...right, ...wrong } as never)
    await app.ready()
  }
  for (
    const make of [
      start({ accounts: secret }),
      start({ provider: secret }),
      start({ runs: secret }),
      start({ accounts: [`postgres://kim:${secret}@db/shop`] }),
      start({ prefix: `https://kim:${secret}@shop.example.com/` }),
      start({ extensions: [webhooks({ secrets: secret as never })] }),
      start({ extensions: [webhooks({ secrets: { secret } as never })] }),
      start({ extensions: [webhooks(secret as never)] }),
      start({ extensions: [{ secret }] }),
      async () => stripeProvider({ platformKey: secret }),
      async () => stripeProvider({ platformKey: [secret] as never }),
      async () => knexAccountStore(knex, { shop: secret as never }),
      async () => knexAccountStore(knex, { shop: { secretKey: [secret] as never } }),
      async () => knexAccountStore(knex, { openKey: secret as never }),
      async () => knexWebhookSecrets(knex, { openSecret: secret as never }),
      async () => startPayStandIn({ accounts: secret as never }),
      async () => startPayStandIn({ accounts: { [secret]: { searchlag: 0 } as never } }),
      async () => startPayStandIn({ accounts: { [secret]: secret as never } })
    ]
  ) {
    const { message } = await make().then(() => ({ message: '' }), (error) => error)
    t.match(message, /^(?:pay-reconcile: )?\S+ (?:must be|is not an option)/)
    t.notMatch(message, secret)
  }
})

t.test('an authorize that returns no promise is as good as one that does', async (t) => {
  const knex = await pglite.connect(t)
  const appWith = (authorize: PayReconcileOptions['authorize']) => {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(payReconcile, {
      accounts: knexAccountStore(knex),
      provider: stripeProvider(),
      authorize,
      actor: () => 'a'
    })
    return app
  }
  t.equal((await appWith(() => {}).inject('/admin/accounts')).statusCode, 200)
  const refusing = appWith(() => {
    throw Object.assign(new RangeError('go away'), { statusCode: 403 })
  })
  t.match((await refusing.inject('/admin/accounts')).json(), { statusCode: 403, message: 'go away' })
})

t.test('a mistake in the tables is reported at startup', async (t) => {
  t.plan(8)
  const knex = await pglite.connect(t)
  for (
    const [title, change, message] of [
      [
        'a table of accounts that is missing',
        'alter table accounts rename to people',
        'pay-reconcile: relation "accounts" does not exist: knexAccountStore needs accounts (id, shop_id, name ' +
        'text, hash_name text, details jsonb) and shops (id, name text, pay_secret_key text), with ids of uuid, ' +
        'text or integers, and the tables of createPayReconcileTables'
      ],
      [
        'a table of shops that is missing',
        'alter table shops rename to stores',
        /^pay-reconcile: relation "shops" does not exist: knexAccountStore needs/
      ],
      [
        'a column that is missing',
        'alter table accounts drop column details',
        'pay-reconcile: the column accounts.details does not exist: name the right one in columns.details'
      ],
      [
        'ids that cannot be compared',
        'alter table accounts drop constraint accounts_shop_id_fkey, alter shop_id type text',
        /^pay-reconcile: operator does not exist: uuid = text: knexAccountStore needs/
      ],
      [
        'ids of another type',
        "alter table accounts alter id type interval using '1 day'",
        'pay-reconcile: accounts.id must not have the type interval; supported are uuid, smallint, integer, ' +
        'bigint, text, character varying, character'
      ],
      [
        'an audit that is missing',
        'drop table pay_reconcile_audit',
        /^pay-reconcile: relation "pay_reconcile_audit" does not exist: .* createPayReconcileTables$/
      ],
      [
        'an audit without a column',
        'alter table pay_reconcile_audit drop column request_id',
        'pay-reconcile: column pay_reconcile_audit.request_id does not exist: knexAccountStore needs'
      ],
      [
        'tables of runs that are missing',
        'drop table pay_reconcile_items',
        joined(
          /^pay-reconcile: relation "pay_reconcile_items" does not exist: /,
          /knexRunStore needs accounts with a column id, and the tables of createPayReconcileTables$/
        )
      ]
    ] as const
  ) {
    await knex.transaction(async (transaction) => {
      await transaction.raw(change)
      const app = Fastify()
      app.register(payReconcile, {
        accounts: knexAccountStore(transaction),
        provider: stripeProvider(),
        runs: knexRunStore(transaction),
        authorize: async () => {},
        actor: () => 'a'
      })
      await t.rejects(
        async () => {
          await app.ready()
        },
        { code: 'PAY_RECONCILE_INVALID_OPTION', message },
        title
      )
      await transaction.rollback(new RangeError('undone'))
    }).catch(() => undefined)
  }
})

t.test('a database that is away at startup may come later', async (t) => {
  const knex = await pglite.connect(t)
  const { addShop, addAccount } = await build(t, knex)
  const accountId = await addAccount(await addShop())
  const away = knexFrom({ client: 'pg', connection: { host: '127.0.0.1', port: 1 } })
  t.teardown(() => away.destroy())
  const late = knexAccountStore(away)
  const app = Fastify()
  t.teardown(() => app.close())
  let isThere = false
  const accounts = new Proxy(late, {
    get: (target, name) => Reflect.get(isThere && name !== 'ready' ? knexAccountStore(knex) : target, name)
  })
  app.register(payReconcile, { accounts, provider: stripeProvider(), authorize: async () => {}, actor: () => 'a' })
  await app.ready()
  t.equal((await app.inject(`/admin/accounts/${accountId}`)).json().code, 'PAY_RECONCILE_STORE_FAILED')
  isThere = true
  t.equal((await app.inject(`/admin/accounts/${accountId}`)).statusCode, 200)
})

t.test('without runs there are no bulk routes', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  const knex = await pglite.connect(t)
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider(),
    authorize: async () => {},
    actor: () => 'a',
    prefix: '/staff/accounts',
    perSecond: 0.5
  })
  const response = await app.inject({ method: 'POST', url: '/staff/accounts/reconcile', payload: { mode: 'check' } })
  t.equal(response.statusCode, 404)
  t.equal((await app.inject('/staff/accounts')).headers['content-range'], 'accounts 0-100/0')
})

t.test('a host with other ideas of schemas and JSON changes nothing here', async (t) => {
  const knex = await pglite.connect(t)
  const { standIn, addShop, addAccount } = await build(t, knex)
  const accountId = await addAccount(await addShop(), {})
  const app = Fastify()
  t.teardown(() => app.close())
  app.setValidatorCompiler(() => {
    throw new RangeError('not my kind of schema')
  })
  app.setSerializerCompiler(() => {
    throw new RangeError('not my kind of schema')
  })
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser('application/json', (_request, _payload, done) => done(new RangeError('no')))
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('access-control-expose-headers', 'X-Total')
  })
  const { host, port, protocol } = standIn
  app.register(payReconcile, {
    accounts: knexAccountStore(knex),
    provider: stripeProvider({ host, port, protocol }),
    authorize: async () => {},
    actor: () => 'a',
    runs: knexRunStore(knex),
    extensions: [webhooks({ secrets: { find: async () => undefined } })]
  })
  t.match((await app.inject({ method: 'POST', url: '/admin/accounts/webhooks/s' })).json(), {
    code: 'PAY_RECONCILE_WEBHOOK_REFUSED'
  })
  const linked = await app.inject({
    method: 'POST',
    url: `/admin/accounts/${accountId}/link-pay`,
    payload: { pay_customer_id: 'cus_1' }
  })
  t.match(linked.json(), { id: accountId, pay_customer_id: 'cus_1' })
  const list = await app.inject('/admin/accounts')
  t.equal(
    list.headers['access-control-expose-headers'],
    'X-Total, Content-Range',
    "nor does it take the host's headers away"
  )
})

t.test('an encrypted secret key is opened for its shop', async (t) => {
  const knex = await pglite.connect(t)
  const { addShop } = await build(t, knex)
  const store = knexAccountStore(knex, { openKey: async (stored, shopId) => `${stored} of ${shopId}` })
  const shopId = await addShop({ key: 'sealed' })
  t.equal(await store.secretKey(shopId), `sealed of ${shopId}`)
  t.equal(await store.secretKey(await addShop({ key: null })), null)
})

for (const engine of engines) {
  t.test(`tables come and go on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    await createPayReconcileTables(knex)
    await createAccountIndexes(knex)
    await knex.transaction(async (transaction) => createPayReconcileTables(transaction))
    await dropPayReconcileTables(knex)
    await dropPayReconcileTables(knex)
    t.equal(await knex.schema.hasTable('pay_reconcile_audit'), false)
    t.equal(await knex.schema.hasTable('accounts'), true)
    await createPayReconcileTables(knex)
    t.equal(await knex.schema.hasTable('pay_reconcile_items'), true)
    const created: string[] = []
    knex.on('query', ({ sql }: { readonly sql: string }) => {
      if (sql.startsWith('create ')) created.push(sql)
    })
    await createPayReconcileTables(knex)
    t.strictSame(created, [], 'what is there is not created again: that would lock its table')
    await knex.raw('drop index pay_reconcile_items_outcome')
    await createPayReconcileTables(knex)
    t.strictSame(created.map((sql) => sql.split(' ').slice(0, 6).join(' ')), [
      'create index if not exists pay_reconcile_items_outcome'
    ])
    await knex.raw('alter table pay_reconcile_runs drop column webhook')
    await t.rejects(createPayReconcileTables(knex), {
      code: 'PAY_RECONCILE_INVALID_OPTION',
      message: 'pay-reconcile: column pay_reconcile_runs.webhook does not exist: createPayReconcileTables changes no ' +
        'table that exists'
    })
  })
}
