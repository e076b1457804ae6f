import { createApiKey } from 'dual-auth'
import type { Knex } from 'knex'
import { shopsThere } from '../access/shops-there.ts'
import { apiKeyOptions, recordKeyChange } from '../auth.ts'
import { invalid, notFound, SHOP_USAGE } from '../errors.ts'
import { UUID } from '../http/schemas.ts'
import { storedSecrets } from '../operations/stored-secrets.ts'
import { type Settings, settingsFromEnvironment } from '../settings/settings.ts'
import { type Command, operatorOf, withDatabase } from './command.ts'

const USAGE = 'key create --shop <slug or id> --name <name> [--scope <scope>]... [--expires <date-time>]'

interface Options {
  readonly shop?: string
  readonly name?: string
  readonly scope?: readonly string[]
  readonly expires?: string
}

/** `shop key create`, with the settings of the server. */
export const keyCreate: Command = {
  usage: USAGE,
  summary: 'creates an API key for a shop and prints it; it is not shown again',
  options: {
    shop: { type: 'string' },
    name: { type: 'string' },
    scope: { type: 'string', multiple: true },
    expires: { type: 'string' }
  },
  async run ({ values, environment, open }) {
    const { shop, name, scope: scopes = [], expires } = values as Options
    if (shop === undefined || name === undefined) throw new SHOP_USAGE(`shop ${USAGE}`)
    const expiresAt = expires === undefined ? null : instantFrom(expires)
    const config = settingsFromEnvironment(environment)
    await refuseUnknown(scopes, config)

    return await withDatabase(open, config, async ({ knex }) => {
      // A key made with other peppers than the server's would not work.
      const remarks: string[] = []
      await storedSecrets(knex, config, {
        error: (remark: string) => {
          remarks.push(`${remark}\n`)
        }
      }).compare()
      const found = await shopOf(knex, shop)
      const actor = operatorOf(environment, 'key create')
      const { key, plaintext } = await createApiKey(apiKeyOptions(config, knex), {
        ownerId: found.id,
        name,
        scopes: scopes.length === 0 ? 'all' : scopes,
        expiresAt,
        createdBy: actor.id === null ? 'command' : `command:${actor.id}`
      }, async (made, trx) => {
        await recordKeyChange(trx as Knex.Transaction, actor, { action: 'create', key: made })
      })
      return {
        code: 0,
        stdout: `${plaintext}\n`,
        stderr: remarks.join('') + `API key ${key.id} of ${found.name} (${found.id}). It is not shown again.\n` +
          (found.status === 'active' ? '' : 'The shop is archived: its keys are refused until it is active again.\n')
      }
    })
  }
}

/** @throws {@link SHOP_INVALID} */
function instantFrom (text: string): Date {
  const instant = new Date(text)
  if (!/^\d{4}-\d\d-\d\dT[\d:.]{5,20}(?:Z|[+-]\d\d:\d\d)$/i.test(text) || Number.isNaN(instant.getTime())) {
    throw invalid('expires', '--expires must be a date and time with a time zone, such as 2027-01-31T00:00:00Z')
  }
  return instant
}

/**
 * A key with a misspelt scope would open nothing.
 *
 * @throws {@link SHOP_INVALID}
 */
async function refuseUnknown (scopes: readonly string[], config: Pick<Settings, 'MCP_IMPORTS_ENABLED'>): Promise<void> {
  if (scopes.every((scope) => ['read', 'write'].includes(scope))) return
  const { default: appOfContract } = await import('../contract.ts')
  const app = await appOfContract({ importTools: config.MCP_IMPORTS_ENABLED, views: false })
  try {
    await app.ready()
    const known = ['read', 'write', ...app.mcpTools.map(({ name }) => name)]
    const unknown = scopes.filter((scope) => !known.includes(scope))
    if (unknown.length > 0) throw invalid('scope', `Unknown scopes: ${unknown.join(', ')}. Known: ${known.join(', ')}`)
  } finally {
    await app.close()
  }
}

/** @throws {@link SHOP_NOT_FOUND} */
async function shopOf (
  knex: Knex,
  slugOrId: string
): Promise<{ readonly id: string, readonly name: string, readonly status: string }> {
  const shop = await shopsThere(knex).where(UUID.test(slugOrId) ? { id: slugOrId } : { slug: slugOrId }).first(
    'id',
    'name',
    'status'
  )
  if (shop === undefined) throw notFound('shop', slugOrId)
  return shop
}
