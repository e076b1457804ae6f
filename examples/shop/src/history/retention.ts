import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { inBackground } from '../background.ts'
import { forgetOneByOne, inPortions } from '../database/portions.ts'
import { forgetSurplusAnswers } from '../idempotency/answers.ts'
import { forgetKeyUse } from '../tool-calls/key-store.ts'
import { RECORD_KINDS } from '../records/kinds.ts'

/** How often old entries are deleted, in milliseconds. */
const INTERVAL = 3_600_000

/** The time of a row, and the rest of its key. */
type TimedKey = readonly [time: string, ...key: readonly string[]]

/** Answers to calls with an `Idempotency-Key`, and how long they are kept, in days. */
const ANSWERS: TimedKey = ['created_at', 'id']
const ANSWER_DAYS = 1

/** What is known of calls. */
const CALLS: Readonly<Record<string, TimedKey>> = {
  daily_usage: ['day', 'shop_id', 'meter_id'],
  tool_calls: ['hour', 'shop_id', 'tool'],
  key_calls: ['hour', 'shop_id', 'key_id', 'tool'],
  failed_calls: ['at', 'shop_id', 'key_id', 'id'],
  key_clients: ['last_seen_at', 'shop_id', 'key_id', 'name']
}

/**
 * Deletes entries about records, what is known of calls, and imports, that are older than `days`, and answers to calls
 * with an `Idempotency-Key` of yesterday, at the start of the server and every hour. What is about access is kept.
 *
 * @param failedCallsKept - of each API key: surplus calls are deleted too
 */
export function forgetHistory (app: FastifyInstance, knex: Knex, days: number, failedCallsKept: number): void {
  inBackground(app, INTERVAL, async (isEnough) => {
    await pruneHistory(knex, days, isEnough)
    for (const [table, key] of Object.entries(CALLS)) await pruneRows(knex, table, key, days, isEnough)
    await forgetKeyUse(knex, failedCallsKept, { isEnough })
    await pruneRows(knex, 'idempotency_keys', ANSWERS, ANSWER_DAYS, isEnough)
    await forgetSurplusAnswers(knex, isEnough)
    await pruneImports(knex, days, isEnough)
  }, (error) => app.jobFailed('history', error, 'Old entries of the history could not be deleted'))
}

/**
 * Deletes entries about records that are older than `days`, the oldest first. Replicas that do so at the same time
 * share the work.
 *
 * @param isEnough - asked between two transactions
 * @returns how many it deleted
 */
export async function pruneHistory (knex: Knex, days: number, isEnough: () => boolean = () => false): Promise<number> {
  return await inPortions(async (size) =>
    await knex.transaction(async (trx): Promise<number> => {
      // The table refuses all other deletions.
      await trx.raw("select set_config('history.prune', 'on', true)")
      const old = trx('history').whereIn('record_kind', RECORD_KINDS).whereRaw(
        'at < now() - make_interval(days => ?)',
        [days]
      )
        .orderBy(['at', 'id']).limit(size).forUpdate().skipLocked().select('id')
      return await trx('history').whereIn('id', old).delete()
    }), { isEnough })
}

/** Deletes rows that are older than `days`, as {@link pruneHistory} does. */
async function pruneRows (
  knex: Knex,
  table: string,
  key: TimedKey,
  days: number,
  isEnough: () => boolean
): Promise<void> {
  const [time] = key
  await inPortions(async (size) => {
    const old = knex(table).whereRaw('?? < now() - make_interval(days => ?)', [time, days]).orderBy(time).limit(size)
      .forUpdate().skipLocked().select([...key])
    return await knex(table).whereIn([...key], old).delete()
  }, { isEnough })
}

async function pruneImports (knex: Knex, days: number, isEnough: () => boolean): Promise<void> {
  await forgetOneByOne(knex, 'imports', (imports) => {
    imports.whereRaw('finished_at < now() - make_interval(days => ?)', [days]).orderBy('finished_at')
  }, isEnough)
}
