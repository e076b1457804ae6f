import pg from 'pg'
import { setTimeout as sleep } from 'node:timers/promises'
import { startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'
import { until } from './until.ts'

/** Lines of the file. */
const LINES = 500

/** For how long the lock is held, in milliseconds: longer than a statement may take. */
const HELD = 25_000

const IMPORTED = 'The import ends once the lock is gone: each line has made its product, and none has failed'
const READS = 'Products can be read meanwhile'

export const lockBehindImport: Drill = {
  name: 'lock-behind-import',
  title: 'An import waits for a lock',
  done: `A session locks the products against writes for 25 s. An import of ${LINES} products begins behind it.`,
  may: { statuses: [], pause: 2, recovers: 3 },
  holds: [IMPORTED, READS],
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    const session = new pg.Client({ connectionString: url })
    await session.connect()
    t.teardown(async () => {
      await session.end()
    })
    await session.query('begin; lock table products in share row exclusive mode')
    const imports = `${at.baseUrl}/shops/${at.shop}/imports`
    const content = Array.from({ length: LINES }, (_, index) => JSON.stringify({ name: `Drill ${index}` })).join('\n')
    const started = await call('POST', imports, { headers: at.machine, body: { format: 'jsonl', content } })
    if (started.status >= 300) throw new Error(JSON.stringify(started.body))
    const state = async () => (await call('GET', `${imports}/${started.body.id}`, { headers: at.machine })).body
    const products = async () => await call('GET', `${at.baseUrl}/shops/${at.shop}/products`, { headers: at.machine })
    await sleep(HELD)
    at.hold(READS, (await products()).status === 200)
    await session.query('rollback')
    at.mended()
    await until('the import ends', 90, async () => (await state()).finished_at !== null)
    const { status, created, failed } = await state()
    at.hold(IMPORTED, status === 'done' && created === LINES && failed === 0)
    await at.serve()
    return await at.end()
  }
}
