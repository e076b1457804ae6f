import t from 'tap'
import { knexAccountStore } from '../src/knex/index.ts'
import { engines } from './database.ts'
import { build, host, shopKey, type World } from './world.ts'

const quick = { callTimeout: 20_000, breakAfter: 3, breakDuration: 60_000 }
const AMBIGUOUS = { code: 'PAY_RECONCILE_CUSTOMER_AMBIGUOUS', statusCode: 409 }
const PROVIDER_ERROR = { code: 'PAY_RECONCILE_PROVIDER_ERROR' }

/** A checkout of the account, in a process. */
const checkout = ({ app }: World, accountId: string) =>
  app.payReconcile.ensureCustomer({ accountId, name: 'Buyer', actor: 'buyer-1' })

for (const engine of engines) {
  t.test(`on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex, quick)
    const { addShop, addAccount, audit, detailsOf, standIn } = world
    const { customers, unsearchable, replays } = standIn.account(shopKey)
    const shopId = await addShop()
    const failing = (times?: number) =>
      standIn.fault({ kind: 'answer', secretKey: shopKey, method: 'POST', ...(times && { times }) })
    /** Adds a customer that a search shows in an hour. */
    const addLagging = (id: string, accountId: string, fields = {}) => {
      customers.set(id, {
        id,
        object: 'customer',
        created: Date.now() / 1000 | 0,
        metadata: { account_id: accountId },
        ...fields
      })
      unsearchable.set(id, { until: Date.now() + 3_600_000, before: undefined })
    }
    const created = (accountId: string) =>
      [...customers.values()].filter(({ metadata }) =>
        (metadata as Record<string, string> | undefined)?.account_id === accountId
      ).map(({ id }) => id)
    /** The idempotency keys under which the account's customer was asked for, without its id. */
    const keys = (accountId: string) =>
      standIn.requests.flatMap(({ headers: { 'idempotency-key': key } }) =>
        String(key).includes(accountId) ? [String(key).replace(accountId, 'ID')] : []
      )
    /** An account for which the provider has stored a failure. */
    const withStoredFailure = async () => {
      const accountId = await addAccount(shopId, { tier: 'gold' })
      const end = failing()
      await t.rejects(checkout(await host(t, knex, standIn, { ...quick, attempts: 1 }), accountId), PROVIDER_ERROR)
      end()
      return accountId
    }

    await t.test('a checkout goes on after a failure that the provider has stored', async (t) => {
      const accountId = await addAccount(shopId, { tier: 'gold' })
      failing(1)
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId])
      t.strictSame(keys(accountId), ['account:ID', 'account:ID', 'account:ID:2'], 'the second attempt was a replay')
      t.strictSame(await detailsOf(accountId), { tier: 'gold', pay_customer_id: customerId })
    })

    await t.test('so does a later one, with one attempt for what is stored', async (t) => {
      const accountId = await withStoredFailure()
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId])
      t.strictSame(keys(accountId), ['account:ID', 'account:ID', 'account:ID:2'])
    })

    await t.test('checkouts in all replicas at once still create one customer', async (t) => {
      const accountId = await withStoredFailure()
      const other = await host(t, knex, standIn, quick)
      const results = await Promise.all([world, other, world, other].map((process) => checkout(process, accountId)))
      t.strictSame(created(accountId), [results[0]?.customerId])
      t.equal(results.filter((result) => result.created).length, 1)
      t.equal(new Set(results.map(({ customerId }) => customerId)).size, 1)
    })

    await t.test('a customer that a failed request created is found, though no search shows it yet', async (t) => {
      const accountId = await withStoredFailure()
      for (let n = 0; n < 150; n++) addLagging(`cus_other_${n}`, `other ${n}`)
      addLagging('cus_there', accountId)
      for (let n = 150; n < 300; n++) addLagging(`cus_other_${n}`, `other ${n}`)
      t.match(await checkout(world, accountId), { customerId: 'cus_there', created: true })
      t.strictSame(keys(accountId), ['account:ID', 'account:ID'])
      t.strictSame(created(accountId), ['cus_there'], 'and no other created')
      t.strictSame(
        [...new Set(standIn.requests.map(({ secretKey }) => secretKey))],
        [shopKey],
        'every page is asked for with the key of the shop'
      )

      const twice = await withStoredFailure()
      for (const id of ['cus_one', 'cus_two']) addLagging(id, twice)
      await t.rejects(checkout(world, twice), AMBIGUOUS, 'of several, a person must choose')
      t.strictSame(created(twice), ['cus_one', 'cus_two'])
    })

    await t.test('so is one that was created under another name, which the idempotency key refuses', async (t) => {
      const accountId = await addAccount(shopId)
      const lost = await host(t, knex, standIn, {
        ...quick,
        accounts: { ...knexAccountStore(knex), link: () => Promise.reject(new RangeError('crashed')) }
      })
      await t.rejects(lost.app.payReconcile.ensureCustomer({ accountId, name: 'Bayer', actor: 'buyer-1' }), {
        cause: { message: 'crashed' }
      })
      const [first = ''] = created(accountId)
      unsearchable.set(first, { until: Date.now() + 3_600_000, before: undefined })
      t.match(await checkout(world, accountId), { customerId: first })
      t.strictSame(created(accountId), [first])
    })

    await t.test('a customer is looked for before one is created: idempotency keys last a day', async (t) => {
      const forgotten = async (fields = {}) => {
        const accountId = await addAccount(shopId)
        const id = `cus_${accountId}`
        addLagging(id, accountId, fields)
        return { accountId, id }
      }
      const old = await forgotten({ created: 1 })
      unsearchable.delete(old.id)
      t.match(await checkout(world, old.accountId), { customerId: old.id }, 'by its metadata')

      const found = await forgotten({ email: 'buyer@example.org' })
      addLagging('cus_namesake', 'another account', { email: 'buyer@example.org' })
      const ensured = await world.app.payReconcile.ensureCustomer({
        accountId: found.accountId,
        email: 'buyer@example.org',
        actor: 'buyer-1'
      })
      t.match(ensured, { customerId: found.id }, 'by its e-mail address, if it has the metadata as well')

      const end = standIn.fault({
        kind: 'answer',
        status: 400,
        path: '/search',
        body: { error: { type: 'invalid_request_error' } }
      })
      const accountId = await addAccount(shopId)
      t.strictSame(created(accountId), [])
      const { customerId } = await checkout(world, accountId)
      end()
      t.strictSame(created(accountId), [customerId], 'a merchant without a search gets one created')
    })

    await t.test('an account of another shop does not exist, nor any for a caller without a shop', async (t) => {
      const accountId = await addAccount(shopId)
      const of = (shop: string | undefined) =>
        world.app.payReconcile.ensureCustomer({ accountId, shopId: shop as string, actor: 'buyer-1' })
      for (const other of [await addShop(), 'no id', '', undefined]) {
        await t.rejects(of(other), { code: 'PAY_RECONCILE_ACCOUNT_NOT_FOUND', statusCode: 404 }, String(other))
      }
      t.strictSame(created(accountId), [])
      const { customerId } = await of(shopId)
      t.strictSame(created(accountId), [customerId])
      t.strictSame(await of(shopId), { customerId, created: false })
      await t.rejects(of(await addShop()), { code: 'PAY_RECONCILE_ACCOUNT_NOT_FOUND' }, 'nor is its customer told')
    })

    await t.test('a customer with only the same e-mail address is not taken', async (t) => {
      const accountId = await addAccount(shopId)
      customers.set('cus_by_hand', {
        id: 'cus_by_hand',
        object: 'customer',
        created: 1,
        email: 'hand@example.org',
        metadata: {}
      })
      const { customerId } = await world.app.payReconcile.ensureCustomer({
        accountId,
        email: 'hand@example.org',
        actor: 'buyer-1'
      })
      t.not(customerId, 'cus_by_hand')
    })

    await t.test("a customer that was deleted is not the account's", async (t) => {
      const accountId = await addAccount(shopId, { tier: 'gold' })
      const { customerId: first } = await checkout(world, accountId)
      t.strictSame(await checkout(world, accountId), { customerId: first, created: false })
      customers.set(first, { id: first, object: 'customer', deleted: true })
      const { customerId: second, created: isNew } = await checkout(world, accountId)
      t.ok(isNew)
      t.not(second, first, 'a linked one is replaced, though the provider still knows the key of the first')
      t.strictSame(await detailsOf(accountId), { tier: 'gold', pay_customer_id: second })
      t.match(await audit(accountId), [
        { action: 'create' },
        { action: 'create', before: { pay_customer_id: first }, after: { pay_customer_id: second } }
      ])

      const unlinked = await addAccount(shopId)
      addLagging('cus_gone', unlinked, { deleted: true })
      const { customerId } = await checkout(world, unlinked)
      t.not(customerId, 'cus_gone')

      replays.clear()
      await knex('accounts').where('id', unlinked).update({
        details: JSON.stringify({ pay_customer_id: 'cus_unknown' })
      })
      await t.rejects(
        checkout(world, unlinked),
        { code: 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND' },
        'one of another key is not replaced'
      )
    })

    /** What a search shows of a customer in the next hour, whatever it is by then. */
    const showing = (id: string) => {
      unsearchable.set(id, { until: Date.now() + 3_600_000, before: customers.get(id) })
    }
    const deleted = (id: string) => {
      customers.set(id, { id, object: 'customer', deleted: true })
    }

    await t.test('a search that still shows a deleted customer gives it to nobody', async (t) => {
      const accountId = await addAccount(shopId)
      const { customerId: first } = await checkout(world, accountId)
      showing(first)
      deleted(first)
      replays.clear()
      const { customerId: second, created: isNew } = await checkout(world, accountId)
      t.not(second, first)
      t.equal(isNew, true)
      t.strictSame(
        await checkout(world, accountId),
        { customerId: second, created: false },
        'the next checkout keeps it'
      )
      t.strictSame(await detailsOf(accountId), { pay_customer_id: second })

      const unlinked = await addAccount(shopId)
      addLagging('cus_dead', unlinked)
      addLagging('cus_live', unlinked)
      for (const id of ['cus_dead', 'cus_live']) showing(id)
      deleted('cus_dead')
      t.match(await checkout(world, unlinked), { customerId: 'cus_live' }, 'one deleted and one live customer are one')
    })

    await t.test("a customer that was given to another account is not the earlier one's", async (t) => {
      const [before, after] = [await addAccount(shopId), await addAccount(shopId)]
      addLagging('cus_moved', before)
      showing('cus_moved')
      customers.set('cus_moved', { ...customers.get('cus_moved')!, metadata: { account_id: after } })
      const { customerId } = await checkout(world, before)
      t.not(customerId, 'cus_moved')
      t.strictSame(await detailsOf(before), { pay_customer_id: customerId })

      const { customerId: stored } = await checkout(await host(t, knex, standIn, quick), after)
      t.not(stored, 'cus_moved', 'an index that lags shows it to nobody')
      customers.set(stored, { ...customers.get(stored)!, metadata: { account_id: before } })
      await knex('accounts').where('id', after).update({ details: '{}' })
      const { customerId: next } = await checkout(world, after)
      t.not(next, stored, 'nor is it given out again under its idempotency key')
    })

    await t.test('a customer that another account has is not given away', async (t) => {
      const [accountId, other, elsewhere] = [
        await addAccount(shopId),
        await addAccount(shopId),
        await addAccount(await addShop())
      ]
      addLagging('cus_theirs', accountId)
      unsearchable.delete('cus_theirs')
      for (const owner of [other, elsewhere]) {
        await knex('accounts').where('id', owner).update({ details: { pay_customer_id: 'cus_theirs' } })
        await t.rejects(checkout(world, accountId), { code: 'PAY_RECONCILE_CUSTOMER_TAKEN', statusCode: 409 })
        await knex('accounts').where('id', owner).update({ details: {} })
      }
      t.strictSame([await detailsOf(accountId), (await checkout(world, accountId)).customerId], [{}, 'cus_theirs'])
    })

    await t.test('an address or a name that the provider refuses is named', async (t) => {
      for (
        const [wrong, param, code, message] of [
          [
            { email: 'typo@gmail' },
            'email',
            'email_invalid',
            'The payment provider refused the email of the customer (email_invalid): correct it and try again'
          ],
          [
            { name: 'n'.repeat(257) },
            'name',
            'parameter_invalid_string',
            'The payment provider refused the name of the customer (parameter_invalid_string): correct it and try again'
          ]
        ] as const
      ) {
        const accountId = await addAccount(shopId)
        await t.rejects(world.app.payReconcile.ensureCustomer({ accountId, actor: 'buyer-1', ...wrong }), {
          code: 'PAY_RECONCILE_PROVIDER_REFUSED',
          statusCode: 502,
          provider_param: param,
          provider_code: code,
          message
        })
        t.strictSame(await detailsOf(accountId), {})
        t.match(await checkout(world, accountId), { created: true }, 'corrected, it goes on')
      }
      const body = { error: { type: 'invalid_request_error', code: 'CANARY', param: 'CANARY', message: 'CANARY' } }
      const end = standIn.fault({ kind: 'answer', status: 400, method: 'POST', body })
      const error = await checkout(world, await addAccount(shopId)).then(() => ({}), (error) => error)
      end()
      t.strictSame([error.provider_param, error.provider_code, error.message], [
        undefined,
        undefined,
        'The payment provider refused the request'
      ], 'nothing else of the provider is shown')
    })

    await t.test('a list that repeats its page ends at the first repeat', async (t) => {
      const accountId = await addAccount(shopId)
      const body = {
        object: 'list',
        url: '/v1/customers',
        has_more: true,
        data: [1, 2].map((n) => ({ id: `cus_same_${n}`, object: 'customer', metadata: {} }))
      }
      const end = standIn.fault({ kind: 'answer', status: 200, path: '/v1/customers?', body })
      const before = standIn.requested
      await t.rejects(
        world.app.payReconcile.ensureCustomer({ accountId, email: 'same@example.org', actor: 'buyer-1' }),
        { code: 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT', statusCode: 502 }
      )
      t.equal(standIn.requested - before, 2)
      const unlinked = await world.call('GET', `/admin/accounts/unlinked-customers?shop_id=${shopId}&after=cus_same_2`)
      t.match([unlinked.statusCode, unlinked.json()], [502, { code: 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT' }])
      end()
    })

    await t.test('a success that names another account links nothing', async (t) => {
      const accountId = await addAccount(shopId)
      const foreign = { id: 'cus_foreign', object: 'customer', metadata: { account_id: 'another account' } }
      const end = standIn.fault({ kind: 'answer', status: 200, method: 'POST', body: foreign })
      await t.rejects(checkout(world, accountId), { code: 'PAY_RECONCILE_PROVIDER_UNEXPECTED_OBJECT' })
      end()
      t.strictSame(await detailsOf(accountId), {})
    })

    await t.test("a customer unlinked while a checkout links it is not reported as the account's", async (t) => {
      const accountId = await addAccount(shopId)
      const accounts = knexAccountStore(knex)
      let links = 0
      const racing = await host(t, knex, standIn, {
        ...quick,
        accounts: {
          ...accounts,
          link: async (change, origin) =>
            links++ === 0
              ? { changed: false, account: await accounts.get(accountId) }
              : await accounts.link(change, origin)
        }
      })
      const { customerId } = await checkout(racing, accountId)
      t.strictSame([links, await detailsOf(accountId)], [2, { pay_customer_id: customerId }], 'it is linked once more')
      const never = await host(t, knex, standIn, {
        ...quick,
        accounts: { ...accounts, link: async () => ({ changed: false, account: await accounts.get(unlinked) }) }
      })
      const unlinked = await addAccount(shopId)
      await t.rejects(checkout(never, unlinked), { code: 'PAY_RECONCILE_CUSTOMER_CHANGED', statusCode: 409 })
    })

    await t.test('while creating fails, a checkout uses one more key; the first one after succeeds', async (t) => {
      const accountId = await addAccount(shopId)
      const patient = await host(t, knex, standIn, { ...quick, attempts: 1, breakAfter: 100 })
      const lost = { ...knexAccountStore(knex), link: () => Promise.reject(new RangeError('crashed')) }
      const crashing = await host(t, knex, standIn, { ...quick, accounts: lost })
      const end = failing()
      for (let n = 0; n < 3; n++) await t.rejects(checkout(patient, accountId), PROVIDER_ERROR)
      end()
      t.strictSame([...new Set(keys(accountId))], ['account:ID', 'account:ID:2', 'account:ID:3'])
      await t.rejects(checkout(crashing, accountId), { cause: { message: 'crashed' } })
      const { customerId } = await checkout(world, accountId)
      t.strictSame(created(accountId), [customerId], 'a customer whose link was lost is given again')
    })

    await t.test('a stored failure does not count as one of now', async (t) => {
      const accountId = await withStoredFailure()
      const unlinked = { ...knexAccountStore(knex), link: () => Promise.reject(new RangeError('crashed')) }
      const process = await host(t, knex, standIn, { ...quick, breakAfter: 1, accounts: unlinked })
      for (let n = 0; n < 3; n++) {
        await t.rejects(checkout(process, accountId), { cause: { message: 'crashed' } }, 'nothing is held back')
      }
    })

    await t.test('a stored success that breaks on the way is not taken for a failure', async (t) => {
      const accountId = await addAccount(shopId)
      standIn.fault({ kind: 'truncate', method: 'POST', times: 2 })
      await t.rejects(checkout(world, accountId), PROVIDER_ERROR)
      t.strictSame(keys(accountId), ['account:ID', 'account:ID'])
      t.strictSame(created(accountId), [(await checkout(world, accountId)).customerId])
    })

    await t.test('what was never executed leaves no trace', async (t) => {
      const accountId = await addAccount(shopId)
      standIn.fault({ kind: 'html', method: 'POST', times: 2 })
      await t.rejects(checkout(world, accountId), PROVIDER_ERROR)
      t.strictSame(created(accountId), [])
      await checkout(world, accountId)
      t.strictSame(keys(accountId), Array(3).fill('account:ID'))
    })
  })
}
