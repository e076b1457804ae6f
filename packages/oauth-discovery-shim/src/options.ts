import type { FastifyContextConfig } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from './errors.ts'
import { isObject, isStrings } from './json.ts'
import { isSafeUrl } from './safe-url.ts'

/** The options of the plugin. A wrong value or an unknown name is an error at startup. */
export interface OAuthDiscoveryShimOptions {
  /**
   * Origin under which clients reach this server, such as `https://shop.example.com`. Every URL
   * in every document is built from it, never from `Host` or `X-Forwarded-*`. A trailing slash is
   * dropped; a path, query or fragment is rejected, because well-known documents live at the origin.
   */
  readonly publicBaseUrl: string
  /**
   * Issuer of the identity provider; must equal the one in its document character by character.
   * `https`, or `http` on loopback, unless {@link OAuthDiscoveryShimOptions.insecureHttp} is set. Microsoft Entra's for
   * several tenants contains `{tenantid}`.
   */
  readonly issuer: string
  /**
   * Accepts `http:` for the identity provider, and issuers of assertions, on other machines too. Codes and tokens can
   * then be read and changed on the way: only inside a network of your own, such as a cluster. Default `false`.
   */
  readonly insecureHttp?: boolean
  /**
   * Id of the public client that you registered at the identity provider; every client that registers gets this
   * id. Empty: registration is not advertised and returns 503.
   */
  readonly clientId: string
  /**
   * Path of the MCP endpoint, without a trailing slash. `false`: this server has none, and the resource is the whole
   * server. Default `/mcp`.
   */
  readonly mcpPath?: string | false
  /**
   * Callback URLs registered at the identity provider for `clientId`; registration returns them unchanged.
   * Default `http://localhost:7777/callback` and `http://127.0.0.1:7777/callback`.
   */
  readonly redirectUris?: readonly string[]
  /** Scopes that `clientId` may request. Default `openid`, `email`, `profile`. */
  readonly scopes?: readonly string[]
  /** Name of this server that some clients show to people. Default: none. */
  readonly resourceName?: string
  /**
   * `path` (default) adds a second pair of documents at the path-suffixed URLs, whose issuer equals the authorization
   * server's URL, for clients that check [RFC 8414 §3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3).
   * `off` serves only documents with the identity provider's own issuer.
   */
  readonly strictDiscovery?: 'path' | 'off'
  /**
   * Adds `code_challenge_methods_supported: ["S256"]` if the identity provider's document lacks it, as Amazon
   * Cognito's does. Turn it off for a provider without PKCE. Default `true`.
   */
  readonly advertisePkce?: boolean
  /**
   * How long a read of the identity provider's document may take, in milliseconds. Startup waits for the first one,
   * at most half of Fastify's `pluginTimeout`. Default 3000.
   */
  readonly timeout?: number
  /** Time between two reads of the identity provider's document, in milliseconds. Default 3600000, one hour. */
  readonly refreshInterval?: number
  /**
   * Route `config` of every route of this plugin, for the host's plugins that read it, such as authentication (these
   * routes must be public) or a rate limit. Default `{}`.
   */
  readonly config?: FastifyContextConfig
}

/** The options with every default in place, checked. */
export interface Settings extends Required<Omit<OAuthDiscoveryShimOptions, 'resourceName' | 'mcpPath'>> {
  readonly resourceName: string | undefined
  /** Empty without an MCP endpoint. */
  readonly mcpPath: string
}

