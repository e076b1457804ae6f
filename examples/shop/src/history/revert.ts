import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { PORTION } from '../catalog/portion.ts'
import { tried } from '../database/tried.ts'
import {
  invalid,
  notFound,
  notKnown,
  revertConflict,
  SHOP_NOT_REVERTIBLE,
  SHOP_OWNER_ONLY,
  SHOP_REVERT_TOO_LONG
} from '../errors.ts'
import { spellingsOf } from '../http/schemas.ts'
import { enterAgain } from '../access/shops-reached.ts'
import { holdShop } from '../access/hold.ts'
import type { ShopScope } from '../access/scope.ts'
import { conflictFrom, Obstacle, refusalFrom, refuseLaterChanges } from './conflict.ts'
import { notAfter, seenBy } from '../records/kinds.ts'
import { type Acted, type Changes, type Conflict, LISTED, type Reverted } from './revert-schemas.ts'
import { revertMany } from './revert-many.ts'
import { type Listed, type Revertible, revertibles, type StoredChange } from './revertible.ts'
import type { turns } from '../turns.ts'

type Outcome = Static<typeof Reverted>

/** How many changes are reverted at once. */
const MAX_CHANGES = 10_000

/** How many changes are in memory at a time, if they are no more than a portion. */
const CHUNK = 250

/**
 * How long a revert may take, in milliseconds, since others wait for its place; and one that only tells what it would
 * do.
 */
const LONGEST = { revert: 60_000, dryRun: 20_000 }

const COLUMNS = ['id', 'seq', 'at', 'action', 'record_kind', 'record_id', 'record_name', 'changes'] as const

/**
 * Takes changes back. A change is reverted if what it changed is still as it left it; what else happened to the record
 * stays. Either everything is reverted or nothing, unless conflicts are to be skipped.
 *
 * @param inTurn - lets them take turns
 */
