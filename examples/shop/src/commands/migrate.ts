import { openDatabase } from '../database/index.ts'
import { migrate, pendingMigrations } from '../database/migrate.ts'
import { SHOP_USAGE } from '../errors.ts'
import { databaseSettings } from '../settings/config.ts'
import { refuse } from './serve.ts'

/** `npm run migrate`: brings the tables up to date. With `--status` it only says what is missing, and ends with 1 if something is. */
try {
  const [flag, ...rest] = process.argv.slice(2)
  if (rest.length > 0 || ![undefined, '--status'].includes(flag)) throw new SHOP_USAGE('npm run migrate [-- --status]')
  const database = await openDatabase(databaseSettings(process.env))
  try {
    if (flag === '--status') {
      const pending = await pendingMigrations(database.knex)
      process.stdout.write(pending.length === 0 ? 'Up to date\n' : `Pending: ${pending.join(', ')}\n`)
      process.exitCode = pending.length === 0 ? 0 : 1
    } else {
      const done = await migrate(database)
      process.stdout.write(done.length === 0 ? 'Up to date already\n' : `Done: ${done.join(', ')}\n`)
    }
  } finally {
    await database.close()
  }
} catch (error) {
  refuse(error)
}
