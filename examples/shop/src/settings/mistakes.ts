import pg from 'pg'
import { ambiguousIds } from './secrets.ts'
import { trustedProxies } from './trusted-proxies.ts'

/** @returns what is wrong with the value of a setting among all that are given, or undefined */
type Check = (text: string, given: Readonly<Record<string, unknown>>) => string | undefined

const MARKER = /^(?!ey)[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
const MARKER_LENGTH = 16

/** Stands for any port in an origin of `CORS_ORIGINS`. */
export const ANY_PORT = ':*'

/** In the issuer of an app that several tenants of Entra use: the place of a tenant's id. */
export const TENANT = '{tenantid}'

/** In the place of a list of clients: those that register themselves, too. */
export const ANY_CLIENT = 'any'

/** Those that a public key verifies. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519'
] as const

const ENCODE = 'Percent-encode special characters, such as / in a password'

/** Checks that a pattern cannot express. The libraries make them too, but later and with other names. */
const checks: Readonly<Record<string, Check>> = {
  PUBLIC_BASE_URL: baseUrl,
  CONSOLE_IMAGE_HOSTS: (text) => {
    const wrong = itemsOf(text).filter((item) => !isHost(item.replace(/^\*\./, '')))
    return wrong.length === 0
      ? undefined
      : 'must be hosts as browsers send them (lower case, without https:// and a default port), or *. and a host. ' +
        `Invalid: ${wrong.join(', ')}`
  },
  IDP_ISSUER: issuer,
  IDP_TENANTS: (text) => {
    const wrong = itemsOf(text).filter((item) => !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(item))
    return wrong.length === 0
      ? undefined
      : 'must be ids of tenants as tokens have them, lower-case UUIDs; names of domains, common and organizations ' +
        `are none. Invalid: ${wrong.join(', ')}`
  },
  IDP_SECOND_ISSUER: secondIssuer,
  IDP_INTROSPECTION_ENDPOINT: issuer,
  OAUTH_BROKER_ASSERTION_ISSUERS: (text, given) => {
    const wrong = itemsOf(text).map((item) => issuer(item, given)).find((mistake) => mistake !== undefined)
    if (wrong !== undefined) return wrong
    return new Set(itemsOf(text)).size === itemsOf(text).length ? undefined : 'has an issuer twice'
  },
  IDP_ALGORITHMS: (text) => {
    const wrong = itemsOf(text).filter((item) => !ALGORITHMS.some((known) => known === item))
    return wrong.length === 0 && itemsOf(text).length > 0
      ? undefined
      : `must be some of ${ALGORITHMS.join(', ')}. Invalid: ${wrong.join(', ') || 'an empty list'}`
  },
  IDP_SCOPES: (text) =>
    itemsOf(text).every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
      ? undefined
      : 'must be scopes separated by commas, without spaces and quotes',
  IDP_MCP_CLIENT_ID: clientId,
  IDP_INTROSPECTION_CLIENT_ID: clientId,
  IDP_CONSOLE_CLIENT_ID: clientId,
  API_KEY_MARKER: (text) =>
    MARKER.test(text) && text.length <= MARKER_LENGTH
      ? undefined
      : `must be lower-case words joined by _, at most ${MARKER_LENGTH} characters, and must not start with ey, ` +
        'as tokens do',
  API_KEY_PEPPERS: namedSecrets,
  OAUTH_BROKER_SECRETS: namedSecrets,
  OAUTH_BROKER_ASSERTION_KEYS: namedSecrets,
  PAY_KEY_SECRETS: namedSecrets,
  PAY_API_URL: baseUrl,
  DATABASE_URL: unreadable,
  DATABASE_READ_URL: (text, given) => {
    if (!('DATABASE_URL' in given)) return unreadable(text)
    const primary = given['DATABASE_URL']
    if (primary === undefined) return 'needs DATABASE_URL: the embedded database has no standby'
    return unreadable(text) ??
      (unreadable(String(primary)) === undefined && placeOf(text) === placeOf(String(primary))
        ? 'is the database of DATABASE_URL: set the URL of its standby, or remove it'
        : undefined)
  },
  REDIS_URL: (text) => URL.canParse(text) ? undefined : `is not a URL. ${ENCODE}`,
  TRUST_PROXY: (text) => {
    const complaint = complaintOf(() => trustedProxies(text))
    return complaint &&
      `must be the number of proxies in front of the server, or their addresses or networks: ${complaint}`
  },
  CORS_ORIGINS: (text) => {
    const wrong = itemsOf(text).filter((item) =>
      !isOrigin(item) && !(item.endsWith(ANY_PORT) && isLoopback(item.slice(0, -ANY_PORT.length)))
    )
    return wrong.length === 0
      ? undefined
      : 'must be origins as browsers send them (lower case, without a default port), or a loopback host with any ' +
        `port, such as http://localhost:*. Invalid: ${wrong.join(', ')}`
  }
}

/**
 * What is wrong with well-formed settings. Each mistake names its setting, and quotes no secret.
 *
 * @param given - the settings, as strings or parsed; missing ones are no mistake here
 */
export function mistakesIn (given: Readonly<Record<string, unknown>>): readonly string[] {
  const wrong = Object.entries(checks).flatMap(([name, check]) => {
    const mistake = given[name] === undefined ? undefined : check(String(given[name]), given)
    return mistake === undefined ? [] : [`${name} ${mistake}`]
  })
  return [
    ...wrong,
    ...brokerMistakes(given),
    ...assertionMistakes(given),
    ...entraMistakes(given),
    ...clientMistakes(given),
    ...introspectionMistakes(given),
    ...subjectMistakes(given)
  ]
}

/**
 * Settings that the broker requires. Malformed settings are not among the given ones: they have been reported already.
 */
function brokerMistakes (given: Readonly<Record<string, unknown>>): readonly string[] {
  if (String(given['OAUTH_BROKER']) !== 'true') {
    return given['IDP_MCP_CLIENT_SECRET'] === undefined
      ? []
      : ['IDP_MCP_CLIENT_SECRET needs OAUTH_BROKER: without it, each client would need the secret']
  }
  const missing = ['IDP_MCP_CLIENT_ID', 'OAUTH_BROKER_SECRETS'].filter((name) =>
    name in given && itemsOf(given[name]).length === 0
  )
  return [
    ...missing.map((name) => `${name} is required with OAUTH_BROKER`),
    ...(given['PUBLIC_BASE_URL'] === undefined || isTrustworthy(String(given['PUBLIC_BASE_URL']))
      ? []
      : [
        'PUBLIC_BASE_URL must be https with OAUTH_BROKER, or http on localhost, 127.0.0.1 or [::1]: codes and ' +
        'tokens pass through this server'
      ])
  ]
}

/** Settings that go together. */
function assertionMistakes (given: Readonly<Record<string, unknown>>): readonly string[] {
  const names = ['ISSUERS', 'KEYS', 'CLIENTS'].map((name) => `OAUTH_BROKER_ASSERTION_${name}`)
  const set = names.filter((name) => itemsOf(given[name]).length > 0)
  if (set.length === 0) return []
  if (String(given['OAUTH_BROKER']) !== 'true') return set.map((name) => `${name} needs OAUTH_BROKER`)
  const needed = String(given['OAUTH_BROKER_DOCUMENTS'] ?? true) === 'true' ? names.slice(0, 2) : names
  return needed.filter((name) => name in given && !set.includes(name)).map((name) =>
    `${name} is required with ${set.join(' and ')}`
  )
}

/** Its tokens name the id of an application, not a URL of this server; only it has issuers that stand for several. */
function entraMistakes (given: Readonly<Record<string, unknown>>): readonly string[] {
  const { IDP_PROVIDER: provider, IDP_AUDIENCE: audience, IDP_ISSUER: url, IDP_TENANTS: tenants } = given
  const isShared = String(url).includes(TENANT)
  const hasTenants = itemsOf(tenants).length > 0
  return [
    ...provider === 'entra' && itemsOf(audience).length === 0
      ? ['IDP_AUDIENCE is required with IDP_PROVIDER=entra: the application (client) id of the API']
      : [],
    ...isShared && provider !== 'entra' ? [`IDP_ISSUER may contain ${TENANT} only with IDP_PROVIDER=entra`] : [],
    ...isShared && !hasTenants && 'IDP_TENANTS' in given
      ? [
        `IDP_TENANTS is required with an IDP_ISSUER that contains ${TENANT}: otherwise the people of every ` +
        'tenant could sign in'
      ]
      : [],
    ...!isShared && hasTenants && url !== undefined
      ? [
        `IDP_TENANTS needs an IDP_ISSUER that contains ${TENANT}, such as ` +
        `https://login.microsoftonline.com/${TENANT}/v2.0`
      ]
      : []
  ]
}

/** Whose tokens are people's, where not each client is listed. Defaults are good: the audience is this server's URL. */
function clientMistakes (given: Readonly<Record<string, unknown>>): readonly string[] {
  const { IDP_PROVIDER: provider, IDP_AUDIENCE: audience } = given
  const isGeneric = provider === 'generic'
  const hasSessions = String(given['IDP_SESSION_TOKENS']) === 'true'
  const clients = itemsOf(given['IDP_USER_CLIENT_IDS'])
  const isAny = clients.length === 1 && clients[0] === ANY_CLIENT
  const lacks = (name: string): boolean => name in given && itemsOf(given[name]).length === 0
  const wrong: ReadonlyArray<readonly [isWrong: boolean, mistake: string]> = [
    [
      provider === 'supabase' && lacks('IDP_AUDIENCE'),
      'IDP_AUDIENCE is required with IDP_PROVIDER=supabase: authenticated, as its sessions have it'
    ],
    [hasSessions && !isGeneric, 'IDP_SESSION_TOKENS is for IDP_PROVIDER=generic; supabase has it on'],
    [
      hasSessions && isGeneric && itemsOf(given['IDP_INTROSPECTION_CLIENT_ID']).length > 0,
      'IDP_SESSION_TOKENS excludes IDP_INTROSPECTION_CLIENT_ID: its answers may leave out the client'
    ],
    [
      clients.length > 1 && clients.includes(ANY_CLIENT),
      `IDP_USER_CLIENT_IDS must be ${ANY_CLIENT} alone, or a list without it`
    ],
    [isAny && !isGeneric, `IDP_USER_CLIENT_IDS may be ${ANY_CLIENT} only with IDP_PROVIDER=generic`],
    [
      isAny && isGeneric && lacks('IDP_M2M_CLIENT_IDS'),
      `IDP_M2M_CLIENT_IDS is required with IDP_USER_CLIENT_IDS=${ANY_CLIENT}: any client could be a machine`
    ],
    [
      isAny && isGeneric && itemsOf(audience).some((value) => !URL.canParse(value)),
      `IDP_AUDIENCE must be URLs of this server with IDP_USER_CLIENT_IDS=${ANY_CLIENT}: clients request tokens for them`
    ]
  ]
  return wrong.filter(([isWrong]) => isWrong).map(([, mistake]) => mistake)
}

/** Assertions name people by `sub`. */
function subjectMistakes (
  { IDP_ISSUER: issuer, IDP_SUBJECT_CLAIM: claim = 'sub', OAUTH_BROKER_ASSERTION_ISSUERS: others }: Readonly<
    Record<string, unknown>
  >
): readonly string[] {
  if (claim === 'sub' || !itemsOf(others).includes(String(issuer))) return []
  return [
    'IDP_SUBJECT_CLAIM must be sub if OAUTH_BROKER_ASSERTION_ISSUERS has IDP_ISSUER: its assertions name people ' +
    'by sub, so one person would be two'
  ]
}

/** Of a Cognito pool; the newer kind of issuer has another host. */
const POOL = /^https:\/\/(?:issuer-)?cognito-idp\.([a-z0-9-]+\.amazonaws\.com(?:\.cn)?\/[\w-]+)$/

/** The people of both are the same, known by their subject alone. */
function secondIssuer (text: string, given: Readonly<Record<string, unknown>>): string | undefined {
  const { IDP_ISSUER: first, PUBLIC_BASE_URL: base } = given
  const wrong = issuer(text, given)
  if (wrong !== undefined) return wrong
  if (text === first) return 'is IDP_ISSUER'
  if ([text, String(first)].some((url) => url.includes(TENANT))) {
    return `and IDP_ISSUER must be two single issuers, without ${TENANT}`
  }
  if (URL.canParse(String(base)) && text === `${new URL(String(base)).origin}/oauth`) {
    return 'is this server itself, whose tokens are accepted already'
  }
  const [pool, other] = [first, text].map((url) => POOL.exec(String(url))?.[1])
  return pool !== other
    ? 'must be of the same user pool as IDP_ISSUER: people are known by their subject, and another pool has other ' +
      'people'
    : undefined
}

/** Providers whose answers dual-auth reads. */
const INTROSPECTED = ['generic', 'keycloak', 'zitadel']

/** Settings that go together. A secret that could not be read has been reported already. */
function introspectionMistakes (given: Readonly<Record<string, unknown>>): readonly string[] {
  const [id, secret] = ['IDP_INTROSPECTION_CLIENT_ID', 'IDP_INTROSPECTION_CLIENT_SECRET']
  const isSet = (name: string): boolean => given[name] !== undefined && String(given[name]) !== ''
  if (isSet(id)) {
    return [
      ...isSet(secret) || !(secret in given) ? [] : [`${secret} is required with ${id}`],
      ...INTROSPECTED.includes(String(given['IDP_PROVIDER']))
        ? []
        : [`${id} needs IDP_PROVIDER=${INTROSPECTED.join(' or ')}: the JWTs of the others are read without asking`]
    ]
  }
  return [secret, 'IDP_INTROSPECTION_ENDPOINT'].filter(isSet).concat(
    String(given['IDP_INTROSPECTION_JWTS']) === 'true' ? ['IDP_INTROSPECTION_JWTS'] : []
  ).map((name) => `${name} needs ${id}`)
}

/** `a, b,` is a list of two. Lists are accepted, too. */
export function itemsOf (value: unknown): readonly string[] {
  return String(value ?? '').split(',').map((item) => item.trim()).filter((item) => item !== '')
}

/** Whether responses from the URL are authentic: https, or http on this machine. */
export function isTrustworthy (url: string): boolean {
  return URL.canParse(url) && (new URL(url).protocol === 'https:' || isLoopback(url))
}

function isLoopback (url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}

function isOrigin (text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function issuer (text: string, { ALLOW_INSECURE: allowed }: Readonly<Record<string, unknown>>): string | undefined {
  const isAllowed = URL.canParse(text) && itemsOf(allowed).includes('http-issuer')
  if (!isTrustworthy(text) && !isAllowed) {
    return 'must be an https URL, or http on localhost, 127.0.0.1 or [::1]: over plain http anyone could replace its ' +
      'keys. Inside a network of your own, add http-issuer to ALLOW_INSECURE'
  }
  return /[?#]/.test(text) ? 'must not have a query or fragment' : undefined
}

/** A name or an IPv4 address, with or without a port: content security policies have no others. */
function isHost (text: string): boolean {
  return /^[a-z0-9.-]+(?::\d+)?$/.test(text) && URL.canParse(`https://${text}`) &&
    new URL(`https://${text}`).host === text
}

function unreadable (text: string): string | undefined {
  const complaint = complaintOf(() => new pg.Client({ connectionString: text }))
  return complaint &&
    `is not a URL that the driver can read (${complaint}). ${ENCODE}, or leave the password out and set PGPASSWORD`
}

/** The database that a URL leads to. */
function placeOf (url: string): string {
  const { host, port, database } = new pg.Client({ connectionString: url })
  return `${host}:${port}/${database}`
}

function clientId (text: string): string | undefined {
  return /^[\x21-\x7e]*$/.test(text) ? undefined : 'must be printable ASCII without spaces'
}

function baseUrl (text: string): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const { href, origin } = new URL(text)
  return href === `${origin}/` ? undefined : 'must be an origin, without path, query, fragment or user'
}

function namedSecrets (text: string): string | undefined {
  const ids = ambiguousIds(itemsOf(text))
  if (ids.length > 0) return `has several secrets with the id ${ids.join(', ')}: give each secret its own id`
  return itemsOf(text).every((item) => /^[\w-]{1,32}:/.test(item))
    ? undefined
    : 'must have ids of 1 to 32 letters, digits, - or _'
}

/** @returns the message of what it throws, or undefined */
function complaintOf (read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