export function reverter (knex: Knex, inTurn: ReturnType<typeof turns>) {
  const kinds: Readonly<Record<string, Revertible>> = revertibles(knex)
  const alike = revertMany(knex)

  /**
   * Reverts run one at a time in a shop, and one at a time of a caller; they take turns with moves and deletions of
   * categories. A caller who has lost access meanwhile gets nothing.
   *
   * @throws {@link SHOP_REVERT_CONFLICT} | {@link SHOP_TOO_MANY_CONCURRENT_CALLS} | {@link SHOP_FORBIDDEN} |
   *   {@link SHOP_USER_INACTIVE}
   */
  async function inTransaction (
    shop: ShopScope,
    work: (trx: Knex.Transaction) => Promise<Outcome>,
    skipsConflicts = false
  ): Promise<Outcome> {
    const end = new DryRun()
    const run = async (): Promise<Outcome> =>
      await knex.transaction(async (trx) => {
        await holdShop(trx, shop, { alone: true })
        const outcome = await work(trx)
        // It may have waited for long, and taken long.
        await enterAgain(trx, shop.caller, shop.id)
        if (outcome.dry_run) throw Object.assign(end, { outcome })
        if (outcome.conflict_count > 0 && !skipsConflicts) throw revertConflict(outcome)
        return outcome
      })
    try {
      return await tried(async () => await inTurn([`shop ${shop.id}`, `${shop.caller.kind} ${shop.caller.id}`], run))
    } catch (error) {
      if (error === end) return end.outcome!
      throw error
    }
  }

  /** Reverts changes in the given order. One that cannot be reverted does not keep others from being tried. */
  async function revertAll (
    trx: Knex.Transaction,
    shop: ShopScope,
    ids: readonly string[],
    dryRun: boolean
  ): Promise<Outcome> {
    const changes: Outcome['changes'] = []
    const conflicts: Array<Static<typeof Conflict>> = []
    const leftOutList: Outcome['left_out'] = []
    let [reverted, conflictCount, leftOutCount] = [0, 0, 0]
    const longest = dryRun ? LONGEST.dryRun : LONGEST.revert
    const end = performance.now() + longest
    for (let start = 0; start < ids.length;) {
      if (performance.now() > end) throw new SHOP_REVERT_TOO_LONG(longest / 1000)
      const chunk = await readChanges(trx, ids.slice(start, start + CHUNK))
      start = chunk.length === 0 ? start + CHUNK : ids.indexOf(chunk.at(-1)!.id, start) + 1
      const results: Result[] = []
      for (const run of runsOf(chunk)) results.push(...await attempt(trx, shop, run, conflictCount < LISTED))
      for (const [index, { leftOut, conflict }] of results.entries()) {
        const change = chunk[index]!
        if (leftOut !== undefined) {
          if (leftOutCount++ < LISTED) leftOutList.push({ ...about(change), reason: leftOut })
        } else if (conflict !== undefined) {
          if (conflictCount++ < LISTED) conflicts.push({ ...about(change), ...conflict })
        } else if (reverted++ < LISTED) {
          changes.push({ ...about(change), revert_id: null, action: INVERSE[change.action as keyof typeof INVERSE] })
        }
      }
    }
    const revertIds = dryRun ? undefined : await revertsOf(trx, changes.map(({ change_id: id }) => id))
    return {
      dry_run: dryRun,
      reverted,
      changes: changes.map((change) => ({ ...change, revert_id: revertIds?.get(change.change_id) ?? null })),
      conflict_count: conflictCount,
      conflicts,
      left_out_count: leftOutCount,
      left_out: leftOutList
    }
  }

  /**
   * Reverts changes under one savepoint, since one for each would take twice as long. If a statement fails, all of them
   * are undone, and then tried one by one.
   */
  async function attempt (
    trx: Knex.Transaction,
    shop: ShopScope,
    changes: readonly Listed[],
    explain: boolean
  ): Promise<Result[]> {
    const results: Result[] = []
    try {
      await trx.transaction(async (savepoint) => {
        if (changes.length > 1 && await alike(savepoint, shop, changes)) results.push(...changes.map(() => ({})))
        else for (const change of changes) results.push(await step(savepoint, shop, change, explain))
      })
      return results
    } catch (error) {
      refusalFrom(error)
      const [change, ...more] = changes
      if (more.length === 0) return [{ conflict: await conflictFrom(trx, shop, change!, error, explain) }]
      const alone: Result[] = []
      for (const one of changes) alone.push(...await attempt(trx, shop, [one], explain))
      return alone
    }
  }

  /** @throws what a change by hand throws, after which the transaction cannot go on */
  async function step (trx: Knex.Transaction, shop: ShopScope, change: Listed, explain: boolean): Promise<Result> {
    if (!canRevert(change)) return { leftOut: `Changes of ${change.record_kind} cannot be reverted` }
    // Asked again, as one of the changes reverted before may have been its revert.
    if (change.was_reverted && await isReverted(trx, change.id)) return { leftOut: 'It has already been reverted' }
    try {
      await revert(trx, shop.reverting(change.id), change, kinds[change.record_kind]!)
      return {}
    } catch (error) {
      if (!(error instanceof Obstacle)) throw error
      return { conflict: await conflictFrom(trx, shop, change, error, explain) }
    }
  }

  function canRevert ({ action, record_kind: kind }: StoredChange): boolean {
    return action !== 'event' && kind in kinds
  }

  return {
    /**
     * @param isOwner - others see fewer changes, and change no settings
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_REVERTIBLE} |
     *   {@link SHOP_REVERT_CONFLICT} | {@link SHOP_QUOTA_EXCEEDED}
     */
    async revertChange (shop: ShopScope, isOwner: boolean, id: string, dryRun = false): Promise<Outcome> {
      return await inTransaction(shop, async (trx) => {
        const change: StoredChange | undefined = await trx('history').where({ shop_id: shop.id, id }).modify(
          seenBy(isOwner)
        ).first(COLUMNS)
        if (change === undefined) throw notFound('change', id)
        if (!canRevert(change)) {
          throw new SHOP_NOT_REVERTIBLE(change.action === 'event' ? 'Events' : `Changes of ${change.record_kind}`)
        }
        if (change.record_kind === 'shop_config' && !isOwner) throw new SHOP_OWNER_ONLY()
        const [revert] = await isReverted(trx, change.id) ? [...(await revertsOf(trx, [change.id])).values()] : []
        if (revert === undefined) return await revertAll(trx, shop, [change.id], dryRun)
        const conflict = { ...about(change), later_change_id: revert, reason: 'It has already been reverted' }
        return {
          dry_run: dryRun,
          reverted: 0,
          changes: [],
          conflict_count: 1,
          conflicts: [conflict],
          left_out_count: 0,
          left_out: []
        }
      })
    },

    /**
     * @param isOwner - for others, changes that they do not see are as if they were not there, and those of settings
     *   left out
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_INVALID} | {@link SHOP_REVERT_CONFLICT} |
     *   {@link SHOP_QUOTA_EXCEEDED}
     */
    async revertChanges (
      shop: ShopScope,
      isOwner: boolean,
      which: Changes,
      { dryRun = false, skipsConflicts = false } = {}
    ): Promise<Outcome> {
      return await inTransaction(shop, async (trx) => {
        if ('import_id' in which) await refuseUnfinished(trx, shop, which.import_id)
        const entries = trx('history').where({ shop_id: shop.id }).modify(seenBy(isOwner))
        const changes = changesOf(trx, shop, entries, which)
        const found: ReadonlyArray<Named> = await changes.orderBy('seq', 'desc').limit(MAX_CHANGES + 1).select(
          'id',
          'record_kind',
          'record_id',
          'record_name'
        )
        if ('ids' in which) refuseUnknown(which.ids, found)
        if (found.length > MAX_CHANGES) {
          throw invalid('since', `since must be later: there are more than ${MAX_CHANGES} changes`)
        }
        const settings = isOwner ? [] : found.filter(({ record_kind: kind }) => kind === 'shop_config')
        const outcome = await revertAll(
          trx,
          shop,
          found.filter((change) => !settings.includes(change)).map((change) => change.id),
          dryRun
        )
        const leftOut = [
          ...outcome.left_out,
          ...settings.map((change) => ({ ...about(change), reason: 'Only owners change settings' }))
        ]
        return {
          ...outcome,
          left_out: leftOut.slice(0, LISTED),
          left_out_count: outcome.left_out_count + settings.length
        }
      }, skipsConflicts)
    }
  }
}

