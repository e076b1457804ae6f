import { keyRing } from '../pay/key-ring.ts'
import { resealPayKeys } from '../pay/pay-keys.ts'
import { settingsFromEnvironment } from '../settings/settings.ts'
import { type Command, withDatabase } from './command.ts'

/** `npm run shop -- reseal`, with the settings of the server. */
export const reseal: Command = {
  usage: 'reseal',
  summary: 're-encrypts the payment keys of all shops with the first secret in PAY_KEY_SECRETS',
  async run ({ environment, open }) {
    const config = settingsFromEnvironment(environment)
    const { resealed, current, unreadable } = await withDatabase(
      open,
      config,
      async ({ knex }) => await resealPayKeys(knex, keyRing(config.PAY_KEY_SECRETS))
    )
    return {
      code: unreadable.length > 0 ? 1 : 0,
      stdout: `Payment keys re-encrypted: ${resealed}; already under the newest secret: ${current}.\n`,
      stderr: unreadable.length > 0
        ? `No secret in PAY_KEY_SECRETS decrypts the payment keys of these shops: ${unreadable.join(', ')}.\n`
        : ''
    }
  }
}
