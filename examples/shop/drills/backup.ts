import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../src/demo/ports.ts'
import { written } from '../test/installation.ts'
import { openPostgres } from '../src/database/index.ts'
import { postgresProgram, startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import { folderFor } from '../test/scope.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const COMPLETE = 'The restored database has every write acknowledged before the backup began'
const SERVES = 'A replica on it is ready, and the API keys still work'

export const backup: Drill = {
  name: 'backup',
  title: 'A backup is made and restored',
  done: '`pg_dump` runs while callers write, as in [backup.md](../backup.md). `pg_restore` fills an empty database ' +
    'elsewhere, and a replica starts there.',
  may: { statuses: [], pause: 2, recovers: 1 },
  holds: [COMPLETE, SERVES],
  without: () => withoutServers,
  async run (t) {
    const { url } = await startPostgres(t)
    const at = await exercise(t, { url })
    await at.serve(200)
    const folder = folderFor(t, 'backup')
    // PostgreSQL's own user writes it.
    chmodSync(folder, 0o777)
    const dump = join(folder, 'shop.dump')
    const before = Object.values(at.loads).flatMap((load) => [...load.acknowledged.keys()])
    await postgresProgram('pg_dump', '--format=custom', '--no-owner', `--file=${dump}`, url)
    at.mended()
    await at.serve()
    const restored = await startPostgres(t)
    await postgresProgram('pg_restore', '--no-owner', '--exit-on-error', `--dbname=${restored.url}`, dump)
    const database = openPostgres(restored.url)
    t.teardown(async () => {
      await database.close()
    })
    const kept = await written(database)
    at.hold(COMPLETE, before.every((name) => kept.has(name)))
    const { baseUrl } = await at.add({ DATABASE_URL: restored.url, PORT: String(await freePort(0)) })
    const tags = `${baseUrl}/shops/${at.shop}/tags`
    const answers = [
      await call('GET', `${baseUrl}/readyz`),
      await call('GET', `${tags}?limit=1`, { headers: at.headers }),
      await call('POST', tags, { headers: at.headers, body: { name: 'after the restore' } })
    ]
    at.hold(SERVES, answers.map(({ status }) => status).join() === '200,200,201')
    return await at.end()
  }
}
