import t, { type Test } from 'tap'
import { engines } from './database.ts'
import { build, namespaceFor, naming, type World } from './world.ts'

const path = (query: Record<string, string>) => `/admin/accounts/unlinked-customers?${new URLSearchParams(query)}`

for (const engine of engines) {
  for (const idType of ['uuid', 'text collate "C"', 'bigint']) {
    t.test(`unlinked customers, with ids of the type ${idType} on ${engine.name}`, { skip: engine.skip }, async (t) => {
      const world = await build(t, await engine.connect(t, 'jsonb', idType), namespaceFor(idType))
      const ids = Array.from({ length: 9 }, (_, n) => idOf(idType, n))
      await finding(t, world, ids as [string, string, string, string, string, string, string, string], idType)
    })
  }
}

function idOf (idType: string, n: number): string {
  if (idType === 'uuid') return `00000000-0000-4000-8000-00000000000${n}`
  return idType === 'bigint' ? String(n + 1) : `acct_${n}/ü'`
}

async function finding (
  t: Test,
  { call, standIn, addShop, addAccount, knex }: World,
  ids: readonly [string, string, string, string, string, string, string, string],
  idType: string
): Promise<void> {
  const [shopId, otherShop, named, mailed, taken, theirs, keyless, nobody] = ids
  const key = 'sk_test_unlinked'
  const email = "o'hara@example.org"
  const filler = Array.from(
    { length: 150 },
    (_, n) => ({ id: `cus_filler_${n}`, created: 1000 + n, email: `${n}@example.org` })
  )
  standIn.addAccount(key, {
    customers: [
      { id: 'cus_named', created: 5, name: 'Named', email, metadata: naming(named, idType) },
      { id: 'cus_linked', created: 4, email },
      { id: 'cus_gone', created: 3, deleted: true },
      { id: 'cus_foreign', created: 2, metadata: naming(theirs, idType) },
      { id: 'cus_odd', created: 1, metadata: { account_id: "' or true --" } },
      ...filler
    ]
  })
  await addShop({ id: shopId, key })
  await addShop({ id: otherShop, key: 'sk_test_others' })
  await addShop({ id: keyless, key: null })
  await addAccount(shopId, {}, { id: named, name: 'n'.repeat(300) })
  await addAccount(shopId, { email: " O'Hara@Example.org\u00a0" }, { id: mailed, name: 'Mailed' })
  await addAccount(shopId, { email, pay_customer_id: 'cus_linked' }, { id: taken, name: 'Taken' })
  await addAccount(otherShop, { email }, { id: theirs, name: 'Theirs' })
  await knex('accounts').insert(
    filler.map(({ id }, n) => ({
      ...account(ids, n),
      shop_id: shopId,
      name: 'Filler',
      details: JSON.stringify({ pay_customer_id: id })
    }))
  )

  const first = await call('GET', path({ shop_id: shopId }))
  t.strictSame(
    [first.statusCode, first.json()],
    [200, { customers: [], next: 'cus_filler_50' }],
    'a page without unlinked customers is not the last one'
  )
  const second = (await call('GET', path({ shop_id: shopId, after: first.json().next }))).json()
  const match = (id: string, name: string, by: string, customer: string | null = null) => ({
    account_id: id,
    account_name: name,
    match: by,
    pay_customer_id: customer
  })
  t.strictSame(second, {
    customers: [
      {
        pay_customer_id: 'cus_named',
        name: 'Named',
        email,
        metadata: naming(named, idType),
        accounts: [
          match(named, `${'n'.repeat(199)}…`, 'metadata'),
          match(mailed, 'Mailed', 'email'),
          match(taken, 'Taken', 'email', 'cus_linked')
        ]
      },
      { pay_customer_id: 'cus_foreign', name: null, email: null, metadata: naming(theirs, idType), accounts: [] },
      { pay_customer_id: 'cus_odd', name: null, email: null, metadata: { account_id: "' or true --" }, accounts: [] }
    ],
    next: null
  }, 'customers that no account is linked to, with the accounts of this shop that they may belong to')

  const unlinkedCustomersOf = async () =>
    (await call('GET', path({ shop_id: shopId, after: first.json().next }))).json().customers.map((
      { pay_customer_id: id }: Record<string, unknown>
    ) => id)
  await knex('accounts').where({ id: theirs }).update({ details: JSON.stringify({ pay_customer_id: 'cus_foreign' }) })
  t.strictSame(
    await unlinkedCustomersOf(),
    ['cus_named', 'cus_foreign', 'cus_odd'],
    'a shop with another key has customers of its own'
  )
  await knex('shops').where({ id: otherShop }).update({ pay_secret_key: key })
  t.strictSame(
    await unlinkedCustomersOf(),
    ['cus_named', 'cus_odd'],
    'a customer of a shop with the same key is not unlinked'
  )
  await knex('shops').where({ id: otherShop }).update({ pay_secret_key: 'sk_test_others' })

  for (
    const [query, status, code] of [
      [{}, 422, 'PAY_RECONCILE_VALIDATION'],
      [{ shop_id: shopId, after: '../charges' }, 422, 'PAY_RECONCILE_VALIDATION'],
      [{ shop_id: shopId, after: '' }, 422, 'PAY_RECONCILE_VALIDATION'],
      [{ shop_id: shopId, limit: '1' }, 422, 'PAY_RECONCILE_VALIDATION'],
      [{ shop_id: nobody }, 404, 'PAY_RECONCILE_NOT_FOUND'],
      [{ shop_id: "' or true --" }, 404, 'PAY_RECONCILE_NOT_FOUND'],
      [{ shop_id: keyless }, 400, 'PAY_RECONCILE_NO_SECRET_KEY'],
      [{ shop_id: otherShop }, 502, 'PAY_RECONCILE_PROVIDER_KEY_REJECTED'],
      [{ shop_id: shopId, after: 'cus_nowhere' }, 422, 'PAY_RECONCILE_VALIDATION']
    ] as const
  ) {
    const response = await call('GET', path(query as Record<string, string>))
    t.match([response.statusCode, response.json()], [status, { code }], JSON.stringify(query))
  }
  standIn.fault({
    kind: 'answer',
    status: 200,
    body: { object: 'list', data: [], has_more: true },
    path: '/v1/customers?',
    times: 1
  })
  t.match((await call('GET', path({ shop_id: shopId }))).json(), {
    statusCode: 502,
    code: 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT'
  }, 'an empty page that is not the last is no end')
}

/** An id of the type of the others. */
function account ([sample]: readonly string[], n: number): { id: string } {
  if (sample === '1') return { id: String(1000 + n) }
  return { id: sample?.startsWith('acct') ? `filler ${n}` : `00000000-0000-4000-9000-${String(n).padStart(12, '0')}` }
}
