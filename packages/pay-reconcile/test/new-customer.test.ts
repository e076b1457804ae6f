import t from 'tap'
import { knexAccountStore } from '../src/knex/index.ts'
import { engines } from './database.ts'
import { build, host, shopKey, type World } from './world.ts'

const quick = { deadlineMs: 2000, breakAfter: 3, breakMs: 60_000 }
const PROVIDER_ERROR = { code: 'PAY_RECONCILE_PROVIDER_ERROR' }

/** A checkout of the account, in a process. */
const checkout = ({ app }: World, accountId: string) =>
  app.payReconcile.ensureCustomer({ accountId, name: 'Buyer', actor: 'buyer-1' })

for (const engine of engines) {
  t.test(`on ${engine.name}`, { skip: engine.skip }, async t => {
    const knex = await engine.connect(t)
    const world = await build(t, knex, quick)
    const { addShop, addAccount, detailsOf, standIn } = world
    const { customers } = standIn.account(shopKey)
    const shopId = await addShop()
    const failing = (times?: number) => standIn.fault({ kind: 'answer', secretKey: shopKey, path: '/v1/customers', ...(times && { times }) })
    const created = (accountId: string) => [...customers.values()].filter(({ metadata }) =>
      (metadata as Record<string, string>).account_id === accountId).map(({ id }) => id)
    /** The idempotency keys under which the account's customer was asked for, without its id. */
    const keys = (accountId: string) => standIn.requests.flatMap(({ headers: { 'idempotency-key': key } }) =>
      String(key).includes(accountId) ? [String(key).replace(accountId, 'ID')] : [])
    /** An account for which the provider has stored a failure. */
    const withStoredFailure = async () => {
      const accountId = await addAccount(shopId, { tier: 'gold' })
      const end = failing()
      await t.rejects(checkout(await host(t, knex, standIn, { ...quick, attempts: 1 }), accountId), PROVIDER_ERROR)
      end()
      return accountId
    }

    await t.test('a checkout goes on after a failure that the provider has stored', async t => {
      const accountId = await addAccount(shopId, { tier: 'gold' })
      failing(1)
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId])
      t.strictSame(keys(accountId), ['account:ID', 'account:ID', 'account:ID:2'], 'the second attempt was a replay')
      t.strictSame(await detailsOf(accountId), { tier: 'gold', pay_customer_id: customerId })
    })

    await t.test('so does a later one, with one attempt for what is stored', async t => {
      const accountId = await withStoredFailure()
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId])
      t.strictSame(keys(accountId), ['account:ID', 'account:ID', 'account:ID:2'])
    })

    await t.test('checkouts in all replicas at once still create one customer', async t => {
      const accountId = await withStoredFailure()
      const other = await host(t, knex, standIn, quick)
      const results = await Promise.all([world, other, world, other].map(process => checkout(process, accountId)))
      t.strictSame(created(accountId), [results[0]?.customerId])
      t.equal(results.filter(result => result.created).length, 1)
      t.equal(new Set(results.map(({ customerId }) => customerId)).size, 1)
    })

    await t.test('a customer that was created before the failure is found, and no other created', async t => {
      const accountId = await withStoredFailure()
      customers.set('cus_there', { id: 'cus_there', object: 'customer', metadata: { account_id: accountId } })
      t.match(await checkout(world, accountId), { customerId: 'cus_there' })
      t.strictSame(keys(accountId), ['account:ID', 'account:ID'])

      const twice = await withStoredFailure()
      for (const id of ['cus_one', 'cus_two']) customers.set(id, { id, object: 'customer', metadata: { account_id: twice } })
      await t.rejects(checkout(world, twice), PROVIDER_ERROR, 'of several, a person must choose')
      t.strictSame(created(twice), ['cus_one', 'cus_two'])
    })

    await t.test('while creating fails, a checkout uses up one more key; the first one after that succeeds', async t => {
      const accountId = await addAccount(shopId)
      const patient = await host(t, knex, standIn, { ...quick, attempts: 1, breakAfter: 100 })
      const lost = { ...knexAccountStore(knex), link: () => Promise.reject(new RangeError('crashed')) }
      const crashing = await host(t, knex, standIn, { ...quick, accounts: lost })
      // The first fault that applies wins, so a search is slow and succeeds.
      const endSlow = standIn.fault({ kind: 'slow', path: '/search', ms: 1 })
      const end = failing()
      for (let n = 0; n < 3; n++) await t.rejects(checkout(patient, accountId), PROVIDER_ERROR)
      end()
      endSlow()
      t.strictSame([...new Set(keys(accountId))], ['account:ID', 'account:ID:2', 'account:ID:3'])
      await t.rejects(checkout(crashing, accountId), { message: 'crashed' })
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId], 'a customer whose link was lost is given again')
    })

    await t.test('a stored failure does not count as one of now', async t => {
      const accountId = await withStoredFailure()
      const unlinked = { ...knexAccountStore(knex), link: () => Promise.reject(new RangeError('crashed')) }
      const process = await host(t, knex, standIn, { ...quick, breakAfter: 1, accounts: unlinked })
      for (let n = 0; n < 3; n++) await t.rejects(checkout(process, accountId), { message: 'crashed' }, 'nothing is held back')
    })

    await t.test('a stored success that breaks on the way is not taken for a failure', async t => {
      const accountId = await addAccount(shopId)
      standIn.fault({ kind: 'truncate', path: '/v1/customers', times: 2 })
      await t.rejects(checkout(world, accountId), PROVIDER_ERROR)
      t.strictSame(keys(accountId), ['account:ID', 'account:ID'])
      t.strictSame(created(accountId), [(await checkout(world, accountId)).customerId])
    })

    await t.test('what was never executed leaves no trace', async t => {
      const accountId = await addAccount(shopId)
      standIn.fault({ kind: 'html', times: 2 })
      await t.rejects(checkout(world, accountId), PROVIDER_ERROR)
      t.strictSame(created(accountId), [])
      await checkout(world, accountId)
      t.strictSame(keys(accountId), Array(3).fill('account:ID'))
    })
  })
}
