import { keyRing } from '../pay/key-ring.ts'
import { seedSettings } from '../settings/settings.ts'
import { type Command, withDatabase } from './command.ts'

/** `npm run seed`. */
export const seed: Command = {
  usage: 'seed',
  summary: 'adds the shops of the demo to the database, except those that exist',
  async run ({ environment, open }) {
    const { PAY_KEY_SECRETS, ...settings } = seedSettings(environment)
    const { seedDemo } = await import('../samples/seed.ts')
    // The demo makes their keys at the payment stand-in, which are valid there only.
    const shops = await withDatabase(
      open,
      settings,
      async (database) => await seedDemo(database, { payKeys: {}, keys: keyRing(PAY_KEY_SECRETS) })
    )
    return { code: 0, stdout: shops.map(({ id, name }) => `${id}  ${name}\n`).join(''), stderr: '' }
  }
}