function changesOf (
  trx: Knex.Transaction,
  shop: ShopScope,
  entries: Knex.QueryBuilder,
  which: Changes
): Knex.QueryBuilder {
  if ('ids' in which) return entries.whereIn('id', which.ids)
  return 'import_id' in which ? ofImport(trx, shop, entries, which.import_id) : ofActor(entries, which)
}

function ofActor (
  entries: Knex.QueryBuilder,
  { actor_kind: kind, actor_id: id, since, until, operation }: Acted
): Knex.QueryBuilder {
  if (until !== undefined) entries.modify(notAfter(until))
  return entries.where({ actor_kind: kind, ...operation !== undefined && { operation } }).whereIn(
    'actor_id',
    spellingsOf(id)
  ).whereNot({ action: 'event' }).where('at', '>=', new Date(since).toISOString())
}

function ofImport (trx: Knex.Transaction, shop: ShopScope, entries: Knex.QueryBuilder, id: string): Knex.QueryBuilder {
  return entries.whereIn(
    'id',
    trx('import_lines').where({ shop_id: shop.id, import_id: id }).whereNotNull('change_id').select('change_id')
  )
}

/**
 * @throws {@link SHOP_NOT_FOUND}
 * @throws {@link SHOP_INVALID} if the import is still running
 */
async function refuseUnfinished (trx: Knex.Transaction, shop: ShopScope, id: string): Promise<void> {
  const found = await trx('imports').where({ shop_id: shop.id, id }).whereNot({ status: 'receiving' }).first('status')
  if (found === undefined) throw notFound('import', id)
  if (found.status === 'pending' || found.status === 'running') {
    throw invalid('import_id', 'import_id is not finished: wait for it, or cancel it')
  }
}

/** @throws {@link SHOP_NOT_FOUND} that names the first change that is not there, or that the caller does not see */
function refuseUnknown (ids: readonly string[], found: readonly Named[]): void {
  // The server writes its ids in lower case, and callers may not.
  const unknown = ids.find((id) => found.every((change) => change.id !== id.toLowerCase()))
  if (unknown !== undefined) throw notFound('change', unknown)
}

/** Ends the transaction of a dry run, which is rolled back. */
class DryRun extends Error {
  readonly outcome?: Outcome
}

