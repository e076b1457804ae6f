import {
  DUAL_AUTH_MANAGEMENT_FORBIDDEN,
  DUAL_AUTH_OWNER_UNKNOWN,
  scopesFromRoute,
  type ApiKeyOptions,
  type ApiKeyRecord,
  type DualAuthOptions,
  type JwtOptions,
  type KeyChange,
  type OnKeyChange,
  type OnKeyEvent
} from 'dual-auth'
import { introspection, type IntrospectionOptions } from 'dual-auth/introspection'
import { knexStore } from 'dual-auth/knex'
import type { ManagementOptions } from 'dual-auth/management'
import type { ScanningOptions } from 'dual-auth/scanning'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { brokerKeySet } from 'oauth-discovery-shim/broker'
import { mayName } from './database/named-statement.ts'
import { type Actor, callerOf } from './access/caller.ts'
import { type Change, recordChange } from './records/trail.ts'
import { ANY_CLIENT } from './settings/mistakes.ts'
import type { Settings } from './settings/settings.ts'
import { allowedBy } from './settings/risks.ts'
import { offeredScopes } from './settings/sign-in-request.ts'
import { pepperFromText, secretFromText } from './settings/secrets.ts'
import { keyCheck } from './access/may-use.ts'
import { demandOwner, enterShop, isStillOwner, OPEN_SHOP } from './access/shops-reached.ts'
import { awaitDeletion } from './access/hold.ts'
import { inheritLimits } from './usage/limits.ts'
import { isKnown } from './users/repository.ts'

/** The path of the tools. */
export const MCP_PATH = '/mcp'

/** The prefix of the payment routes. */
export const PAY_PREFIX = '/shops/:shop_id/pay'

/** Value of `IDP_M2M_CLIENT_IDS` that admits no machine; an empty string counts as unset. */
const NO_MACHINES = 'none'

/**
 * Who may call what: tools and their routes accept API keys and tokens, all other routes only tokens.
 *
 * @param onKeyEvent - called for events of API keys
 */
export function authOptions (config: Settings, knex: Knex, onKeyEvent: OnKeyEvent = () => {}): DualAuthOptions {
  const base = new URL(config.PUBLIC_BASE_URL).origin
  return {
    policy: (route) => {
      if (config.PAY_ROUTES_PUBLIC && route.url.startsWith(`${PAY_PREFIX}/`)) return 'public'
      if (isEndpoint(route.url)) return 'any-key'
      return route.schema?.tags?.includes('mcp') ? 'dual' : 'jwt'
    },
    // The endpoint itself needs no scope: the routes of the tools check which tools a key may use.
    scopes: (route) => isEndpoint(route.url) ? null : scopesFromRoute(route),
    apiKeys: apiKeyOptions(config, knex),
    jwt: acceptedTokens(config),
    challenge: {
      resourceMetadata: `${base}/.well-known/oauth-protected-resource${config.MCP_ENABLED ? MCP_PATH : ''}`,
      scope: offeredScopes(config).join(' ')
    },
    onKeyEvent
  }
}

/** Who may manage the API keys of a shop. */
export function keyManagement (knex: Knex): ManagementOptions {
  return {
    path: '/shops/:shop_id/api-keys',
    canManage: async (request, shopId) => {
      const { id } = await enterShop(knex, request, shopId)
      // A key can open all of the shop: so staff see keys, and only owners create and revoke them.
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        await demandOwner(knex, request, id)
        await awaitDeletion(knex, id)
      }
      return true
    },
    onKeyChange
  }
}

/** Where GitHub reports leaked keys. */
export function keyScanning ({ SECRET_SCANNING_KEYS_URL: keysUrl }: Settings): ScanningOptions {
  return { onKeyChange, ...keysUrl !== undefined && { keysUrl } }
}

/** Records each change in its transaction, if the caller may still make it. */
const onKeyChange: OnKeyChange = async (change, request, transaction) => {
  const caller = callerOf(request)
  const trx = transaction as Knex.Transaction
  if (!await isKnown(trx, caller)) throw new DUAL_AUTH_OWNER_UNKNOWN()
  // A key that is revoked is no right that somebody has lost.
  const mayStill = change.action === 'revoke' || caller.kind !== 'user' ||
    await isStillOwner(trx, caller.id, change.key.ownerId)
  if (!mayStill) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
  await recordKeyChange(
    trx,
    change.leak === undefined ? caller : { ...caller, kind: 'scanner', id: 'github', name: null },
    change
  )
  if (change.action === 'rotate') await inheritLimits(trx, change.replaced, change.key.id)
}

/** The tokens of the identity provider, of its second issuer, and of this server, as far as there are any. */
export function acceptedTokens (config: Settings): readonly JwtOptions[] {
  const provider = providerTokens(config)
  const { introspection: _introspection, ...same } = provider
  return [
    provider,
    ...(config.IDP_SECOND_ISSUER === undefined ? [] : [{ ...same, issuer: config.IDP_SECOND_ISSUER }]),
    ...brokerTokens(config)
  ]
}

