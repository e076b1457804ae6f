import { createPrivateKey } from 'node:crypto'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from '../errors.ts'
import { attempt, isObject, isStrings } from '../json.ts'
import { settingsFromOptions, type OAuthDiscoveryShimOptions, type Settings } from '../options.ts'
import { assertionSettings, type AssertionOptions, type AssertionSettings } from './assertions/options.ts'
import { grantSettings, type GrantOptions, type GrantSettings } from './grants/options.ts'
import { redirectKind } from '../client-document/redirect-uri.ts'
import { flawOfSecrets, type BrokerSecret } from './seal.ts'
import { memoryBrokerStore, type BrokerStore } from './store/memory.ts'

/** The algorithms of client assertions, of clients and of this server at the identity provider. */
export const ASSERTION_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']

/** A client that the server knows beforehand. */
export interface ListedClient {
  /** Its `client_id`. */
  readonly id: string
  /** Its name on the consent page. */
  readonly name: string
  /** Its callback URLs. On loopback every port is allowed. */
  readonly redirectUris: readonly string[]
}

/** Which metadata documents may be read. */
export interface ClientDocumentOptions {
  /** Names of hosts whose addresses may be private, for clients inside your network. Default: none. */
  readonly privateHosts?: readonly string[]
  /** Certificate authorities of all documents, in PEM. Default: the well-known ones. */
  readonly ca?: string | readonly string[]
}

/**
 * The options of the plugin: those of the shim, which it serves too, and its own. A wrong value or an unknown name is
 * an error at startup.
 */
export interface BrokerOptions extends Omit<OAuthDiscoveryShimOptions, 'strictDiscovery'> {
  /**
   * Secrets that codes, refresh tokens, client ids and cookies are sealed with, newest first. To rotate, put a new one
   * in front, and remove the old one after {@link BrokerOptions.refreshLifetime}. All replicas need the same.
   */
  readonly secrets: readonly BrokerSecret[]
  /** Secret of `clientId` at the identity provider. Default: none, a public client. */
  readonly clientSecret?: string
  /**
   * Private key of `clientId` at the identity provider, instead of a secret: the server signs an assertion for each
   * request.
   */
  readonly clientKey?: ClientKey
  /**
   * How `clientId` authenticates with its secret. Default: as the provider's metadata says, by `client_secret_basic` if
   * it lists that or nothing.
   */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post'
  /** Clients that need no registration. Default: none. */
  readonly clients?: readonly ListedClient[]
  /** Whether clients may register dynamically ([RFC 7591](https://www.rfc-editor.org/rfc/rfc7591)). Default `true`. */
  readonly registration?: boolean
  /**
   * Whether clients may be known by the URL of a metadata document, and which ones. Default `{}`: all that are on the
   * internet.
   */
  readonly documents?: ClientDocumentOptions | false
  /**
   * Schemes of apps that may receive codes, such as `cursor`. Others have to contain a dot, as `com.example.app`.
   * Default `cursor`, `vscode`, `vscode-insiders`, `windsurf`.
   */
  readonly appSchemes?: readonly string[]
  /** Where used codes and refresh tokens are remembered. Default: in this process, which is enough for one replica. */
  readonly store?: BrokerStore
  /**
   * How long a browser remembers that its user allowed a client, in milliseconds. It does not distinguish users. Only
   * clients with a metadata document or on the list, and an https callback, are remembered, and only where no other
   * site started the sign-in. `0`: always ask. Default 2592000000, 30 days.
   */
  readonly rememberConsent?: number
  /**
   * How long a refresh token works after it was issued, in milliseconds, if the identity provider's works that long.
   * Default 2592000000, 30 days.
   */
  readonly refreshLifetime?: number
  /**
   * How long a refresh token that was used works again, in milliseconds, for clients that lost the response or refresh
   * twice at the same time. After that its reuse ends the sign-in. Default 60000; `0`: it works once.
   */
  readonly refreshGrace?: number
  /**
   * Scopes that every sign-in requests of the identity provider, whatever the client asks for: `offline_access` for a
   * provider that otherwise issues no refresh token, the scope of this API for one that otherwise issues a token for
   * another. Default: none.
   */
  readonly requiredScopes?: readonly string[]
  /**
   * Further parameters for the identity provider: of its sign-in page, where they replace a client's `prompt` and
   * `login_hint`, and of each request for tokens. Auth0 wants
   * `{ authorize: { audience: '…' } }`, Google `{ authorize: { access_type: 'offline' } }`. Default: none.
   */
  readonly upstream?: {
    readonly authorize?: Readonly<Record<string, string>>,
    readonly token?: Readonly<Record<string, string>>
  }
  /**
   * Whether `resource` is passed on to the identity provider. Turn it off for one that rejects it, such as Microsoft
   * Entra ID. Default `true`.
   */
  readonly sendResource?: boolean
  /**
   * Accepts identity assertions of organizations (enterprise-managed authorization). Default: none, the grant does not
   * exist.
   */
  readonly assertions?: AssertionOptions
  /** Records which clients people let in, with routes to see and end them. Default: none, only numbers are stored. */
  readonly grants?: GrantOptions
}

