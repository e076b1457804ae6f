import { SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api'
import type { Database } from '../../database/index.ts'

/** What knex says of a statement. BEGIN, COMMIT and ROLLBACK have no id, and knex does not say when they end. */
interface Statement {
  readonly __knexQueryUid?: string
  readonly sql: string
}

/**
 * A span of each statement that a request runs, without its values. Those of timers have none: each would be a trace of
 * its own.
 *
 * @returns ends it
 * @see [Spans of PostgreSQL](https://opentelemetry.io/docs/specs/semconv/database/postgresql/)
 */
export function traceStatements ({ knex, engine }: Database, tracer: Tracer): () => void {
  const open = new Map<string, Span>()
  const server = engine === 'postgres' ? addressOf(String(knex.client.config.connection.connectionString)) : {}

  function start ({ __knexQueryUid: id, sql }: Statement): void {
    if (id === undefined || trace.getActiveSpan() === undefined) return
    const summary = summaryOf(sql)
    open.set(
      id,
      tracer.startSpan(summary, {
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': 'postgresql',
          'db.operation.name': summary.split(' ')[0]!,
          'db.query.summary': summary,
          'db.query.text': sql,
          ...server
        }
      })
    )
  }

  function end ({ __knexQueryUid: id }: Statement, error?: { readonly code?: string, readonly name: string }): void {
    if (id === undefined) return
    const span = open.get(id)
    open.delete(id)
    if (span === undefined) return
    if (error !== undefined) {
      span.setAttribute('error.type', error.code ?? error.name).setStatus({ code: SpanStatusCode.ERROR })
      if (error.code !== undefined) span.setAttribute('db.response.status_code', error.code)
    }
    span.end()
  }

  const succeeded = (_response: unknown, statement: Statement): void => end(statement)
  const failed = (error: Error & { readonly code?: string }, statement: Statement): void => end(statement, error)
  knex.on('query', start).on('query-response', succeeded).on('query-error', failed)
  return () => {
    knex.removeListener('query', start).removeListener('query-response', succeeded).removeListener(
      'query-error',
      failed
    )
  }
}

/** The operation and its first table: `SELECT products`. */
function summaryOf (sql: string): string {
  // Not WITH, which says nothing.
  const [operation = 'statement'] = /\b(?:select|insert|update|delete)\b/i.exec(sql) ?? /[a-z]+/i.exec(sql) ?? []
  const [, table] = /\b(?:from|into|update|join)\s+(?:only\s+)?"?([a-z_][\w.]*)/i.exec(sql) ?? []
  return table === undefined ? operation.toUpperCase() : `${operation.toUpperCase()} ${table}`
}

function addressOf (url: string): Readonly<Record<string, string | number>> {
  const { hostname, port, pathname } = new URL(url)
  return {
    'server.address': hostname,
    'server.port': Number(port || 5432),
    'db.namespace': decodeURIComponent(pathname.slice(1))
  }
}
