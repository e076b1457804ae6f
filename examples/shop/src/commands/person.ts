import type { Knex } from 'knex'
import { notFound, SHOP_USAGE } from '../errors.ts'
import { UUID } from '../http/schemas.ts'
import { databaseSettings, settingsFromEnvironment } from '../settings/settings.ts'
import { deletePerson, exportOf, renamePerson } from '../users/personal-data.ts'
import { type Command, operatorOf, withDatabase } from './command.ts'

/** `shop person export`: what is stored about somebody, as lines of JSON. */
export const personExport: Command = {
  usage: 'person export <id or subject>',
  summary: 'prints everything that is stored about a person, as lines of JSON',
  positionals: 1,
  async run ({ positionals: [who = ''], environment, open }) {
    return await withDatabase(open, databaseSettings(environment), async ({ knex }) => {
      const lines: string[] = []
      for await (const line of exportOf(knex, await personOf(knex, who))) lines.push(line)
      return { code: 0, stdout: lines.join(''), stderr: '' }
    })
  }
}

/** `shop person rename`, also in what they did before. */
export const personRename: Command = {
  usage: 'person rename <id or subject> <name>',
  summary:
    'replaces the name of a person everywhere, also in the history; their next sign-in stores the name in their token',
  positionals: 2,
  async run ({ positionals: [who = '', name = ''], environment, open }) {
    if (!/\S/.test(name) || name.length > 200) throw new SHOP_USAGE(`shop ${personRename.usage}`)
    return await withDatabase(open, databaseSettings(environment), async ({ knex }) => {
      const { id } = await personOf(knex, who)
      await renamePerson(knex, operatorOf(environment, 'person rename'), id, name)
      return { code: 0, stdout: `${id}\n`, stderr: 'Renamed, also in the history.\n' }
    })
  }
}

/** `shop person delete`, with the settings of the server: sign-ins of apps end at the identity provider too. */
export const personDelete: Command = {
  usage: 'person delete <id or subject>',
  summary:
    'deletes a person for good and revokes their API keys; what they did stays in the history without their name',
  positionals: 1,
  async run ({ positionals: [who = ''], environment, open }) {
    const config = settingsFromEnvironment(environment)
    return await withDatabase(open, config, async (database) => {
      const { id } = await personOf(database.knex, who)
      const { buildApp } = await import('../app.ts')
      const app = await buildApp({ config, database, logger: false })
      try {
        await app.ready()
        const actor = operatorOf(environment, 'person delete')
        await deletePerson(database.knex, id, actor, { grants: app.oauthGrants, log: app.log })
      } finally {
        await app.close()
      }
      return {
        code: 0,
        stdout: `${id}\n`,
        stderr: 'Deleted. If they can still sign in at the identity provider, their next token makes a new person ' +
          'without any rights.\n'
      }
    })
  }
}

/** @throws {@link SHOP_NOT_FOUND} */
async function personOf (knex: Knex, idOrSubject: string): Promise<{ readonly id: string, readonly subject: string }> {
  const person = await knex('users').where({ subject: idOrSubject }).modify((query) => {
    if (UUID.test(idOrSubject)) query.orWhere({ id: idOrSubject })
  }).first('id', 'subject')
  if (person === undefined) throw notFound('user', idOrSubject)
  return person
}