/** The tokens of the identity provider. */
function providerTokens (config: Settings): JwtOptions {
  const base = new URL(config.PUBLIC_BASE_URL).origin
  const machines = config.IDP_M2M_CLIENT_IDS
  const asked = introspectionOptions(config)
  return {
    provider: config.IDP_PROVIDER,
    issuer: config.IDP_ISSUER,
    ...(config.IDP_TENANTS.length > 0 && { tenants: config.IDP_TENANTS }),
    insecureHttp: allowedBy(config, 'http-issuer'),
    algorithms: config.IDP_ALGORITHMS,
    claims: claimsOf(config),
    ...(asked !== undefined && { introspection: introspection(asked) }),
    userClients: userClientsOf(config),
    ...(config.IDP_SESSION_TOKENS && { sessionTokens: true }),
    ...(machines.length > 0 && { machineClients: machines.filter((id) => id !== NO_MACHINES) }),
    // Clients spell the resource differently; all of these mean this server (RFC 8707 §2).
    audience: config.IDP_AUDIENCE.length > 0
      ? config.IDP_AUDIENCE
      : [base, `${base}/`, base + MCP_PATH, `${base}${MCP_PATH}/`]
  }
}

function userClientsOf (
  { IDP_USER_CLIENT_IDS: others, IDP_MCP_CLIENT_ID: mcp, IDP_CONSOLE_CLIENT_ID: own }: Settings
): NonNullable<JwtOptions['userClients']> {
  return others.includes(ANY_CLIENT) ? 'any' : [...others, mcp, own].filter((id) => id !== '')
}

/** The claims that are not where the provider usually has them. */
function claimsOf (
  { IDP_CLIENT_CLAIM: client, IDP_SUBJECT_CLAIM: subject, IDP_USERNAME_CLAIM: username }: Settings
): NonNullable<JwtOptions['claims']> {
  return {
    ...client !== undefined && { client },
    ...subject !== undefined && { subject },
    ...username !== undefined && { username }
  }
}

/** How the identity provider is asked about opaque tokens; undefined if it is not. */
export function introspectionOptions (config: Settings): IntrospectionOptions | undefined {
  const {
    IDP_INTROSPECTION_CLIENT_ID: clientId,
    IDP_INTROSPECTION_CLIENT_SECRET: clientSecret = '',
    IDP_INTROSPECTION_CLIENT_AUTH: clientAuth,
    IDP_INTROSPECTION_ENDPOINT: endpoint,
    IDP_INTROSPECTION_JWTS: jwts,
    IDP_INTROSPECTION_CACHE_TIME: cacheTime
  } = config
  if (clientId === '') return undefined
  return { clientId, clientSecret, clientAuth, jwts, cacheTime, ...(endpoint !== undefined && { endpoint }) }
}

/** The tokens that this server issues for identity assertions of organizations, if there are any. */
function brokerTokens (
  { PUBLIC_BASE_URL, MCP_ENABLED, OAUTH_BROKER_ASSERTION_ISSUERS: issuers, OAUTH_BROKER_ASSERTION_KEYS: keys }: Settings
): readonly JwtOptions[] {
  if (issuers.length === 0) return []
  const base = new URL(PUBLIC_BASE_URL).origin
  return [{
    provider: 'rfc9068',
    issuer: `${base}/oauth`,
    // The server cannot read them from itself before it is up.
    jwks: brokerKeySet(keys.map(secretFromText), base),
    algorithms: ['EdDSA'],
    machineClients: [],
    audience: [MCP_ENABLED ? base + MCP_PATH : base]
  }]
}

/** The format of API keys, and where they are stored. */
export function apiKeyOptions (
  { API_KEY_MARKER: marker, API_KEY_PEPPERS: peppers }: Pick<Settings, 'API_KEY_MARKER' | 'API_KEY_PEPPERS'>,
  knex: Knex
): ApiKeyOptions {
  const mayUse = keyCheck(knex)
  return {
    marker,
    peppers: peppers.map(pepperFromText),
    store: knexStore(knex, {
      ownerColumn: 'shop_id',
      owner: { table: 'shops', columns: OPEN_SHOP },
      namedStatements: mayName(knex)
    }),
    ownerParam: 'shop_id',
    // PostgreSQL accepts UUIDs in upper case, and stores them in lower case.
    ownerIdFromParam: (id) => id.toLowerCase(),
    mayUse: async (key) => await mayUse(key),
    // A statement more for each call would cost more than who leaves can do in a second.
    mayUseCacheTime: 1000
  }
}

/** The shop that an API key belongs to, so that its agent need not name it. */
export function shopOfKey ({ identity }: FastifyRequest): string | undefined {
  return identity?.kind === 'api-key' ? identity.ownerId : undefined
}

/** Records in the history that a key was created, rotated or revoked. */
export async function recordKeyChange (trx: Knex.Transaction, actor: Actor, change: KeyChange): Promise<void> {
  const record = async (
    { id, ownerId: shopId, name }: ApiKeyRecord,
    before: Change['before'],
    after: Change['after']
  ): Promise<void> =>
    await recordChange(trx, actor, { shopId, recordKind: 'api_key', recordId: id, recordName: name, before, after })
  const { key } = change
  const { name, prefix, scopes, expiresAt, revokedAt, replaces } = key
  if (change.action === 'revoke') {
    return await record(key, { revoked_at: null }, {
      revoked_at: revokedAt,
      ...(change.leak !== undefined && { found_at: change.leak.url })
    })
  }
  await record(key, null, { name, prefix, scopes, expires_at: expiresAt, ...(replaces !== null && { replaces }) })
  if (change.action !== 'rotate') return
  const { replaced } = change
  const end = replaced.revokedAt === null ? { works_until: replaced.expiresAt } : { revoked_at: replaced.revokedAt }
  await record(replaced, {}, { replaced_by: replaced.replacedBy, ...end })
}

function isEndpoint (url: string): boolean {
  return url === MCP_PATH || url === `${MCP_PATH}/`
}
