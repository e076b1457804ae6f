import type { Client, ClientAuth } from '../../client-document/client.ts'
import { digest } from '../digest.ts'
import { ownIssuer } from '../../metadata.ts'
import { required, type Parameters } from '../parameters.ts'
import { isRegistered, portless, redirectKind, type RedirectKind } from '../../client-document/redirect-uri.ts'
import { refusal, type Refusal } from '../refusal.ts'

/** A client's request, checked: what is sealed into the consent page and kept until the code is exchanged. */
export interface SignInRequest {
  /** Stands for the client's id. */
  readonly client: string
  readonly auth: ClientAuth
  readonly redirectUri: string
  readonly state: string | undefined
  readonly scope: string
  readonly challenge: string
  /** What the client wants of the identity provider's page. */
  readonly hints: Readonly<Record<string, string>>
  /** Under which a browser may remember the consent; `undefined`: always ask. */
  readonly remember: string | undefined
}

/** Whom the answer goes to. Errors before this is known are only shown. */
export interface Recipient {
  readonly client: Client
  readonly redirectUri: string
  readonly kind: RedirectKind
  readonly state: string | undefined
}

/** What is known of the server that the request is for. */
export interface Target {
  readonly scopes: readonly string[]
  /** Requested in any case. */
  readonly requiredScopes: readonly string[]
  /** What it is called in requests to the identity provider. */
  readonly resource: string
  /** What clients call it. */
  readonly resources: readonly string[]
  readonly appSchemes: readonly string[]
}

/**
 * Checks that the callback is one of the client's.
 *
 * @throws a {@link refusal}, which must not be sent to the callback
 * @see [RFC 6749 §3.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-3.1.2),
 *   [RFC 9700 §4.1](https://www.rfc-editor.org/rfc/rfc9700#section-4.1)
 */
export function recipientFrom (parameters: Parameters, client: Client, { appSchemes }: Target): Recipient {
  const redirectUri = parameters.get('redirect_uri') ?? only(client.redirectUris)
  if (redirectUri === undefined) throw refusal('invalid_request', 'The parameter redirect_uri is missing')
  const kind = redirectKind(redirectUri, appSchemes)
  if (kind === undefined || !isRegistered(redirectUri, client.redirectUris)) {
    const why = kind === undefined ? NOT_ALLOWED : PLACES[client.source]
    const name = client.source === 'list' ? client.id : shown(client.name)
    throw refusal('invalid_request', `The callback ${shown(redirectUri)} of ${name} ${why}`)
  }
  const state = parameters.get('state')
  // It travels with the browser to the identity provider and back, and is sent on as it came.
  const isSendable = state === undefined || /^[\x20-\x7e]{1,4096}$/.test(state)
  if (!isSendable) {
    throw refusal('invalid_request', 'The parameter state must be at most 4096 characters of printable ASCII')
  }
  return { client, redirectUri, kind, state }
}

/** Where a callback has to be listed. */
const NOT_ALLOWED = 'is not allowed here: it must be https, http on this computer, or open an app of a known scheme. ' +
  'The operator lists schemes in appSchemes'

const PLACES = {
  document: 'is not in its metadata document, where its maker lists it',
  registration:
    'is not one that it registered. Remove this server in the app and add it again, so that it registers anew',
  list: 'is not in redirectUris of the client, where the operator lists it in clients'
}

