import { clientAt, clients, clientWith, type ClientProfile } from './clients.ts'
import { clientsFromDocument } from './document.ts'
import { OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE, OAUTH_DISCOVERY_SHIM_DOCTOR_URL } from '../errors.ts'
import { httpClient, outcome } from './http.ts'
import { JWT_BEARER } from '../metadata.ts'
import { namesPrivateHost } from '../public-address.ts'
import { printable, type Obstacle, type Reason } from './step.ts'
import { walk } from './walk.ts'

export { clients, type ClientProfile, type Obstacle, type Reason }

/** How far one client gets. */
export interface Verdict {
  readonly client: ClientProfile
  /** The first thing that stops it; `undefined` if it reaches the sign-in page. */
  readonly obstacle: Obstacle | undefined
}

export interface DoctorOptions {
  /** Clients to try. Default: all known ones, or none beside `document`. */
  readonly only?: readonly ClientProfile[]
  /** URL of the metadata document of a client of your own, which is tried with each of its callbacks. */
  readonly document?: string
  /** How long one response may take, in milliseconds. Default 5000. */
  readonly timeout?: number
  /**
   * Also connect to loopback, private and link-local addresses, where a public server must not be able to send the
   * doctor. Default: only if `url` itself names such a host, as `localhost` or by its IP address.
   */
  readonly allowPrivate?: boolean
}

/**
 * Takes the steps of each known MCP client against a running server, up to the identity provider's sign-in page, and
 * reports which clients get there and what stops the others. Nobody signs in. On a server with real dynamic
 * registration each client is registered once.
 *
 * @param url - URL of the MCP endpoint, or the server's origin when the endpoint is `/mcp`
 * @throws {@link OAUTH_DISCOVERY_SHIM_DOCTOR_URL}, and OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE if `url` names a host that
 *   is
 *   not on the internet
 */
export async function doctor (
  url: string,
  { document, only = document === undefined ? clients : [], timeout = 5_000, allowPrivate }: DoctorOptions = {}
): Promise<readonly Verdict[]> {
  if (!/^https?:/i.test(url) || !URL.canParse(url)) throw new OAUTH_DISCOVERY_SHIM_DOCTOR_URL(url)
  const mcpUrl = new URL(new URL(url).pathname === '/' ? '/mcp' : url, url).href
  const mayBePrivate = allowPrivate ?? namesPrivateHost(new URL(mcpUrl))
  const net = httpClient(timeout, !mayBePrivate)
  // one request for all clients: this first step is the same for each
  const endpoint = await net.post(mcpUrl, {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'oauth-discovery-shim doctor', version: '1' }
    }
  })
  const verdicts: Verdict[] = []
  const documented = document === undefined
    ? { clients: [] }
    : await clientsFromDocument(document, timeout, mayBePrivate)
  if (document !== undefined && documented.obstacle) {
    verdicts.push({ client: clientWith({ url: document, callback: '' }, document), obstacle: documented.obstacle })
  }
  for (const client of [...documented.clients ?? [], ...only]) {
    verdicts.push({ client, obstacle: await walk(clientAt(mcpUrl, client), mcpUrl, endpoint, net) })
  }
  return verdicts
}

/** A server as an issuer of tokens of its own, for identity assertions of organizations (ID-JAG). */
export interface OwnIssuer {
  /** What `iss` of its tokens is. */
  readonly issuer: string
  /** Where its keys are. */
  readonly keys: string
}

/**
 * The issuer of the tokens that the server issues itself, beside those of its identity provider; undefined if it issues
 * none.
 *
 * @param url - as for {@link doctor}
 * @throws {@link OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE}
 */
export async function ownIssuerOf (
  url: string,
  { timeout = 5_000, allowPrivate }: Pick<DoctorOptions, 'timeout' | 'allowPrivate'> = {}
): Promise<OwnIssuer | undefined> {
  const { origin } = new URL(url)
  const net = httpClient(timeout, !(allowPrivate ?? namesPrivateHost(new URL(url))))
  const document = `${origin}/.well-known/oauth-authorization-server/oauth`
  const response = await net.get(document)
  if (response === undefined || ![200, 404].includes(response.status)) {
    throw new OAUTH_DISCOVERY_SHIM_DOCTOR_UNREACHABLE(document, outcome(response))
  }
  const { issuer, jwks_uri: keys, grant_types_supported: grants } = response.json
  return Array.isArray(grants) && grants.includes(JWT_BEARER)
    ? { issuer: String(issuer), keys: String(keys) }
    : undefined
}

/** One line per client: `ok` or `fail`, its name, and why. Text from the server is escaped for a terminal. */
export function report (verdicts: readonly Verdict[]): string {
  const width = Math.max(...verdicts.map(({ client }) => client.name.length))
  return verdicts.map(({ client, obstacle }) =>
    [
      obstacle ? 'fail' : 'ok  ',
      client.name.padEnd(width),
      obstacle ? `${obstacle.reason}: ${printable(obstacle.detail)}` : 'reaches the sign-in page'
    ].join('  ')
  ).join('\n')
}