/** What the revert of a change does to the record. */
const INVERSE = { create: 'delete', update: 'update', delete: 'create' } as const

/** What is told of a change. */
type Named = Pick<StoredChange, 'id' | 'record_kind' | 'record_id' | 'record_name'>

function about ({ id, record_kind: kind, record_id: recordId, record_name: name }: Named) {
  return { change_id: id, record_kind: kind, record_id: recordId, record_name: name }
}

/** The outcome of a change: it was reverted, unless there is a reason. */
interface Result {
  readonly leftOut?: string
  readonly conflict?: Awaited<ReturnType<typeof conflictFrom>>
}

/** Changes of the same kind that follow each other, since many of those are reverted at once. */
function runsOf (changes: readonly Listed[]): ReadonlyArray<readonly Listed[]> {
  const runs: Listed[][] = []
  for (const change of changes) {
    const [last] = runs.at(-1) ?? []
    if (last?.record_kind === change.record_kind && last.action === change.action) runs.at(-1)!.push(change)
    else runs.push([change])
  }
  return runs
}

/** @returns the first of the changes: one portion */
async function readChanges (trx: Knex.Transaction, ids: readonly string[]): Promise<Listed[]> {
  const portion = `id in (select id from (
    select history.id, row_number() over latest as place,
      sum(octet_length(history.changes::text) + coalesce(products.bytes, 0)) over latest as bytes_so_far
    from history left join products on products.shop_id = history.shop_id
      and products.id = case record_kind when 'product' then record_id::uuid end
    where history.id = any(?::uuid[]) window latest as (order by seq desc)
  ) sized where bytes_so_far <= ? or place = 1)`
  // Locked, so that none is deleted for its age before it is reverted.
  return await trx('history').whereRaw(portion, [[...ids], PORTION]).orderBy('seq', 'desc').forKeyShare()
    .select([
      ...COLUMNS,
      trx.raw('exists (select from history later where later.reverts = history.id) as was_reverted')
    ])
}

async function isReverted (trx: Knex.Transaction, id: string): Promise<boolean> {
  const { rows } = await trx.raw('select is_reverted(?) as is', [id])
  return rows[0].is
}

/** @returns the last revert of each change */
async function revertsOf (trx: Knex.Transaction, ids: readonly string[]): Promise<Map<string, string>> {
  const found = await trx('history').whereIn('reverts', ids).orderBy('seq').select('id', 'reverts')
  return new Map(found.map(({ id, reverts }) => [reverts, id]))
}

/** @throws {@link Obstacle} before it writes anything, and what a change by hand throws */
async function revert (
  trx: Knex.Transaction,
  shop: ShopScope,
  change: StoredChange,
  { hold, update, life }: Revertible
): Promise<void> {
  const { action, record_kind: kind, record_id: id, changes } = change
  const facts = await hold(shop, id, trx, action === 'update' ? Object.keys(changes) : undefined)
  if (action === 'delete') {
    if (facts !== undefined) throw new Obstacle(`The ${kind} exists again`)
    await life!.restore(shop, change, trx)
    return
  }
  if (facts === undefined) throw new Obstacle(`The ${kind} was deleted`)
  if (action === 'update') {
    const unknown = Object.keys(changes).find((name) => !(name in facts))
    if (unknown !== undefined) throw notKnown(unknown)
    refuseLaterChanges(facts, changes, Object.keys(changes))
    await update(shop, change, trx)
    return
  }
  refuseLaterChanges(facts, changes, Object.keys(facts))
  await refuseReferences(trx, shop, kind, id, life!)
  await life!.remove(shop, id, trx)
}

async function refuseReferences (
  trx: Knex.Transaction,
  shop: ShopScope,
  kind: string,
  id: string,
  { table, references }: NonNullable<Revertible['life']>
): Promise<void> {
  // From here on, transactions that add a reference wait.
  await trx(table).where({ shop_id: shop.id, id }).forUpdate().select('id')
  for (const [name, [link, column]] of Object.entries(references)) {
    const used = await trx(link).where({ shop_id: shop.id, [column]: id }).first(column)
    if (used !== undefined) throw new Obstacle(`The ${kind} is in use by ${name}`)
  }
}
