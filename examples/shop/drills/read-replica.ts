import { startFreezingProxy } from '../test/freezing-proxy.ts'
import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { METRICS_TOKEN, readsOf, run } from './replica-reads.ts'
import { startReading } from './reading.ts'
import { until } from './until.ts'

const FRESH = 'A caller always sees what it wrote, and no list fails'
const SERVED = 'The standby serves lists, also while it is behind, of what did not change'
const READINESS = '`/readyz` stays 200, and tells that the primary is read'
const APART = 'What is written to the promoted standby is never listed'
const PROMPT = 'No list takes longer than 10 s'

export const readReplica: Drill = {
  name: 'read-replica',
  title: 'The standby for lists is behind, hangs, stops and is promoted',
  done: 'The standby of `DATABASE_READ_URL` stops replaying for a while, then hangs, then crashes and is started ' +
    'again. At last it is promoted, beside the primary. Callers write at one replica and list at the other.',
  may: { statuses: [], pause: 2, recovers: 1 },
  holds: [FRESH, SERVED, READINESS, APART, PROMPT],
  logs: ['"needed":"read_replica"', 'The replica is back: lists are read there again'],
  isShort: true,
  without: () => withoutServers,
  async run (t) {
    const primary = await startPostgres(t)
    const standby = await startPostgres(t, { follows: primary.port })
    const proxy = await startFreezingProxy(t, standby.url)
    const at = await exercise(t, { url: primary.url, settings: { DATABASE_READ_URL: proxy.url, METRICS_TOKEN } })
    const reading = await startReading(t, at)
    await reading.rounds(2)

    await run(standby, 'select pg_wal_replay_pause()')
    const [served, behind] = [await readsOf(at, 'served'), await readsOf(at, 'behind')]
    await reading.rounds(3)
    at.hold(SERVED, await readsOf(at, 'served') > served && await readsOf(at, 'behind') > behind)
    await run(standby, 'select pg_wal_replay_resume()')

    const away = async (cause: () => void | Promise<void>, end: () => void | Promise<void>): Promise<void> => {
      await cause()
      await at.untilReplicas('read_replica: it does not answer: lists are read at the primary')
      await reading.rounds(3)
      at.hold(READINESS, at.probes.reasons.size === 0)
      await end()
      await at.untilReplicas('ready')
      const before = await readsOf(at, 'served')
      await until('the standby serves again', 20, async () => await readsOf(at, 'served') > before)
    }
    await away(() => {
      proxy.pause()
    }, () => {
      proxy.thaw()
    })
    await away(async () => {
      await standby.stop()
    }, async () => {
      await standby.start()
    })

    await standby.promote()
    await run(
      standby,
      `insert into products (shop_id, name, slug, currency) values ('${at.shop}', 'Apart', 'apart', 'EUR')`
    )
    await reading.rounds(3)
    at.hold(APART, !reading.seen().includes('Apart'))
    at.mended()
    await at.serve()
    const { wrong, slowest } = await reading.end()
    at.hold(FRESH, wrong.length === 0)
    at.hold(PROMPT, slowest < 10_000)
    return await at.end()
  }
}
