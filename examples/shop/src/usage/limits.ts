import type { ApiKeyRecord } from 'dual-auth'
import type { Knex } from 'knex'
import { newer } from '../database/updated-at.ts'
import { notFound } from '../errors.ts'
import type { Actor } from '../access/caller.ts'
import { fieldsOf, recordChange } from '../records/trail.ts'
import type { Precondition } from '../http/if-match.ts'
import { LIMITS, type Limits } from './store.ts'

/** Limits with their version. */
export interface StoredLimits extends Limits {
  readonly updated_at: string
}

/** Whose limits they are: of a shop, or of one of its API keys. */
export interface Limited {
  readonly shopId: string
  /** Null for the shop. */
  readonly keyId: string | null
}

const COLUMNS = [...LIMITS, 'updated_at'] as const
const UNLIMITED: Limits = { calls_per_day: null, writes_per_day: null, imports_per_day: null }

/** @throws {@link SHOP_NOT_FOUND} */
export async function limitsOf (knex: Knex, limited: Limited): Promise<StoredLimits> {
  return (await find(knex, limited)).limits
}

/** @throws {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED} */
export async function updateLimits (
  knex: Knex,
  actor: Actor,
  limited: Limited,
  changes: Partial<Limits>,
  precondition?: Precondition
): Promise<StoredLimits> {
  const names = Object.keys(changes)
  return await knex.transaction(async (trx) => {
    // In the order of a deletion of the shop.
    await trx('shops').where({ id: limited.shopId }).forKeyShare().select('id')
    const { id, name, limits: before } = await find(trx, limited, (rows) => {
      rows.forNoKeyUpdate()
    })
    precondition?.(before)
    if (names.length === 0) return before
    const [after] = await trx('daily_limits').insert({ shop_id: limited.shopId, meter_id: id, ...changes })
      .onConflict(['shop_id', 'meter_id']).merge({ ...changes, updated_at: newer(trx, 'daily_limits.updated_at') })
      .returning(COLUMNS)
    await recordChange(trx, actor, {
      shopId: limited.shopId,
      recordKind: limited.keyId === null ? 'shop' : 'api_key',
      recordId: id,
      recordName: name,
      before: fieldsOf(before, names),
      after: fieldsOf(after, names)
    })
    return after
  })
}

/** Reads the shop or key, and then its limits; those that were never set are as old as it is. */
async function find (
  on: Knex,
  { shopId, keyId }: Limited,
  lock: (rows: Knex.QueryBuilder) => void = () => {}
): Promise<{ readonly id: string, readonly name: string, readonly limits: StoredLimits }> {
  const rows = keyId === null ? on('shops').where({ id: shopId }) : on('api_keys').where({ shop_id: shopId, id: keyId })
  const found = await rows.modify(lock).first('id', 'name', 'created_at')
  if (found === undefined) throw keyId === null ? notFound('shop', shopId) : notFound('key', keyId)
  const stored = await on('daily_limits').where({ shop_id: shopId, meter_id: found.id }).first(COLUMNS)
  return { id: found.id, name: found.name, limits: stored ?? { ...UNLIMITED, updated_at: found.created_at } }
}

/** Gives the successor of an API key its limits. */
export async function inheritLimits (
  trx: Knex.Transaction,
  { ownerId, id }: Pick<ApiKeyRecord, 'ownerId' | 'id'>,
  successorId: string
): Promise<void> {
  const names = LIMITS.join(', ')
  await trx.raw(
    `insert into daily_limits (shop_id, meter_id, ${names}) select shop_id, ?, ${names} from daily_limits where ` +
      'shop_id = ? and meter_id = ?',
    [successorId, ownerId, id]
  )
}
