import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const IN_FLIGHT = 'No caller fails more than once'

export const replicaKilled: Drill = {
  name: 'replica-killed',
  title: 'A replica is killed',
  done: 'One of two replicas behind nginx gets SIGKILL.',
  may: { statuses: [502], share: 0.05, pause: 5, recovers: 5 },
  holds: [IN_FLIGHT],
  isShort: true,
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    const [victim] = at.replicas
    await at.stop(victim!, 'SIGKILL')
    at.mended()
    await at.serve(60)
    const failures = Object.values(at.loads).map((load) => load.failures.map(({ writer }) => writer))
    at.hold(IN_FLIGHT, failures.every((writers) => new Set(writers).size === writers.length))
    return await at.end()
  }
}
