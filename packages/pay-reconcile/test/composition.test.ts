import t from 'tap'
import { setImmediate as turn } from 'node:timers/promises'
import { providerCalls } from '../src/provider/calls.ts'
import type { ProviderResponse } from '../src/provider/types.ts'
import { providerError } from '../src/index.ts'
import { rateLimits } from '../src/reconcile/rate-limit.ts'
import { pause } from './bulk.ts'
import { pglite } from './database.ts'
import { build, shopKey } from './world.ts'

// Two shops, two moments, and something that waits meanwhile.
const limits = {
  callTimeout: 60_000,
  attemptTimeout: 60_000,
  attempts: 1,
  inFlight: 1,
  breakAfter: 2,
  breakDuration: 60_000
}

/** Calls that go on until they are told to end. */
function calling () {
  const call = providerCalls(limits)
  const begun: string[] = []
  const end = new Map<string, () => void>()
  return {
    begun,
    end,
    /** @returns 'fine', or the fault. */
    start: (key: string, name: string, signal?: AbortSignal) =>
      call(key, signal, async () => {
        begun.push(name)
        return await new Promise<ProviderResponse<string>>((resolve) =>
          end.set(name, () => resolve({ value: 'fine', requestId: null }))
        )
      }).then(({ value }) => value, ({ fault }) => fault)
  }
}

t.test('a shop whose requests wait holds up no other, and who leaves the line lets the next one go', async (t) => {
  const { begun, end, start } = calling()
  const leaving = new AbortController()
  const [first, second, third] = [start('sk_a', 'a1'), start('sk_a', 'a2', leaving.signal), start('sk_a', 'a3')]
  const other = start('sk_b', 'b1')
  await turn()
  t.strictSame(begun, ['a1', 'b1'])
  leaving.abort()
  t.equal(await second, 'aborted')
  end.get('a1')!()
  t.equal(await first, 'fine')
  await turn()
  t.strictSame(begun, ['a1', 'b1', 'a3'], 'the one behind it, and at the end of a request of its own shop')
  end.get('a3')!()
  end.get('b1')!()
  t.strictSame([await third, await other], ['fine', 'fine'])
})

t.test('what waited while its shop failed is not sent, and that of another shop is', async (t) => {
  const call = providerCalls(limits)
  const sent: string[] = []
  let fail = (): void => {}
  const failed = new Promise<void>((resolve) => {
    fail = resolve
  })
  const failing = (key: string) =>
    call(key, undefined, async () => {
      sent.push(key)
      await failed
      throw providerError('error')
    }).then(() => 'fine', ({ fault }) => fault)
  const waiting = [failing('sk_a'), failing('sk_a'), failing('sk_a')]
  fail()
  t.strictSame(await Promise.all(waiting), ['error', 'error', 'unavailable'])
  t.equal(await failing('sk_b'), 'error')
  t.strictSame(sent, ['sk_a', 'sk_a', 'sk_b'])
})

t.test('a pause of one key holds the calls of that key, in their order, and of no other', async (t) => {
  const limitOf = rateLimits(1000)
  const gone: string[] = []
  const { signal } = new AbortController()
  const leaving = new AbortController()
  limitOf('sk_a').pause(200)
  const waiting = ['a1', 'a2', 'a3'].map((name) =>
    limitOf('sk_a').wait(name === 'a2' ? leaving.signal : signal).then(() => {
      gone.push(name)
    }, () => {
      gone.push(`${name} left`)
    })
  )
  await limitOf('sk_b').wait(signal)
  gone.push('b')
  leaving.abort()
  await Promise.all(waiting)
  t.strictSame(gone, ['b', 'a2 left', 'a1', 'a3'])
  t.equal(limitOf('sk_b').paused() < 100, true)
})

t.test('while a checkout of one shop waits', async (t) => {
  const world = await build(t, await pglite.connect(t), { ...limits, inFlight: 4 })
  const { app, knex, standIn, addShop, addAccount, detailsOf, call, audit } = world
  const otherKey = 'sk_test_other'
  standIn.addAccount(otherKey, {})
  const [shop, other] = [await addShop(), await addShop({ key: otherKey })]
  const [here, there] = [await addAccount(shop, { tier: 'gold' }), await addAccount(other, { tier: 'gold' })]
  const checkout = (accountId: string) => app.payReconcile.ensureCustomer({ accountId, actor: 'buyer' })
  const isAsked = async (method: string, after = 0) => {
    while (
      !standIn.requests.slice(after).some((request) => request.method === method && request.secretKey === shopKey)
    ) await pause()
  }

  await t.test('one of another shop is made, and what a person links counts', async (t) => {
    const end = standIn.fault({ kind: 'slow', delay: 1500, secretKey: shopKey, method: 'POST', times: 1 })
    const waiting = checkout(here)
    await isAsked('POST')
    const made = await checkout(there)
    t.equal(
      (await call('POST', `/admin/accounts/${here}/link-pay`, { pay_customer_id: 'cus_by_hand' })).statusCode,
      200
    )
    t.strictSame(await waiting, { customerId: 'cus_by_hand', created: false })
    end()
    t.strictSame([await detailsOf(here), await detailsOf(there)], [
      { tier: 'gold', pay_customer_id: 'cus_by_hand' },
      { tier: 'gold', pay_customer_id: made.customerId }
    ])
    t.match(await audit(here), [{ action: 'link' }])
    t.match([...standIn.account(otherKey).customers.values()], [{
      id: made.customerId,
      metadata: { account_id: there }
    }])
  })

  await t.test('a snapshot puts back nothing that others have removed meanwhile', async (t) => {
    standIn.account(shopKey).customers.set('cus_by_hand', { id: 'cus_by_hand', object: 'customer', name: 'Ada' })
    const before = standIn.requests.length
    const end = standIn.fault({ kind: 'slow', delay: 1500, secretKey: shopKey, method: 'GET', times: 1 })
    const syncing = call('POST', `/admin/accounts/${here}/sync-pay`)
    await isAsked('GET', before)
    await knex('accounts').where({ id: here }).update({
      details: knex.raw('details - \'tier\' || \'{"plan": "pro"}\'')
    })
    t.equal((await syncing).statusCode, 200)
    end()
    t.match(await detailsOf(here), { plan: 'pro', tier: undefined, pay_customer: { name: 'Ada' } })
    t.strictSame(
      Object.keys(await detailsOf(there) ?? {}).sort(),
      ['pay_customer_id', 'tier'],
      'nor anything in another account'
    )
  })
})
