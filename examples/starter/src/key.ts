import { createKey } from './auth.ts'
import { openDatabase } from './database.ts'
import { settingsFrom } from './settings.ts'

const [team] = process.argv.slice(2)
if (team === undefined) throw new Error('Name a team: npm run key -- "First team"')
const settings = settingsFrom(process.env)
const { knex, close } = await openDatabase(settings)
console.log(await createKey(settings, knex, team))
await close()
