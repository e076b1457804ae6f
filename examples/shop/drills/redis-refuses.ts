import { Redis } from 'ioredis'
import { startPostgres } from '../test/postgres.ts'
import { startRedis, withoutRedis } from '../test/redis.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { areLimited } from './limited.ts'

const READINESS = '`/readyz` stays 200, and says what Redis refuses with'
const LIMITED = 'Calls are limited all the time: by each server alone while Redis refuses to count'

/** What makes Redis refuse writes, what ends it, and the first word of its error. */
const CAUSES = [
  [['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0'], 'OOM'],
  [['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one'], 'READONLY']
] as const

export const redisRefuses: Drill = {
  name: 'redis-refuses',
  title: 'Redis is full, and is demoted',
  done: 'Redis reaches its `maxmemory` and evicts nothing. Later it becomes the replica of another one.',
  may: { statuses: [], pause: 5, recovers: 10 },
  holds: [READINESS, LIMITED],
  logs: ['"needed":"redis"', 'Redis counts calls again'],
  without: () => withoutServers || withoutRedis,
  async run (t) {
    const redis = await startRedis(t)
    const operator = new Redis(redis.url)
    t.teardown(() => {
      operator.disconnect()
    })
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url, settings: { REDIS_URL: redis.url } })
    at.hold(LIMITED, await areLimited(at))
    for (const [[begin, ...how], [end, ...back], error] of CAUSES) {
      await operator.call(begin, ...how)
      await at.untilReplicas(error)
      await at.serve()
      at.hold(LIMITED, await areLimited(at))
      await operator.call(end, ...back)
      at.mended()
      await at.untilReplicas('ready')
      at.hold(LIMITED, await areLimited(at))
    }
    at.hold(READINESS, at.probes.reasons.size === 0)
    return await at.end()
  }
}
