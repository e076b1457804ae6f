// knex publishes no types for its dialects; this is the part of the class that ours override and use.
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex'

  export default class PostgresClient extends Knex.Client {
    transaction (
      container: (trx: Knex.Transaction) => unknown,
      config?: object,
      outer?: unknown
    ): Knex.Transaction & PromiseLike<unknown>
    acquireConnection (): Promise<unknown>
    acquireRawConnection (): Promise<unknown>
    _driver (): { readonly Client: typeof import('pg').Client }
  }
}
