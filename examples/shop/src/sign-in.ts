import type { Knex } from 'knex'
import { type BrokerOptions, knexBrokerStore, type OAuthDiscoveryShimOptions } from 'oauth-discovery-shim'
import { MCP_PATH } from './auth.ts'
import { allowedBy } from './settings/risks.ts'
import { secretFromText } from './settings/secrets.ts'
import type { Settings } from './settings/settings.ts'

/** How MCP clients sign in with a browser. */
export function signInOptions (config: Settings, knex: Knex): OAuthDiscoveryShimOptions {
  return {
    publicBaseUrl: config.PUBLIC_BASE_URL,
    issuer: config.IDP_ISSUER,
    insecureHttp: allowedBy(config, 'http-issuer'),
    clientId: config.IDP_MCP_CLIENT_ID,
    mcpPath: config.MCP_ENABLED && MCP_PATH,
    resourceName: 'Shop',
    config: { auth: 'public', cors: false },
    ...(config.OAUTH_BROKER && { broker: brokerOptions(config, knex) })
  }
}

/** All replicas have the database, so what must happen once is remembered there. */
function brokerOptions ({ OAUTH_BROKER_SECRETS: secrets, OAUTH_BROKER_DOCUMENTS: withDocuments, IDP_PROVIDER: provider }: Settings, knex: Knex): BrokerOptions {
  return {
    secrets: secrets.map(secretFromText),
    store: knexBrokerStore(knex),
    documents: withDocuments && {},
    // It rejects requests that have both a resource and scopes of its own.
    sendResource: provider !== 'entra'
  }
}
