import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { startFreezingProxy } from '../test/freezing-proxy.ts'
import { type Postgres, startPostgres } from '../test/postgres.ts'
import type { Scope } from '../../../test/scope.ts'
import type { Drill } from './drill.ts'
import { exercise, type Exercise, withoutServers } from './exercise.ts'
import { until } from './until.ts'

/**
 * How long the standby gets nothing before the primary is gone, and how long it takes until somebody promotes it, in
 * milliseconds.
 */
const LAG = 1000
const DETECTION = 2000

const READINESS = '`/readyz` returns 503 while the old primary is gone'
const LOST = 'Only writes acknowledged while the standby got nothing are lost'

const may = { statuses: [503], share: 0.15, pause: 45, recovers: 35 }

/** Two servers, the second one following the first. */
async function startPair (t: Scope): Promise<{ readonly primary: Postgres, readonly standby: Postgres, cut(): void }> {
  const primary = await startPostgres(t)
  const link = await startFreezingProxy(t, primary.superuser)
  const standby = await startPostgres(t, {
    follows: Number(new URL(link.url).port),
    settings: { cluster_name: 'standby' }
  })
  return { primary, standby, cut: link.freeze }
}

/** Waits for the standby with each commit. */
async function synchronize ({ superuser }: Postgres): Promise<void> {
  const client = new pg.Client({ connectionString: superuser })
  await client.connect()
  await client.query("alter system set synchronous_standby_names = 'standby'")
  await client.query('select pg_reload_conf()')
  await until(
    'the standby is synchronous',
    20,
    async () => (await client.query("select from pg_stat_replication where sync_state = 'sync'")).rowCount === 1
  )
  await client.end()
}

/** @returns the exercise after the fail-over, where its database is, and when the standby got nothing any more */
async function failOver (
  t: Scope,
  isSynchronous: boolean
): Promise<{ readonly at: Exercise, readonly url: string, readonly cutAt: number }> {
  const { primary, standby, cut } = await startPair(t)
  if (isSynchronous) await synchronize(primary)
  const proxy = await startFreezingProxy(t, primary.url)
  const at = await exercise(t, { url: proxy.url, direct: primary.url })
  const cutAt = performance.now()
  cut()
  await sleep(LAG)
  primary.freeze()
  proxy.freeze()
  await sleep(DETECTION)
  await standby.promote()
  proxy.leadTo(standby.url)
  at.mended()
  await at.untilReplicas('ready')
  await at.serve()
  return { at, url: standby.url, cutAt }
}

const done =
  'A standby follows PostgreSQL by streaming replication. It gets nothing for 1 s; then the primary freezes for ' +
  'good, without closing a connection. 2 s later the standby is promoted, and takes over the address.'

export const failover: Drill = {
  name: 'failover',
  title: 'PostgreSQL fails over to a synchronous standby',
  done: `${done} \`synchronous_standby_names\` names the standby, and \`synchronous_commit\` is \`on\`, its default.`,
  may,
  holds: [READINESS],
  logs: ['A statement had no answer from the database for 25 s'],
  note: 'A call to the old primary gets 503 after 25 s, one that waits for a connection after 10 s; either may have ' +
    'been carried out. A proxy that closes the connections of the old primary shortens that to seconds. Keep ' +
    'the old primary from coming back. Give the new one a standby before you set `synchronous_standby_names` ' +
    'there: without one, every commit waits.',
  without: () => withoutServers,
  async run (t) {
    const { at, url } = await failOver(t, true)
    at.hold(READINESS, at.probes.reasons.size > 0)
    return await at.end(url)
  }
}

export const failoverAsynchronous: Drill = {
  name: 'failover-asynchronous',
  title: 'PostgreSQL fails over to an asynchronous standby',
  done: 'The same, with `synchronous_standby_names` empty, its default.',
  may,
  holds: [LOST],
  losesWrites: true,
  note: 'A second of writes is lost. `select write_lag from pg_stat_replication` on the primary shows how far a ' +
    'standby is behind.',
  without: () => withoutServers,
  async run (t) {
    const { at, url, cutAt } = await failOver(t, false)
    const lost = await at.lostAt(url)
    at.hold(
      LOST,
      lost.size > 0 &&
        [...lost.values()].every((acknowledged) => acknowledged > cutAt && acknowledged < cutAt + 2 * LAG)
    )
    return await at.end(null)
  }
}
