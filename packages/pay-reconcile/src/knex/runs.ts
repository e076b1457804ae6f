import type { Knex } from 'knex'
import type { Complete, Rule, Table } from '#shared/option-table'
import { PAY_RECONCILE_RUN_ACTIVE } from '../errors.ts'
import { settingsBy } from '../option-checks.ts'
import { whereListed } from '../lists/listed.ts'
import { runList } from '../lists/runs.ts'
import type { Lease, NewRun, Next, Part, RunStore, Targets } from '../reconcile/types.ts'
import { withRetries } from '../retry.ts'
import { storable } from '../details.ts'
import { columnsFrom, TABLE_OPTIONS, type AccountColumnNames, type Registered } from './account-table.ts'
import { awaitedShops } from './awaited.ts'
import { itemPage, itemsById } from './item-page.ts'
import { instantFrom, record, recordsOf, run as execute, countOf, shopIsTaken } from './records.ts'
import { orderOfRuns, PART_COLUMNS, runFrom, runsStatement, type RunRow } from './run-rows.ts'
import { assertUsable, demandPostgres, leavesNames } from './startup.ts'
import { demandColumns } from './tables.ts'

const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A part that no process works on. */
const FREE = "(p.status = 'pending' or (p.status = 'running' and p.leased_until < now()))"
const LEASED_UNTIL = "now() + ? * interval '1 millisecond'"

/** Options of {@link knexRunStore}. */
export interface KnexRunStoreOptions extends Registered {
  /**
   * Table of accounts, as for {@link knexAccountStore}. Items are stored only for existing accounts. Default
   * `accounts`.
   */
  readonly table?: string
  /** As for {@link knexAccountStore}; only `id` matters here. */
  readonly columns?: AccountColumnNames
  /** For how many days a run that the schedule or a webhook started is kept, with its items. Default 30. */
  readonly keepScheduledRuns?: number
  /** For how many days a run that somebody started is kept, with its items. Default: until you delete it. */
  readonly keepRuns?: number
}

const DAYS: Rule = {
  holds: (days) => typeof days === 'number' && days > 0 && days <= 36_500,
  rule: 'must be a number of days greater than 0 and at most 36500'
}

const TABLE: Table<Complete<KnexRunStoreOptions, 'registration' | 'keepRuns'>> = {
  ...TABLE_OPTIONS,
  keepScheduledRuns: { ...DAYS, default: 30 },
  keepRuns: DAYS
}

/**
 * Runs in PostgreSQL. Needs the tables of {@link createPayReconcileTables}.
 *
 * A lease in its row holds a part, rather than an advisory lock. A lease does not occupy a connection for hours, and
 * works through a pooler that assigns connections per transaction.
 */
