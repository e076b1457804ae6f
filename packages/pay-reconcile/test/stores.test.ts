import t from 'tap'
import { randomUUID } from 'node:crypto'
import type { FoundItem, Part } from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { pglite } from './database.ts'
import { build } from './world.ts'

const origin = { actor: 'user-1', requestId: null, runId: null, providerRequestId: null }

t.test('the stores', async (t) => {
  const knex = await pglite.connect(t)
  const { addShop, addAccount, detailsOf } = await build(t, knex)
  const [accounts, runs] = [knexAccountStore(knex), knexRunStore(knex)]
  const shopId = await addShop()

  await t.test('of a deleted customer its last snapshot is kept until there is another customer', async (t) => {
    const accountId = await addAccount(shopId, { pay_customer_id: 'cus_1' })
    const save = async (customer: object, second: number) => {
      await accounts.saveSnapshot({
        accountId,
        customerId: 'cus_1',
        customer: { id: 'cus_1', ...customer },
        syncedAt: `2026-01-31T00:00:0${second}.000Z`
      }, origin)
      return (await detailsOf(accountId))?.['pay_customer_before_deletion']
    }
    t.equal(await save({ deleted: true }, 1), undefined, 'there was none')
    t.equal(await save({ name: 'Ada' }, 2), undefined)
    t.strictSame(await save({ deleted: true }, 3), { id: 'cus_1', name: 'Ada' })
    t.strictSame(await save({ deleted: true }, 4), { id: 'cus_1', name: 'Ada' })
    t.equal(await save({ name: 'Back' }, 5), undefined)
  })

  await t.test("at most a thousand accounts may be somebody's", async (t) => {
    const crowd = await addShop()
    await knex.raw(
      "insert into accounts (id, shop_id, name, details) select gen_random_uuid(), ?, 'Ada', '{\"email\": " +
        '"ada@example.org"}\' from generate_series(1, 1001)',
      [crowd]
    )
    t.equal((await accounts.accountsLike(crowd, [], ['ada@example.org'])).length, 1000)
    t.strictSame(await accounts.accountsLike(crowd, [], []), [])
    t.strictSame(await accounts.accountsLike(shopId, [], ['ada@example.org']), [], 'of this shop')
    t.strictSame([...await accounts.linkedCustomers(crowd, [])], [])
    t.strictSame(await accounts.linkedElsewhere(crowd, []), [])
  })

  await t.test('a process whose lease has passed to another changes nothing', async (t) => {
    const run = {
      id: randomUUID(),
      mode: 'check',
      dryRun: true,
      shopId,
      actor: 'user-1',
      requestId: 'req-1',
      selection: {},
      scheduledFor: null
    } as const
    await runs.start(run, [{ shopId, accounts: 3 }], null)
    const [slow, other] = [{ owner: randomUUID(), duration: 60_000 }, { owner: randomUUID(), duration: 60_000 }]
    const part = await runs.claim(run.id, slow) as Part
    t.strictSame(part, {
      runId: run.id,
      shopId,
      total: 3,
      processed: 0,
      lastAccount: null,
      outcomes: {},
      differences: {},
      paging: null
    })
    t.equal(await runs.claim(run.id, other), undefined, 'it holds')
    t.strictSame(await runs.claimable(), [])
    t.equal(await runs.renew(part, slow), 'continue')

    await knex('pay_reconcile_run_shops').where('run_id', run.id).update({
      leased_until: knex.raw("now() - interval '1 second'")
    })
    t.strictSame(await runs.claimable(), [run.id], 'until it lapses')
    const taken = await runs.claim(run.id, other) as Part
    const paging = { after: null, left: 10, lost: 0, ended: false }
    const item = {
      accountId: await addAccount(shopId),
      shopId,
      outcome: 'unchanged',
      differences: [],
      candidates: []
    } as unknown as FoundItem
    t.equal(await runs.advance({ ...taken, paging, processed: 1 }, [item], other), 'continue')
    const unchanged = async () => (await knex('pay_reconcile_unchanged').where('run_id', run.id)).length
    t.equal(await unchanged(), 1)
    t.equal(await runs.renew(part, slow), 'lost')
    t.equal(await runs.advance({ ...part, processed: 3 }, [{ ...item, outcome: 'different' }], slow), 'lost')
    await runs.release(part, slow)
    await runs.finish(part, slow, 'done', null)
    t.match(await runs.get(run.id), {
      status: 'running',
      processed: 1,
      requestId: 'req-1',
      webhook: false,
      shops: { finished: 0 }
    })
    t.strictSame([
      await unchanged(),
      await runs.claim(run.id, slow),
      (await runs.items(run.id, { skip: 0, limit: 10, filter: {} })).count
    ], [1, undefined, 0])

    await runs.release(taken, other)
    t.match(await runs.claim(run.id, slow), { processed: 1, paging }, 'a part that is given back goes on where it was')
    await runs.finish(part, slow, 'stopped', 'PAY_RECONCILE_RUN_FORBIDDEN')
    t.match(await runs.get(run.id), {
      status: 'done',
      shops: { finished: 1, stopped: [{ shopId, reason: 'PAY_RECONCILE_RUN_FORBIDDEN' }] }
    })
    t.equal(await unchanged(), 1, 'of a part that stopped they say which accounts it reached')
  })

  await t.test('a run that cannot be stored is an error, and not tried again and again', async (t) => {
    const run = {
      id: randomUUID(),
      mode: 'check',
      dryRun: true,
      shopId: null,
      actor: 'user-1',
      requestId: null,
      selection: {},
      scheduledFor: '2030-01-01T00:00:00.000Z'
    } as const
    await runs.start(run, [], null)
    await runs.lastScheduled('check', '2029-01-01T00:00:00.000Z')
    await runs.awaited!.note(shopId, 'delivery')
    const violated = (attempt: Promise<unknown>) => attempt.then(() => 'nothing', (error) => error.constraint)
    t.equal(await violated(runs.start(run, [{ shopId, accounts: 1 }], null)), 'pay_reconcile_runs_pkey')
    t.equal(await violated(runs.startScheduled(run, [{ shopId, accounts: 1 }])), 'pay_reconcile_runs_pkey')
    t.equal(await violated(runs.awaited!.start(run)), 'pay_reconcile_runs_pkey')
    t.strictSame(await knex('pay_reconcile_awaited').pluck('shop_id'), [shopId], 'its note stays')
    t.equal(
      await runs.lastScheduled('check', '2031-01-01T00:00:00.000Z'),
      '2029-01-01T00:00:00.000Z',
      'so does the scheduled time'
    )
    await knex('pay_reconcile_awaited').delete()
    t.strictSame(await runs.awaited!.start({ ...run, id: randomUUID() }), { started: false, left: false })
  })

  await t.test('of a part that ended early, what it did not reach is tried again', async (t) => {
    const short = await addShop()
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push(await addAccount(short, { pay_customer_id: `cus_${n}` }))
    ids.sort()
    const found = (accountId: string | undefined, outcome: string) =>
      ({ accountId, shopId: short, outcome, differences: [], candidates: [] }) as unknown as FoundItem
    // Of accounts that were read one by one and are unchanged there is no record.
    for (
      const [title, items, lastAccount, status, wanted] of [
        ['stopped at once', [], null, 'stopped', [0, 1, 2, 3]],
        ['stopped after some', [found(ids[0], 'unchanged'), found(ids[1], 'unchanged')], ids[1]!, 'stopped', [2, 3]],
        [
          'cancelled after one that failed',
          [found(ids[0], 'failed'), found(ids[1], 'unchanged')],
          ids[1]!,
          'cancelled',
          [0, 2, 3]
        ],
        ['done', [found(ids[2], 'failed'), found(ids[3], 'different')], ids[3]!, 'done', [2]],
        ['stopped, with an item behind the last one', [found(ids[3], 'different')], ids[0]!, 'stopped', [1, 2]]
      ] as const
    ) {
      const run = {
        id: randomUUID(),
        mode: 'check',
        dryRun: true,
        shopId: short,
        actor: 'user-1',
        requestId: null,
        selection: {},
        scheduledFor: null
      } as const
      const lease = { owner: randomUUID(), duration: 60_000 }
      await runs.start(run, [{ shopId: short, accounts: 4 }], null)
      const part = { ...await runs.claim(run.id, lease) as Part, lastAccount }
      await runs.advance(part, items, lease)
      await runs.finish(part, lease, status, null)
      const only = { failedIn: run.id }
      const scanned = await accounts.scan({ shopId: short, after: null, limit: 10, runId: run.id, only })
      t.strictSame(scanned.map(({ account }) => ids.indexOf(account.id)), wanted, title)
      t.strictSame(await accounts.shops(undefined, only), [{ shopId: short, accounts: wanted.length }])
      t.strictSame(await accounts.shops(shopId, only), [{ shopId, accounts: 0 }], 'in this shop alone')
    }
  })

  await t.test('a cancelled run is over when nobody works on it', async (t) => {
    const run = {
      id: randomUUID(),
      mode: 'check',
      dryRun: true,
      shopId,
      actor: 'user-1',
      requestId: null,
      selection: {},
      scheduledFor: null
    } as const
    await runs.start(run, [{ shopId, accounts: 3 }], null)
    const lease = { owner: randomUUID(), duration: 60_000 }
    const part = await runs.claim(run.id, lease) as Part
    await runs.cancel(run.id)
    t.match(await runs.get(run.id), { status: 'running', cancelRequested: true })
    t.strictSame([await runs.renew(part, lease), await runs.advance(part, [], lease)], ['cancelled', 'cancelled'])
    await knex('pay_reconcile_run_shops').where('run_id', run.id).update({
      leased_until: knex.raw("now() - interval '1 second'")
    })
    t.strictSame([await runs.claimable(), await runs.claim(run.id, lease)], [[], undefined])
    t.match(await runs.get(run.id), { status: 'cancelled', finishedAt: /Z$/ })
    await runs.cancel(run.id)
    await runs.cancel('no id')
    for (const id of ['no id', randomUUID()]) t.equal(await runs.get(id), undefined)

    const done = { ...run, id: randomUUID() }
    await runs.start(done, [], null)
    t.match(
      await runs.get(done.id),
      { status: 'done', total: 0, shops: { total: 0 } },
      'a run without shops is over at once'
    )
    await runs.cancel(done.id)
    t.match(await runs.get(done.id), { cancelRequested: false }, 'what is over cannot be cancelled')
  })
})
