import type { ApiKeyOptions, ApiKeyRecord, DualAuthOptions, KeyChange } from 'dual-auth'
import { scopesFromRoute } from 'dual-auth'
import { knexStore } from 'dual-auth/knex'
import type { Knex } from 'knex'
import { type Actor, callerOf } from './audit/caller.ts'
import { recordChange } from './audit/trail.ts'
import type { Config } from './settings/config.ts'
import { pepperFromText } from './settings/secrets.ts'
import { demandOwner, enterShop } from './shops/access.ts'
import { awaitDeletion } from './shops/hold.ts'

/** The path of the tools. */
export const MCP_PATH = '/mcp'

/** The prefix of the payment routes. */
export const PAY_PREFIX = '/shops/:shop_id/pay'

/** Value of `IDP_M2M_CLIENT_IDS` that admits no machine; an empty string counts as unset. */
const NO_MACHINES = 'none'

/** Who may call what: tools and their routes accept API keys and tokens, all other routes only tokens. */
export function authOptions (config: Config, knex: Knex): DualAuthOptions {
  const base = new URL(config.PUBLIC_BASE_URL).origin
  const machines = config.IDP_M2M_CLIENT_IDS
  return {
    policy: (route) => {
      if (config.PAY_ROUTES_PUBLIC && route.url.startsWith(`${PAY_PREFIX}/`)) return 'public'
      return isEndpoint(route.url) || route.schema?.tags?.includes('mcp') ? 'dual' : 'jwt'
    },
    // The endpoint itself needs no scope: the routes of the tools check which tools a key may use.
    scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
    apiKeys: apiKeyOptions(config, knex),
    jwt: {
      issuer: config.IDP_ISSUER,
      userClients: [...config.IDP_USER_CLIENT_IDS, config.IDP_MCP_CLIENT_ID].filter((id) => id !== ''),
      ...(machines.length > 0 && { machineClients: machines.filter((id) => id !== NO_MACHINES) }),
      // Clients spell the resource differently; all of these mean this server (RFC 8707 §2).
      audience: [base, `${base}/`, base + MCP_PATH, `${base}${MCP_PATH}/`]
    },
    challenge: {
      resourceMetadata: `${base}/.well-known/oauth-protected-resource${config.MCP_ENABLED ? MCP_PATH : ''}`,
      scope: 'openid email profile'
    },
    management: {
      canManage: async (request, shopId) => {
        const { id } = await enterShop(knex, request, shopId)
        // A key outlives the membership of its creator: so staff see keys, and only owners create and revoke them.
        if (request.method !== 'GET' && request.method !== 'HEAD') {
          await demandOwner(knex, request, id)
          await awaitDeletion(knex, id)
        }
        return true
      },
      onKeyChange: async ({ action, key }, request, transaction) => {
        await recordKeyChange(transaction as Knex.Transaction, callerOf(request), action, key)
      }
    }
  }
}

/** The format of API keys, and where they are stored. */
export function apiKeyOptions ({ API_KEY_MARKER: marker, API_KEY_PEPPERS: peppers }: Pick<Config, 'API_KEY_MARKER' | 'API_KEY_PEPPERS'>, knex: Knex): ApiKeyOptions {
  return {
    marker,
    peppers: peppers.map(pepperFromText),
    store: knexStore(knex),
    // PostgreSQL accepts UUIDs in upper case, and stores them in lower case.
    shopIdFromParam: (id) => id.toLowerCase()
  }
}

/** Records in the audit trail that a key was created or revoked. */
export async function recordKeyChange (
  trx: Knex.Transaction, actor: Actor, action: KeyChange['action'], { id, shopId, name, prefix, scopes, expiresAt, revokedAt }: ApiKeyRecord
): Promise<void> {
  const created = { name, prefix, scopes, expires_at: expiresAt }
  const [before, after] = action === 'create' ? [null, created] : [{ revoked_at: null }, { revoked_at: revokedAt }]
  await recordChange(trx, actor, { shopId, recordKind: 'api_key', recordId: id, before, after })
}

function isEndpoint (url: string): boolean {
  return url === MCP_PATH || url === `${MCP_PATH}/`
}
