import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const READINESS = '`/readyz` returns 503 and names the database'
const CODES =
  'Callers get 503 with `Retry-After`, by key `DUAL_AUTH_STORE_UNAVAILABLE` and by token `SHOP_DATABASE_UNAVAILABLE`'

/** For how long, in milliseconds. */
const AWAY = 1500

export const postgresStopped: Drill = {
  name: 'postgres-stopped',
  title: 'PostgreSQL is stopped and started',
  done: 'PostgreSQL crashes twice, and is started again when all replicas have noticed.',
  may: { statuses: [503], pause: 30, recovers: 10 },
  holds: [READINESS, CODES],
  logs: ['"needed":"database"'],
  isShort: true,
  without: () => withoutServers,
  async run (t) {
    const postgres = await startPostgres(t)
    const at = await exercise(t, { url: postgres.url })
    const tags = `${at.replicas[0]!.baseUrl}/shops/${at.shop}/tags`
    for (let outage = 0; outage < 2; outage++) {
      await postgres.stop()
      await at.untilReplicas('database')
      const [key, token] = await Promise.all(
        [at.headers, at.machine].map(async (headers) => await call('GET', tags, { headers }))
      )
      at.hold(
        READINESS,
        at.probes.reasons.size > 0 && [...at.probes.reasons].every((reason) => reason.startsWith('database'))
      )
      at.hold(
        CODES,
        [key!, token!].every(({ status, headers }) => status === 503 && headers.get('retry-after') === '5') &&
          key!.body.code === 'DUAL_AUTH_STORE_UNAVAILABLE' && token!.body.code === 'SHOP_DATABASE_UNAVAILABLE'
      )
      await sleep(AWAY)
      await postgres.start()
      at.mended()
      await at.untilReplicas('ready')
      await at.serve()
    }
    return await at.end()
  }
}
