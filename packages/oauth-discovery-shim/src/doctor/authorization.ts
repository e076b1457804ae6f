import { randomBytes } from 'node:crypto'
import type { ClientProfile } from './clients.ts'
import { documentAt } from './discovery.ts'
import { outcome, type Answer, type Http } from './http.ts'
import { first, isUrl, list, stop, type Json, type Step } from './step.ts'

/** RFC 7591 §3. */
export async function registrationWith (client: ClientProfile, metadata: Json, http: Http): Promise<Step> {
  const fault = (detail: string) => stop('registration', detail)
  const endpoint = metadata['registration_endpoint']
  if (!isUrl(endpoint)) return fault('the metadata has no registration_endpoint')
  const answer = await http.post(endpoint, {
    client_name: client.name,
    redirect_uris: [client.callback ?? 'http://localhost:7777/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none'
  })
  if (answer === undefined || answer.status < 200 || answer.status > 299) {
    return fault(`POST ${endpoint} ${outcome(answer)}${answer?.json['error_description'] ? `: ${String(answer.json['error_description'])}` : ''}`)
  }
  const { client_id: id, client_secret: secret, redirect_uris: uris, token_endpoint_auth_method: method } = answer.json
  if (typeof id !== 'string' || id === '') return fault(`POST ${endpoint} gives no client_id`)
  if (client.needsRedirectUris && !list(uris)) return fault(`POST ${endpoint} gives no redirect_uris`)
  if (method !== undefined && method !== 'none' && secret === undefined) return fault(`POST ${endpoint} says ${String(method)} and gives no client_secret`)
  return { found: answer.json }
}

/** RFC 6749 §4.1.1: what the identity provider makes of this client's request. It is asked, because only it knows. */
export async function signInPage (
  client: ClientProfile, metadata: Json, registration: Json, asked: { readonly resource: unknown, readonly scope: string | undefined }, http: Http
): Promise<Step | undefined> {
  const callback = client.callback ?? first(registration['redirect_uris']) ?? 'http://localhost:7777/callback'
  const url = new URL(String(metadata['authorization_endpoint']))
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: registration['client_id'],
    redirect_uri: callback,
    code_challenge: randomBytes(32).toString('base64url'),
    code_challenge_method: 'S256',
    state: 'doctor',
    ...asked
  })) if (value !== undefined) url.searchParams.set(name, String(value))

  const answer = await http.open(url.href)
  if (answer === undefined) return stop('provider', `${url.origin} does not answer`)
  const error = errorFrom(answer, url)
  if (error === undefined) return undefined
  if (/redirect/i.test(error)) return stop('callback', `the identity provider does not know the callback ${callback}`)
  if (/scope/i.test(error)) return stop('scope', `the identity provider refuses the scope ${asked.scope ?? '(none)'}`)
  if (/target|resource/i.test(error)) return stop('resource', `the identity provider refuses the resource ${String(asked.resource)}`)
  return stop('provider', `the identity provider refuses: ${error}`)
}

/** An error is sent to the callback, to a page of errors, or shown. */
function errorFrom ({ status, headers, text }: Answer, asked: URL): string | undefined {
  const location = headers.get('location')
  if (location !== null && URL.canParse(location, asked)) {
    const { searchParams } = new URL(location, asked)
    return searchParams.has('error') ? `${searchParams.get('error')} ${searchParams.get('error_description') ?? ''}`.trim() : undefined
  }
  if (status < 400) return undefined
  return /invalid_[a-z_]+|(?<![a-z])[a-z]+_mismatch/.exec(text)?.[0] ?? `status ${status}`
}

/** RFC 9207: a provider that names itself on the callback is refused by clients that expect another issuer. */
export async function callbackIssuer (client: ClientProfile, mcpUrl: string, metadata: Json, http: Http): Promise<Step | undefined> {
  if (!client.checksIssuer) return undefined
  const root = await documentAt(`${new URL(mcpUrl).origin}/.well-known/oauth-authorization-server`, http) ?? {}
  return root['authorization_response_iss_parameter_supported'] === true && root['issuer'] !== metadata['issuer']
    ? stop('issuer', `the identity provider puts iss=${String(root['issuer'])} on the callback, expected is ${String(metadata['issuer'])}`)
    : undefined
}
