import { SHOP_USAGE } from '../errors.ts'
import { databaseSettings } from '../settings/settings.ts'
import { makeAdmin } from '../users/repository.ts'
import { type Command, operatorOf, withDatabase } from './command.ts'

/** The longest `sub` of an ID token (OpenID Connect Core 1.0 §2). */
const SUBJECT_LENGTH = 255

const USAGE = 'admin add <subject>'

/** `shop admin add`: for the first admin, and for the day when no admin can sign in. */
export const adminAdd: Command = {
  usage: USAGE,
  summary: 'makes the person with this subject (the sub claim) an active admin',
  positionals: 1,
  async run ({ positionals: [subject = ''], environment, open }) {
    if (subject === '' || subject.length > SUBJECT_LENGTH) throw new SHOP_USAGE(`shop ${USAGE}`)
    return await withDatabase(open, databaseSettings(environment), async ({ knex }) => {
      const { user, known, changed } = await makeAdmin(knex, operatorOf(environment, 'admin add'), subject, [
        'roles',
        'active'
      ])
      const name = user.name === null ? '' : ` (${user.name})`
      return {
        code: 0,
        stdout: `${user.id}\n`,
        // First: people may be added before they sign in, but a subject with a mistake is nobody's.
        stderr: (known
          ? ''
          : `Nobody with the subject ${subject} has signed in yet. Check it against subject in the response of GET /me.\n`) +
          `${subject}${name} is ${changed ? 'now' : 'already'} an admin.\n`
      }
    })
  }
}
