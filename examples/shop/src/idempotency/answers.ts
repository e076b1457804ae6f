import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import type { Actor } from '../access/caller.ts'
import { forgetSurplus } from '../database/portions.ts'

/** A call that has a key. */
export interface KeyedCall {
  readonly caller: Pick<Actor, 'kind' | 'id' | 'operation'>
  /** Null outside of shops. */
  readonly shopId: string | null
  readonly key: string
  /** Of what it says. */
  readonly fingerprint: string
}

/** An answer, as it was sent. */
export interface Answer {
  readonly status: number
  /** Those that the route has set. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A stored answer, and what the call said that it was for. */
export interface StoredAnswer extends Answer {
  readonly fingerprint: string
}

const TABLE = 'idempotency_keys'

/** How many answers of a caller are kept. */
const MOST = 10_000

/**
 * Keys are of their caller, shop and route: others may use the same word. Only a digest of the word is stored, of a
 * fixed length, since callers may put anything into it.
 */
export function idOf ({ caller: { kind, id, operation }, shopId, key }: Omit<KeyedCall, 'fingerprint'>): string {
  const digest = createHash('sha256').update(JSON.stringify([kind, id, shopId, operation, key])).digest('hex')
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/**
 * Makes other calls with the same key wait their turn, until the transaction ends: however it ends, since the lock goes
 * with its connection.
 *
 * @returns false if another call has it
 */
export async function lockKey (trx: Knex.Transaction, id: string): Promise<boolean> {
  const { rows: [{ locked }] } = await trx.raw(
    'select pg_try_advisory_xact_lock(hashtextextended(?, 0)) as locked',
    [`${TABLE} ${id}`]
  )
  return locked
}

export async function findAnswer (knex: Knex, id: string): Promise<StoredAnswer | undefined> {
  return await knex(TABLE).where({ id }).first('fingerprint', 'status', 'headers', 'body')
}

/**
 * Stores an answer, in the transaction of what it tells: there is never one without the other. It is deleted after a
 * day (`history/retention.ts`), with the shop, and with the person.
 */
export async function storeAnswer (trx: Knex.Transaction, call: KeyedCall, answer: Answer): Promise<void> {
  const { caller: { kind, id, operation }, shopId, fingerprint } = call
  const { status, headers, body } = answer
  await trx(TABLE).insert({
    id: idOf(call),
    shop_id: shopId,
    caller_kind: kind,
    caller_id: id,
    operation,
    fingerprint,
    status,
    headers: JSON.stringify(headers),
    body
  })
}

/** Deletes the oldest answers of callers who have more than are kept. @param isEnough - asked between two statements */
export async function forgetSurplusAnswers (knex: Knex, isEnough?: () => boolean): Promise<void> {
  const answers = { of: ['caller_kind', 'caller_id'], most: MOST, newest: ['created_at'], key: ['id'] }
  await forgetSurplus(knex, TABLE, answers, undefined, isEnough)
}
