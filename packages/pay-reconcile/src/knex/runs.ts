import type { Knex } from 'knex'
import { runActiveError } from '../errors.ts'
import { storable } from '../storable.ts'
import type { Item, NewRun, Next, RunStore } from '../reconcile/types.ts'
import { hasTextIds, usable } from './ready.ts'
import { orderOfRuns, whereRun } from './run-list.ts'
import { partFrom, runFrom, runsStatement, type PartRow, type RunRow } from './run-rows.ts'

const runId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

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

  /** Adds a run with its parts. @returns false when another run holds one of the shops. */
  async function insert (run: NewRun, parts: string): Promise<boolean> {
    try {
      await knex.raw(`with run as (
          insert into pay_reconcile_runs (id, mode, dry_run, shop_id, actor, request_id) values (?, ?, ?, ?, ?, ?) returning id
        ) insert into pay_reconcile_run_shops (run_id, shop_id, total)
        select run.id, p.shop_id, p.total from run, jsonb_to_recordset(?::jsonb) as p (shop_id text, total integer)`,
      [run.id, run.mode, run.dryRun, run.shopId, run.actor, run.requestId, parts])
      return true
    } catch (error) {
      if (!isHeldShop(error)) throw error
      return false
    }
  }

  return {
    ready: () => usable(Promise.resolve(knex.raw(hasTextIds('pay_reconcile_items'))), 'knexRunStore needs the tables of createPayReconcileTables'),

    async start (run, shops) {
      const parts = JSON.stringify(shops.map(({ shopId, accounts }) => ({ shop_id: shopId, total: accounts })))
      while (!await insert(run, parts)) {
        const { rows: [held] } = await knex.raw<{ rows: Array<Pick<PartRow, 'run_id' | 'shop_id'>> }>(`
          select p.run_id, p.shop_id from pay_reconcile_run_shops p
          where p.status in ('pending', 'running') and p.shop_id in (select e->>'shop_id' from jsonb_array_elements(?::jsonb) e)
          order by p.shop_id limit 1`, [parts])
        // None: it was done between the two statements, and the shop is free.
        if (held) throw runActiveError(held.run_id, held.shop_id)
      }
      if (shops.length === 0) await settle()
    },

    async get (id) {
      if (!runId.test(id)) return undefined
      const { rows: [row] } = await knex.raw<{ rows: RunRow[] }>(runsStatement('where r.id = :id'), { id })
      return row && runFrom(row)
    },

    async list ({ skip, limit, filter, sort }) {
      const matching = () => knex('pay_reconcile_runs as r').modify(query => whereRun(query, filter))
      const [page, [counted]] = await Promise.all([
        matching().orderByRaw(orderOfRuns(sort)).offset(skip).limit(limit).select<Array<{ id: string }>>('r.id'),
        matching().select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))
      ])
      // The sums of a run are only made for those on the page.
      const { rows } = await knex.raw<{ rows: RunRow[] }>(runsStatement('where r.id = any(:ids::uuid[])'), { ids: page.map(({ id }) => id) })
      const runs = new Map(rows.map(row => [row.id, runFrom(row)]))
      return { runs: page.flatMap(({ id }) => runs.get(id) ?? []), count: counted?.count ?? 0 }
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
      if (!runId.test(id)) return
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
      const { rows: [row] } = await knex.raw<{ rows: HeldRow[] }>(`update pay_reconcile_run_shops p set leased_until = ${leasedUntil}
        from pay_reconcile_runs r where r.id = p.run_id and p.run_id = ? and p.shop_id = ? and p.owner = ? and p.status = 'running'
        returning r.cancel_requested`, [ms, part.runId, part.shopId, owner])
      return nextFrom(row)
    },

    async advance (part, items, { owner, ms }) {
      const records = items.map(item => ({ account_id: item.accountId, shop_id: item.shopId, outcome: item.outcome, item }))
      const { rows: [row] } = await knex.raw<{ rows: HeldRow[] }>(`
        with ours as (
          update pay_reconcile_run_shops set processed = ?, last_account = ?, outcomes = ?::jsonb, drift = ?::jsonb,
            leased_until = ${leasedUntil}, updated_at = now()
          where run_id = ? and shop_id = ? and owner = ? and status = 'running' returning run_id
        ), found as (
          insert into pay_reconcile_items (run_id, account_id, shop_id, outcome, item)
          select ours.run_id, i.account_id, i.shop_id, i.outcome, i.item
          from ours, jsonb_to_recordset(?::jsonb) as i (account_id text, shop_id text, outcome text, item jsonb)
          on conflict do nothing
        )
        select r.cancel_requested from ours join pay_reconcile_runs r on r.id = ours.run_id`, [
        part.processed, part.lastAccount, JSON.stringify(part.outcomes), JSON.stringify(part.drift), ms,
        part.runId, part.shopId, owner, JSON.stringify(storable(records.filter(({ outcome }) => outcome !== 'unchanged')))
      ])
      return nextFrom(row)
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

/** A part that is still ours. */
interface HeldRow { readonly cancel_requested: boolean }

function nextFrom (row: HeldRow | undefined): Next {
  if (!row) return 'lost'
  return row.cancel_requested ? 'cancelled' : 'continue'
}

function isHeldShop (error: unknown): boolean {
  return error instanceof Error && 'constraint' in error && error.constraint === 'pay_reconcile_one_run_per_shop'
}
