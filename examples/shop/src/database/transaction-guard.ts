import { AsyncLocalStorage } from 'node:async_hooks'
import type { Knex } from 'knex'
import PostgresClient from 'knex/lib/dialects/postgres/index.js'
import { SHOP_QUERY_OUTSIDE_TRANSACTION } from '../errors.ts'

/**
 * A knex client for the embedded engine that refuses a query on the pool while the code that issues it is
 * inside `knex.transaction(…)`.
 *
 * Such a query waits for a connection that its own transaction holds: on the embedded engine, which
 * has one connection, always; on a server, as soon as the pool is full. Instead of hanging until
 * the pool gives up, it throws {@link SHOP_QUERY_OUTSIDE_TRANSACTION} at once.
 *
 * On a server it would cost each call some percent, since following the context makes every promise dearer:
 * there the time limit of the pool stands for it, and here it finds the fault before that.
 */
export function guardedPostgresClient (): typeof Knex.Client {
  const surrounding = new AsyncLocalStorage<{ open: boolean }>()

  return class GuardedPostgresClient extends PostgresClient {
    override transaction (container: TransactionBody, config?: object, outer?: unknown): Knex.Transaction & PromiseLike<unknown> {
      const state = { open: true }
      const transaction = super.transaction((trx) => surrounding.run(state, () => container(trx)), config, outer)
      const end = (): void => { state.open = false }
      transaction.then(end, end)
      return transaction
    }

    // A transaction's own client takes its connection from the transaction and never comes here.
    override async acquireConnection (): Promise<unknown> {
      if (surrounding.getStore()?.open === true) throw new SHOP_QUERY_OUTSIDE_TRANSACTION()
      return await super.acquireConnection()
    }
  }
}

type TransactionBody = (trx: Knex.Transaction) => unknown
