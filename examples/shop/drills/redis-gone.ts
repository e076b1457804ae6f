import { bearer } from '../test/build.ts'
import { startPostgres } from '../test/postgres.ts'
import { startRedis, withoutRedis } from '../test/redis.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { areLimited } from './limited.ts'

const READINESS = '`/readyz` stays 200, and says that each server limits calls alone; `shop_redis_up` is 0'
const METRICS_TOKEN = 'metrics-token-of-the-drill'
const LIMITED = 'Calls are limited all the time: by each server alone while Redis is gone'

export const redisGone: Drill = {
  name: 'redis-gone',
  title: 'Redis is gone and comes back',
  done: 'Redis gets SIGKILL, and is started again without its data.',
  may: { statuses: [], pause: 5, recovers: 10 },
  holds: [READINESS, LIMITED],
  logs: ['"needed":"redis"', 'Redis counts calls again'],
  isShort: true,
  without: () => withoutServers || withoutRedis,
  async run (t) {
    const redis = await startRedis(t)
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url, settings: { REDIS_URL: redis.url, METRICS_TOKEN } })
    const before = await areLimited(at)
    await redis.kill()
    await at.untilReplicas('redis: it does not respond: each server limits calls alone')
    await at.serve()
    const without = await areLimited(at)
    const metrics = await fetch(`${at.replicas[0]!.baseUrl}/metrics`, { headers: bearer(METRICS_TOKEN) })
    at.hold(
      READINESS,
      ![...at.probes.reasons].some((reason) => /^redis: [^;]*$/.test(reason)) &&
        (await metrics.text()).includes('\nshop_redis_up 0\n')
    )
    await redis.start()
    at.mended()
    await at.untilReplicas('ready')
    at.hold(LIMITED, before && without && await areLimited(at))
    return await at.end()
  }
}
