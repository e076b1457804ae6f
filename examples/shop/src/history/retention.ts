import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import { forgetKeyUse } from '../tool-calls/key-store.ts'
import { RECORD_KINDS } from './kinds.ts'

/** How often old entries are deleted, in milliseconds. */
const INTERVAL = 3_600_000

/** How many entries are deleted in a transaction. */
const CHUNK = 5000

/** What is known of calls, and its time. */
const CALLS = [
  ['daily_usage', 'day'],
  ['tool_calls', 'hour'],
  ['key_calls', 'hour'],
  ['failed_calls', 'at'],
  ['key_clients', 'last_seen_at']
] as const

/**
 * Deletes entries about records, what is known of calls, and imports, that are older than `days`, at the start of the
 * server and every hour. What is about access is kept.
 *
 * @param failedCallsKept - of each API key: surplus calls are deleted too
 */
export function forgetHistory (app: FastifyInstance, knex: Knex, days: number, failedCallsKept: number): void {
  let timer: NodeJS.Timeout | undefined
  let closing = false
  let running = Promise.resolve()
  const run = (): void => {
    running = running.then(async () => {
      await pruneHistory(knex, days, () => closing)
      for (const [table, time] of CALLS) {
        await knex(table).whereRaw('?? < now() - make_interval(days => ?)', [time, days]).delete()
      }
      await forgetKeyUse(knex, failedCallsKept)
      await pruneImports(knex, days, () => closing)
    })
      .catch((error: unknown) => {
        app.jobFailed('history', error, 'Old entries of the history could not be deleted')
      })
  }
  app.addHook('onListen', async () => {
    timer = setInterval(run, INTERVAL).unref()
    run()
  })
  app.addHook('onClose', async () => {
    closing = true
    clearInterval(timer)
    await running
  })
}

/**
 * Deletes entries about records that are older than `days`, the oldest first. Replicas that do so at the same time
 * share the work.
 *
 * @param isEnough - asked between two transactions
 * @returns how many it deleted
 */
export async function pruneHistory (knex: Knex, days: number, isEnough: () => boolean = () => false): Promise<number> {
  let total = 0
  for (let count = CHUNK; count === CHUNK && !isEnough(); total += count) {
    count = await knex.transaction(async (trx): Promise<number> => {
      // The table refuses all other deletions.
      await trx.raw("select set_config('history.prune', 'on', true)")
      const old = trx('history').whereIn('record_kind', RECORD_KINDS).whereRaw(
        'at < now() - make_interval(days => ?)',
        [days]
      )
        .orderBy(['at', 'id']).limit(CHUNK).forUpdate().skipLocked().select('id')
      return await trx('history').whereIn('id', old).delete()
    })
  }
  return total
}

/** How many imports are deleted in a statement: each may have 10,000 lines. */
const IMPORTS = 20

async function pruneImports (knex: Knex, days: number, isEnough: () => boolean): Promise<void> {
  for (let count = IMPORTS; count === IMPORTS && !isEnough();) {
    const old = knex('imports').whereRaw('finished_at < now() - make_interval(days => ?)', [days]).orderBy(
      'finished_at'
    ).limit(IMPORTS).select('id')
    count = await knex('imports').whereIn('id', old).delete()
  }
}
