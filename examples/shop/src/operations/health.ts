import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { pendingMigrations } from '../database/migrate.ts'
import type { Database } from '../database/index.ts'
import { exempt } from './exempt.ts'

/** How long the checks may take together, in milliseconds. */
const TIME_LIMIT = 2000

/** How long an answer serves further probes, in milliseconds: a flood of them must not reach the database. */
const KEEP = 500

const Healthy = Type.Object({ status: Type.Literal('ok') }, { description: 'The process is up' })

const Readiness = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not ready')]),
  checks: Type.Record(Type.String(), Type.String({ description: '`ok`, or what is wrong' }))
}, { description: 'What the server needs to serve' })

export interface HealthOptions {
  readonly database: Database
  /** Default 2000 milliseconds. */
  readonly timeLimit?: number
}

/**
 * What load balancers ask: `/healthz`, whether the process is up, and `/readyz`, whether calls should be
 * sent here. Outside of both stands the payment provider: without it nearly everything can be served.
 */
export async function health (app: FastifyInstance, { database, timeLimit = TIME_LIMIT }: HealthOptions): Promise<void> {
  let latest: { readonly at: number, readonly checks: Promise<Record<string, string>> } | undefined

  app.get('/healthz', {
    config: exempt,
    logLevel: 'warn',
    schema: { operationId: 'health', summary: 'Is the process up?', tags: ['operations'], response: { 200: Healthy } }
  }, async (_request, reply) => {
    reply.header('cache-control', 'no-store')
    return { status: 'ok' as const }
  })

  app.get('/readyz', {
    config: exempt,
    logLevel: 'warn',
    schema: {
      operationId: 'readiness',
      summary: 'Should calls be sent here?',
      description: 'Looks at the database, its migrations, the keys of the identity provider, and whether the server is about to stop.',
      tags: ['operations'],
      response: { 200: Readiness, 503: Readiness }
    }
  }, async (_request, reply) => {
    if (latest === undefined || performance.now() - latest.at > KEEP) latest = { at: performance.now(), checks: check() }
    const checks = { ...await latest.checks, shutdown: app.shutdown.stage === 'serving' ? 'ok' : 'the server is about to stop' }
    const ready = Object.values(checks).every((answer) => answer === 'ok')
    reply.header('cache-control', 'no-store').code(ready ? 200 : 503)
    return { status: ready ? 'ready' as const : 'not ready' as const, checks }
  })

  async function check (): Promise<Record<string, string>> {
    const pending = pendingMigrations(database.knex).then(
      (names) => ({ database: 'ok', migrations: names.length === 0 ? 'ok' : `pending: ${names.join(', ')}` }),
      (err) => {
        app.log.warn({ err }, 'the database did not answer a readiness check')
        return { database: 'it cannot be reached', migrations: 'unknown' }
      }
    )
    const late = sleep(timeLimit, { database: `no answer within ${timeLimit} ms`, migrations: 'unknown' }, { ref: false })
    return { ...await Promise.race([pending, late]), identity_provider: app.dualAuthReady() ? 'ok' : 'its keys could not be read yet' }
  }
}
