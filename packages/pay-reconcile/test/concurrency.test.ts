import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { customerIdOf } from '../src/details.ts'
import { knexAccountStore } from '../src/knex/index.ts'
import { engines } from './database.ts'
import { build, host, shopKey } from './world.ts'

const origin = { actor: 'user-1', requestId: null, runId: null, providerRequestId: null }

for (const engine of engines) {
  t.test(`on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const world = await build(t, knex)
    const { call, app, addShop, addAccount, detailsOf, audit, standIn } = world
    const { customers } = standIn.account(shopKey)
    const shopId = await addShop()

    await t.test('50 concurrent writers of details lose nothing', async (t) => {
      const accountId = await addAccount(shopId, { first: true })
      for (let i = 0; i < 5; i++) customers.set(`cus_${i}`, { id: `cus_${i}`, object: 'customer', number: i })
      const writers = Array.from({ length: 50 }, (_, i) => {
        if (i % 5 === 0) {
          return call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: `cus_${i / 10 | 0}` })
        }
        if (i % 5 === 1) return call('POST', `/admin/accounts/${accountId}/sync-pay`)
        return writeKey(knex, accountId, `key_${i}`)
      })
      await Promise.all(writers)
      const details = await detailsOf(accountId) ?? {}
      const { pay_customer_id: customerId, pay_customer: snapshot, pay_synced_at: _, ...others } = details
      const keys = Array.from({ length: 50 }, (_, i) => i).filter((i) => i % 5 > 1).map((i) => [`key_${i}`, true])
      t.strictSame(others, { first: true, ...Object.fromEntries(keys) }, "the host's keys are all there")
      if (snapshot !== undefined) {
        t.equal((snapshot as { id: string }).id, customerId, 'the snapshot is that of the linked customer')
      }
    })

    await t.test('50 different links at once: each leaves its audit row, and they form one chain', async (t) => {
      const accountId = await addAccount(shopId, {})
      const store = knexAccountStore(knex)
      await Promise.all(
        Array.from({ length: 50 }, (_, i) => store.link({ action: 'link', accountId, customerId: `cus_${i}` }, origin))
      )
      const rows = await audit(accountId) as unknown as Array<
        Record<'before' | 'after', { pay_customer_id: string | null }>
      >
      t.equal(rows.length, 50)
      const next = new Map(rows.map(({ before, after }) => [before.pay_customer_id, after.pay_customer_id]))
      let id: string | null = null
      for (let i = 0; i < 50; i++) id = next.get(id) ?? null
      t.equal(id, customerIdOf(await detailsOf(accountId) ?? {}), 'the last link is what is stored')
    })

    await t.test("a relink in the middle of a sync never stores A's customer under B's id", async (t) => {
      customers.set('cus_A', { id: 'cus_A', object: 'customer', name: 'A' })
      customers.set('cus_B', { id: 'cus_B', object: 'customer', name: 'B' })
      const accountId = await addAccount(shopId, { pay_customer_id: 'cus_A', tier: 'gold' })
      standIn.fault({ kind: 'slow', path: 'cus_A', delay: 300, times: 1 })
      const before = standIn.requests.length
      const sync = call('POST', `/admin/accounts/${accountId}/sync-pay`)
      while (standIn.requests.length === before) await new Promise((resolve) => setTimeout(resolve, 5))
      await call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: 'cus_B' })
      const body = (await sync).json()
      t.strictSame(body, {
        id: accountId,
        pay_customer_id: 'cus_B',
        pay_synced_at: body.pay_synced_at,
        pay_customer: { id: 'cus_B', object: 'customer', name: 'B' }
      }, 'B is read and stored instead')
      t.strictSame(await detailsOf(accountId), {
        tier: 'gold',
        pay_customer_id: 'cus_B',
        pay_customer: { id: 'cus_B', object: 'customer', name: 'B' },
        pay_synced_at: body.pay_synced_at
      })
    })

    await t.test('an account relinked again and again gets 409, and nothing wrong is stored', async (t) => {
      const accountId = await addAccount(shopId, { pay_customer_id: 'cus_A' })
      const restless = knexAccountStore(knex)
      const relinked = await host(t, knex, standIn, {
        accounts: {
          ...restless,
          async saveSnapshot (change, by) {
            const other = change.customerId === 'cus_A' ? 'cus_B' : 'cus_A'
            await restless.link({ action: 'link', accountId, customerId: other }, origin)
            return restless.saveSnapshot(change, by)
          }
        }
      })
      const response = await relinked.call('POST', `/admin/accounts/${accountId}/sync-pay`)
      t.equal(response.statusCode, 409)
      t.strictSame(response.json(), {
        statusCode: 409,
        code: 'PAY_RECONCILE_CUSTOMER_CHANGED',
        error: 'Conflict',
        message: 'The customer of the account has been changed meanwhile'
      })
      t.strictSame(await detailsOf(accountId), { pay_customer_id: 'cus_A' })
    })

    await t.test('a snapshot read earlier does not replace a newer one', async (t) => {
      const accountId = await addAccount(shopId, { pay_customer_id: 'cus_A' })
      const store = knexAccountStore(knex)
      const save = (name: string, syncedAt: string) =>
        store.saveSnapshot({ accountId, customerId: 'cus_A', customer: { name }, syncedAt }, origin)
      t.match(await save('new', '2026-01-01T00:00:01.000Z'), { changed: true })
      t.match(await save('old', '2026-01-01T00:00:00.999Z'), {
        changed: false,
        account: { details: { pay_customer: { name: 'new' } } }
      })
      t.match(await save('newest', '2026-01-01T00:00:01.001Z'), { changed: true })
      await knex('accounts').where('id', accountId).update({
        details: JSON.stringify({ pay_customer_id: 'cus_A', pay_synced_at: '9999 nonsense' })
      })
      t.match(
        await save('again', '2026-01-01T00:00:02.000Z'),
        { changed: true },
        'but a time nobody can have written blocks nothing'
      )
    })

    await t.test('a run changes an account once, whoever works on it', async (t) => {
      const accountId = await addAccount(shopId, {})
      const store = knexAccountStore(knex)
      const byRun = { ...origin, runId: '00000000-0000-4000-8000-0000000000aa' }
      const link = (customerId: string) => store.link({ action: 'link', accountId, customerId }, byRun)
      t.match(await link('cus_1'), { changed: true })
      t.match(await link('cus_2'), { changed: false, account: { details: { pay_customer_id: 'cus_1' } } })
      t.equal((await audit(accountId)).length, 1)
    })

    await t.test('a checkout that cannot have a customer says why', async (t) => {
      await t.rejects(app.payReconcile.ensureCustomer({ accountId: randomUUID(), actor: 'b' }), {
        code: 'PAY_RECONCILE_ACCOUNT_NOT_FOUND'
      })
      const keyless = await addAccount(await addShop({ key: null }))
      await t.rejects(app.payReconcile.ensureCustomer({ accountId: keyless, actor: 'b' }), {
        code: 'PAY_RECONCILE_NO_SECRET_KEY'
      })
    })

    await t.test('the audit trail is append-only', async (t) => {
      await t.rejects(knex('pay_reconcile_audit').delete(), /append-only/)
      await t.rejects(knex('pay_reconcile_audit').update({ actor: 'nobody' }), /append-only/)
      await t.rejects(knex('pay_reconcile_audit').truncate(), /append-only/)
    })
  })
}

/** What any other part of a host may do to details. */
/** The host itself writes, as read committed: it waits for others. */
async function writeKey (knex: Knex, accountId: string, key: string): Promise<void> {
  await knex.transaction(async (trx) => {
    await trx.raw(
      "update accounts set details = coalesce(details, '{}') || jsonb_build_object(?::text, true) where id = ?",
      [key, accountId]
    )
  }, { isolationLevel: 'read committed' })
}
