import { createHmac } from 'node:crypto'
import type { Knex } from 'knex'
import type { ConfirmOptions } from 'mcp-from-routes/confirm'
import { secretFromText } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'

/**
 * The keys of questions and tasks. All replicas have the setting, and what an older pepper signed stays good for as
 * long as API keys need that pepper.
 */
export function questionSecrets ({ API_KEY_PEPPERS }: Pick<Settings, 'API_KEY_PEPPERS'>): [string, ...string[]] {
  return API_KEY_PEPPERS.map((text) =>
    createHmac('sha256', secretFromText(text).secret).update('questions of tool calls').digest('base64url')
  ) as [string, ...string[]]
}

/**
 * How agents ask a person before they delete something.
 *
 * Clients that cannot ask delete without a question of this server: many show a prompt of their own before a tool that
 * deletes, and the same API key deletes over REST without one. Deletions can be undone here, from the history. Where
 * yours cannot, set `fallback` to 'refuse', or to 'token', which takes two calls.
 *
 * A confirmation guards people from mistakes of their agents, not from a stolen key.
 */
export function confirmationOptions (
  config: Pick<Settings, 'API_KEY_PEPPERS'>,
  knex: Knex
): ConfirmOptions {
  return {
    fallback: 'allow',
    secret: questionSecrets(config),
    store: {
      async use (id, ttl) {
        // Those that others are deleting are left to them.
        const { rows } = await knex.raw(
          `
          with forgotten as (
            delete from confirmations where id in (select id from confirmations where until < now() limit 100
              for update skip locked)
          )
          insert into confirmations (id, until) values (?, now() + ? * interval '1 millisecond')
            on conflict do nothing returning id`,
          [id, ttl]
        )
        return rows.length > 0
      }
    }
  }
}
