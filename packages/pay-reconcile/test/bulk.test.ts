import t from 'tap'
import { knexRunStore } from '../src/knex/index.ts'
import type { RunStore } from '../src/index.ts'
import { fast, fill, fingerprint, finished, pause, start, writes } from './bulk.ts'
import { engines } from './database.ts'
import { build, host } from './world.ts'

// A multiple of 40; .ci/run sets 1000.
const size = Number(process.env.BULK_SIZE ?? 400)
const right = size * 0.9

for (const engine of engines) {
  t.test(`a bulk run on ${engine.name}`, { skip: engine.skip }, async (t) => {
    const knex = await engine.connect(t)
    const runs = knexRunStore(knex)
    /** Set while another process must do the work: this one takes up no run. */
    let idle = false
    const world = await build(t, knex, {
      ...fast,
      runs: { ...runs, claimable: async () => idle ? [] : runs.claimable() }
    })
    await fill(world, size)
    const untouched = await fingerprint(knex)

    await t.test('a dry run changes nothing', async (t) => {
      const run = await finished(world, await start(world, { mode: 'sync' }))
      t.match(run, { status: 'done', dry_run: true, total: size, outcomes: { synced: right } })
      t.equal(await fingerprint(knex), untouched)
      t.equal(await writes(knex), 0)
    })

    await t.test('a run whose process dies is taken up by another, which repeats no write', async (t) => {
      idle = true
      const dying = await host(t, knex, world.standIn, {
        ...fast,
        runs: dyingStore(runs, size / 4, () => {
          idle = false
        })
      })
      const runId = await start(dying, { mode: 'sync', dry_run: false })
      const run = await finished(world, runId)
      t.match(run, { status: 'done', dry_run: false, total: size, outcomes: { synced: right } })
      t.equal(
        run.shops.stopped[0].reason,
        'PAY_RECONCILE_PROVIDER_KEY_REJECTED',
        'the shop whose key is wrong stops alone'
      )
      t.equal(await writes(knex, runId), right, 'each account was written once')
      const [found] = await knex('pay_reconcile_items').where('run_id', runId).whereRaw(
        "item->>'reason' = 'before_interruption'"
      )
        .select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))
      t.ok((found?.count ?? 0) > 0, `${found?.count} accounts had been written but not reported when the process died`)
      t.not(await fingerprint(knex), untouched)
    })

    await t.test('a cancelled run stops at the next account', async (t) => {
      // With a lease that a busy machine cannot let lapse: a part whose lease has lapsed is ended for whoever held it.
      const steady = await host(t, knex, world.standIn, { ...fast, leaseDuration: 60_000 })
      const end = world.standIn.fault({ kind: 'slow', delay: 20 })
      const runId = await start(steady, { mode: 'sync', dry_run: false })
      while (await writes(knex, runId) < 10) await pause()
      const response = await steady.call('DELETE', `/admin/accounts/reconcile/${runId}`)
      t.match(response.json(), { cancel_requested: true })
      const atCancel = await writes(knex, runId)
      const run = await finished(world, runId)
      end()
      const written = await writes(knex, runId)
      t.equal(run.status, 'cancelled')
      t.ok(
        written - atCancel <= fast.accountsAtOnce * fast.shopsAtOnce,
        `only the accounts in work were finished (${written - atCancel})`
      )
      t.equal(run.outcomes.synced, written, 'everything written is reported')
    })

    await t.test('closing the application leaves the run for the next process', async (t) => {
      const leaving = await host(t, knex, world.standIn, fast)
      const end = world.standIn.fault({ kind: 'slow', delay: 5 })
      const runId = await start(leaving, { mode: 'sync', dry_run: false })
      while (await writes(knex, runId) < 10) await pause()
      await leaving.app.close()
      end()
      const run = await finished(world, runId)
      t.match(run, { status: 'done', outcomes: { synced: right } })
      t.equal(await writes(knex, runId), right)
    })
  })
}

/** A store that answers nothing any more once so many items are reported: the process is gone. */
function dyingStore (store: RunStore, afterItems: number, onDeath: () => void): RunStore {
  let reported = 0
  let dead = false
  const alive = <Args extends unknown[], T>(call: (...args: Args) => Promise<T>) => (...args: Args): Promise<T> =>
    dead ? Promise.reject(new RangeError('gone')) : call(...args)
  return {
    ...store,
    advance: alive((part, items, lease) => {
      reported += items.length
      if (reported > afterItems && !dead) {
        dead = true
        onDeath()
      }
      return dead ? Promise.reject(new RangeError('gone')) : store.advance(part, items, lease)
    }),
    claim: alive(store.claim),
    renew: alive(store.renew),
    finish: alive(store.finish),
    release: alive(store.release),
    claimable: alive(store.claimable)
  }
}
