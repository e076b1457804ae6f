import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { withRetries } from '../retry.ts'

/** How long a statement waits for a lock, in milliseconds: every call that needs the table waits behind it. */
const WAIT = 500

/** Between two tries, in milliseconds: calls go on meanwhile. */
const PAUSE = 1000

/** Ten minutes, nearly. */
const TRIES = 400

/**
 * Changes tables in a transaction that does not wait long for the locks of others, such as a dump that runs: it rolls
 * back and tries again. A transaction of the host has a `lock_timeout` of its own.
 *
 * @throws the error 55P03 of PostgreSQL, after ten minutes
 */
export async function withBriefLocks (knex: Knex, change: (knex: Knex) => Promise<void>): Promise<void> {
  if (knex.isTransaction) return await change(knex)
  await withRetries(() =>
    knex.transaction(async (trx) => {
      await trx.raw(`set local lock_timeout = ${WAIT}`)
      await change(trx)
    }, { isolationLevel: 'read committed' }), async (error, failed) => {
    if (!(error instanceof Error && 'code' in error && error.code === '55P03') || failed === TRIES) return false
    await sleep(PAUSE)
    return true
  })
}
