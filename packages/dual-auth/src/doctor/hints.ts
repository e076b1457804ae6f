import type { JwtSettings } from '../options.ts'
import { clientsIn, unlistedIn } from '../tokens/identity.ts'
import { claimAt, isRecord, type Claims } from '../tokens/providers.ts'

/** A rejected token, unverified, and the options that it was checked with. */
export interface Rejected {
  readonly header: Claims
  readonly payload: Claims
  /** The issuer of the token, or the first one if it is of none of them. */
  readonly settings: JwtSettings
  readonly issuers: readonly JwtSettings[]
}

type Hint = readonly [reason: RegExp, hint: (token: Rejected) => string]

const GRAPH = /^(?:00000003-0000-0000-c000-000000000000|https:\/\/graph\.microsoft\.)/
const CORPORATE = 'oauth-id-jag+jwt'

/** What may mend each reason; the first that fits. Every reason of the plugin has one. */
const HINTS: readonly Hint[] = [
  [
    /^the token is opaque/,
    () =>
      'Request a token for your API, by its audience, resource or scope: most providers then issue a JWT. Or ' +
      'set introspection, for generic, zitadel and keycloak'
  ],
  [
    /\(JWE\)/,
    () =>
      'Turn its encryption off for this API at the provider; Auth0 and Cognito encrypt refresh tokens: this may be one'
  ],
  [
    /^the token is a damaged JWT|serialized JSON|is malformed\.$/,
    () => 'A part of it was lost or added when it was copied. A JWT has three parts, with two dots'
  ],
  [
    /^(?:Authorization (?!token )|two different|the API key)/,
    () => 'Pass the access token alone, as the token endpoint returned it'
  ],
  [/^all headers/, () => 'Send fewer groups or claims in access tokens, or raise the limit of Node.js and of proxies'],
  [/^no tokens/, () => 'Set jwt'],
  [/^iss is/, hintForIssuer],
  [/^alg is/, ({ header: { alg }, settings: { algorithms } }) =>
    /^HS/.test(String(alg))
      ? `Choose an asymmetric algorithm at the provider, such as ${algorithms[0]}: a token signed with a secret ` +
        'of the client could be made by whoever knows it'
      : `Add ${JSON.stringify(alg)} to algorithms, if your provider signs with it`],
  [
    /^kid is (?:unknown|missing|malformed)/,
    () =>
      'Its issuer does not publish this key: the token is old, or of another environment, or signed by somebody ' +
      'else. If jwksUri is set, compare it with jwks_uri of the discovery document'
  ],
  [/^kid is a key for another alg/, () => 'The token says another alg than its key is for'],
  [/^kid is a key of another issuer/, () => 'It was signed with the key of another tenant'],
  [/^crit is/, () => 'The token relies on an extension that would be ignored: turn it off at the provider'],
  [/signature is invalid/, ({ header, payload }) =>
    isForGraph(payload) || header.nonce !== undefined
      ? 'Only Microsoft Graph can verify a token for it, whose header has a nonce. Request a scope of your API ' +
        'instead: api://<application id>/<scope>'
      : 'It was changed, or signed with another key of the same name: a token of another environment'],
  [/^the signature is not canonical/, () => 'It was changed after it was issued'],
  [/^typ is/, hintForType],
  [/token expired|^exp has passed/, () => 'Get a new one. If it is new, compare the clocks of both machines'],
  [/^nbf|token will be active/, () => 'Compare the clocks of both machines; clockTolerance allows up to a minute'],
  [/^iat is in the future/, () => 'Compare the clocks of both machines; clockTolerance allows up to a minute'],
  [/^exp or iat is not a time|claim is required|claim must be/, hintForClaim],
  [/^aud is missing/, ({ settings: { provider } }) =>
    provider === 'generic'
      ? 'Request a token for your API, by its audience, resource or scope. For session tokens that never have an ' +
        'aud, read what insecureNoAudience risks'
      : 'Request a token for your API, by its audience, resource or scope'],
  [/^aud is another/, hintForAudience],
  [/is an ID token|^token_use is|^the claim \w+ is/, () => ID_TOKEN],
  [/^events is/, () => 'It tells a server of a logout or another event, and calls nothing. Send the access token'],
  [/^ver is/, () => 'A token of Entra has ver 1.0 or 2.0. If it is of another provider, set provider'],
  [/^(?:jti|uid|session_id) is missing/, () => ID_TOKEN],
  [/^sub is/, hintForSubject],
  [/^it is unclear/, hintForHolder],
  [/^no machine scope/, ({ settings: { machineScopes } }) =>
    machineScopes === undefined
      ? 'Request a scope that ends in /api, such as acme/api, or name other scopes in machineScopes'
      : `Request one of machineScopes: ${machineScopes.join(', ') || 'none'}`],
  [/^client is not a known machine/, ({ payload, settings }) => {
    const client = clientOf(payload, settings, settings.machineClients)
    return `It is a token of a machine. If it may call this API, add ${client} to machineClients`
  }],
  [/^client is not a known app/, hintForApp],
  [/is not a string$/, hintForName],
  [
    /^scopes are/,
    ({ settings }) =>
      'Scopes are a string with spaces between them, or a list. If another claim has them, name it in ' +
      `claims.scopes; here it is ${settings.claims.scopes.map((path) => path.join('.')).join(' or ')}`
  ],
  [
    /not active$/,
    () =>
      'It has expired, was revoked, or is of another environment; or the client for introspection may not ask about it'
  ],
  [/^token_type is/, () => 'It is another kind of token, such as a refresh token, or bound to a key (DPoP)'],
  [/^cnf is/, () => 'Turn off DPoP or mutual TLS for this client: the proof would not be checked here'],
  [
    /cannot be read|has no active|is of another token|could not be read yet|is being asked|cannot be verified/i,
    () =>
      'The issuer did not answer as it should. If it says 401, compare the id and secret of the client for ' +
      'introspection'
  ]
]

