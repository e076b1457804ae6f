import type { DualAuthOptions } from 'dual-auth'
import { scopesFromRoute } from 'dual-auth'
import { knexStore } from 'dual-auth/knex'
import type { Knex } from 'knex'
import type { Config } from './config.ts'
import { secretFromText } from './secrets.ts'
import { enterShop } from './shops/access.ts'

/** Where the tools are. */
export const MCP_PATH = '/mcp'

/** Where a shop and its payment provider meet. */
export const PAY_PREFIX = '/shops/:shop_id/pay'

/** Who may call what: tools and their routes take API keys too, everything else takes tokens only. */
export function authOptions (config: Config, knex: Knex): DualAuthOptions {
  const base = new URL(config.PUBLIC_BASE_URL).origin
  return {
    policy: (route) => {
      if (config.PAY_ROUTES_PUBLIC && route.url.startsWith(`${PAY_PREFIX}/`)) return 'public'
      return isEndpoint(route.url) || route.schema?.tags?.includes('mcp') ? 'dual' : 'jwt'
    },
    // The endpoint itself is no operation: which tools a key may use is asked again on their routes.
    scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
    apiKeys: {
      marker: config.API_KEY_MARKER,
      peppers: config.API_KEY_PEPPERS.map(secretFromText),
      store: knexStore(knex),
      // PostgreSQL reads a UUID in capitals as the same one, and keeps it in small letters.
      shopIdFromParam: (id) => id.toLowerCase()
    },
    jwt: {
      issuer: config.IDP_ISSUER,
      userClients: [...config.IDP_USER_CLIENT_IDS, config.IDP_MCP_CLIENT_ID].filter((id) => id !== ''),
      ...(config.IDP_M2M_CLIENT_IDS.length > 0 && { machineClients: config.IDP_M2M_CLIENT_IDS }),
      // Clients spell the resource as they please; all of these are this server (RFC 8707 §2).
      audience: [base, `${base}/`, base + MCP_PATH, `${base}${MCP_PATH}/`]
    },
    challenge: {
      resourceMetadata: `${base}/.well-known/oauth-protected-resource${MCP_PATH}`,
      scope: 'openid email profile'
    },
    management: {
      canManage: async (request, shopId) => {
        await enterShop(knex, request, shopId)
        return true
      }
    }
  }
}

function isEndpoint (url: string): boolean {
  return url === MCP_PATH || url === `${MCP_PATH}/`
}
