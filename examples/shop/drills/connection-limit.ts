import pg from 'pg'
import { startPostgres } from '../test/postgres.ts'
import type { Scope } from '../../../test/scope.ts'
import { startWriting } from '../test/writers.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { until } from './until.ts'

const GO_ON = 'Calls wait for the connections that replicas have'
const STARTS = 'A replica that starts meanwhile is ready within 10 s after there is a connection'

/** Fewer than two replicas may open. */
const MOST = 15

/** How many more callers come when there are no more connections. */
const CROWD = 12

/** Takes connections as another application. @returns takes all that there are, and returns how to give them back */
function takeConnections (t: Scope, connectionString: string): () => Promise<() => Promise<void>> {
  const taken: pg.Client[] = []
  const giveBack = async (): Promise<void> => {
    for (const client of taken.splice(0)) await client.end()
  }
  t.teardown(giveBack)
  return async () => {
    for (;;) {
      const client = new pg.Client({ connectionString })
      client.on('error', () => {})
      try {
        await client.connect()
        taken.push(client)
      } catch (error) {
        if ((error as { code?: string }).code !== '53300') throw error
        return giveBack
      }
    }
  }
}

export const connectionLimit: Drill = {
  name: 'connection-limit',
  title: 'PostgreSQL has no connections left',
  done: `Another application takes all connections that \`max_connections\` leaves. ${CROWD} more callers come, for ` +
    'which the replicas would open more. Then a replica restarts, and the other application takes its ' +
    'connections too.',
  may: { statuses: [], pause: 2, recovers: 10 },
  holds: [GO_ON, STARTS],
  logs: ['"needed":"database"'],
  note: 'Calls that wait for a connection for more than 10 s get 503.',
  without: () => withoutServers,
  async run (t) {
    const { url, superuser: direct } = await startPostgres(t, { settings: { max_connections: MOST } })
    const at = await exercise(t, { url, direct, settings: { MAX_CONCURRENT_CALLS: '50' } })
    const takeMore = takeConnections(t, url)
    await takeMore()
    const crowd = startWriting(`${at.baseUrl}/shops/${at.shop}/tags`, at.machine, { writers: CROWD })
    t.teardown(crowd.end)
    await until('a replica lacks connections', 20, () => at.output().includes('"needed":"database"'))
    await at.serve()
    const [first] = at.replicas
    await at.stop(first!, 'SIGTERM')
    const giveBack = await takeMore()
    const starting = at.replace(first!)
    await at.serve()
    await giveBack()
    at.mended()
    const start = performance.now()
    await starting
    at.hold(STARTS, performance.now() - start < 10_000)
    await at.untilReplicas('ready')
    await at.serve()
    await crowd.end()
    at.hold(GO_ON, crowd.acknowledged.size > 0 && crowd.failures.length === 0)
    return await at.end()
  }
}
