import { openDatabase } from '../database/index.ts'
import { refusePending } from '../database/migrate.ts'
import { seedDemo } from '../demo/seed.ts'
import { keyRing } from '../pay/key-ring.ts'
import { seedSettings } from '../settings/config.ts'
import { refuse } from './serve.ts'

/** `npm run seed`: puts the shops of the demo into a migrated database, those that are not there yet. */
try {
  const { PAY_KEY_SECRETS, ...settings } = seedSettings(process.env)
  const database = await openDatabase(settings)
  try {
    await refusePending(database)
    // Their keys at the payment stand-in are made by the demo, and are good there only.
    const shops = await seedDemo(database, { payKeys: {}, keys: keyRing(PAY_KEY_SECRETS) })
    process.stdout.write(shops.map(({ id, name }) => `${id}  ${name}\n`).join(''))
  } finally {
    await database.close()
  }
} catch (error) {
  refuse(error)
}
