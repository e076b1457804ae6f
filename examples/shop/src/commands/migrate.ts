import { migrate, pendingMigrations } from '../migrations/migrate.ts'
import { databaseRisksIn } from '../settings/risks.ts'
import { databaseSettings } from '../settings/settings.ts'
import { refuseUnsuitable } from '../database/session.ts'
import type { Command } from './command.ts'

/** `npm run migrate`: without `--status` it needs no up-to-date tables, as it makes them. */
export const migrateTables: Command = {
  usage: 'migrate [--status]',
  summary:
    'brings the database tables up to date; --status only lists what is pending, and exits with 1 if anything is',
  options: { status: { type: 'boolean' } },
  async run ({ values, environment, open }) {
    const database = await open(databaseSettings(environment, databaseRisksIn))
    const stderr = `Database: ${database.place}\n`
    try {
      if (values['status'] === true) {
        const pending = await pendingMigrations(database.knex)
        return {
          code: pending.length === 0 ? 0 : 1,
          stdout: pending.length === 0 ? 'Up to date\n' : `Pending: ${pending.join(', ')}\n`,
          stderr
        }
      }
      await refuseUnsuitable(database.knex)
      // At once: it may wait for long.
      const tell = (line: string): void => {
        process.stderr.write(`${line}\n`)
      }
      database.logTo({ warn: tell, error: tell })
      const done = await migrate(database)
      return { code: 0, stdout: done.length === 0 ? 'Already up to date\n' : `Done: ${done.join(', ')}\n`, stderr }
    } finally {
      await database.close()
    }
  }
}
