import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import { freePort } from '../../../shared/free-port.ts'
import { openPostgres } from '../src/database/index.ts'
import { type Postgres, postgresProgram, startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'
import type { Drill } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

const SAME =
  'Every table of the restored database has as many rows as when the backup began, and the history is the same'
const SERVES = 'A replica on it is ready, and the API keys still work'

export const backup: Drill = {
  name: 'backup',
  title: 'A backup is made and restored',
  done:
    '`pg_dump` runs while callers write, as in [backup.md](../backup.md). `pg_restore` fills an empty database of ' +
    'another cluster: the owner is another role, a role with grants is missing, and `template1` has the extensions. ' +
    'A replica starts there.',
  may: { statuses: [], pause: 2, recovers: 1 },
  holds: [SAME, SERVES],
  without: () => withoutServers,
  async run (t) {
    const server = await startPostgres(t)
    const at = await exercise(t, { url: server.url })
    await at.serve(200)
    const folder = folderFor(t, 'backup')
    // PostgreSQL's own user writes it.
    chmodSync(folder, 0o777)
    const dump = join(folder, 'shop.dump')
    const source = opened(t, server.superuser)
    await source.raw('create role reporting')
    await source.raw('grant select on all tables in schema public to reporting')
    const saved = await source.transaction(async (trx) => {
      const { rows: [{ snapshot }] } = await trx.raw('select pg_export_snapshot() as snapshot')
      await postgresProgram('pg_dump', '--format=custom', `--snapshot=${snapshot}`, `--file=${dump}`, server.url)
      return await contentsOf(trx)
    }, { isolationLevel: 'repeatable read' })
    at.mended()
    await at.serve()
    const url = await otherCluster(t)
    await postgresProgram(
      'pg_restore',
      '--no-owner',
      '--no-acl',
      '--no-comments',
      '--exit-on-error',
      `--dbname=${url}`,
      dump
    )
    at.hold(SAME, isDeepStrictEqual(await contentsOf(opened(t, url)), saved))
    const { baseUrl } = await at.add({ DATABASE_URL: url, PORT: String(await freePort()) })
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

function opened (t: Scope, url: string): Knex {
  const database = openPostgres(url)
  t.teardown(async () => {
    await database.close()
  })
  return database.knex
}

/** @returns how many rows each table has, and a digest of the history, in its order */
async function contentsOf (on: Knex): Promise<ReadonlyMap<string, string>> {
  const { rows: tables } = await on.raw(
    "select tablename from pg_tables where schemaname = 'public' order by tablename"
  )
  const contents = new Map<string, string>()
  for (const { tablename } of tables) {
    const { rows: [{ count }] } = await on.raw('select count(*) as count from ??', [tablename])
    contents.set(tablename, count)
  }
  const { rows: [{ digest }] } = await on.raw(
    "select md5(string_agg(md5(history::text), '' order by seq)) as digest from history"
  )
  return contents.set('the history', digest)
}

/** Another cluster, whose administrator knows nothing of the first. @returns the URL of an empty database */
async function otherCluster (t: Scope): Promise<string> {
  const { superuser }: Postgres = await startPostgres(t)
  const at = (path: string, user = 'postgres'): string => {
    const url = new URL(superuser)
    url.username = user
    url.pathname = path
    return url.href
  }
  const administer = async (path: string, ...commands: readonly string[]): Promise<void> => {
    await postgresProgram('psql', '-q', '-d', at(path), ...commands.flatMap((command) => ['-c', command]))
  }
  await administer('template1', 'create extension pg_trgm', 'create extension btree_gin')
  await administer('postgres', 'create role acme login', 'create database restored owner acme template template0')
  return at('restored', 'acme')
}
