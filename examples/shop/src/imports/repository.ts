import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { Actor } from '../access/caller.ts'
import { conflict, notFound, SHOP_QUOTA_EXCEEDED, SHOP_TOO_MANY_IMPORTS, SHOP_USER_INACTIVE } from '../errors.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { awaitDeletion } from '../access/hold.ts'
import type { ShopScope } from '../access/scope.ts'
import { isKnown } from '../users/repository.ts'
import type { CheckedLine } from './check.ts'
import {
  type Import,
  type ImportLine,
  type ImportStatus,
  LISTED,
  lineList,
  type ListedImport,
  list,
  MAX_UNFINISHED
} from './schemas.ts'

type ListedRow = Static<typeof ListedImport>

/** Statuses of imports that are not over. */
export const UNFINISHED: readonly ImportStatus[] = ['pending', 'running']

const COLUMNS = [
  'id',
  'shop_id',
  'status',
  'total',
  'processed',
  'created',
  'updated',
  'unchanged',
  'failed',
  'error',
  'file_name',
  'created_at',
  'updated_at',
  'started_at',
  'finished_at'
]

/** Of a line, beside what it says. */
const LINE_BYTES = 150

/** How many bytes the lines of the import `imports` have. */
const IMPORT_BYTES = `(select coalesce(octet_length(imports.headings), 0) + coalesce(sum(${LINE_BYTES} +
    coalesce(octet_length(product::text), 0) + coalesce(octet_length(source), 0) +
    coalesce(octet_length(field), 0) + coalesce(octet_length(message), 0)), 0)
  from import_lines where shop_id = imports.shop_id and import_id = imports.id)`

/** The name of who sent an import; of an API key, as it is called now. */
const ACTOR_NAME = `coalesce(actor->>'name', (
    select name from api_keys where api_keys.id = case actor->>'kind' when 'api-key' then (actor->>'id')::uuid end
  )) as actor_name`

/** How many changes of an import were undone, unless that was undone too. */
const REVERTED = `select count(*)::int as reverted from import_lines
  where shop_id = ? and import_id = ? and change_id is not null and is_reverted(change_id)`