const ASSERTION =
  'It is an identity assertion (ID-JAG), which is exchanged for an access token at /oauth/token of a server ' +
  'with assertions, and calls nothing itself'
const FOR_GRAPH =
  'It is a token for Microsoft Graph. Request a scope of your API instead: api://<application id>/<scope>'
const ID_TOKEN = 'An ID token tells an app who signed in. Send the access token of the same response'

/** What may mend it, in a line; undefined for a reason that is not known. */
export function hintFor (reason: string, token: Rejected): string | undefined {
  return HINTS.find(([pattern]) => pattern.test(reason))?.[1](token)
}

function hintForIssuer ({ header, payload, issuers }: Rejected): string {
  const iss = String(payload.iss)
  if (String(header.typ) === CORPORATE) return ASSERTION
  if (isForGraph(payload)) return FOR_GRAPH
  if (iss === 'kubernetes/serviceaccount') {
    return 'It is the token of a Secret of Kubernetes, which never expires: project one with an audience into the ' +
      'pod instead'
  }
  const near = issuers.find(({ issuer }) =>
    issuer.replace(/\/$/, '').toLowerCase() === iss.replace(/\/$/, '').toLowerCase()
  )
  if (near !== undefined) {
    return `It differs from ${near.issuer} in the slash at its end, or in upper and lower case: set issuer to ` +
      'exactly what tokens say'
  }
  if (/^https:\/\/sts\.windows\.net\//.test(iss)) {
    return 'It is of version 1.0 of Entra: set api.requestedAccessTokenVersion to 2 in the manifest of your API, or ' +
      'this issuer in the options'
  }
  if (/^https:\/\/login\.microsoftonline\.com\//.test(iss) && issuers.some(({ tenants }) => tenants !== undefined)) {
    return `Its tenant is not one of tenants: ${JSON.stringify(payload.tid)}`
  }
  if (/\/oauth$/.test(iss)) {
    return 'It looks like a token that a server with oauth-discovery-shim issued itself, for an identity assertion. ' +
      'If it is your own server, add its issuer to jwt, with jwks: brokerKeySet(keys, publicBaseUrl)'
  }
  if (
    /\/\/(?:issuer-)?cognito-idp\./.test(iss) &&
    issuers.some(({ issuer }) => issuer.split('/').at(-1) === iss.split('/').at(-1))
  ) return 'It is the other issuer of your user pool: let jwt list both'
  return 'It is of another provider or environment, or the options name another issuer than its tokens'
}

function hintForType ({ header, settings: { provider } }: Rejected): string {
  if (header.typ === CORPORATE) return ASSERTION
  if (provider === 'rfc9068' && [undefined, 'JWT'].includes(header.typ as string | undefined)) {
    return 'The provider rfc9068 requires the type at+jwt, so that no ID token passes. Your provider does not send ' +
      'it: set its own provider, or generic'
  }
  return 'Send the access token: this type means something else'
}

function hintForClaim ({ payload }: Rejected): string {
  const missing = ['iss', 'exp', 'iat'].filter((name) => payload[name] === undefined)
  return missing.length === 0
    ? 'Times are numbers of seconds since 1970'
    : `Tokens must have iss, exp and iat, so that they end; this one lacks ${missing.join(', ')}. Kubernetes: ` +
      'project a token with an audience, instead of the one of a Secret'
}

