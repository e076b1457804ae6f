import type { Knex } from 'knex'
import { PAY_RECONCILE_RUN_ACTIVE } from '../errors.ts'
import { storable } from '../storable.ts'
import type { Counters, Drift, Item, Mode, Outcome, Part, Run, RunStore } from '../reconcile/run.ts'

interface RunRow {
  readonly id: string
  readonly mode: Mode
  readonly dry_run: boolean
  readonly shop_id: string | null
  readonly actor: string
  readonly request_id: string | null
  readonly cancel_requested: boolean
  /** A text where the host has set its driver so. */
  readonly started_at: Date | string
  readonly finished_at: Date | string | null
  readonly total: number
  readonly processed: number
  readonly shops: number
  readonly finished: number
  readonly cancelled: number
  readonly stopped: ReadonlyArray<{ readonly shop_id: string, readonly reason: string }>
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
}

interface PartRow {
  readonly run_id: string
  readonly shop_id: string
  readonly processed: number
  readonly last_account: string | null
  readonly outcomes: Counters<Outcome>
  readonly drift: Counters<Drift>
}

/** A part that nobody works on. */
const free = "(p.status = 'pending' or (p.status = 'running' and p.leased_until < now()))"
const leasedUntil = "now() + ? * interval '1 millisecond'"

/**
 * Runs in PostgreSQL. Needs the tables of {@link createPayReconcileTables}.
 *
 * A part is held by a lease in its row and not by an advisory lock: a lease needs no connection of its own
 * for hours, and works through a pooler that hands out connections by transaction.
 */
export function knexRunStore (knex: Knex): RunStore {
  /** Ends the parts of cancelled runs that nobody works on, and the runs whose last part has ended. */
  async function settle (): Promise<void> {
    await knex.raw(`update pay_reconcile_run_shops p set status = 'cancelled', updated_at = now()
      from pay_reconcile_runs r where r.id = p.run_id and r.cancel_requested and ${free}`)
    await knex.raw(`update pay_reconcile_runs r set finished_at = now() where r.finished_at is null and not exists (
      select 1 from pay_reconcile_run_shops p where p.run_id = r.id and p.status in ('pending', 'running'))`)
  }

  return {
    async start (run, shops) {
      const parts = JSON.stringify(shops.map(({ shopId, accounts }) => ({ shop_id: shopId, total: accounts })))
      try {
        await knex.raw(`with run as (
            insert into pay_reconcile_runs (id, mode, dry_run, shop_id, actor, request_id) values (?, ?, ?, ?, ?, ?) returning id
          ) insert into pay_reconcile_run_shops (run_id, shop_id, total)
          select run.id, p.shop_id, p.total from run, jsonb_to_recordset(?::jsonb) as p (shop_id uuid, total integer)`,
        [run.id, run.mode, run.dryRun, run.shopId, run.actor, run.requestId, parts])
      } catch (error) {
        throw isUniqueViolation(error) ? new PAY_RECONCILE_RUN_ACTIVE() : error
      }
      if (shops.length === 0) await settle()
    },

    async get (id) {
      const { rows: [row] } = await knex.raw<{ rows: RunRow[] }>(runStatement, { id })
      return row && runFrom(row)
    },

    async items (id, { skip, limit, outcome }) {
      const matching = () => knex('pay_reconcile_items').where('run_id', id)
        .modify(query => { if (outcome !== undefined) query.where('outcome', outcome) })
      const [items, [counted]] = await Promise.all([
        matching().orderBy('account_id').offset(skip).limit(limit).select<Array<{ item: Item }>>('item'),
        matching().select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))
      ])
      return { items: items.map(({ item }) => item), count: counted?.count ?? 0 }
    },

    async cancel (id) {
      await knex('pay_reconcile_runs').where({ id, finished_at: null }).update({ cancel_requested: true })
      await settle()
    },

    async claim (id, { owner, ms }) {
      const { rows: [row] } = await knex.raw<{ rows: PartRow[] }>(`
        update pay_reconcile_run_shops p set status = 'running', owner = ?, leased_until = ${leasedUntil}, updated_at = now()
        where (p.run_id, p.shop_id) = (
          select p.run_id, p.shop_id from pay_reconcile_run_shops p join pay_reconcile_runs r on r.id = p.run_id
          where p.run_id = ? and ${free} and not r.cancel_requested
          order by p.shop_id limit 1 for update of p skip locked)
        returning p.run_id, p.shop_id, p.processed, p.last_account, p.outcomes, p.drift`, [owner, ms, id])
      return row && partFrom(row)
    },

    async renew (part, { owner, ms }) {
      const { rows } = await knex.raw<{ rows: unknown[] }>(`update pay_reconcile_run_shops set leased_until = ${leasedUntil}
        where run_id = ? and shop_id = ? and owner = ? and status = 'running' returning 1`, [ms, part.runId, part.shopId, owner])
      return rows.length > 0
    },

    async advance (part, items, { owner, ms }) {
      const records = items.map(item => ({ account_id: item.accountId, shop_id: item.shopId, outcome: item.outcome, item }))
      const { rows: [row] } = await knex.raw<{ rows: Array<{ cancel_requested: boolean }> }>(`
        with ours as (
          update pay_reconcile_run_shops set processed = ?, last_account = ?, outcomes = ?::jsonb, drift = ?::jsonb,
            leased_until = ${leasedUntil}, updated_at = now()
          where run_id = ? and shop_id = ? and owner = ? and status = 'running' returning run_id
        ), found as (
          insert into pay_reconcile_items (run_id, account_id, shop_id, outcome, item)
          select ours.run_id, i.account_id, i.shop_id, i.outcome, i.item
          from ours, jsonb_to_recordset(?::jsonb) as i (account_id uuid, shop_id uuid, outcome text, item jsonb)
          on conflict do nothing
        )
        select r.cancel_requested from ours join pay_reconcile_runs r on r.id = ours.run_id`, [
        part.processed, part.lastAccount, JSON.stringify(part.outcomes), JSON.stringify(part.drift), ms,
        part.runId, part.shopId, owner, JSON.stringify(storable(records.filter(({ outcome }) => outcome !== 'unchanged')))
      ])
      if (!row) return 'lost'
      return row.cancel_requested ? 'cancelled' : 'continue'
    },

    async finish (part, { owner }, status, reason) {
      await knex('pay_reconcile_run_shops').where({ run_id: part.runId, shop_id: part.shopId, owner, status: 'running' })
        .update({ status, reason, updated_at: knex.fn.now() })
      await settle()
    },

    async release (part, { owner }) {
      await knex('pay_reconcile_run_shops').where({ run_id: part.runId, shop_id: part.shopId, owner, status: 'running' })
        .update({ status: 'pending', owner: null, leased_until: null, updated_at: knex.fn.now() })
    },

    async claimable () {
      await settle()
      const { rows } = await knex.raw<{ rows: Array<{ run_id: string }> }>(`select distinct p.run_id
        from pay_reconcile_run_shops p join pay_reconcile_runs r on r.id = p.run_id where ${free} and not r.cancel_requested`)
      return rows.map(row => row.run_id)
    }
  }
}

