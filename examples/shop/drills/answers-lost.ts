import { openPostgres } from '../src/database/index.ts'
import { startPostgres } from '../test/postgres.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { startRepeating } from './repeating.ts'

const ONCE = 'Each key has made one record, and each call has got it'

/** How often a replica is killed. */
const KILLS = 3

export const answersLost: Drill = {
  name: 'answers-lost',
  title: 'Answers are lost, and calls repeated',
  done: 'One replica after another gets SIGKILL, while callers create products and accounts with `Idempotency-Key`. ' +
    'They repeat each call until it is answered. Others create without a key.',
  may: { statuses: [502], share: 0.05, pause: 5, recovers: 5 },
  holds: [ONCE],
  isShort: true,
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    const of = `${at.baseUrl}/shops/${at.shop}`
    // An account may have the name of another one.
    const callers = {
      products: startRepeating(t, `${of}/products`, at.headers),
      accounts: startRepeating(t, `${of}/accounts`, at.machine)
    }
    for (let kills = 0; kills < KILLS; kills++) {
      await Promise.all(Object.values(callers).map(async (caller) => await caller.creates(30)))
      const victim = at.replicas[kills % at.replicas.length]!
      await at.stop(victim, 'SIGKILL')
      await at.replace(victim)
    }
    at.mended()
    await at.untilReplicas('ready')
    await at.serve()
    const database = openPostgres(url)
    for (const [table, caller] of Object.entries(callers)) {
      await caller.end()
      const names = (await database.knex(table).select('name')).map(({ name }) => name)
      at.hold(
        ONCE,
        caller.wrong.length === 0 && names.length === caller.made.size && names.every((name) => caller.made.has(name))
      )
    }
    await database.close()
    const sum = (count: 'sent' | 'replayed'): number =>
      callers.products.repeats[count] + callers.accounts.repeats[count]
    const created = callers.products.made.size + callers.accounts.made.size
    return {
      ...await at.end(),
      remark: `${created} created, ${sum('sent')} repeats, ${sum('replayed')} of what was done`
    }
  }
}
