import type { Knex } from 'knex'
import { type ItemOutcome, type ItemProblem, productBatch, type ProductItem } from '../catalog/product-batch.ts'
import { itemsOfPortion, PORTION } from '../catalog/portion.ts'
import { changedSince, type Found } from '../catalog/product-found.ts'
import { metAnother, tried } from '../database/tried.ts'
import { errorFromDatabase } from '../database/errors.ts'
import { forgetOneByOne } from '../database/portions.ts'
import type { Actor } from '../access/caller.ts'
import { ShopScope } from '../access/scope.ts'
import { shopsThere } from '../access/shops-there.ts'
import { withTargets } from './check.ts'
import { endImport, fewerBytes, type ImportKey, UNFINISHED, whereBroken } from './repository.ts'
import { CHUNK, type LineStatus } from './schemas.ts'

interface UnfinishedImport extends ImportKey {
  readonly status: 'pending' | 'running'
  readonly actor: Actor
  readonly total: number
  readonly processed: number
  readonly follows: boolean
}

interface StoredLine {
  readonly position: number
  readonly status: LineStatus
  /** Of a pending line. */
  readonly product: ProductItem
  readonly found: Found | null
}

/**
 * Applies imports, step by step. Any number of processes may.
 *
 * @param onEnd - called when an import has ended here
 */
export function importSteps (knex: Knex, onEnd: (outcome: 'done' | 'failed') => void) {
  const batch = productBatch(knex)
  const postponed = new Map<string, number>()

  /** Applies the next lines of an import whose row is locked. @returns whether these were the last */
  async function apply (trx: Knex.Transaction, current: UnfinishedImport): Promise<boolean> {
    const { id, shop_id: shopId, actor, total, follows } = current
    const shop = await ShopScope.resume(trx, shopId, actor)
    const read = await readLines(trx, current)
    const pending = read.filter(({ status }) => status === 'pending')
    const targets = await withTargets(trx, shop, pending.map(({ product }) => product))
    const items = targets.slice(0, await itemsOfPortion(trx, shop, targets))
    const lines = pending.slice(0, items.length)
    const { outcomes, problems } = await batch.write(shop, items, trx, {
      slugs: 'distinct',
      refuse: async (ready) => await changedSince(trx, shop, ready, lines.map(({ found }) => found), follows)
    })
    // Somebody deleted the product, changed its SKU, or created one with it, after it was looked for.
    const refused = problems.map(({ index }) => index)
    const again = await withTargets(trx, shop, refused.map((index) => lines[index]!.product))
    if (refused.some((index, at) => again[at]!.id !== items[index]!.id)) {
      throw Object.assign(new Error('A product has changed'), { code: '40001' })
    }
    await settleLines(trx, current, lines, outcomes, problems)
    const count = (action: ItemOutcome['action']): number =>
      outcomes.filter((outcome) => outcome?.action === action).length
    const now = (pending[items.length]?.position ?? read.at(-1)!.position + 1) - 1
    await trx('imports').where({ shop_id: shopId, id }).update({
      processed: now,
      status: now === total ? 'done' : 'running',
      created: trx.raw('created + ?', [count('created')]),
      updated: trx.raw('updated + ?', [count('updated')]),
      unchanged: trx.raw('unchanged + ?', [count('unchanged')]),
      failed: trx.raw('failed + ?', [
        problems.length + read.filter(({ position, status }) => status === 'failed' && position <= now).length
      ]),
      updated_at: trx.raw('clock_timestamp()'),
      started_at: trx.raw('coalesce(started_at, now())'),
      ...now === total && { bytes: fewerBytes(trx), finished_at: trx.raw('clock_timestamp()') }
    })
    return now === total
  }

  return {
    /**
     * Applies the next lines of one import, in a transaction: of those whose turn it is, the one that has waited
     * longest.
     *
     * @returns whether there was any
     * @throws when the database cannot be reached, or is too busy
     */
    async step (): Promise<boolean> {
      let current: UnfinishedImport | undefined
      try {
        const isLast = await tried(async () =>
          await knex.transaction(async (trx) => {
            current = await nextImport(trx, postponed)
            return current && await apply(trx, current)
          })
        )
        if (isLast === true) onEnd('done')
        return isLast !== undefined
      } catch (error) {
        const refusal = (error as { statusCode?: number }).statusCode === undefined
          ? errorFromDatabase(error as { code?: string })
          : error as { statusCode: number, message: string }
        if (
          current === undefined || metAnother(error) || refusal === undefined || refusal.statusCode === undefined ||
          refusal.statusCode >= 500
        ) throw Object.assign(error as Error, { ofImport: current })
        await fail(current, refusal.message)
        return true
      }
    },

    fail,

    /** Lets all other imports go first, here. It is not written down: that would count as progress. */
    postpone ({ id }: ImportKey): void {
      const now = Date.now()
      for (const [other, at] of postponed) if (at < now - POSTPONED) postponed.delete(other)
      postponed.set(id, now)
    },

    /** Removes files whose process died while it received them. */
    async forgetBroken (): Promise<void> {
      await forgetOneByOne(knex, 'imports', whereBroken)
    }
  }

  /** Ends an import, and says why, unless somebody else has ended it. */
  async function fail ({ shop_id: shopId, id }: ImportKey, why: string): Promise<void> {
    const isEnded = await knex.transaction(async (trx) => {
      if (
        await trx('imports').where({ shop_id: shopId, id }).whereIn('status', UNFINISHED).forUpdate().first('id') ===
          undefined
      ) return false
      await endImport(trx, { shop_id: shopId, id }, 'failed', why)
      return true
    })
    if (isEnded) onEnd('failed')
  }
}

