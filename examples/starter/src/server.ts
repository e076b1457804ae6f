import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.ts'
import { createKey } from './auth.ts'
import { openDatabase } from './database.ts'
import { settingsFrom } from './settings.ts'

const settings = settingsFrom(process.env)
const { knex, close } = await openDatabase(settings)
const app = await buildApp(settings, knex)
// After the calls under way.
app.addHook('onClose', close)
closeWithGrace({ delay: 10_000, logger: app.log }, async () => await app.close())
await app.listen({ host: settings.host, port: settings.port })

// Only in development: a log is no place for keys.
if (settings.databaseUrl === undefined && await knex('teams').first() === undefined) {
  console.log(`\nYour API key, which is shown once: ${await createKey(settings, knex, 'First team')}\n`)
}
