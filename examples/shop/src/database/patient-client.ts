import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
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

/** What the driver says if the server asks for a password and there is none. */
const NO_PASSWORD = /client password must be a/

/**
 * The driver leaves a connection open that it could not use: PostgreSQL would close it after a minute, and the process
 * could not exit before.
 */
class PromptClient extends pg.Client {
  override async connect (): Promise<pg.Client & undefined> {
    try {
      return await super.connect() as pg.Client & undefined
    } catch (error) {
      ;(this as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy()
      throw error
    }
  }
}

/**
 * A knex client for a PostgreSQL server that may have no connection left. A call that wanted another one then waits for
 * one that the pool has, up to the pool's time limit, instead of failing. If the pool has none, calls fail soon, as
 * they do when the server is away.
 */
export class PatientPostgresClient extends PostgresClient {
  /** The setting that has the URL. */
  protected readonly setting: string = 'DATABASE_URL'

  override _driver (): { readonly Client: typeof pg.Client } {
    return { Client: PromptClient }
  }

  override async acquireRawConnection (): Promise<unknown> {
    const pool = this.pool as unknown as Pool
    try {
      const connection = await super.acquireRawConnection()
      pool.propagateCreateError = true
      return connection
    } catch (error) {
      if (NO_PASSWORD.test((error as Error).message)) {
        throw failedToConnect(new Error(`${this.setting} has no password: add one, or set PGPASSWORD`))
      }
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

/** The same for a replica. */
export class ReplicaPostgresClient extends PatientPostgresClient {
  protected override readonly setting = 'DATABASE_READ_URL'
}
