import { isSafeUrl } from '../safe-url.ts'
import type { ClientProfile } from './clients.ts'
import { outcome, type HttpResponse, type Http } from './http.ts'
import { isUrl, list, stop, type Json, type Step } from './step.ts'

/** RFC 9728 §3. A missing document is no obstacle: clients then use the origin as the authorization server. */
export async function resourceFor (
  client: ClientProfile,
  mcpUrl: string,
  challengeUrl: string | undefined,
  http: Http
): Promise<Step> {
  const { origin, pathname } = new URL(mcpUrl)
  const path = client.keepsSlash ? pathname : pathname.replace(/\/$/, '')
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`
  const candidates = challengeUrl !== undefined && client.challenge === 'only'
    ? [challengeUrl]
    : [...challengeUrl !== undefined ? [challengeUrl] : [], `${wellKnown}${path}`, wellKnown]

  for (const url of candidates) {
    const document = URL.canParse(url) ? await documentAt(url, http) : undefined
    if (document === undefined || !isUrl(document['resource'])) continue
    if (client.resource === 'same') {
      return { found: new URL(document['resource']).href === new URL(mcpUrl).href ? document : {} }
    }
    if (covers(document['resource'], mcpUrl)) return { found: document }
    return stop(
      'resource',
      `${url} documents the resource ${document['resource']}, but ${mcpUrl} does not start with it`
    )
  }
  return { found: {} }
}

function covers (resource: string, mcpUrl: string): boolean {
  const [documented, requested] = [new URL(resource), new URL(mcpUrl)]
  return documented.origin === requested.origin &&
    slashed(requested.pathname).startsWith(slashed(documented.pathname)) &&
    documented.pathname.length <= requested.pathname.length
}

const slashed = (path: string): string => path.endsWith('/') ? path : `${path}/`

/** RFC 8414 §3, then OpenID Connect Discovery 1.0 §4. */
export async function serverFor (client: ClientProfile, server: string, http: Http): Promise<Step> {
  if (!isUrl(server)) return stop('metadata', `the authorization server ${server} is not a URL`)
  const { origin, pathname } = new URL(server)
  const path = pathname.replace(/\/$/, '')
  const candidates = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...path ? [`${origin}${path}/.well-known/openid-configuration`] : []
  ]
  let elsewhere: HttpResponse | undefined
  const tried: string[] = []
  for (const url of candidates) {
    const response = await http.get(url)
    if (response === undefined || (response.status >= 500 && response.status !== 502)) {
      return stop('metadata', `${url} ${outcome(response)}`)
    }
    if (response.status === 200) return metadataFault(client, server, response) ?? { found: response.json }
    if (response.elsewhere !== undefined) elsewhere ??= response
    // Another status than 404 has another cause, such as authentication in front of the documents.
    tried.push(response.status === 404 ? url : `${url} (status ${response.status})`)
  }
  return stop('metadata', elsewhere ? `${elsewhere.url} ${outcome(elsewhere)}` : `no document at ${tried.join(', ')}`)
}

function metadataFault (client: ClientProfile, server: string, { url, json }: HttpResponse): Step | undefined {
  for (const name of ['authorization_endpoint', 'token_endpoint']) {
    if (!isSafeUrl(json[name])) return stop('metadata', `${name} of ${url} is not an https URL`)
  }
  if (!list(json['response_types_supported'])?.includes('code')) {
    return stop('metadata', `${url} does not list the response type code`)
  }
  const issuer = String(json['issuer'])
  if (client.checksIssuer && issuer !== server && `${issuer}/` !== server) {
    return stop('issuer', `${url} has the issuer ${issuer} instead of ${server}`)
  }
  const methods = list(json['code_challenge_methods_supported'])
  if (methods ? !methods.includes('S256') : client.needsPkce) {
    return stop('pkce', `code_challenge_methods_supported of ${url} does not list S256`)
  }
  return undefined
}

/** The JSON object at a URL; `undefined` unless the status is 200. */
export async function documentAt (url: string, http: Http): Promise<Json | undefined> {
  const response = await http.get(url)
  return response?.status === 200 ? response.json : undefined
}
