import { AsyncLocalStorage } from 'node:async_hooks'
import type { Knex } from 'knex'
import PostgresClient from 'knex/lib/dialects/postgres/index.js'
import { SHOP_QUERY_OUTSIDE_TRANSACTION } from '../errors.ts'

/**
 * A knex client for the embedded engine that rejects a query on the pool from inside `knex.transaction(…)`.
 *
 * Such a query waits for a connection that its own transaction holds: always on the embedded engine, which has one
 * connection, and on a server as soon as the pool is full. Instead of hanging until the time limit of the pool, it
 * throws {@link SHOP_QUERY_OUTSIDE_TRANSACTION}.
 *
 * On a server the guard would slow each call by some percent, since async context makes every promise more expensive.
 * There the time limit of the pool has to do; the embedded engine finds the bug earlier.
 */
export function guardedPostgresClient (): typeof Knex.Client {
  const surrounding = new AsyncLocalStorage<{ open: boolean }>()

  return class GuardedPostgresClient extends PostgresClient {
    override transaction (
      container: TransactionBody,
      config?: object,
      outer?: unknown
    ): Knex.Transaction & PromiseLike<unknown> {
      const state = { open: true }
      const transaction = super.transaction((trx) => surrounding.run(state, () => container(trx)), config, outer)
      const end = (): void => {
        state.open = false
      }
      transaction.then(end, end)
      return transaction
    }

    // A transaction's own client gets its connection from the transaction, and never gets here.
    override async acquireConnection (): Promise<unknown> {
      if (surrounding.getStore()?.open === true) throw new SHOP_QUERY_OUTSIDE_TRANSACTION()
      return await super.acquireConnection()
    }
  }
}

type TransactionBody = (trx: Knex.Transaction) => unknown
