import t, { type Test } from 'tap'
import { randomUUID } from 'node:crypto'
import { knexRunStore } from '../src/knex/index.ts'
import type { StandInAccount, StandInEvent } from '../src/testing/index.ts'
import { finished, start } from './bulk.ts'
import { engines, postgresql } from './database.ts'
import { build, type World } from './world.ts'

// The seed makes a failure repeatable; set CHANGES_SEED to try others, and CHANGES_RUNS for more histories.
const SEED = Number(process.env.CHANGES_SEED ?? 20_261_123)
const RUNS = Number(process.env.CHANGES_RUNS ?? 4)
/** Histories that are played at the same time, each in a shop of its own. */
const BATCH = 100
const STEPS = 6

const options = {
  perSecond: 1_000_000,
  accountsAtOnce: 4,
  shopsAtOnce: 8,
  inFlight: 16,
  leaseDuration: 60_000,
  attempts: 1,
  breakAfter: 1000,
  callTimeout: 120_000,
  attemptTimeout: 120_000
}

t.setTimeout(7_200_000)

for (const engine of engines) {
  // One database is enough: a server, where there is one, is faster.
  const skip = engine.skip || (engine !== postgresql && postgresql.skip === false && 'runs on PostgreSQL')
  t.test(
    `changes end where a full sync does (seed ${SEED}, ${RUNS} histories, ${engine.name})`,
    { skip, timeout: 7_200_000 },
    async (t) => {
      const knex = await engine.connect(t)
      const world = await build(t, knex, { ...options, runs: { ...knexRunStore(knex), claimable: async () => [] } })
      for (let first = 0; first < RUNS; first += BATCH) {
        const histories = await Promise.all(
          Array.from(
            { length: Math.min(BATCH, RUNS - first) },
            (_, index) => History.begin(world, SEED + first + index)
          )
        )
        await play(t, world, histories)
        if (!t.passing()) return
      }
      const { rows: [counted] } = await knex.raw(
        "select count(*)::int as writes from pay_reconcile_audit where action = 'sync'"
      )
      t.ok(counted.writes > RUNS * 5, `enough was written: ${counted.writes}`)
    }
  )
}

/** Plays histories in lockstep, with a run over all shops after each step, and compares their end with a full sync. */
async function play (t: Test, world: World, histories: readonly History[]): Promise<void> {
  for (let step = 0; step < STEPS; step++) {
    await Promise.all(histories.map((history) => history.step()))
    const heal = step % 3 === 1
      ? world.standIn.fault({ kind: 'answer', status: 500, path: '/v1/customers/', times: histories.length / 4 })
      : () => {}
    await finished(world, await start(world, { mode: 'changes', dry_run: step % 4 === 2 }))
    heal()
  }
  for (const history of histories) await history.end()
  const last = await finished(world, await start(world, { mode: 'changes', dry_run: false }))
  t.match(last, { status: 'done', shops: { stopped: [] } })

  const shops = new Map(histories.map((history) => [history.shopId, history]))
  const stored = async () =>
    new Map((await world.knex('accounts').whereIn('shop_id', [...shops.keys()]).select('id', 'shop_id', 'details'))
      .map((
        { id, shop_id: shopId, details: { pay_synced_at: _, ...details } }
      ) => [id, { shopId, details: JSON.stringify(details) }]))
  const [before, again] = [
    await stored(),
    await finished(world, await start(world, { mode: 'changes', dry_run: false }))
  ]
  await finished(world, await start(world, { mode: 'sync', dry_run: false }))
  const wrong = [...await stored()].filter(([id, { details }]) => before.get(id)?.details !== details)
  t.strictSame(
    wrong.map(([id, { shopId, details }]) => ({
      seed: shops.get(shopId)?.seed,
      changes: before.get(id)?.details,
      sync: details,
      history: shops.get(shopId)?.log
    })),
    [],
    'the same as a full sync'
  )
  const failed =
    (await world.call('GET', `/admin/accounts/reconcile/${last.id}?outcome=failed&limit=1000`)).json().items
  t.strictSame(
    failed.filter((item: { error_code: string }) => item.error_code !== 'PAY_RECONCILE_PROVIDER_CUSTOMER_NOT_FOUND'),
    []
  )
  t.equal(again.processed, 0, 'and once it is there, nothing is read again')
  for (const history of histories) await history.remove()
}

/** What happens to the customers and accounts of a shop. */
class History {
  readonly log: string[] = []
  #held: StandInEvent[] = []
  #isMissing = false

  readonly seed: number
  readonly shopId: string
  private readonly key: string
  private readonly world: World
  private readonly account: StandInAccount
  private readonly random: () => number
  private readonly accountIds: readonly string[]