function hintForAudience ({ payload, settings }: Rejected): string {
  const { aud } = payload
  const { audience = [], claims, provider } = settings
  if (isForGraph(payload)) return FOR_GRAPH
  if (provider === 'keycloak' && [aud].flat().every((value) => value === 'account')) {
    return 'Keycloak: add a client scope with a mapper of the type Audience that adds your API, and give it to the ' +
      'client'
  }
  if (claimAt(payload, claims.client) === undefined) {
    return `It names no client, so it is an ID token: ${ID_TOKEN.charAt(0).toLowerCase()}${ID_TOKEN.slice(1)}`
  }
  const near = audience.find((value) =>
    [aud].flat().some((one) =>
      String(one).replace(/\/$/, '') === value.replace(/\/$/, '') || `api://${String(one)}` === value ||
      String(one) === `api://${value}`
    )
  )
  if (near !== undefined) {
    return `It differs from ${near} in the slash at its end or in api:// in front: if both mean your API, list both ` +
      'in audience'
  }
  return 'Request a token for your API, by its audience, resource or scope; or add this value to audience, if it ' +
    'means your API'
}

function hintForApp ({ payload, settings }: Rejected): string {
  const client = clientOf(payload, settings, settings.userClients)
  return settings.sessionTokens
    ? `It is no session of the provider's own sign-in: an app got it in a person's name. If it may, add ${client} ` +
      'to userClients'
    : `It is a token of a person. If people sign in with this client, add ${client} to userClients`
}

function hintForSubject ({ payload: { sub } }: Rejected): string {
  const lacking = 'with the provider generic, tokens of machines in machineClients may lack it'
  if (sub === undefined) return `Without sub nobody is known; ${lacking}`
  return `sub is ${JSON.stringify(sub)}: let the provider send an id, as a string; ${lacking}, but not be null or empty`
}

function hintForHolder ({ payload, settings }: Rejected): string {
  const client = clientOf(payload, settings)
  const { provider, machineClients = [] } = settings
  if (provider !== 'keycloak' && machineClients.includes(String(claimAt(payload, settings.claims.client)))) {
    return `${client} is one of machineClients, but the token does not say that a machine holds it. If people sign ` +
      'in with it, add it to userClients; if it is a machine alone, set provider to generic'
  }
  switch (provider) {
    case 'keycloak':
      return 'The token of a service account has its client in client_id, and the name service-account-<client>. ' +
        `Give the client ${client} both default scopes, profile and service_account, or add it to machineClients if ` +
        'it is a machine. A person must not have such a name'
    case 'entra':
      return 'It has neither scp, as people do, nor idtyp app, nor the same sub and oid, as machines do. Add the ' +
        'optional claim idtyp to access tokens of your API'
    case 'okta':
      return "People have uid, and machines their client as sub. Without both it is a token of the organization's " +
        'own server: use a custom authorization server'
    case 'auth0':
      return 'gty says that it is a machine, and sub is not its client and @clients: a rule or action of the tenant ' +
        'changed sub'
    default:
      return payload.sub === undefined
        ? `It has no sub. If ${client} is a machine, add it to machineClients`
        : `It has a mark of a machine, such as type application or the grant client credentials. If ${client} is ` +
          'a machine alone, ' +
          'add it to machineClients'
  }
}

function hintForName ({ payload, settings: { provider, claims } }: Rejected): string {
  const clients = claims.client.map((path) => path.join('.'))
  const other = ['client_id', 'azp', 'cid', 'appid'].find((name) =>
    !clients.includes(name) && typeof payload[name] === 'string'
  )
  if (claimAt(payload, claims.client) === undefined) {
    const sessions = provider === 'generic' ? ', or for sessions of the provider itself set sessionTokens' : ''
    return other === undefined
      ? `It names no client, so it may be an ID token. ${ID_TOKEN}; if it is one, name the claim that has the ` +
        'client in ' +
        `claims.client${sessions}`
      : `It names its client in ${other}, so it may be of another provider than ${provider}; or set claims.client ` +
        `to ${other}`
  }
  const isB2c = typeof payload.tfp === 'string' || typeof payload.acr === 'string'
  return provider === 'entra' && isB2c
    ? 'Azure AD B2C: set claims.subject to sub, or let the policy send oid'
    : `It may be of another provider than ${provider}; or name the claim that has the id of the person in ` +
      'claims.subject'
}

const isForGraph = ({ aud }: Claims): boolean => typeof aud === 'string' && GRAPH.test(aud)

/** The one that is not on the list, or the one that counts. */
function clientOf (payload: Claims, settings: JwtSettings, list?: readonly string[]): string {
  const client = unlistedIn(clientsIn(payload, settings), list) ?? claimAt(payload, settings.claims.client)
  return client === undefined || isRecord(client) ? 'its client' : JSON.stringify(client)
}
