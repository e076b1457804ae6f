import type { FastifyContextConfig } from 'fastify'
import { OAUTH_DISCOVERY_SHIM_INVALID_OPTION } from './errors.ts'

/** What the plugin needs to know. Wrong values, and names that are not here, stop the boot. */
export interface OAuthDiscoveryShimOptions {
  /**
   * Origin under which clients reach this server, such as `https://shop.example.com`. Every URL
   * in every document is built from it, never from `Host` or `X-Forwarded-*`. A trailing slash is
   * dropped; a path, query or fragment is refused, because well-known documents live at the origin.
   */
  readonly publicBaseUrl: string
  /**
   * Issuer of the identity provider, compared with its document character by character.
   * `https`, or `http` on loopback.
   */
  readonly issuer: string
  /**
   * Id of the public client registered by hand at the identity provider; every client that
   * registers is given this one. Empty: no registration is advertised and registering answers 503.
   */
  readonly clientId: string
  /**
   * Path of the MCP endpoint, without a slash at its end. `false`: this server has none, and the resource is the whole
   * server. Default `/mcp`.
   */
  readonly mcpPath?: string | false
  /**
   * Callback URLs that the identity provider has for `clientId`; registration answers them as they
   * are. Default `http://localhost:7777/callback` and `http://127.0.0.1:7777/callback`.
   */
  readonly redirectUris?: readonly string[]
  /** Scopes that `clientId` may ask for. Default `openid`, `email`, `profile`. */
  readonly scopes?: readonly string[]
  /** Name of this server for people, shown by some clients. Default: none. */
  readonly resourceName?: string
  /**
   * `path` (default) adds a second pair of documents at the path-suffixed URLs, whose issuer equals
   * the authorization server's URL, as clients that check [RFC 8414 §3.3](https://www.rfc-editor.org/rfc/rfc8414#section-3.3)
   * demand. `off` serves only documents that carry the identity provider's own issuer.
   */
  readonly strictDiscovery?: 'path' | 'off'
  /**
   * Says `code_challenge_methods_supported: ["S256"]` where the identity provider's document says
   * nothing about it; Amazon Cognito's does not. Turn it off for a provider without PKCE. Default `true`.
   */
  readonly advertisePkce?: boolean
  /**
   * Longest wait for the identity provider's document, in milliseconds. The boot waits for the first one, but
   * no longer than half of Fastify's `pluginTimeout`. Default 3000.
   */
  readonly timeout?: number
  /** Time between two reads of the identity provider's document, in milliseconds. Default 3600000, one hour. */
  readonly refreshInterval?: number
  /**
   * Route `config` of every route of this plugin, for plugins of the host that read it: an
   * authentication policy that must know these routes are public, a rate limit. Default `{}`.
   */
  readonly config?: FastifyContextConfig
}

/** The options with every default in place, checked. */
export interface Settings extends Required<Omit<OAuthDiscoveryShimOptions, 'resourceName' | 'mcpPath'>> {
  readonly resourceName: string | undefined
  /** Empty without an MCP endpoint. */
  readonly mcpPath: string
}

const loopback = new Set(['localhost', '127.0.0.1', '[::1]'])

/** `https`, or `http` on loopback: what may be handed to a client as an endpoint. */
export function isSafeUrl (value: unknown): value is string {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, hostname } = new URL(value)
  return protocol === 'https:' || (protocol === 'http:' && loopback.has(hostname))
}

/**
 * The settings that options mean. They come from JavaScript and from the environment too, where no compiler looks at
 * them. Defaults are for what is left out: null is a value, and a wrong one.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function settingsFromOptions (options: OAuthDiscoveryShimOptions): Settings {
  const {
    publicBaseUrl, issuer, clientId,
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
  // Fastify passes on what it was given for itself
  const { prefix: _prefix, logLevel: _logLevel, logSerializers: _logSerializers, ...unknown } = rest as Record<string, unknown>

  for (const name of Object.keys(unknown)) must(false, `${name} is not an option`)
  must(isSafeUrl(issuer), 'issuer must be an https URL, or http on loopback')
  must(!/[?#]/.test(issuer) && !hasUser(issuer), 'issuer must have no query, no fragment and no user')
  must(typeof clientId === 'string' && /^[\x21-\x7e]*$/.test(clientId), 'clientId must be a string of printable ASCII without spaces; it may be empty')
  must(mcpPath === false || isPath(mcpPath), 'mcpPath must start with a slash and not end with one, such as /mcp, or be false')
  must(isFilled(redirectUris) && redirectUris.every(isCallback), 'redirectUris must list absolute URLs without a fragment, as strings')
  // RFC 6749 §3.3: what a scope token may be made of; the challenge quotes it
  must(isFilled(scopes) && scopes.every(scope => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)), 'scopes must list scope tokens, one per entry')
  must(resourceName === undefined || typeof resourceName === 'string', 'resourceName must be a string')
  must(['path', 'off'].includes(strictDiscovery), 'strictDiscovery must be path or off')
  must(typeof advertisePkce === 'boolean', 'advertisePkce must be true or false')
  must(isDuration(timeout), 'timeout must be a whole number of milliseconds, from 1 to 2^31 - 1')
  must(isDuration(refreshInterval), 'refreshInterval must be a whole number of milliseconds, from 1 to 2^31 - 1')
  must(typeof config === 'object' && config !== null && !Array.isArray(config), 'config must be an object')

  return {
    publicBaseUrl: originOf(publicBaseUrl),
    issuer,
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
  must(pathname === '/' && !search && !hash && !hasUser(value),
    'publicBaseUrl must be an origin without path, query, fragment or user; put a path into mcpPath')
  return origin
}

function hasUser (url: string): boolean {
  const { username, password } = new URL(url)
  return username !== '' || password !== ''
}

/** A path that is the same when it is part of a URL: `/..` would be gone. */
function isPath (value: string): boolean {
  return typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value) && new URL(value, 'http://localhost').pathname === value
}

function isFilled (list: readonly string[]): boolean {
  return Array.isArray(list) && list.length > 0 && list.every(item => typeof item === 'string')
}

function isCallback (value: string): boolean {
  return URL.canParse(value) && !value.includes('#') && new URL(value).protocol !== 'javascript:'
}

// setTimeout takes a longer wait for none at all, and AbortSignal.timeout takes no fraction
function isDuration (value: number): boolean {
  return Number.isSafeInteger(value) && value > 0 && value < 2 ** 31
}

function must (condition: boolean, message: string): asserts condition {
  if (!condition) throw new OAUTH_DISCOVERY_SHIM_INVALID_OPTION(message)
}