export function knexRunStore (knex: Knex, options: KnexRunStoreOptions = {}): RunStore {
  const { table, columns, registration = table, keepScheduledRuns, keepRuns } = settingsBy(
    TABLE,
    options,
    'knexRunStore'
  )
  const { id: idColumn } = columnsFrom(columns)
  demandPostgres(knex)
  /**
   * Ends the parts of cancelled runs that no process works on, and the runs whose last part has ended. Their targets,
   * which hold names and e-mail addresses, are needed no longer.
   */
  async function settle (): Promise<void> {
    await execute(
      knex,
      knex.raw(`update pay_reconcile_run_shops p set status = 'cancelled', updated_at = now()
      from pay_reconcile_runs r where r.id = p.run_id and r.cancel_requested and ${FREE}`)
    )
    await execute(
      knex,
      knex.raw(
        `update pay_reconcile_runs r set finished_at = now(), targets = null
        where r.finished_at is null and not exists (
          select 1 from pay_reconcile_run_shops p where p.run_id = r.id and p.status in ('pending', 'running'))`
      )
    )
  }

  /** Inserts a run with its parts. @returns false if another run holds one of the shops. */
  async function insert (run: NewRun, parts: string, targets: string | null): Promise<boolean> {
    try {
      await execute(
        knex,
        knex.raw(
          `with run as (
          insert into pay_reconcile_runs (id, registration, mode, dry_run, shop_id, actor, request_id,
            selection, targets)
          values (?, ?, ?, ?, ?, ?, ?, ?::jsonb, ?::jsonb) returning id, registration
        ) insert into pay_reconcile_run_shops (run_id, registration, shop_id, total)
        select run.id, run.registration, p.shop_id, p.total
          from run, jsonb_to_recordset(?::jsonb) as p (shop_id text, total integer)`,
          [
            run.id,
            registration,
            run.mode,
            run.dryRun,
            run.shopId,
            run.actor,
            run.requestId,
            JSON.stringify(run.selection),
            targets,
            parts
          ]
        )
      )
      return true
    } catch (error) {
      if (!shopIsTaken(error)) throw error
      return false
    }
  }

  /** The row of a part, if the lease still holds it. */
  function held ({ runId, shopId }: Part, { owner }: Lease): Knex.QueryBuilder {
    return knex('pay_reconcile_run_shops').where({ run_id: runId, shop_id: shopId, owner, status: 'running' })
  }

  return {
    ready: () =>
      assertUsable(
        Promise.all([
          leavesNames(knex),
          knex(table).select(idColumn).limit(0),
          demandColumns(knex, [
            'pay_reconcile_runs',
            'pay_reconcile_run_shops',
            'pay_reconcile_items',
            'pay_reconcile_unchanged',
            'pay_reconcile_schedule',
            'pay_reconcile_awaited',
            'pay_reconcile_deliveries'
          ])
        ]),
        `knexRunStore needs ${table} with a column ${idColumn}, and the tables of createPayReconcileTables`
      ),

    async start (run, shops, targets) {
      const parts = partsFrom(shops)
      while (!await insert(run, parts, targets && JSON.stringify(storable(targets)))) {
        const [held] = await recordsOf<Pick<Part, 'runId' | 'shopId'>>(
          knex,
          knex.raw(
            `
          select ${record({ runId: 'p.run_id', shopId: 'p.shop_id' })} from pay_reconcile_run_shops p
          where p.registration = ? and p.status in ('pending', 'running')
            and p.shop_id in (select e->>'shop_id' from jsonb_array_elements(?::jsonb) e)
          order by p.shop_id limit 1`,
            [registration, parts]
          )
        )
        // None: the other run ended between the two statements, and the shop is free.
        if (held) throw new PAY_RECONCILE_RUN_ACTIVE(held.runId, held.shopId)
      }
      if (shops.length === 0) await settle()
    },

    async lastScheduled (mode, now) {
      const [row] = await recordsOf<{ readonly scheduled_for: string }>(
        knex,
        knex.raw(
          `
        with first as (insert into pay_reconcile_schedule (registration, mode, scheduled_for)
          values (:registration, :mode, :now) on conflict do nothing returning scheduled_for)
        select ${
            record({ scheduled_for: 'scheduled_for' })
          } from (select scheduled_for from first union all select scheduled_for from pay_reconcile_schedule
            where registration = :registration and mode = :mode) s`,
          { registration, mode, now }
        )
      )
      // None: another process has inserted it since this statement began.
      return row ? instantFrom(row.scheduled_for) : now
    },

    async startScheduled (run, shops) {
      const parts = partsFrom(shops)
      const [row] = await withRetries(
        () => recordsOf(knex, knex.raw(startScheduledStatement, { ...run, registration, parts })),
        shopIsTaken
      )
      // The run is over if all of its shops are held, or there are none.
      if (row) await settle()
      return row !== undefined
    },

    async get (id) {
      if (!RUN_ID.test(id)) return undefined
      const [row] = await recordsOf<RunRow>(
        knex,
        knex.raw(runsStatement('where r.id = :id and r.registration = :registration'), { id, registration })
      )
      return row && runFrom(row)
    },

    async targets (id) {
      const [row] = await recordsOf<{ readonly targets: Targets | null }>(
        knex,
        knex('pay_reconcile_runs').where('id', id).select(knex.raw(record({ targets: 'targets' })))
      )
      return row?.targets ?? null
    },

    async list ({ skip, limit, filter, sort }) {
      const matching = () =>
        knex('pay_reconcile_runs as r').where('r.registration', registration).modify((query) =>
          whereListed(query, runList, filter)
        )
      const [page, count] = await Promise.all([
        recordsOf<{ readonly id: string }>(
          knex,
          matching().orderByRaw(orderOfRuns(sort)).offset(skip).limit(limit).select(knex.raw(record({ id: 'r.id' })))
        ),
        countOf(knex, matching())
      ])
      // Computes the sums only for the runs on the page.
      const rows = await recordsOf<RunRow>(
        knex,
        knex.raw(runsStatement('where r.id = any(:ids::uuid[])'), { ids: page.map(({ id }) => id) })
      )
      const runs = new Map(rows.map((row) => [row.id, runFrom(row)]))
      return { runs: page.flatMap(({ id }) => runs.get(id) ?? []), count }
    },

    registration,
    awaited: awaitedShops(knex, registration),
    items: (id, query) => itemPage(knex, id, query),
    itemsById: (ids) => itemsById(knex, registration, ids),

    async cancel (id) {
      if (!RUN_ID.test(id)) return
      await execute(
        knex,
        knex('pay_reconcile_runs').where({ id, registration, finished_at: null }).update({ cancel_requested: true })
      )
      await settle()
    },

    async claim (id, { owner, duration }) {
      const [part] = await recordsOf<Part>(
        knex,
        knex.raw(
          `
        update pay_reconcile_run_shops p set status = 'running', owner = ?, leased_until = ${LEASED_UNTIL},
          updated_at = now()
        where (p.run_id, p.shop_id) = (
          select p.run_id, p.shop_id from pay_reconcile_run_shops p join pay_reconcile_runs r on r.id = p.run_id
          where p.run_id = ? and p.registration = ? and ${FREE} and not r.cancel_requested
          order by p.shop_id limit 1 for update of p skip locked)
        returning ${record(PART_COLUMNS)}`,
          [owner, duration, id, registration]
        )
      )
      return part
    },

    async renew (part, { owner, duration }) {
      const [row] = await recordsOf<HeldRow>(
        knex,
        knex.raw(
          `update pay_reconcile_run_shops p set leased_until = ${LEASED_UNTIL}
        from pay_reconcile_runs r where r.id = p.run_id and p.run_id = ? and p.shop_id = ? and p.owner = ?
          and p.status = 'running'
        returning ${record(HELD_COLUMNS)}`,
          [duration, part.runId, part.shopId, owner]
        )
      )
      return nextFrom(row)
    },

    async advance (part, items, { owner, duration }) {
      // The accounts after the last one need no record.
      const unchanged = part.paging && part.lastAccount === null
        ? items.filter(({ outcome }) => outcome === 'unchanged')
        : []
      const found = items.filter(({ outcome }) => outcome !== 'unchanged')
      const records = found.map((item) => ({
        account_id: item.accountId,
        shop_id: item.shopId,
        outcome: item.outcome,
        item
      }))
      // Locked, so that a transaction that deletes and then forgets an account also sees its item.
      const existing = knex(table).whereIn(idColumn, found.map(({ accountId }) => accountId)).select(
        knex.raw('??::text as id', [idColumn])
      ).forKeyShare()
      const [row] = await recordsOf<HeldRow>(
        knex,
        knex.raw(
          `
        with ours as (
          update pay_reconcile_run_shops set total = ?, processed = ?, last_account = ?, outcomes = ?::jsonb,
            differences = ?::jsonb, paging = ?::jsonb,
            leased_until = ${LEASED_UNTIL}, updated_at = now()
          where run_id = ? and shop_id = ? and owner = ? and status = 'running' returning run_id, shop_id
        ), same as (
          insert into pay_reconcile_unchanged (run_id, shop_id, account_id)
          select ours.run_id, ours.shop_id, u.id from ours, unnest(?::text[]) u (id) on conflict do nothing
        ), existing as (
          ?
        ), found as (
          insert into pay_reconcile_items (run_id, account_id, shop_id, outcome, item)
          select ours.run_id, i.account_id, i.shop_id, i.outcome, i.item
          from ours, jsonb_to_recordset(?::jsonb) as i (account_id text, shop_id text, outcome text, item jsonb)
            join existing e on e.id = i.account_id
          on conflict do nothing
        )
        select ${record(HELD_COLUMNS)} from ours join pay_reconcile_runs r on r.id = ours.run_id`,
          [
            part.total,
            part.processed,
            part.lastAccount,
            JSON.stringify(part.outcomes),
            JSON.stringify(part.differences),
            part.paging && JSON.stringify(part.paging),
            duration,
            part.runId,
            part.shopId,
            owner,
            unchanged.map(({ accountId }) => accountId),
            existing,
            JSON.stringify(storable(records))
          ]
        )
      )
      return nextFrom(row)
    },

    async finish (part, lease, status, reason, missingPermission = undefined) {
      const ended = await recordsOf(
        knex,
        held(part, lease).update({
          status,
          reason,
          missing_permission: missingPermission ?? null,
          updated_at: knex.fn.now()
        })
          .returning(knex.raw(record({ shop_id: 'shop_id' })))
      )
      // Of a part that ended early they say which accounts it did not reach.
      if (ended.length > 0 && status === 'done') {
        await execute(
          knex,
          knex('pay_reconcile_unchanged').where({ run_id: part.runId, shop_id: part.shopId }).delete()
        )
      }
      await settle()
    },

    async release (part, lease) {
      await execute(
        knex,
        held(part, lease).update({ status: 'pending', owner: null, leased_until: null, updated_at: knex.fn.now() })
      )
    },

    async deleteExpired () {
      await execute(
        knex,
        knex.raw(
          'delete from pay_reconcile_runs where registration = ? and (scheduled_for is not null or webhook) and ' +
            "finished_at < now() - ? * interval '1 day'",
          [registration, keepScheduledRuns]
        )
      )
      if (keepRuns !== undefined) {
        await execute(
          knex,
          knex.raw(
            'delete from pay_reconcile_runs where registration = ? and scheduled_for is null and not webhook ' +
              "and finished_at < now() - ? * interval '1 day'",
            [registration, keepRuns]
          )
        )
      }
      await execute(knex, knex.raw("delete from pay_reconcile_deliveries where at < now() - interval '1 hour'"))
    },

    async claimable () {
      await settle()
      const rows = await recordsOf<{ readonly run_id: string }>(
        knex,
        knex.raw(
          `select distinct ${record({ run_id: 'p.run_id' })}
        from pay_reconcile_run_shops p join pay_reconcile_runs r on r.id = p.run_id where p.registration = ?
          and ${FREE} and not r.cancel_requested`,
          [registration]
        )
      )
      return rows.map((row) => row.run_id)
    }
  }
}