/**
 * A key that the identity provider knows the public half, or the certificate, of.
 *
 * @see [RFC 7523 §2.2](https://www.rfc-editor.org/rfc/rfc7523#section-2.2)
 */
export interface ClientKey {
  /** The private key, PKCS #8 in PEM. */
  readonly pem: string
  /** Default `RS256`. */
  readonly alg?: 'RS256' | 'PS256' | 'ES256' | 'EdDSA'
  /**
   * Further members of the assertion's header: `kid`, or `x5t#S256` for a certificate at Microsoft Entra ID. Default:
   * none.
   */
  readonly header?: Readonly<Record<string, string>>
  /** Who the assertion is for. Default: the provider's token endpoint; some want their issuer. */
  readonly audience?: string
}

/** The options of the broker itself. */
type OwnOptions = Omit<BrokerOptions, keyof OAuthDiscoveryShimOptions>

/** The options with every default in place, checked. */
export interface BrokerSettings extends
  Settings,
  Required<
    Omit<OwnOptions, 'clientSecret' | 'clientKey' | 'clientAuth' | 'documents' | 'upstream' | 'assertions' | 'grants'>
  >
{
  readonly clientSecret: string | undefined
  readonly clientKey: ClientKey | undefined
  readonly clientAuth: BrokerOptions['clientAuth']
  readonly upstream: Required<NonNullable<BrokerOptions['upstream']>>
  readonly documents: ClientDocumentOptions | false
  readonly assertions: AssertionSettings | undefined
  readonly grants: GrantSettings | undefined
  /** Whether {@link BrokerOptions.store} was left out. */
  readonly remembersAlone: boolean
}

const DAY = 86_400_000

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function settingsFromBrokerOptions (options: BrokerOptions): BrokerSettings {
  const {
    secrets,
    clientSecret,
    clientKey,
    clientAuth,
    clients = [],
    registration = true,
    documents = {},
    appSchemes = ['cursor', 'vscode', 'vscode-insiders', 'windsurf'],
    store,
    rememberConsent = 30 * DAY,
    refreshLifetime = 30 * DAY,
    refreshGrace = 60_000,
    requiredScopes = [],
    upstream = {},
    sendResource = true,
    assertions,
    grants,
    ...shimOptions
  } = options

  must(!('broker' in shimOptions), 'broker is not an option here: what was in it is beside the other options')
  must(
    !('strictDiscovery' in shimOptions),
    'strictDiscovery is not an option of the broker: its documents are the second pair, which is always served'
  )
  const settings = settingsFromOptions(shimOptions)
  const { publicBaseUrl, issuer, insecureHttp, clientId } = settings
  must(clientId !== '', 'clientId must not be empty: it is that of this server at the identity provider')
  const { protocol, hostname } = new URL(publicBaseUrl)
  must(
    protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname),
    'publicBaseUrl must be https, or http on loopback: codes and tokens pass through this server'
  )
  const flaw = flawOfSecrets(secrets)
  must(flaw === undefined, `secrets${flaw}`)
  must(
    clientSecret === undefined || (typeof clientSecret === 'string' && clientSecret !== ''),
    'clientSecret must be a non-empty string'
  )
  must(clientSecret === undefined || clientKey === undefined, 'clientSecret and clientKey exclude each other')
  must(
    clientAuth === undefined ||
      (clientSecret !== undefined && ['client_secret_basic', 'client_secret_post'].includes(clientAuth)),
    'clientAuth must be client_secret_basic or client_secret_post, with a clientSecret'
  )
  if (clientKey !== undefined) mustBeKey(clientKey)
  must(
    isStrings(requiredScopes) && requiredScopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)),
    'requiredScopes must list scope tokens, one per entry'
  )
  must(isObject(upstream), 'upstream must be an object')
  const { authorize = {}, token = {}, ...others } = upstream
  for (const name of Object.keys(others)) must(false, `upstream.${name} is not an option`)
  for (const [leg, parameters] of Object.entries({ authorize, token })) {
    must(isObject(parameters) && isStrings(Object.values(parameters)), `upstream.${leg} must have strings as values`)
    for (const name of Object.keys(parameters)) {
      must(!OWN.has(name), `upstream.${leg}.${name} is set by the broker itself`)
    }
  }
  must(typeof registration === 'boolean', 'registration must be true or false')
  must(
    isStrings(appSchemes) && appSchemes.every((scheme) => /^[a-z][a-z0-9+.-]*$/.test(scheme) && !DANGEROUS.has(scheme)),
    'appSchemes must list schemes of apps in lower case, without a colon, and none that browsers handle themselves'
  )
  must(Array.isArray(clients), 'clients must be a list')
  for (const [i, client] of clients.entries()) {
    must(
      isObject(client) && typeof client.id === 'string' && /^[\x21-\x7e]{1,500}$/.test(client.id),
      `clients[${i}].id must be 1 to 500 characters of printable ASCII`
    )
    must(typeof client.name === 'string' && client.name !== '', `clients[${i}].name must be a non-empty string`)
    must(
      isStrings(client.redirectUris) && client.redirectUris.length > 0 &&
        client.redirectUris.every((uri: string) => redirectKind(uri, appSchemes) !== undefined),
      `clients[${i}].redirectUris must list https URLs, http URLs on loopback, or URLs of appSchemes`
    )
  }
  must(new Set(clients.map(({ id }) => id)).size === clients.length, 'clients must have different ids')
  must(documents === false || isObject(documents), 'documents must be false or an object')
  if (documents !== false) {
    const { privateHosts = [], ca, ...others } = documents
    for (const name of Object.keys(others)) must(false, `documents.${name} is not an option`)
    must(
      isStrings(privateHosts) &&
        privateHosts.every((host) => URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host),
      'documents.privateHosts must list names of hosts in lower case, without a port'
    )
    must(ca === undefined || isStrings([ca].flat()), 'documents.ca must be certificates in PEM')
  }
  must(
    store === undefined || (isObject(store) && typeof store.raise === 'function'),
    'store must be a store with the method raise'
  )
  must(isWait(rememberConsent), 'rememberConsent must be a whole number of milliseconds, from 0 to 400 days')
  must(
    isWait(refreshLifetime) && refreshLifetime >= 60_000,
    'refreshLifetime must be a whole number of milliseconds, from a minute to 400 days'
  )
  must(
    isWait(refreshGrace) && refreshGrace <= 3_600_000,
    'refreshGrace must be a whole number of milliseconds, from 0 to an hour'
  )
  must(typeof sendResource === 'boolean', 'sendResource must be true or false')
  must(
    registration || documents !== false || clients.length > 0 || assertions !== undefined,
    'registration, documents and clients admit no client: allow or list one'
  )

  return {
    ...settings,
    secrets,
    clientSecret,
    clientKey,
    clientAuth,
    clients,
    registration,
    documents,
    appSchemes,
    store: store ?? memoryBrokerStore(),
    remembersAlone: store === undefined,
    rememberConsent,
    refreshLifetime,
    refreshGrace,
    requiredScopes,
    upstream: { authorize, token },
    sendResource,
    assertions: assertions === undefined
      ? undefined
      : assertionSettings(assertions, {
        own: `${publicBaseUrl}/oauth`,
        http: insecureHttp,
        documents: documents !== false,
        others: clients.map(({ id }) => id)
      }),
    grants: grants === undefined ? undefined : grantSettings(grants, issuer, store !== undefined)
  }
}