/** The sums over the shops of a run. */
const runStatement = `
  select r.*, coalesce(p.total, 0)::int as total, coalesce(p.processed, 0)::int as processed,
    coalesce(p.shops, 0)::int as shops, coalesce(p.finished, 0)::int as finished, coalesce(p.cancelled, 0)::int as cancelled,
    coalesce((select jsonb_agg(jsonb_build_object('shop_id', s.shop_id, 'reason', s.reason)) from (
      select shop_id, reason from pay_reconcile_run_shops where run_id = r.id and status = 'stopped' order by shop_id limit 100) s), '[]') as stopped,
    coalesce((select jsonb_object_agg(k.key, k.n) from (
      select e.key, sum(e.value::int) as n from pay_reconcile_run_shops p, jsonb_each_text(p.outcomes) e where p.run_id = r.id group by e.key) k), '{}') as outcomes,
    coalesce((select jsonb_object_agg(k.key, k.n) from (
      select e.key, sum(e.value::int) as n from pay_reconcile_run_shops p, jsonb_each_text(p.drift) e where p.run_id = r.id group by e.key) k), '{}') as drift
  from pay_reconcile_runs r
  left join lateral (
    select sum(total) as total, sum(processed) as processed, count(*) as shops,
      count(*) filter (where status not in ('pending', 'running')) as finished, count(*) filter (where status = 'cancelled') as cancelled
    from pay_reconcile_run_shops where run_id = r.id
  ) p on true
  where r.id = :id`

function runFrom (row: RunRow): Run {
  return {
    id: row.id,
    mode: row.mode,
    dryRun: row.dry_run,
    shopId: row.shop_id,
    actor: row.actor,
    requestId: row.request_id,
    status: statusOf(row),
    cancelRequested: row.cancel_requested,
    startedAt: new Date(row.started_at).toISOString(),
    finishedAt: row.finished_at === null ? null : new Date(row.finished_at).toISOString(),
    total: row.total,
    processed: row.processed,
    outcomes: row.outcomes,
    drift: row.drift,
    shops: {
      total: row.shops,
      finished: row.finished,
      stopped: row.stopped.map(({ shop_id: shopId, reason }) => ({ shopId, reason }))
    }
  }
}

function statusOf (row: RunRow): Run['status'] {
  if (row.finished_at === null) return 'running'
  return row.cancelled > 0 ? 'cancelled' : 'done'
}

function partFrom (row: PartRow): Part {
  return {
    runId: row.run_id,
    shopId: row.shop_id,
    processed: row.processed,
    lastAccount: row.last_account,
    outcomes: row.outcomes,
    drift: row.drift
  }
}

function isUniqueViolation (error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '23505'
}
