import { parseArgs } from 'node:util'
import { refusePending } from '../database/migrate.ts'
import { SHOP_USAGE } from '../errors.ts'
import { databaseSettings } from '../settings/config.ts'
import { makeAdmin } from '../users/repository.ts'
import { type Command, operatorOf } from './command.ts'

/** The longest `sub` of an ID token (OpenID Connect Core 1.0 §2). */
const SUBJECT_LENGTH = 255

const usage = 'admin add <subject>'

/** `shop admin add`: for the first admin, and for the day on which no admin can sign in. */
export const adminAdd: Command = {
  usage,
  summary: 'makes the person with this subject (the claim sub) an admin, and active',
  async run (args, environment, open) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
    const [subject = '', ...rest] = positionals
    if (rest.length > 0 || subject === '' || subject.length > SUBJECT_LENGTH) throw new SHOP_USAGE(`shop ${usage}`)
    const database = await open(databaseSettings(environment))
    try {
      await refusePending(database)
      const { user, known, changed } = await makeAdmin(database.knex, operatorOf(environment, 'admin add'), subject, ['roles', 'active'])
      const name = user.name === null ? '' : ` (${user.name})`
      return {
        code: 0,
        stdout: `${user.id}\n`,
        stderr: `${subject}${name} ${changed ? 'is an admin from the next request on' : 'was an admin already'}.\n` +
          (known ? '' : 'Nobody with this subject has used the server yet. Compare it with subject in the response of GET /me.\n')
      }
    } finally {
      await database.close()
    }
  }
}
