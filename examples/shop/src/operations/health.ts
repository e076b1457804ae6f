import { setTimeout as sleep } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { isDiskFull } from '../database/errors.ts'
import { pendingMigrations } from '../migrations/migrate.ts'
import type { Database } from '../database/index.ts'
import { unsuitable } from '../database/session.ts'

/** Route `config` for the operator's probes: public, without rate limits, load shedding, CORS and traces. */
export const exempt = {
  auth: 'public',
  cors: false,
  rateLimit: false,
  traced: false,
  pressureHandler: () => {}
} as const

declare module 'fastify' {
  interface FastifyInstance {
    /** The checks of `/readyz`, and whether the server is ready. */
    readiness(): Promise<{ readonly ready: boolean, readonly checks: Readonly<Record<string, string>> }>
  }
}

/** Time limit of all checks together, in milliseconds. */
const TIME_LIMIT = 2000

/** How long a result serves further probes, in milliseconds, so that a flood of them does not reach the database. */
const KEEP = 500

const Healthy = Type.Object({ status: Type.Literal('ok') }, { description: 'The process is up' })

const Readiness = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not ready')]),
  checks: Type.Record(Type.String(), Type.String({ description: '`ok`, or what is wrong' }))
}, { description: 'What the server needs to serve' })

export interface HealthOptions {
  readonly database: Database
  /** Checks whether Redis counts calls. Default: no such check. */
  readonly limits?: (() => Promise<string>) | undefined
  /** Default 2000 milliseconds. */
  readonly timeLimit?: number
  /** Further checks, which are reported but never make the server unready. Default: none. */
  readonly remarks?: () => Readonly<Record<string, string>>
}

/**
 * For load balancers: `/healthz` says whether the process is up, and `/readyz` whether to send calls here. The payment
 * provider is not checked, since nearly everything works without it. Redis and the identity provider are checked, but a
 * server without them is ready: it only limits calls alone, or only accepts API keys.
 */
export async function health (
  app: FastifyInstance,
  { database, limits, timeLimit = TIME_LIMIT, remarks = () => ({}) }: HealthOptions
): Promise<void> {
  let diskIsFull = false
  const noteFullDisk = (error: { readonly code?: string }): void => {
    diskIsFull ||= isDiskFull(error)
  }
  database.knex.on('query-error', noteFullDisk)
  app.addHook('onClose', async () => {
    database.knex.removeListener('query-error', noteFullDisk)
  })
  let latest: { readonly at: number, readonly checks: Promise<Record<string, string>> } | undefined
  // One at a time: if the database does not answer, probes would use all connections up.
  let looking: Promise<Record<string, string>> | undefined

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
      description:
        'Checks the database, its settings, disk space and migrations, and whether the server is about to stop. ' +
        'Also reports whether the keys of the identity provider were read, whether Redis counts calls and the ' +
        'read replica responds, if they are configured, and whether the settings have the secrets of all stored ' +
        'keys; none of these makes the server unready.',
      tags: ['operations'],
      response: { 200: Readiness, 503: Readiness }
    }
  }, async (_request, reply) => {
    const { ready, checks } = await app.readiness()
    reply.header('cache-control', 'no-store').code(ready ? 200 : 503)
    return { status: ready ? 'ready' as const : 'not ready' as const, checks }
  })

  app.decorate('readiness', async () => {
    if (latest === undefined || performance.now() - latest.at > KEEP) {
      latest = { at: performance.now(), checks: check() }
    }
    const checks: Record<string, string> = {
      ...await latest.checks,
      shutdown: app.shutdown.stage === 'serving' ? 'ok' : 'the server is about to stop'
    }
    const { redis: _limits, identity_provider: _people, ...needed } = checks
    return { ready: Object.values(needed).every((answer) => answer === 'ok'), checks: { ...checks, ...remarks() } }
  })

  async function check (): Promise<Record<string, string>> {
    looking ??= checkDatabase().then(
      ([reasons, names]) => ({
        database: reasons.join('; ') || 'ok',
        migrations: names.length === 0 ? 'ok' : `pending: ${names.join(', ')}`
      }),
      (err) => {
        // It did answer: another program has migrated it, or it was restored from another.
        if (err.code === 'SHOP_MIGRATIONS_UNKNOWN') return { database: 'ok', migrations: err.message }
        app.log.warn({ err }, 'A readiness check got no response from the database')
        return { database: 'it cannot be reached', migrations: 'unknown' }
      }
    ).finally(() => {
      looking = undefined
    })
    const late = sleep(timeLimit, { database: `no answer within ${timeLimit} ms`, migrations: 'unknown' }, {
      ref: false
    })
    const [checked, redis] = await Promise.all([Promise.race([looking, late]), limits?.()])
    return {
      ...checked,
      identity_provider: app.dualAuthReady() ? 'ok' : 'its keys could not be read yet: only API keys are accepted',
      ...(redis !== undefined && { redis })
    }
  }

  /** @returns why it cannot be used, and its pending migrations */
  async function checkDatabase (): Promise<[reasons: readonly string[], pending: readonly string[]]> {
    // Only after a statement failed because of it, since the check needs a write.
    if (diskIsFull) diskIsFull = await isStillFull(database.knex)
    const reasons = await unsuitable(database.knex)
    return [[...diskIsFull ? ['its disk is full'] : [], ...reasons], await pendingMigrations(database.knex)]
  }
}

/** The tablespaces of the tables: temporary tables are elsewhere where temp_tablespaces says so. */
const TABLESPACES = `
  select distinct spcname as name from pg_class
  join pg_database on datname = current_database()
  join pg_tablespace on pg_tablespace.oid = coalesce(nullif(reltablespace, 0), dattablespace)
  where relkind = 'r' and relnamespace = current_schema()::regnamespace`

async function isStillFull (knex: Database['knex']): Promise<boolean> {
  try {
    const { rows } = await knex.raw<{ rows: ReadonlyArray<{ name: string }> }>(TABLESPACES)
    for (const { name } of rows) {
      await knex.raw(
        'create temporary table disk_space on commit drop tablespace ?? as select generate_series(1, 10000)',
        [name]
      )
    }
    return false
  } catch (error) {
    // Any other error is left to the checks that follow.
    return isDiskFull(error as { code?: string })
  }
}
