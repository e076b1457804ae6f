import type { FastifyContextConfig } from 'fastify'
import { BOOLEAN, DURATION, filledArrayOf, OBJECT, oneOf, type Table, withoutRegistration } from '#shared/option-table'
import { must, settingsBy } from './option-checks.ts'
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

/** As they are given. */
interface Given extends Omit<Settings, 'mcpPath'> {
  readonly mcpPath: string | false
}

// RFC 6749 §3.3; the challenge quotes them.
export const SCOPES = 'scope tokens without spaces and quotes'

/** @internal */
export const TABLE: Table<Given> = {
  publicBaseUrl: {
    holds: (value) => isWebUrl(value) && !/[?#]/.test(value) && new URL(value).pathname === '/',
    rule: 'must be an http or https URL without path, query, fragment and user; a path belongs into mcpPath',
    required: true
  },
  issuer: {
    // No document names an issuer with white space, as at the end of a file.
    holds: (value) => isWebUrl(value) && !/[?#\s]/.test(value),
    rule: 'must be an https URL without query, fragment, user and white space',
    required: true
  },
  insecureHttp: { ...BOOLEAN, default: false },
  clientId: {
    holds: (value) => typeof value === 'string' && /^[\x21-\x7e]*$/.test(value),
    rule: 'must be a string of printable ASCII without spaces; it may be empty',
    required: true
  },
  mcpPath: {
    holds: (value) => value === false || isPath(value),
    rule: 'must start with a slash and not end with one, such as /mcp, or be false',
    default: '/mcp'
  },
  redirectUris: {
    ...filledArrayOf(isCallback, 'absolute URLs such as http://localhost:7777/callback, without a fragment'),
    default: ['http://localhost:7777/callback', 'http://127.0.0.1:7777/callback']
  },
  scopes: { ...filledArrayOf(isScope, SCOPES), default: ['openid', 'email', 'profile'] },
  resourceName: { holds: (value) => typeof value === 'string', rule: 'must be a string' },
  strictDiscovery: { ...oneOf('path', 'off'), default: 'path' },
  advertisePkce: { ...BOOLEAN, default: true },
  timeout: { ...DURATION, default: 3_000 },
  refreshInterval: { ...DURATION, default: 3_600_000 },
  config: { ...OBJECT, default: {} }
}

/**
 * Checks the options and fills in defaults.
 *
 * @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION}
 */
export function settingsFromOptions (options: OAuthDiscoveryShimOptions): Settings {
  must(
    !('broker' in options),
    'broker is not an option: register the plugin of oauth-discovery-shim/broker in place of this one, with the ' +
      'members of broker beside the other options'
  )
  return completed(settingsBy(TABLE, ownOptions(options)))
}

/** The options without those of Fastify's `register`. A prefix is refused by the app that has it. */
export function ownOptions (options: object): object {
  const { prefix: _prefix, ...own } = withoutRegistration(options) as { readonly prefix?: unknown }
  return own
}

/** @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} for an issuer on http that is not allowed */
export function completed<Read extends Given> (given: Read): Read & Settings {
  const { publicBaseUrl, issuer, insecureHttp, mcpPath } = given
  mustBeSafe('issuer', issuer, insecureHttp)
  // `HTTPS://Shop.Example.com:443/` → `https://shop.example.com`
  return { ...given, publicBaseUrl: new URL(publicBaseUrl).origin, mcpPath: mcpPath === false ? '' : mcpPath }
}

/** @throws {@link OAUTH_DISCOVERY_SHIM_INVALID_OPTION} */
export function mustBeSafe (option: string, url: string, insecureHttp: boolean): void {
  must(
    isSafeUrl(url, insecureHttp),
    `${option} must be https, or http on loopback: insecureHttp allows http, inside a network of your own`
  )
}

function isWebUrl (value: unknown): value is string {
  if (!isSafeUrl(value, true)) return false
  const { username, password } = new URL(value)
  return username === '' && password === ''
}

/** A path that a URL keeps as it is: `/..` would disappear. */
function isPath (value: unknown): boolean {
  return typeof value === 'string' && /^(\/[\w.~-]+)+$/.test(value) &&
    new URL(value, 'http://localhost').pathname === value
}

function isCallback (value: unknown): boolean {
  // `localhost:7777/callback` would be a URL with the scheme `localhost`
  return typeof value === 'string' && URL.canParse(value) && !value.includes('#') && !/^[^/]*:\d/.test(value) &&
    new URL(value).protocol !== 'javascript:'
}

export function isScope (value: unknown): boolean {
  return typeof value === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(value)
}
