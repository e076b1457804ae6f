import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../shared/free-port.ts'
import { serve } from './listens.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'

/** Debian's is where the path of an ordinary user does not lead. */
const PGBOUNCER = ['pgbouncer', '/usr/sbin/pgbouncer'].find((program) => spawnSync(program, ['--version']).status === 0)

/** Why there is no PgBouncer to test with, else false. */
export const withoutPgBouncer = PGBOUNCER === undefined && 'pgbouncer is not installed'

/** Since 1.21 it can keep named statements. */
export const keepsNames = PGBOUNCER !== undefined &&
  isAtLeast(String(spawnSync(PGBOUNCER, ['--version']).stdout), 1, 21)

function isAtLeast (printed: string, major: number, minor: number): boolean {
  const [, found = 0, least = 0] = (/(\d+)\.(\d+)/.exec(printed) ?? []).map(Number)
  return found > major || (found === major && least >= minor)
}

/**
 * Starts PgBouncer in front of a database, and waits until it listens.
 *
 * @param url - of the database on its server
 * @param settings - lines of its configuration that replace those of the documentation
 * @returns the URL through it
 */
export async function startPgBouncer (
  t: Scope,
  url: string,
  settings: Readonly<Record<string, string | number>> = {}
): Promise<string> {
  const dir = folderFor(t, 'pgbouncer')
  const { hostname, port, username, password, pathname } = new URL(url)
  const name = pathname.slice(1)
  const listenPort = await freePort()
  const options = {
    listen_addr: '127.0.0.1',
    listen_port: listenPort,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: 'transaction',
    ignore_startup_parameters: 'statement_timeout',
    ...keepsNames && { max_prepared_statements: 200 },
    ...settings
  }
  const lines = Object.entries(options).map(([option, value]) => `${option} = ${value}`)
  const secret = password === '' ? '' : ` password=${decodeURIComponent(password)}`
  writeFileSync(
    join(dir, 'pgbouncer.ini'),
    `[databases]\n${name} = host=${hostname} port=${port || 5432} dbname=${name} ` +
      `user=${username || 'postgres'}${secret}\n[pgbouncer]\n${lines.join('\n')}\n`
  )
  chmodSync(dir, 0o755)
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : []
  await serve(t, listenPort, PGBOUNCER!, [...user, join(dir, 'pgbouncer.ini')])
  return `postgres://${username || 'postgres'}@127.0.0.1:${listenPort}/${name}`
}
