import { OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE } from '../errors.ts'
import { callbackIssuer, identityWith, signInPage, withoutSecret } from './authorization.ts'
import type { ClientProfile } from './clients.ts'
import { documentAt, resourceFor, serverFor } from './discovery.ts'
import { outcome, type HttpResponse, type Http } from './http.ts'
import { first, list, stop, type Obstacle } from './step.ts'

/** Takes one client's steps from the MCP endpoint's URL to the sign-in page. `undefined` if it gets there. */
export async function walk (
  client: ClientProfile,
  mcpUrl: string,
  endpoint: HttpResponse | undefined,
  http: Http
): Promise<Obstacle | undefined> {
  try {
    return await steps(client, mcpUrl, endpoint, http)
  } catch (error) {
    if (!(error instanceof OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE)) throw error
    return stop('private', `the server leads to a host that is not on the internet: ${error.message}`).obstacle
  }
}

async function steps (
  client: ClientProfile,
  mcpUrl: string,
  endpoint: HttpResponse | undefined,
  http: Http
): Promise<Obstacle | undefined> {
  if (endpoint === undefined) return stop('unreachable', `${mcpUrl} does not answer`).obstacle
  if (client.hosted && !mcpUrl.startsWith('https:')) {
    return stop('unreachable', 'it runs in the cloud and reaches only https servers').obstacle
  }
  if (endpoint.elsewhere !== undefined) return stop('endpoint', `POST ${mcpUrl} ${outcome(endpoint)}`).obstacle
  if (endpoint.status !== 401) {
    return stop('endpoint', `POST ${mcpUrl} returns ${endpoint.status} instead of 401`).obstacle
  }

  const challenge = challengeFrom(endpoint)
  const { found: resource, obstacle: noResource } = await resourceFor(client, mcpUrl, challenge.url, http)
  if (noResource) return noResource

  const { found: server, obstacle: noServer } = await serverFor(
    client,
    first(resource['authorization_servers']) ?? new URL('/', mcpUrl).href,
    http
  )
  if (noServer && challenge.url !== undefined && await documentAt(challenge.url, http) === undefined) {
    return stop(
      'challenge',
      `the 401 names the document ${challenge.url}, which ${outcome(await http.get(challenge.url))}`
    ).obstacle
  }
  if (noServer) return noServer

  const { found: registration, obstacle: notRegistered } = await identityWith(client, server, http)
  if (notRegistered) return notRegistered

  const scope = challenge.scope ?? list(resource['scopes_supported'])?.join(' ') ??
    (client.otherwiseScopes === 'all' ? list(server['scopes_supported'])?.join(' ') : undefined)
  const refusal = await signInPage(client, server, registration, { resource: resource['resource'], scope }, http) ??
    await callbackIssuer(client, mcpUrl, server, http) ??
    await withoutSecret(server, registration, http)
  return refusal?.obstacle
}

/** RFC 9728 §5.1. Clients read only the first scheme. */
function challengeFrom ({ headers }: HttpResponse): { url: string | undefined, scope: string | undefined } {
  const header = headers.get('www-authenticate')
  const member = (pattern: RegExp) =>
    header !== null && /^bearer /i.test(header) ? pattern.exec(header)?.[1] : undefined
  return { url: member(/resource_metadata="([^"]*)"/), scope: member(/scope="([^"]*)"/) }
}
