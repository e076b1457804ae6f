import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Postgres, postgresProgram, startPostgres } from '../test/postgres.ts'
import { call } from '../test/process.ts'
import { folderFor, type Scope } from '../../../test/scope.ts'
import type { Drill, Found } from './drill.ts'
import { exercise, withoutServers } from './exercise.ts'

/** In megabytes: a new database takes half of it. */
const SIZE = 96

const READINESS = '`/readyz` returns 503 and says that the disk is full'
const READS = 'Calls that read go on'

/** Why there can be no small disk here, else false. */
function withoutDisk (): string | false {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'))
  const mounted = mount(folder)
  if (mounted) spawnSync('umount', [folder])
  rmSync(folder, { recursive: true })
  return !mounted && 'a disk of a fixed size cannot be mounted here'
}

function mount (folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}m`, 'tmpfs', folder]).status === 0
}

/** @returns the folder of a small disk */
function mountDisk (t: Scope): string {
  const folder = folderFor(t, 'disk')
  if (!mount(folder)) throw new Error('the disk could not be mounted')
  t.teardown(() => {
    spawnSync('umount', [folder])
  })
  return folder
}

/** Writes until there is no room. */
function fill (file: string): void {
  try {
    writeFileSync(file, Buffer.alloc(SIZE * 2 ** 20))
  } catch (error) {
    if ((error as { code?: string }).code !== 'ENOSPC') throw error
  }
}

/** The parts of PostgreSQL that the small disk has. */
type Part = 'data' | 'tablespace'

export const diskFull = drillOf('data', {
  name: 'disk-full',
  title: 'The disk of PostgreSQL is full',
  done: 'The disk with the data of PostgreSQL fills up, and is emptied again. The write-ahead log is on another one.',
  note: 'If the write-ahead log is on the same disk, PostgreSQL may [stop](#postgres-stopped). Make room and start ' +
    'it again.'
})

export const tablespaceFull = drillOf('tablespace', {
  name: 'tablespace-full',
  title: 'The disk of a tablespace is full',
  done: 'The same, where only the shop’s database is on that disk, as a tablespace.'
})

function drillOf (part: Part, words: Pick<Drill, 'name' | 'title' | 'done' | 'note'>): Drill {
  return {
    ...words,
    may: { statuses: [503], share: 0.3, pause: 15, recovers: 5 },
    holds: [READINESS, READS],
    logs: ['"needed":"database"'],
    without: () => withoutServers || withoutDisk(),
    run: async (t) => await fillUp(t, part)
  }
}

async function fillUp (t: Scope, part: Part): Promise<Found> {
  const disk = mountDisk(t)
  const { url } = part === 'data' ? await startPostgres(t, { disk }) : await startOnTablespace(t, disk)
  const at = await exercise(t, { url })
  const filler = join(disk, 'filler')
  fill(filler)
  await at.untilReplicas('its disk is full')
  const reads = await Promise.all(
    [at.headers, at.machine].map(async (headers) =>
      await call('GET', `${at.baseUrl}/shops/${at.shop}/tags`, { headers })
    )
  )
  at.hold(READS, reads.every(({ status }) => status === 200))
  at.hold(
    READINESS,
    at.probes.reasons.size > 0 && [...at.probes.reasons].every((reason) => reason.includes('its disk is full'))
  )
  rmSync(filler)
  at.mended()
  await at.untilReplicas('ready')
  await at.serve()
  return await at.end()
}

async function startOnTablespace (t: Scope, disk: string): Promise<Postgres> {
  const postgres = await startPostgres(t)
  spawnSync('chown', ['postgres', disk])
  const server = new URL(postgres.superuser)
  server.pathname = '/postgres'
  await postgresProgram(
    'psql',
    '-q',
    '-d',
    server.href,
    '-c',
    `create tablespace small location '${disk}'`,
    '-c',
    'alter database shop set tablespace small'
  )
  return postgres
}
