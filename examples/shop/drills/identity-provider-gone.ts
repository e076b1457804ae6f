import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { until } from './until.ts'

const GO_ON = 'While no replica restarts, no call fails: the keys of the provider are kept'
const KEYS = 'Calls with API keys never fail'
const READINESS = '`/readyz` of the restarted replica is 200, and tells that only API keys are accepted'

export const identityProviderGone: Drill = {
  name: 'identity-provider-gone',
  title: 'The identity provider is gone and comes back',
  done:
    'The identity provider stops. A replica restarts, and cannot read its keys. Then the provider is started again.',
  may: { statuses: [503], share: 0.3, pause: 2, recovers: 35 },
  holds: [GO_ON, KEYS, READINESS],
  logs: ['"needed":"identity_provider"'],
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    await at.idp.close()
    await at.serve(60)
    at.hold(GO_ON, at.loads.tokens.failures.length === 0)
    const [first] = at.replicas
    await at.stop(first!, 'SIGTERM')
    await at.replace(first!)
    // nginx sends calls there again after 5 s.
    await until('calls with tokens fail', 20, () => at.loads.tokens.failures.length > 0)
    await at.serve()
    at.hold(
      READINESS,
      at.probes.reasons.size === 0 && at.probes.latest(first!.baseUrl).includes('only API keys are accepted')
    )
    await at.idp.open()
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    at.hold(KEYS, at.loads.agents.failures.length + at.loads.programs.failures.length === 0)
    return await at.end()
  }
}
