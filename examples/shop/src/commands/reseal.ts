import { openDatabase } from '../database/index.ts'
import { refusePending } from '../database/migrate.ts'
import { keyRing } from '../pay/key-ring.ts'
import { resealPayKeys } from '../pay/pay-keys.ts'
import { configFromEnvironment } from '../settings/config.ts'
import { refuse } from './serve.ts'

/** `npm run reseal`: encrypts the payment keys of shops under the newest of `PAY_KEY_SECRETS`; with the settings of the server. */
try {
  const config = configFromEnvironment(process.env)
  const database = await openDatabase(config)
  try {
    await refusePending(database)
    const { resealed, current, unreadable } = await resealPayKeys(database.knex, keyRing(config.PAY_KEY_SECRETS))
    process.stdout.write(`Payment keys encrypted anew: ${resealed}; under the newest secret already: ${current}.\n`)
    if (unreadable.length > 0) {
      process.stderr.write(`No secret opens those of the shops ${unreadable.join(', ')}.\n`)
      process.exitCode = 1
    }
  } finally {
    await database.close()
  }
} catch (error) {
  refuse(error)
}