/**
 * Checks the options and fills in defaults. Options come from JavaScript and the environment too, where no compiler
 * checks them. A default replaces undefined only: null is a wrong value.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function settingsFromOptions (options: OAuthDiscoveryShimOptions): Settings {
  const {
    publicBaseUrl,
    issuer,
    clientId,
    insecureHttp = false,
    mcpPath = '/mcp',
    redirectUris = ['http://localhost:7777/callback', 'http://127.0.0.1:7777/callback'],
    scopes = ['openid', 'email', 'profile'],
    resourceName,
    strictDiscovery = 'path',
    advertisePkce = true,
    timeout = 3_000,
    refreshInterval = 3_600_000,
    config = {},
    ...rest
  } = options
  // Fastify passes its own registration options on
  const { prefix: _prefix, logLevel: _logLevel, logSerializers: _logSerializers, ...unknown } = rest as Record<
    string,
    unknown
  >

  must(
    !('broker' in unknown),
    'broker is not an option: register the plugin of oauth-discovery-shim/broker in place of this one, with the ' +
      'members of broker beside the other options'
  )
  for (const name of Object.keys(unknown)) must(false, `${name} is not an option`)
  must(typeof insecureHttp === 'boolean', 'insecureHttp must be true or false')
  must(
    isSafeUrl(issuer, insecureHttp),
    'issuer must be an https URL, or http on ' +
      `loopback${/^http:/i.test(issuer) ? ': insecureHttp allows http, inside a network of your own' : ''}`
  )
  must(!/[?#]/.test(issuer) && !hasUser(issuer), 'issuer must have no query, no fragment and no user')
  // As at the end of a file: no document names such an issuer.
  must(!/\s/.test(issuer), 'issuer must contain no spaces and no line breaks')
  must(
    typeof clientId === 'string' && /^[\x21-\x7e]*$/.test(clientId),
    'clientId must be a string of printable ASCII without spaces; it may be empty'
  )
  must(
    mcpPath === false || isPath(mcpPath),
    'mcpPath must start with a slash and not end with one, such as /mcp, or be false'
  )
  must(
    isFilled(redirectUris) && redirectUris.every(isCallback),
    'redirectUris must list absolute URLs such as http://localhost:7777/callback, without a fragment, as strings'
  )
  // RFC 6749 §3.3: the characters of a scope token; the challenge quotes it
  must(
    isFilled(scopes) && scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)),
    'scopes must list scope tokens, one per entry'
  )
  must(resourceName === undefined || typeof resourceName === 'string', 'resourceName must be a string')
  must(['path', 'off'].includes(strictDiscovery), 'strictDiscovery must be path or off')
  must(typeof advertisePkce === 'boolean', 'advertisePkce must be true or false')
  must(isDuration(timeout), 'timeout must be a whole number of milliseconds, from 1 to 2^31 - 1')
  must(isDuration(refreshInterval), 'refreshInterval must be a whole number of milliseconds, from 1 to 2^31 - 1')
  must(isObject(config), 'config must be an object')

  const origin = originOf(publicBaseUrl)

  return {
    publicBaseUrl: origin,
    issuer,
    insecureHttp,
    clientId,
    mcpPath: mcpPath === false ? '' : mcpPath,
    redirectUris,
    scopes,
    resourceName,
    strictDiscovery,
    advertisePkce,
    timeout,
    refreshInterval,
    config
  }
}

/** `HTTPS://Shop.Example.com:443/` → `https://shop.example.com` */
function originOf (value: string): string {
  must(typeof value === 'string' && URL.canParse(value), 'publicBaseUrl must be an absolute URL, as a string')
  const { protocol, pathname, search, hash, origin } = new URL(value)
  must(protocol === 'http:' || protocol === 'https:', 'publicBaseUrl must be http or https')
  must(
    pathname === '/' && !search && !hash && !hasUser(value),
    'publicBaseUrl must be an origin without path, query, fragment or user; put a path into mcpPath'
  )
  return origin
}

function hasUser (url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** A path that a URL keeps as it is: `/..` would disappear. */
function isPath (value: string): boolean {
  return typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value) &&
    new URL(value, 'http://localhost').pathname === value
}

function isFilled (list: readonly string[]): boolean {
  return isStrings(list) && list.length > 0
}

function isCallback (value: string): boolean {
  // `localhost:7777/callback` would be a URL with the scheme `localhost`
  return URL.canParse(value) && !value.includes('#') && !/^[^/]*:\d/.test(value) &&
    new URL(value).protocol !== 'javascript:'
}

// setTimeout treats a longer wait as none, and AbortSignal.timeout rejects fractions
function isDuration (value: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && value < 2 ** 31
}

function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(message)
}
