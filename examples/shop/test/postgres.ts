import { execFile } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../../../shared/free-port.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'

const execute = promisify(execFile)

/** Where Debian puts the programs of PostgreSQL, of the newest version. */
const PROGRAMS = '/usr/lib/postgresql'
const [version] = versions().toSorted((a, b) => Number(b) - Number(a))

/** Why there is no PostgreSQL to start and stop, else false. */
export const withoutPostgres = version === undefined && `there is no PostgreSQL in ${PROGRAMS} to start and stop`

/** PostgreSQL does not run as root. */
const AS_POSTGRES = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []

function versions (): readonly string[] {
  try {
    return readdirSync(PROGRAMS)
  } catch {
    return []
  }
}

/** A PostgreSQL server of its own, which may be stopped. */
export interface Postgres {
  readonly port: number
  /** Of the database `shop`, as its owner. */
  readonly url: string
  /** The same, as the superuser. */
  readonly superuser: string
  start(): Promise<void>
  /** Stops it as a crash does: nothing is finished. */
  stop(): Promise<void>
  /** Stops its processes where they are: connections stay open, and nobody answers. */
  freeze(): void
  thaw(): void
  /** Makes a standby the primary. */
  promote(): Promise<void>
}

export interface PostgresOptions {
  /** Lines of its configuration. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** An existing folder for its data, apart from its write-ahead log; default: one of its own. */
  readonly disk?: string
  /** The port where it reaches the primary that it is the standby of, by the name `standby`; default: it is none. */
  readonly follows?: number
}

/** Runs a program of PostgreSQL, as its user. */
export async function postgresProgram (program: string, ...args: readonly string[]): Promise<string> {
  const [command, ...rest] = [...AS_POSTGRES, join(PROGRAMS, version!, 'bin', program), ...args]
  try {
    const { stdout } = await execute(command!, rest, { cwd: '/', timeout: 180_000 })
    return stdout
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string, stderr?: string }
    throw new Error(`${program}: ${stdout}${stderr}`, { cause: error })
  }
}

/** Starts it on a free port of loopback, with its files in a folder of its own, and an empty database for the shop. */
export async function startPostgres (
  t: Scope,
  { settings = {}, disk, follows }: PostgresOptions = {}
): Promise<Postgres> {
  const dir = folderFor(t, 'postgres')
  const port = await freePort()
  const data = join(disk ?? dir, 'data')
  const log = join(dir, 'log')
  if (AS_POSTGRES.length > 0) { for (const folder of [dir, disk ?? dir]) await execute('chown', ['postgres', folder]) }
  chmodSync(dir, 0o755)
  const options = Object.entries({ listen_addresses: '127.0.0.1', ...settings }).map(([name, value]) =>
    `-c ${name}='${value}'`
  ).join(' ')
  const control = async (...args: readonly string[]): Promise<void> => {
    await postgresProgram('pg_ctl', '-D', data, '-w', '-t', '120', '-s', ...args)
  }
  const postgres: Postgres = {
    port,
    url: `postgres://shop@127.0.0.1:${port}/shop`,
    superuser: `postgres://postgres@127.0.0.1:${port}/shop`,
    start: async () => {
      await control('-o', `-p ${port} -k ${dir} ${options}`, '-l', log, 'start')
    },
    stop: async () => {
      await control('-m', 'immediate', 'stop')
    },
    freeze: () => {
      signal(data, 'SIGSTOP')
    },
    thaw: () => {
      signal(data, 'SIGCONT')
    },
    promote: async () => {
      await control('promote')
    }
  }
  t.teardown(async () => {
    postgres.thaw()
    // It may have been stopped already, or never have been started.
    await postgres.stop().catch(() => {})
  })
  if (follows === undefined) {
    await postgresProgram(
      'initdb',
      '-D',
      data,
      '-A',
      'trust',
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      ...disk === undefined ? [] : ['-X', join(dir, 'wal')]
    )
    await postgres.start()
    await postgresProgram(
      'psql',
      '-q',
      '-h',
      '127.0.0.1',
      '-p',
      `${port}`,
      '-U',
      'postgres',
      '-c',
      'create role shop login',
      '-c',
      'create database shop owner shop'
    )
  } else {
    await postgresProgram(
      'pg_basebackup',
      '-D',
      data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '-d',
      `postgres://postgres@127.0.0.1:${follows}/postgres?application_name=standby`
    )
    await postgres.start()
  }
  return postgres
}

/** Signals all processes of the server that has its files in `data`: none, if it does not run. */
function signal (data: string, name: 'SIGSTOP' | 'SIGCONT'): void {
  const first = processOf(data)
  if (first === undefined) return
  // The first stops before it could start another.
  const children = (): number[] =>
    readdirSync('/proc').filter((entry) => /^\d+$/.test(entry)).map(Number).filter((pid) => parentOf(pid) === first)
  for (const pid of [first, ...children()]) {
    try {
      process.kill(pid, name)
    } catch {} // it has ended meanwhile
  }
}

function processOf (data: string): number | undefined {
  try {
    return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}

function parentOf (pid: number): number | undefined {
  try {
    // After the name, which may hold anything: the state, then the parent.
    return Number(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')[1])
  } catch {
    return undefined
  }
}
