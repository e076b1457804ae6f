import { setTimeout as sleep } from 'node:timers/promises'
import PostgresClient from 'knex/lib/dialects/postgres/index.js'
import { failedToConnect } from './errors.ts'

/** What PostgreSQL says when it has no connection left: at all, for the role or for the database. */
const NO_CONNECTION_LEFT = '53300'

/** Between two tries to open another connection, in milliseconds: each costs PostgreSQL a process. */
const PAUSE = 1000

/** The pool, as far as it matters here. */
interface Pool {
  /** Whether the call that waits first fails when a connection cannot be opened. */
  propagateCreateError: boolean
  numUsed(): number
  numFree(): number
  numPendingCreates(): number
}

/**
 * A knex client for a PostgreSQL server that may have no connection left. A call that wanted another one then waits for
 * one that the pool has, up to the pool's time limit, instead of failing. If the pool has none, calls fail soon, as
 * they do when the server is away.
 */
export class PatientPostgresClient extends PostgresClient {
  override async acquireRawConnection (): Promise<unknown> {
    const pool = this.pool as unknown as Pool
    try {
      const connection = await super.acquireRawConnection()
      pool.propagateCreateError = true
      return connection
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string }
      const isCrowded = code === NO_CONNECTION_LEFT
      const hasOthers = (): boolean => pool.numUsed() + pool.numFree() > 0
      // Those that are being opened may become some.
      if (isCrowded && (hasOthers() || pool.numPendingCreates() > 1)) {
        // As knex does when a call fails.
        this.logger.warn?.(`Acquire connection error: ${message}`)
        await sleep(PAUSE)
      }
      // The pool looks at it when this throws.
      pool.propagateCreateError = !(isCrowded && hasOthers())
      throw failedToConnect(error as Error)
    }
  }
}
