import { randomBytes } from 'node:crypto'
import type { ClientProfile } from './clients.ts'
import { documentAt } from './discovery.ts'
import { outcome, type HttpResponse, type Http } from './http.ts'
import { cut, first, isUrl, list, stop, type Json, type Step } from './step.ts'

/**
 * The client's id: the URL of its metadata document, if it has one and the server reads such documents, or what it gets
 * when it registers.
 */
export async function identityWith (client: ClientProfile, metadata: Json, http: Http): Promise<Step> {
  const { document } = client
  return document !== undefined && metadata['client_id_metadata_document_supported'] === true
    ? { found: { client_id: document.url } }
    : await registrationWith(client, metadata, http)
}

/** RFC 7591 §3. */
async function registrationWith (client: ClientProfile, metadata: Json, http: Http): Promise<Step> {
  const fault = (detail: string) => stop('registration', detail)
  const endpoint = metadata['registration_endpoint']
  if (!isUrl(endpoint)) return fault('the metadata has no registration_endpoint')
  const response = await http.post(endpoint, {
    client_name: client.name,
    redirect_uris: [client.callback ?? 'http://localhost:7777/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none'
  })
  if (response === undefined || response.status > 299) {
    return fault(
      `POST ${endpoint} ` +
        `${outcome(response)}${
          response?.json['error_description'] ? `: ${String(response.json['error_description'])}` : ''
        }`
    )
  }
  const { client_id: id, client_secret: secret, redirect_uris: uris, token_endpoint_auth_method: method } =
    response.json
  if (typeof id !== 'string' || id === '') return fault(`POST ${endpoint} returns no client_id`)
  if (client.needsRedirectUris && !list(uris)) return fault(`POST ${endpoint} returns no redirect_uris`)
  if (method !== undefined && method !== 'none' && secret === undefined) {
    return fault(`POST ${endpoint} returns token_endpoint_auth_method ${String(method)} without a client_secret`)
  }
  return { found: response.json }
}

/** RFC 6749 §4.1.1: sends this client's request to the identity provider, because only the provider knows its rules. */
export async function signInPage (
  client: ClientProfile,
  metadata: Json,
  registration: Json,
  requested: { readonly resource: unknown, readonly scope: string | undefined },
  http: Http
): Promise<Step | undefined> {
  const isDocument = registration['client_id'] === client.document?.url
  const callback = (isDocument ? client.document?.callback : client.callback) ?? first(registration['redirect_uris']) ??
    'http://localhost:7777/callback'
  const url = new URL(String(metadata['authorization_endpoint']))
  for (
    const [name, value] of Object.entries({
      response_type: 'code',
      client_id: registration['client_id'],
      redirect_uri: callback,
      code_challenge: randomBytes(32).toString('base64url'),
      code_challenge_method: 'S256',
      state: 'doctor',
      ...requested
    })
  ) if (value !== undefined) url.searchParams.set(name, String(value))

  const { asked, response } = await openedAt(url, http)
  if (response === undefined) return stop('provider', `${asked.origin} does not answer`)
  const refused = errorFrom(response, asked)
  if (refused === undefined) return undefined
  const { error, description } = refused
  const told = `${error} ${description}`
  const sent = asked.searchParams.get('redirect_uri') ?? callback
  if (isDocument && asked === url && response.status >= 400) {
    return stop(
      'document',
      `the server cannot use its metadata document ${client.document?.url}: ${faultIn(response.text) ?? error}`
    )
  }
  if (/redirect/i.test(told)) return stop('callback', `the identity provider does not know the callback ${sent}`)
  if (/scope/i.test(told)) {
    return stop('scope', `the identity provider rejects the scope ${requested.scope ?? '(none)'}`)
  }
  if (/target|resource/i.test(told)) {
    return stop('resource', `the identity provider rejects the resource ${String(requested.resource)}`)
  }
  return stop(
    'provider',
    `the identity provider rejects the request with the callback ${sent}: ` +
      `${description === '' ? error : `${error}: ${description}`}`
  )
}

/**
 * Sends a code that does not exist: an identity provider checks the client first, and one that the provider has a
 * secret for gets no token (RFC 6749 §5.2).
 */
export async function withoutSecret (
  metadata: Json,
  { client_id: id, client_secret: secret }: Json,
  http: Http
): Promise<Step | undefined> {
  if (secret !== undefined) return undefined
  const response = await http.tokens(String(metadata['token_endpoint']), {
    grant_type: 'authorization_code',
    client_id: String(id),
    code: 'doctor',
    redirect_uri: 'http://localhost:7777/callback',
    code_verifier: randomBytes(32).toString('base64url')
  })
  const error = String(response?.json['error'])
  return ['invalid_client', 'unauthorized_client'].includes(error)
    ? stop(
      'client',
      `the identity provider gives the client ${String(id)} no tokens without a secret: ${error}. Register a ` +
        'public client there, or use the broker'
    )
    : undefined
}

/** Opens the page. On the consent page of a broker it agrees, to see what the identity provider says. */
async function openedAt (
  url: URL,
  http: Http
): Promise<{ readonly asked: URL, readonly response: HttpResponse | undefined }> {
  const page = await http.open(url.href)
  if (page?.status !== 200) return { asked: url, response: page }
  const [, sealed] = /<input type="hidden" name="request" value="([^"]+)">/.exec(page.text) ?? []
  if (sealed === undefined) return { asked: url, response: page }
  const cookie = page.headers.getSetCookie().map((text) => text.split(';')[0]).join('; ')
  const decided = await http.submit(url.origin + url.pathname, { request: sealed, decision: 'allow' }, cookie)
  const location = decided?.headers.get('location') ?? refreshIn(decided?.text)
  return location != null && URL.canParse(location)
    ? { asked: new URL(location), response: await http.open(location) }
    : { asked: url, response: decided }
}

