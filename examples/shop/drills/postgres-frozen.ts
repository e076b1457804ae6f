import { setTimeout as sleep } from 'node:timers/promises'
import { startFreezingProxy } from '../test/freezing-proxy.ts'
import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const READINESS = '`/readyz` returns 503 within 5 s, and says that the database does not answer'

/** For how long, in milliseconds. */
const FROZEN = 12_000

export const postgresFrozen: Drill = {
  name: 'postgres-frozen',
  title: 'PostgreSQL freezes and thaws',
  done: 'PostgreSQL does not answer for 12 s, without closing a connection, as when its host is suspended.',
  may: { statuses: [503], share: 0.15, pause: 20, recovers: 8 },
  holds: [READINESS],
  logs: ['"needed":"database"'],
  note: 'Most calls wait until it is over. Calls that need another connection fail after 5 to 10 s.',
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const proxy = await startFreezingProxy(t, url)
    const at = await exercise(t, { url: proxy.url, direct: url })
    proxy.pause()
    await sleep(5000)
    at.hold(READINESS, at.replicas.every(({ baseUrl }) => at.probes.latest(baseUrl).startsWith('database: no answer')))
    await sleep(FROZEN - 5000)
    proxy.thaw()
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    return await at.end()
  }
}