  private constructor (
    world: World,
    seed: number,
    random: () => number,
    shop: {
      readonly shopId: string,
      readonly key: string,
      readonly account: StandInAccount,
      readonly accountIds: readonly string[]
    }
  ) {
    this.world = world
    this.seed = seed
    this.random = random
    this.shopId = shop.shopId
    this.key = shop.key
    this.account = shop.account
    this.accountIds = shop.accountIds
  }

  static async begin (world: World, seed: number): Promise<History> {
    const key = `sk_test_h${randomUUID().replaceAll('-', '')}`
    const shopId = await world.addShop({ key })
    const random = randomFrom(seed)
    const customers = Array.from(
      { length: 1 + Math.floor(random() * 6) },
      (_, n) => ({ id: `cus_${n}`, name: 'First' })
    )
    const account = world.standIn.addAccount(key, { customers })
    const accountIds: string[] = []
    for (let n = 0; n < 1 + random() * 5; n++) {
      accountIds.push(
        await world.addAccount(shopId, n < customers.length && random() < 0.8 ? { pay_customer_id: `cus_${n}` } : {})
      )
    }
    return new History(world, seed, random, { shopId, key, account, accountIds })
  }

  async step (): Promise<void> {
    for (let n = 0; n < this.random() * 4; n++) await this.act()
    // Some of what was held back shows up late.
    if (this.random() < 0.5) this.release()
  }

  private async act (): Promise<void> {
    const { account, world, random } = this
    const customerId = this.pick([...account.customers.keys(), 'cus_unknown'])
    const accountId = this.pick(this.accountIds)
    const what = this.pick([
      'update',
      'update',
      'update',
      'create',
      'delete',
      'link',
      'unlink',
      'sync',
      'hold',
      'repeat',
      'disorder',
      'lose',
      'expire'
    ])
    this.log.push(`${what} ${customerId} ${accountId}`)
    const known = account.events.length
    if (what === 'create') await this.send('POST', '/v1/customers', 'name=New')
    if (what === 'update') await this.send('POST', `/v1/customers/${customerId}`, `name=${Math.floor(random() * 1e6)}`)
    if (what === 'delete') await this.send('DELETE', `/v1/customers/${customerId}`)
    if (what === 'link') {
      await world.call('POST', `/admin/accounts/${accountId}/link-pay`, { pay_customer_id: customerId })
    }
    if (what === 'unlink') await world.call('POST', `/admin/accounts/${accountId}/unlink-pay`)
    if (what === 'sync') await world.call('POST', `/admin/accounts/${accountId}/sync-pay`)
    // An event that the provider does not show yet.
    if (what === 'hold' && account.events.length > 0) {
      this.#held.push(...account.events.splice(Math.floor(random() * account.events.length), 1))
    }
    // A second event about the same.
    if (what === 'repeat' && account.events.length > 0) {
      account.events.push({ ...this.pick(account.events), id: `evt_${randomUUID().replaceAll('-', '')}` })
    }
    if (what === 'disorder') account.events.reverse()
    // An event that the provider never shows.
    if (what === 'lose' && account.events.pop()) this.#isMissing = true
    // Nobody has looked for more than the 30 days that events are kept.
    if (what === 'expire') {
      account.events.length = 0
      await this.age()
    }
    // Times of events are not quite in their order.
    const added = account.events[known]
    if (added && random() < 0.3) {
      account.events[known] = { ...added, created: added.created - Math.floor(random() * 600) }
    }
  }

  /** Everything that was late has come. What never comes is found once in a month. */
  async end (): Promise<void> {
    this.release()
    if (this.#isMissing) await this.age()
  }

  private async age (): Promise<void> {
    await this.world.knex('pay_reconcile_positions').where('shop_id', this.shopId).update({
      complete_at: this.world.knex.raw("now() - interval '31 days'")
    })
  }

  private release (): void {
    this.account.events.push(...this.#held.splice(0))
  }

  /** Only the shop, so that the next batch is as fast. */
  async remove (): Promise<void> {
    await this.world.knex('accounts').where('shop_id', this.shopId).delete()
    await this.world.knex('shops').where('id', this.shopId).delete()
  }

  private async send (method: string, path: string, body?: string): Promise<void> {
    await fetch(`${this.world.standIn.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.key}` },
      ...(body !== undefined && { body })
    }).then((response) => response.text())
  }

  private pick<T> (from: readonly T[]): T {
    return from[Math.floor(this.random() * from.length)]!
  }
}

/** Numbers from 0 to 1 that a seed determines: mulberry32. */
function randomFrom (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
