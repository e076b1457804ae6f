import { createPrivateKey } from 'node:crypto'
import {
  ARRAY,
  arrayOf,
  BOOLEAN,
  filledArrayOf,
  milliseconds,
  OBJECT,
  oneOf,
  type Rule,
  type Table,
  TEXT
} from '#shared/option-table'
import { attempt, isObject, isStrings } from '../json.ts'
import { CLIENT_ID, must, settingsBy } from '../option-checks.ts'
import {
  completed,
  isScope,
  ownOptions,
  SCOPES,
  TABLE as SHIM,
  type OAuthDiscoveryShimOptions,
  type Settings
} from '../options.ts'
import { assertionSettings, type AssertionOptions, type AssertionSettings } from './assertions/options.ts'
import { grantSettings, type GrantOptions, type GrantSettings } from './grants/options.ts'
import { redirectKind } from '../client-document/redirect-uri.ts'
import { checkSecrets, SECRETS, type BrokerSecret } from './seal.ts'
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

/** Those without a default. */
type Unset = 'clientSecret' | 'clientKey' | 'clientAuth' | 'store' | 'assertions' | 'grants'

/** As they are given. */
type Given = Required<Omit<OwnOptions, Unset>> & { readonly [name in Unset]: OwnOptions[name] }

/** The options with every default in place, checked. */
export interface BrokerSettings extends Settings, Omit<Given, 'store' | 'upstream' | 'assertions' | 'grants'> {
  readonly store: BrokerStore
  readonly upstream: Upstream
  readonly assertions: AssertionSettings | undefined
  readonly grants: GrantSettings | undefined
  /** Whether {@link BrokerOptions.store} was left out. */
  readonly remembersAlone: boolean
}

type Upstream = Required<NonNullable<BrokerOptions['upstream']>>

const DAY = 86_400_000
// The longest that browsers keep a cookie.
const LONGEST = 400 * DAY

const TABLE: Table<Given> = {
  secrets: { ...SECRETS, required: true },
  clientSecret: { ...TEXT, secret: true },
  clientKey: { ...OBJECT, secret: true },
  clientAuth: oneOf('client_secret_basic', 'client_secret_post'),
  clients: { ...ARRAY, default: [] },
  registration: { ...BOOLEAN, default: true },
  documents: {
    holds: (documents) => documents === false || isObject(documents),
    rule: 'must be false or an object',
    default: {}
  },
  appSchemes: {
    ...arrayOf(
      isAppScheme,
      'schemes of apps in lower case, without a colon, and none that browsers handle themselves'
    ),
    default: ['cursor', 'vscode', 'vscode-insiders', 'windsurf']
  },
  store: {
    holds: (store) => typeof Object(store).raise === 'function',
    rule: 'must be a store with the method raise',
    secret: true
  },
  rememberConsent: { ...milliseconds(0, LONGEST), default: 30 * DAY },
  refreshLifetime: { ...milliseconds(60_000, LONGEST), default: 30 * DAY },
  refreshGrace: { ...milliseconds(0, 3_600_000), default: 60_000 },
  requiredScopes: { ...arrayOf(isScope, SCOPES), default: [] },
  upstream: { ...OBJECT, default: {} },
  sendResource: { ...BOOLEAN, default: true },
  assertions: { ...OBJECT, secret: true },
  grants: OBJECT
}

const CLIENT_KEY: Table<ClientKey> = {
  pem: { ...TEXT, rule: 'must be a private key, PKCS #8 in PEM', secret: true, required: true },
  alg: oneOf(...ASSERTION_ALGORITHMS),
  header: {
    holds: (header) => isOfStrings(header) && !Object.hasOwn(header, 'alg'),
    rule: 'must be an object with strings as values, and no alg'
  },
  audience: TEXT
}

const DOCUMENTS: Table<ClientDocumentOptions> = {
  privateHosts: arrayOf(
    (host) => URL.canParse(`https://${host}/`) && new URL(`https://${host}/`).hostname === host,
    'names of hosts in lower case, without a port'
  ),
  ca: { holds: (ca) => isStrings([ca].flat()), rule: 'must be certificates in PEM', secret: true }
}