/** Imports and their lines. Rows of other shops count as missing. */
export function importRepository (knex: Knex) {
  const all = (shop: ShopScope, on: Knex = knex): Knex.QueryBuilder =>
    on.from(
      on('imports').where({ shop_id: shop.id }).whereNot({ status: 'receiving' })
        .select([
          ...COLUMNS,
          on.raw("actor->>'kind' as actor_kind"),
          on.raw("actor->>'id' as actor_id"),
          on.raw(ACTOR_NAME)
        ]).as('imports')
    )

  const get = async (shop: ShopScope, id: string, on: Knex = knex): Promise<Static<typeof Import>> => {
    const row: ListedRow | undefined = await all(shop, on).where({ id }).first()
    if (row === undefined) throw notFound('import', id)
    const errors = row.failed === 0
      ? []
      : await on('import_lines').where({ shop_id: shop.id, import_id: id, status: 'failed' }).orderBy('position')
        .limit(LISTED).select('line', 'field', 'message')
    const warnings = await on('import_lines').where({ shop_id: shop.id, import_id: id }).where('position', '<=', 0)
      .orderBy('position', 'desc').pluck<string[]>('message')
    const { rows: [{ reverted }] } = await on.raw(REVERTED, [shop.id, id])
    return { ...row, reverted, warnings, errors }
  }

  return {
    get,

    async list (shop: ShopScope, query: ListQuery): Promise<Page<ListedRow>> {
      return await pageOf<ListedRow>(knex, all(shop), list, query)
    },

    /** @throws {@link SHOP_NOT_FOUND} */
    async lines (shop: ShopScope, id: string, query: ListQuery): Promise<Page<Static<typeof ImportLine>>> {
      if (await all(shop).where({ id }).first('id') === undefined) throw notFound('import', id)
      const lines = knex('import_lines').where({ shop_id: shop.id, import_id: id }).where('position', '>', 0).select(
        'line',
        'status',
        'product_id',
        'change_id',
        'field',
        'message',
        knex.raw('line::text as id')
      )
      return await pageOf(knex, knex.from(lines.as('lines')), lineList, query)
    },

    /**
     * Begins to receive a file.
     *
     * @param fileName - as the sender calls it
     * @returns the id of the import, which nobody sees yet
     * @throws {@link SHOP_TOO_MANY_IMPORTS} | {@link SHOP_GONE} | {@link SHOP_USER_INACTIVE}
     */
    async begin (shop: ShopScope, fileName?: string): Promise<string> {
      return await knex.transaction(async (trx) => {
        await awaitDeletion(trx, shop.id)
        // Those that begin at the same time take turns.
        await trx.raw('select pg_advisory_xact_lock(?, hashtext(?))', [LOCK, shop.id])
        if (!await isKnown(trx, shop.caller)) throw new SHOP_USER_INACTIVE()
        await trx('imports').where({ shop_id: shop.id }).modify(whereBroken).delete()
        const [{ count }] = await trx('imports').where({ shop_id: shop.id }).whereIn('status', [
          'receiving',
          ...UNFINISHED
        ]).count() as [{ count: number }]
        if (count >= MAX_UNFINISHED) throw new SHOP_TOO_MANY_IMPORTS(MAX_UNFINISHED)
        const { kind, id, name = null, operation, tool = null, confirmed = null, requestId } = shop.caller
        const actor: Actor = { kind, id, name, operation, tool, confirmed, requestId }
        const [row] = await trx('imports').insert({
          shop_id: shop.id,
          actor: JSON.stringify(actor),
          file_name: fileName ?? null
        }).returning('id')
        return row.id
      })
    },

    /** Stores lines of a file. @param start - how many were stored before */
    async addLines (shop: ShopScope, id: string, lines: readonly CheckedLine[], start: number): Promise<void> {
      const rows = lines.map(({ line, product, preview, problem, source }, index) => ({
        position: start + index + 1,
        line,
        source: typeof source === 'string' ? source.replace(/[\0\p{Surrogate}]/gu, '') : JSON.stringify(source),
        status: problem === undefined ? 'pending' : 'failed',
        ...problem === undefined ? { product, found: preview?.found } : problem
      }))
      await knex.raw(
        `insert into import_lines (shop_id, import_id, position, line, status, source, product, found, field, message)
        select ?, ?, position, line, status, source, product, found, field, message
        from jsonb_to_recordset(?::jsonb) as given(position int, line int, status text, source text, product jsonb,
          found jsonb, field text, message text)`,
        [shop.id, id, JSON.stringify(rows)]
      )
    },

    /** Stores the names of the columns of a file. */
    async addHeadings (shop: ShopScope, id: string, headings: ReadonlyArray<string | null>): Promise<void> {
      await knex('imports').where({ shop_id: shop.id, id }).update({ headings: JSON.stringify(headings) })
    },

    /** Stores what was said of the file as a whole, at the positions before its first product: 0, -1, -2. */
    async addWarnings (shop: ShopScope, id: string, warnings: readonly string[]): Promise<void> {
      if (warnings.length === 0) return
      await knex('import_lines').insert(
        warnings.map((warning, index) => ({
          shop_id: shop.id,
          import_id: id,
          position: -index,
          line: 0,
          status: 'skipped',
          message: warning.replaceAll('\0', '')
        }))
      )
    },

    /**
     * Gives a received file to those who apply it; its turn is behind all that were received before.
     *
     * @param follows - whether these may change what it found
     */
    async enqueue (
      shop: ShopScope,
      id: string,
      { total, follows }: { readonly total: number, readonly follows: boolean },
      on: Knex
    ): Promise<Static<typeof Import>> {
      await on('imports').where({ shop_id: shop.id, id, status: 'receiving' }).update({
        status: 'pending',
        total,
        follows,
        bytes: knex.raw(IMPORT_BYTES),
        created_at: knex.raw('clock_timestamp()'),
        updated_at: knex.raw('clock_timestamp()')
      })
      return await get(shop, id, on)
    },

    /** Whether imports of the shop are not over. @param id - of one that does not count */
    async follows (shop: ShopScope, id?: string): Promise<boolean> {
      const others = knex('imports').where({ shop_id: shop.id }).whereIn('status', ['receiving', ...UNFINISHED])
      return await (id === undefined ? others : others.whereNot({ id })).first('id') !== undefined
    },

    async discard (shop: ShopScope, id: string): Promise<void> {
      await knex('imports').where({ shop_id: shop.id, id, status: 'receiving' }).delete()
    },

    /** @throws {@link SHOP_QUOTA_EXCEEDED} if the shop has no room for so many products more */
    async refuseBeyondQuota (shop: ShopScope, products: number, bytes: number): Promise<void> {
      const used = await knex('shop_usage').where({ shop_id: shop.id }).sum({ records: 'records', bytes: 'bytes' })
        .first()
      const quota = await knex('shop_quota').first()
      // The server sets it at startup.
      if (quota === undefined) return
      if (products > 0 && Number(used?.records ?? 0) + products > quota.max_records) {
        throw new SHOP_QUOTA_EXCEEDED(quota.max_records, 'records')
      }
      if (bytes > 0 && Number(used?.bytes ?? 0) + bytes > quota.max_bytes) {
        throw new SHOP_QUOTA_EXCEEDED(quota.max_bytes, 'bytes')
      }
    },

    /**
     * Ends an import after the step that is under way. What was applied stays.
     *
     * @returns false if it was cancelled already
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_CONFLICT} if it is over
     */
    async cancel (shop: ShopScope, id: string): Promise<boolean> {
      return await knex.transaction(async (trx) => {
        const row = await trx('imports').where({ shop_id: shop.id, id }).whereNot({ status: 'receiving' }).forUpdate()
          .first('status')
        if (row === undefined) throw notFound('import', id)
        if (row.status === 'cancelled') return false
        if (!UNFINISHED.includes(row.status)) {
          throw conflict('status', `The import has ended: it is ${String(row.status)}. Undo it through the history`)
        }
        await endImport(trx, { shop_id: shop.id, id }, 'cancelled')
        return true
      })
    }
  }
}

