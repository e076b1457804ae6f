import type { Knex } from 'knex'

/**
 * What the databases of these tests are set to, such as `DateStyle=German; TimeZone=Asia/Kathmandu`. Default: nothing.
 */
export const SETTINGS = process.env['TEST_DATABASE_SETTINGS'] ?? ''

/**
 * Sets a new database to `TEST_DATABASE_SETTINGS`, as its operator may have: its sessions start with them. Call it
 * before the first connection to the database.
 *
 * @param server - a connection to another database of the server
 */
export async function setDatabase (server: Knex, name: string, settings = SETTINGS): Promise<void> {
  for (const [setting, value] of pairsOf(settings)) {
    await server.raw(`alter database ?? set ?? = ${server.raw('?', [value]).toQuery()}`, [name, setting])
  }
}

function pairsOf (settings: string): ReadonlyArray<readonly [name: string, value: string]> {
  return settings.split(';').filter((pair) => pair.trim() !== '').map((pair) => {
    const [name = '', value, ...more] = pair.split('=').map((part) => part.trim())
    if (name === '' || value === undefined || more.length > 0) {
      throw new Error(`TEST_DATABASE_SETTINGS must be NAME=VALUE; NAME=VALUE, and ${pair.trim()} is not`)
    }
    return [name, value] as const
  })
}