const PARAMETERS: Rule = { holds: isOfStrings, rule: 'must be an object with strings as values', secret: true }
const UPSTREAM: Table<Upstream> = {
  authorize: { ...PARAMETERS, default: {} },
  token: { ...PARAMETERS, default: {} }
}

const clientTable = (appSchemes: readonly string[]): Table<ListedClient> => ({
  id: { ...CLIENT_ID, required: true },
  name: { ...TEXT, required: true },
  redirectUris: {
    ...filledArrayOf(
      (uri) => typeof uri === 'string' && redirectKind(uri, appSchemes) !== undefined,
      'https URLs, http URLs on loopback, or URLs of appSchemes'
    ),
    required: true
  }
})

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function settingsFromBrokerOptions (options: BrokerOptions): BrokerSettings {
  must(!('broker' in options), 'broker is not an option here: what was in it is beside the other options')
  must(
    !('strictDiscovery' in options),
    'strictDiscovery is not an option of the broker: its documents are the second pair, which is always served'
  )
  const given = completed(settingsBy({ ...SHIM, ...TABLE }, ownOptions(options)))
  const { publicBaseUrl, issuer, insecureHttp, clientId, secrets, clientSecret, clientKey, clientAuth } = given
  const { clients, registration, documents, appSchemes, store, assertions, grants } = given

  must(clientId !== '', 'clientId must not be empty: it is that of this server at the identity provider')
  const { protocol, hostname } = new URL(publicBaseUrl)
  must(
    protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname),
    'publicBaseUrl must be https, or http on loopback: codes and tokens pass through this server'
  )
  checkSecrets(secrets, 'secrets')
  must(clientSecret === undefined || clientKey === undefined, 'clientSecret and clientKey exclude each other')
  must(clientAuth === undefined || clientSecret !== undefined, 'clientAuth needs a clientSecret')
  if (clientKey !== undefined) checkKey(clientKey)
  const upstream = settingsBy(UPSTREAM, given.upstream, 'upstream')
  for (const [leg, parameters] of Object.entries(upstream)) {
    const own = Object.keys(parameters).find((name) => OWN.has(name))
    must(own === undefined, `upstream.${leg}.${own} is set by the broker itself`)
  }
  const clientOptions = clientTable(appSchemes)
  for (const [i, client] of clients.entries()) settingsBy(clientOptions, client, `clients[${i}]`)
  must(new Set(clients.map(({ id }) => id)).size === clients.length, 'clients must have different ids')
  if (documents !== false) settingsBy(DOCUMENTS, documents, 'documents')
  must(
    registration || documents !== false || clients.length > 0 || assertions !== undefined,
    'registration, documents and clients admit no client: allow or list one'
  )

  return {
    ...given,
    store: store ?? memoryBrokerStore(),
    remembersAlone: store === undefined,
    upstream,
    assertions: assertions && assertionSettings(assertions, {
      own: `${publicBaseUrl}/oauth`,
      http: insecureHttp,
      documents: documents !== false,
      others: clients.map(({ id }) => id)
    }),
    grants: grants && grantSettings(grants, issuer, store !== undefined)
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

function checkKey (key: ClientKey): void {
  const { pem, alg = 'RS256' } = settingsBy(CLIENT_KEY, key, 'clientKey')
  must(isKeyFor(alg, pem), `clientKey.pem must be a private key for ${alg}, PKCS #8 in PEM`)
}

function isKeyFor (alg: string, pem: string): boolean {
  if (!pem.includes('BEGIN PRIVATE KEY')) return false
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

function isAppScheme (scheme: unknown): boolean {
  return typeof scheme === 'string' && /^[a-z][a-z0-9+.-]*$/.test(scheme) && !DANGEROUS.has(scheme)
}

function isOfStrings (value: unknown): value is Readonly<Record<string, string>> {
  return isObject(value) && isStrings(Object.values(value))
}
