import type { Database } from './index.ts'

/** What decides whether a write that was acknowledged outlives a crash. */
interface Facts {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_commit: string
  readonly synchronous_standby_names: string
}

/** Values of `synchronous_commit` that do not wait until the standby has stored a write. */
const BEFORE_STANDBY: readonly string[] = ['local', 'remote_write']

/**
 * Settings of the database by which writes can get lost that the server has acknowledged, each with what to do. An
 * operator may want them, so that they refuse nothing.
 */
export async function losesWrites ({ engine, knex }: Pick<Database, 'engine' | 'knex'>): Promise<readonly string[]> {
  // The embedded one is for trials, and has settings of its own.
  if (engine === 'embedded') return []
  const { rows: [facts] } = await knex.raw<{ readonly rows: readonly [Facts] }>(
    `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
      current_setting('synchronous_commit') as synchronous_commit,
      current_setting('synchronous_standby_names') as synchronous_standby_names`
  )
  return lossesFrom(facts)
}

export function lossesFrom (
  { fsync, full_page_writes: fullPages, synchronous_commit: commit, synchronous_standby_names: standbys }: Facts
): readonly string[] {
  const destroys = (name: string): string =>
    `${name} is off: a crash of the host can destroy the database. Remove it from postgresql.conf`
  const losses: ReadonlyArray<readonly [isLost: boolean, message: string]> = [
    [fsync === 'off', destroys('fsync')],
    [fullPages === 'off', destroys('full_page_writes')],
    [
      commit === 'off',
      'synchronous_commit is off: a crash of PostgreSQL loses writes that were acknowledged. alter role … reset ' +
      'synchronous_commit'
    ],
    [
      standbys !== '' && BEFORE_STANDBY.includes(commit),
      `synchronous_commit is ${commit}: a failover loses writes that were acknowledged. alter role … reset ` +
      'synchronous_commit'
    ]
  ]
  return losses.filter(([isLost]) => isLost).map(([, message]) => message)
}
