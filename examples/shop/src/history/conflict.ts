import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { errorFromDatabase } from '../database/errors.ts'
import type { FieldError } from '../errors.ts'
import type { Facts } from '../records/facts.ts'
import type { ShopScope } from '../access/scope.ts'
import type { StoredChange } from './revertible.ts'

/** A reason why a change cannot be reverted. */
export class Obstacle extends Error {
  readonly field: string | undefined

  /** @param field - absent if it is the record as a whole */
  constructor (reason: string, field?: string) {
    super(reason)
    this.field = field
  }
}

/** What stands in the way of a revert. */
interface Reason {
  readonly field?: string
  readonly later_change_id: string | null
  readonly reason: string
}

/**
 * @param error - what the revert threw
 * @param explain - whether to look for the later change
 * @returns the reason, for errors that a change by hand would be refused with
 * @throws every other error
 */
export async function conflictFrom (
  trx: Knex.Transaction,
  shop: ShopScope,
  change: StoredChange,
  error: unknown,
  explain: boolean
): Promise<Reason> {
  const { message, path } = refusalFrom(error)
  const field = path?.split('/')[0]
  const later = explain ? await laterChange(trx, shop, change, field) : null
  return { ...(field !== undefined && { field }), later_change_id: later, reason: message }
}

/**
 * @returns what a revert was refused with
 * @throws every other error
 */
export function refusalFrom (error: unknown): { readonly message: string, readonly path: string | undefined } {
  if (error instanceof Obstacle) return { message: error.message, path: error.field }
  const { statusCode, message, field: path } = ((error as FieldError).statusCode === undefined
    ? errorFromDatabase(error as FieldError) ?? error
    : error) as Partial<FieldError>
  if (statusCode !== 409 && statusCode !== 422) throw error
  return { message: message!, path }
}

const UUIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * The last change after this one of the same field, or the deletion of something that the field names; else the last
 * one that gave another record the value that the field had.
 */
async function laterChange (
  trx: Knex.Transaction,
  shop: ShopScope,
  { seq, at, record_kind: kind, record_id: id, changes }: StoredChange,
  field: string | undefined
): Promise<string | null> {
  const { before = null, after = null } = field === undefined ? {} : changes[field] ?? {}
  const named = JSON.stringify([before, after]).match(UUIDS) ?? []
  // Without changes that were reverted and their reverts, also by this very transaction: the two are as if they had not
  // been.
  const later = (): Knex.QueryBuilder =>
    trx('history').where({ shop_id: shop.id }).where('seq', '>', seq).whereRaw('not is_reverted(id)')
      .whereRaw('not exists (select from history earlier where earlier.id = history.reverts and earlier.seq > ?)', [
        seq
      ]).orderBy('seq', 'desc')
  const own = await later().where((any) => {
    any.where((same) => {
      same.where({ record_id: id, record_kind: kind })
      if (field !== undefined) {
        same.where((about) => {
          about.whereRaw('changes->?::text is not null', [field]).orWhere({ action: 'delete' })
        })
      }
    })
    if (named.length > 0) {
      any.orWhere((gone) => {
        gone.whereIn('record_id', named).where({ action: 'delete' })
      })
    }
  }).first('id')
  if (own !== undefined) return own.id
  if (field === undefined || before === null) return null
  const taken = await later().where({ record_kind: kind }).where('at', '>=', at).whereRaw(
    "changes->?::text->'after' = ?::jsonb",
    [field, JSON.stringify(before)]
  ).first('id')
  return taken?.id ?? null
}

/**
 * What the change set has to be as it left it.
 *
 * @throws {@link Obstacle}
 */
export function refuseLaterChanges (facts: Facts, changes: StoredChange['changes'], fields: readonly string[]): void {
  const field = fields.find((name) => !isSame(facts[name] ?? null, changes[name]?.after ?? null))
  if (field !== undefined) throw new Obstacle(`${field} was changed again`, field)
}

/** A created record has no links and null fields that the history does not mention. */
function isSame (now: unknown, then: unknown): boolean {
  const [one, other] = [now, then].map((value) => Array.isArray(value) && value.length === 0 ? null : value)
  return isDeepStrictEqual(one, other)
}