/** Parameters that prove something, or say who and what a request is for. */
const OWN = new Set([
  'response_type',
  'response_mode',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'redirect_uri',
  'scope',
  'state',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'refresh_token',
  'resource',
  'request',
  'request_uri'
])

function mustBeKey (key: ClientKey): void {
  must(isObject(key), 'clientKey must be an object')
  const { pem, alg = 'RS256', header = {}, audience, ...unknown } = key
  for (const name of Object.keys(unknown)) must(false, `clientKey.${name} is not an option`)
  must(ASSERTION_ALGORITHMS.includes(alg), `clientKey.alg must be one of ${ASSERTION_ALGORITHMS.join(', ')}`)
  must(
    isObject(header) && isStrings(Object.values(header)) && !('alg' in header),
    'clientKey.header must have strings as values, and no alg'
  )
  must(
    audience === undefined || (typeof audience === 'string' && audience !== ''),
    'clientKey.audience must be a non-empty string'
  )
  must(isKeyFor(alg, pem), `clientKey.pem must be a private key for ${alg}, PKCS #8 in PEM`)
}

function isKeyFor (alg: string, pem: string): boolean {
  if (typeof pem !== 'string' || !pem.includes('BEGIN PRIVATE KEY')) return false
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve: curve, modulusLength: bits = 0 } = {} } =
    attempt(() => createPrivateKey(pem)) ?? {}
  if (alg === 'ES256') return curve === 'prime256v1'
  return alg === 'EdDSA' ? type === 'ed25519' : type === 'rsa' && bits >= 2048
}

/** Schemes that browsers run, read or send themselves. */
const DANGEROUS = new Set([
  'http',
  'https',
  'javascript',
  'data',
  'vbscript',
  'file',
  'blob',
  'about',
  'filesystem',
  'ws',
  'wss',
  'ftp',
  'mailto',
  'tel',
  'intent',
  'view-source'
])

// 400 days is the longest that browsers keep a cookie.
function isWait (value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= 400 * DAY
}

function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(message)
}