/** The parts of a run as JSON. */
function partsFrom (shops: ReadonlyArray<{ readonly shopId: string, readonly accounts: number }>): string {
  return JSON.stringify(shops.map(({ shopId, accounts }) => ({ shop_id: shopId, total: accounts })))
}

/**
 * Takes the scheduled time and starts its run in one statement, so that a crash does neither. A second process waits
 * for the row, and finds it taken.
 */
const startScheduledStatement = `
  with taken as (
    update pay_reconcile_schedule set scheduled_for = :scheduledFor where registration = :registration
      and mode = :mode and scheduled_for < :scheduledFor returning scheduled_for
  ), run as (
    insert into pay_reconcile_runs (id, registration, mode, dry_run, actor, scheduled_for)
      select :id, :registration, :mode, :dryRun, :actor, scheduled_for from taken returning id
  ), parts as (
    insert into pay_reconcile_run_shops (run_id, registration, shop_id, total, status, reason)
    select run.id, :registration, p.shop_id, p.total, case when h.held then 'stopped' else 'pending' end,
      case when h.held then 'PAY_RECONCILE_RUN_ACTIVE' end
    from run, jsonb_to_recordset(:parts::jsonb) as p (shop_id text, total integer),
      lateral (select exists (select from pay_reconcile_run_shops o where o.registration = :registration
        and o.shop_id = p.shop_id and o.status in ('pending', 'running')) as held) h
  )
  select ${record({ id: 'id' })} from run`

/** The run of a part that the lease still holds. */
interface HeldRow {
  readonly cancel_requested: boolean
}
const HELD_COLUMNS = { cancel_requested: 'r.cancel_requested' }

function nextFrom (row: HeldRow | undefined): Next {
  if (!row) return 'lost'
  return row.cancel_requested ? 'cancelled' : 'continue'
}
