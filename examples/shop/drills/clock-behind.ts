import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { until } from './until.ts'

/** In milliseconds. */
const BEHIND = 600_000

/** Runs before the server: its clock is behind, as that of a host which no time server reaches. */
const SLOW_CLOCK = encodeURIComponent(`const now = Date.now
Date.now = () => now() - ${BEHIND}
globalThis.Date = class extends Date {
  constructor (...given) { super(...given.length === 0 ? [Date.now()] : given) }
}`)

const KEYS = 'Calls with API keys never fail'
const TOKENS = 'Tokens are refused by 401 there, and accepted by the other replica'

export const clockBehind: Drill = {
  name: 'clock-behind',
  title: 'The clock of a replica is behind',
  done: 'One of two replicas restarts with a clock that is ten minutes behind, then with the right one.',
  may: { statuses: [401], share: 0.5, pause: 5, recovers: 1 },
  holds: [KEYS, TOKENS],
  logs: ['The clock of this host is 600 s behind that of the database'],
  note:
    'The replica refuses tokens that were made within these ten minutes. It says so in the log when it starts, and ' +
    'so does the doctor.',
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    const [first] = at.replicas
    await at.stop(first!, 'SIGTERM')
    const slow = await at.replace(first!, { NODE_OPTIONS: `--import=data:text/javascript,${SLOW_CLOCK}` })
    await until('calls with tokens fail', 20, () => at.loads.tokens.failures.length > 0)
    await at.serve()
    at.hold(TOKENS, at.loads.tokens.failures.every(({ code }) => code?.startsWith('DUAL_AUTH_') === true))
    await at.stop(slow, 'SIGTERM')
    await at.replace(slow, {})
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    at.hold(KEYS, at.loads.agents.failures.length + at.loads.programs.failures.length === 0)
    return await at.end()
  }
}