/** Where a page of a broker of this package leads by itself. */
function refreshIn (page = ''): string | undefined {
  return textFrom(/<meta http-equiv="refresh" content="0;url=([^"]+)">/.exec(page)?.[1])
}

/** Why a broker of this package refused, as its page says. */
function faultIn (page: string): string | undefined {
  return textFrom(/<p>(?:The metadata document of this app cannot be used: )?([^<]{1,400})\.<\/p>/.exec(page)?.[1])
}

function textFrom (html: string | undefined): string | undefined {
  return html?.replaceAll('&#39;', "'").replaceAll('&amp;', '&')
}

/** What a provider says, on one line. */
interface Refusal {
  /** Its code, or the status. */
  readonly error: string
  /** Empty: there is none. */
  readonly description: string
}

/** Providers send an error to the callback, redirect to an error page, show it, or return it as JSON. */
function errorFrom ({ status, headers, text, json }: HttpResponse, requested: URL): Refusal | undefined {
  const location = headers.get('location')
  if (location !== null && URL.canParse(location, requested)) {
    const { searchParams } = new URL(location, requested)
    return searchParams.has('error')
      ? { error: lineOf(searchParams.get('error')), description: lineOf(searchParams.get('error_description')) }
      : undefined
  }
  if (status < 400) return undefined
  const said = lineOf(json['error'])
  // Some have the status text under `error`, and the code elsewhere.
  const code = /^[a-z]+(?:_[a-z]+)+$/.test(said)
    ? said
    : /invalid_[a-z_]+|(?<![a-z])[a-z]+_mismatch/.exec(text)?.[0] ?? said
  return { error: code || `status ${status}`, description: lineOf(json['error_description']) }
}

/** In characters. */
const LONGEST_LINE = 200

/** A text of a provider on one line, without control characters, cut; empty if it is no string. */
function lineOf (text: unknown): string {
  return typeof text === 'string' ? cut(text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim(), LONGEST_LINE) : ''
}

/** RFC 9207: clients reject a callback whose `iss` is not the issuer they expect. */
export async function callbackIssuer (
  client: ClientProfile,
  mcpUrl: string,
  metadata: Json,
  http: Http
): Promise<Step | undefined> {
  // A server that announces it under its own issuer, as one with a broker, sends that one.
  if (!client.checksIssuer || metadata['authorization_response_iss_parameter_supported'] === true) return undefined
  const root = await documentAt(`${new URL(mcpUrl).origin}/.well-known/oauth-authorization-server`, http) ?? {}
  return root['authorization_response_iss_parameter_supported'] === true && root['issuer'] !== metadata['issuer']
    ? stop(
      'issuer',
      `the identity provider sends iss=${String(root['issuer'])} to the callback instead of ` +
        `${String(metadata['issuer'])}`
    )
    : undefined
}