/** Of a client, in a sentence that goes into an OAuth error: ASCII without quotes. */
function shown (text: string): string {
  const ascii = text.replace(/[^\x20-\x7e]|["\\<>]/g, '')
  return ascii.length > 200 ? `${ascii.slice(0, 197)}...` : ascii
}

/**
 * Checks the rest of a request.
 *
 * @throws a {@link refusal}, which the client may be told
 * @see [RFC 6749 §4.1.1](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1),
 *   [RFC 7636 §4.3](https://www.rfc-editor.org/rfc/rfc7636#section-4.3),
 *   [RFC 8707 §2](https://www.rfc-editor.org/rfc/rfc8707#section-2)
 */
export function signInRequestFrom (
  parameters: Parameters,
  { client, redirectUri, kind, state }: Recipient,
  target: Target
): SignInRequest {
  for (const parameter of ['request', 'request_uri']) {
    if (parameters.has(parameter)) {
      throw refusal(`${parameter}_not_supported`, `The parameter ${parameter} is not supported`)
    }
  }
  if (required(parameters, 'response_type') !== 'code') {
    throw refusal('unsupported_response_type', 'response_type must be code')
  }
  if ((parameters.get('response_mode') ?? 'query') !== 'query') {
    throw refusal('invalid_request', 'response_mode must be query')
  }
  const challenge = required(parameters, 'code_challenge')
  // Left out means plain (RFC 7636 §4.3), which protects nothing.
  if (parameters.get('code_challenge_method') !== 'S256') {
    throw refusal('invalid_request', 'code_challenge_method must be S256')
  }
  if (!/^[\w-]{43}$/.test(challenge)) {
    throw refusal('invalid_request', 'code_challenge must be a SHA-256 hash in base64url')
  }
  requireResource(parameters, target)
  if (parameters.get('prompt') === 'none') {
    throw refusal('interaction_required', 'prompt=none is not possible: a person has to agree')
  }
  const scope = scopeFrom(parameters.get('scope'), target)
  const isRemembered = client.source !== 'registration' && kind === 'https'
  return {
    client: digest(client.id),
    auth: client.auth,
    redirectUri,
    state,
    scope,
    challenge,
    hints: Object.fromEntries(
      HINTS.flatMap((hint) => parameters.has(hint) ? [[hint, parameters.get(hint)!.slice(0, LONGEST_HINT)]] : [])
    ),
    remember: isRemembered ? digest(`${client.id} ${redirectUri} ${scope}`).slice(0, 22) : undefined
  }
}

/** @throws a {@link refusal} `invalid_target` for a token that would not be for this server */
export function requireResource (
  parameters: Parameters,
  { resource: own, resources }: Pick<Target, 'resource' | 'resources'>
): void {
  const resource = parameters.get('resource')
  if (resource !== undefined && !resources.includes(resource)) {
    throw refusal('invalid_target', `resource must be ${own}`)
  }
}

/** Parameters that only the identity provider understands (OpenID Connect Core §3.1.2.1), and their longest value. */
const HINTS = ['prompt', 'login_hint']
const LONGEST_HINT = 200

/** What is wanted and may be had. Clients want what the provider's documents list, too (RFC 6749 §3.3). */
function scopeFrom (wanted: string | undefined, { scopes, requiredScopes }: Target): string {
  const granted = new Set([
    ...wanted?.split(' ').filter((scope) => scopes.includes(scope)) ?? scopes,
    ...requiredScopes
  ])
  if (granted.size === 0) {
    throw refusal('invalid_scope', `None of the requested scopes is available. Available: ${scopes.join(' ')}`)
  }
  return [...granted].join(' ')
}

/** The only callback, which may be left out of a request, unless its port is free. */
function only ([uri, ...others]: readonly string[]): string | undefined {
  return uri !== undefined && others.length === 0 && portless(uri) === undefined ? uri : undefined
}

/**
 * The URL that takes an answer to the client, with the name of this server in it.
 *
 * @see [RFC 9207 §2](https://www.rfc-editor.org/rfc/rfc9207#section-2)
 */
export function answerUrl (
  { redirectUri, state }: Pick<SignInRequest, 'redirectUri' | 'state'>,
  publicBaseUrl: string,
  answer: Readonly<Record<string, string>>
): string {
  const parameters = new URLSearchParams({
    ...answer,
    ...state !== undefined && { state },
    iss: ownIssuer({ publicBaseUrl })
  })
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${parameters.toString()}`
}

/** The parameters of an error. */
export function errorAnswer ({ oauth, message }: Refusal): Readonly<Record<string, string>> {
  return { error: oauth, error_description: message }
}