/** A request has ended before that. */
const LONGEST_UPLOAD = '10 minutes'

/** Files whose process died while it received them, or lost the database. */
export function whereBroken (query: Knex.QueryBuilder): void {
  query.where({ status: 'receiving' }).whereRaw(`created_at < now() - interval '${LONGEST_UPLOAD}'`)
}

/** Namespace of the advisory locks on shops that begin imports. */
const LOCK = 7_300_003

/**
 * How many bytes the lines of an import have once it is over: fewer than before, or it could not end in a full shop.
 */
export function fewerBytes (trx: Knex.Transaction): Knex.Raw {
  return trx.raw(`least(imports.bytes, ${IMPORT_BYTES})`)
}

/** The key of an import. */
export interface ImportKey {
  readonly shop_id: string
  readonly id: string
}

/**
 * Ends an import whose row is locked. Lines that were not applied are forgotten but for their numbers; those that were
 * wrong from the start have failed, also where it did not get to.
 */
export async function endImport (
  trx: Knex.Transaction,
  { shop_id: shopId, id }: ImportKey,
  status: 'failed' | 'cancelled',
  error: string | null = null
): Promise<void> {
  const lines = trx('import_lines').where({ shop_id: shopId, import_id: id })
  await lines.clone().where({ status: 'pending' }).update({
    status: 'skipped',
    product: null,
    found: null,
    source: null
  })
  await trx('imports').where({ shop_id: shopId, id }).update({
    status,
    error,
    failed: lines.clone().where({ status: 'failed' }).select(trx.raw('count(*)::int')),
    bytes: fewerBytes(trx),
    updated_at: trx.raw('clock_timestamp()'),
    finished_at: trx.raw('clock_timestamp()')
  })
}
