import { PGlite } from '@electric-sql/pglite'
import { createRequire } from 'node:module'
import type { Knex } from 'knex'

interface Result {
  readonly rows: unknown[]
  readonly affectedRows?: number | undefined
}
type Callback = (error: unknown, result?: object) => void

interface PgClientClass {
  new(config: object): object
}

const ClientPg: PgClientClass = createRequire(import.meta.url)('knex/lib/dialects/postgres/index.js')

/** Knex's own PostgreSQL dialect over an engine in this process, whose only connection is shared. */
export function pgliteClient (
  engine: PGlite,
  parsers: Readonly<Record<number, (text: string) => unknown>> = {}
): typeof Knex.Client {
  const connection = {
    query (query: string | { text: string, values: unknown[] }, done: Callback): void {
      const { text, values } = typeof query === 'string' ? { text: query, values: [] } : query
      engine.query(text, values, { parsers }).then(
        (result: Result) =>
          done(null, { ...result, rowCount: result.affectedRows, command: /^\s*(\w+)/.exec(text)?.[1]?.toUpperCase() }),
        (error) => done(error)
      )
    }
  }

  class PgliteClient extends ClientPg {
    _driver (): object {
      return {}
    }
    async _acquireOnlyConnection (): Promise<object> {
      return connection
    }
    async destroyRawConnection (): Promise<void> {}
  }
  return PgliteClient as unknown as typeof Knex.Client
}
