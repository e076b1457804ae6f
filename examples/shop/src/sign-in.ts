import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import oauthDiscoveryShim, { type OAuthDiscoveryShimOptions } from 'oauth-discovery-shim'
import oauthBroker, {
  type AssertionOptions,
  type BrokerOptions,
  knexBrokerStore,
  knexGrantStore
} from 'oauth-discovery-shim/broker'
import { MCP_PATH } from './auth.ts'
import { SHOP_PEOPLE_ONLY } from './errors.ts'
import { allowedBy } from './settings/risks.ts'
import { offeredScopes, requiredScopes, signInRequest } from './settings/sign-in-request.ts'
import { secretFromText } from './settings/secrets.ts'
import type { Settings } from './settings/settings.ts'
import { personReader } from './access/person.ts'

/** How MCP clients sign in with a browser: at the identity provider, or through the broker. */
export async function signIn (app: FastifyInstance, config: Settings, knex: Knex): Promise<void> {
  if (config.OAUTH_BROKER) await app.register(oauthBroker, brokerOptions(config, knex))
  else await app.register(oauthDiscoveryShim, discoveryOptions(config))
}

function discoveryOptions (config: Settings): Omit<OAuthDiscoveryShimOptions, 'strictDiscovery'> {
  return {
    publicBaseUrl: config.PUBLIC_BASE_URL,
    issuer: config.IDP_ISSUER,
    insecureHttp: allowedBy(config, 'http-issuer'),
    clientId: config.IDP_MCP_CLIENT_ID,
    mcpPath: config.MCP_ENABLED && MCP_PATH,
    scopes: offeredScopes(config),
    resourceName: 'Shop',
    config: { auth: 'public', cors: false }
  }
}

/** Those of the package, which a list of one's own replaces. */
const APP_SCHEMES = ['cursor', 'vscode', 'vscode-insiders', 'windsurf']

/** The claims that dual-auth knows people by. */
const SUBJECTS: Readonly<Partial<Record<Settings['IDP_PROVIDER'], string>>> = { entra: 'oid', okta: 'uid' }

/** Whose a sign-in is, as `users.subject` has it. */
function subjectFrom (config: Settings): NonNullable<NonNullable<BrokerOptions['grants']>['subjectClaim']> {
  const claim = config.IDP_SUBJECT_CLAIM ?? SUBJECTS[config.IDP_PROVIDER] ?? 'sub'
  const personOf = personReader(config)
  return ({ iss, [claim]: subject }) =>
    typeof subject === 'string' ? personOf({ issuer: String(iss), subject }) : undefined
}

/** All replicas have the database, so what must happen once is remembered there. */
export function brokerOptions (config: Settings, knex: Knex): BrokerOptions {
  const {
    OAUTH_BROKER_SECRETS: secrets,
    OAUTH_BROKER_DOCUMENTS: withDocuments,
    OAUTH_BROKER_APP_SCHEMES: schemes,
    IDP_MCP_CLIENT_SECRET: clientSecret
  } = config
  const { parameters, takesResource } = signInRequest(config)
  return {
    ...discoveryOptions(config),
    secrets: secrets.map(secretFromText),
    store: knexBrokerStore(knex),
    documents: withDocuments && {},
    ...(schemes.length > 0 && { appSchemes: [...APP_SCHEMES, ...schemes] }),
    ...(clientSecret !== undefined && { clientSecret }),
    requiredScopes: requiredScopes(config),
    upstream: { authorize: parameters },
    sendResource: takesResource,
    grants: {
      store: knexGrantStore(knex),
      // The person of the token, whatever the request says.
      whose: ({ identity }) => {
        if (identity?.kind !== 'user') throw new SHOP_PEOPLE_ONLY()
        return personReader(config)(identity)
      },
      subjectClaim: subjectFrom(config)
    },
    ...(config.OAUTH_BROKER_ASSERTION_ISSUERS.length > 0 && { assertions: assertionOptions(config) })
  }
}

/** Organizations whose identity providers let their people in. */
function assertionOptions (
  {
    OAUTH_BROKER_ASSERTION_ISSUERS: issuers,
    OAUTH_BROKER_ASSERTION_KEYS: keys,
    OAUTH_BROKER_ASSERTION_CLIENTS: clients
  }: Settings
): AssertionOptions {
  const named = clients.map(secretFromText)
  return {
    issuers: issuers.map((issuer) => ({ issuer })),
    keys: keys.map(secretFromText),
    clients: [...new Set(named.map(({ id }) => id))].map((id) => ({
      id,
      secrets: named.filter((one) => one.id === id).map(({ secret }) => secret)
    }))
  }
}