/** How many imports are looked at, should others be working at the first ones. */
const CANDIDATES = 20

/** How long an import is known to have been postponed, in milliseconds. */
const POSTPONED = 60_000

/** The first unfinished import of each shop, the one that has waited longest first. */
const FIRST_OF_SHOPS = `
    from imports
    where status in ('pending', 'running') and not exists (
      select from imports earlier where earlier.shop_id = imports.shop_id and earlier.status in ('pending', 'running')
        and (earlier.created_at, earlier.id) < (imports.created_at, imports.id)
    )`

/** How long the import whose turn it is has waited for its next step, in seconds; 0 if there is none. */
export async function oldestTurn (knex: Knex): Promise<number> {
  const { rows: [{ seconds }] } = await knex.raw(
    `select coalesce(extract(epoch from clock_timestamp() - min(updated_at)), 0)::float as seconds ${FIRST_OF_SHOPS}`
  )
  return seconds
}

/**
 * Locks the import whose turn it is. The imports of a shop are applied one after another, and shops take turns. Imports
 * that another process is applying are skipped.
 *
 * @param postponed - when imports were postponed here, by their ids
 */
async function nextImport (
  trx: Knex.Transaction,
  postponed: ReadonlyMap<string, number>
): Promise<UnfinishedImport | undefined> {
  const times = Object.fromEntries([...postponed].map(([id, at]) => [id, new Date(at).toISOString()]))
  const { rows: candidates } = await trx.raw(
    `select id, shop_id ${FIRST_OF_SHOPS} order by greatest(updated_at, (?::jsonb->>id::text)::timestamptz) ` +
      `limit ${CANDIDATES}`,
    [JSON.stringify(times)]
  )
  for (const { id, shop_id: shopId } of candidates) {
    // The shop first, as its deletion does.
    if (await shopsThere(trx).where({ id: shopId }).forKeyShare().skipLocked().first('id') === undefined) continue
    const found = await trx('imports').where({ shop_id: shopId, id }).whereIn('status', UNFINISHED).forUpdate()
      .skipLocked().first('id', 'shop_id', 'status', 'actor', 'total', 'processed', 'follows')
    if (found !== undefined) return found
  }
  return undefined
}

/** The next lines of an import: one portion, and no more than are applied at a time. */
async function readLines (
  trx: Knex.Transaction,
  { shop_id: shopId, id, processed }: UnfinishedImport
): Promise<readonly StoredLine[]> {
  const { rows } = await trx.raw(
    `
    select position, status, product, found from (
      select *, sum(coalesce(octet_length(product::text), 0)) over (order by position) as bytes_so_far from import_lines
      where shop_id = ? and import_id = ? and position > ? and position <= ?
    ) sized where bytes_so_far <= ? or position = ? order by position`,
    [shopId, id, processed, processed + CHUNK, PORTION, processed + 1]
  )
  return rows
}

async function settleLines (
  trx: Knex.Transaction,
  { shop_id: shopId, id }: ImportKey,
  lines: ReadonlyArray<Pick<StoredLine, 'position'>>,
  outcomes: ReadonlyArray<ItemOutcome | undefined>,
  problems: readonly ItemProblem[]
): Promise<void> {
  const failures = new Map(problems.map(({ index, error }) => [index, error]))
  const rows = lines.map(({ position }, index) => {
    const [outcome, error] = [outcomes[index], failures.get(index)]
    return {
      position,
      status: outcome?.action ?? 'failed',
      product_id: outcome?.id,
      change_id: outcome?.change,
      field: error?.field,
      message: error?.message
    }
  })
  await trx.raw(
    `update import_lines set product = null, found = null, status = given.status,
      source = case given.status when 'failed' then source end, product_id = given.product_id,
      change_id = given.change_id, field = given.field, message = given.message
    from jsonb_to_recordset(?::jsonb)
      as given(position int, status text, product_id uuid, change_id uuid, field text, message text)
    where shop_id = ? and import_id = ? and import_lines.position = given.position`,
    [JSON.stringify(rows), shopId, id]
  )
}
