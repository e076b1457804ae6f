import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sign, signingKey } from '../../../packages/dual-auth/test/issuer.ts'

/** The clients that a provider knows, and the person who signs in: nobody is asked. */
export const CLIENT = { id: 'shop-client', secret: 'a secret of the provider' } as const
export const API = '6e74172b-be56-4843-9ff4-e66a39bb12e3'
const PERSON = '690222be-ff1a-4d56-abd1-7e4f7d38e474'

type Form = Readonly<Record<string, string>>

/** A sign-in, of which codes and refresh tokens are. */
interface Session {
  readonly form: Form
  scope: readonly string[]
  readonly since: number
  used: number
  over: boolean
}

/** What is particular about a provider. */
interface Kind {
  /** Its issuer, behind the origin. */
  readonly path: string
  /** The life of access tokens, in seconds. */
  readonly lifetime: number
  readonly document: (issuer: string) => object
  /** Why a request is refused, at the sign-in page or the token endpoint; undefined: it is not. */
  readonly refuses: (
    form: Form,
    session: Session | undefined
  ) => readonly [error: string, description: string] | undefined
  /** What an access token has, beside iss, iat and exp. */
  readonly claims: (scope: readonly string[]) => object
  /** Whether each refresh token works once, and its repeat ends the sign-in. */
  readonly rotates: boolean
  /** Whether a sign-in with these scopes gets a refresh token. */
  readonly refreshes: (scope: readonly string[]) => boolean
  /** How long a sign-in lasts without a refresh, in seconds. */
  readonly idle: number
  /** Beside code and state. */
  readonly callback?: (issuer: string) => object
  readonly settings: Form
}

const ACCESS = `api://${API}/access`
const STANDARD = ['openid', 'email', 'profile', 'offline_access']
const listed = (scope = ''): readonly string[] => scope.split(' ').filter(Boolean)
const unknown = (scope: string | undefined, known: readonly string[]): string | undefined =>
  listed(scope).find((name) => !known.includes(name))

/** As their documents say; each refuses what the real one refuses. */
const KINDS = {
  /** learn.microsoft.com/entra/identity-platform/v2-oauth2-auth-code-flow and reference-error-codes. */
  entra: {
    path: '/9122040d-6c67-4c5b-b112-36a304b66dad/v2.0',
    lifetime: 3600,
    idle: 90 * 86_400,
    rotates: false,
    document: () => ({
      token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt', 'client_secret_basic'],
      scopes_supported: STANDARD,
      tenant_region_scope: 'EU'
    }),
    refuses ({ grant_type: grant, ...form }) {
      if ('resource' in form) {
        return [
          'invalid_target',
          'AADSTS9010010: The resource parameter provided in the request does not match with the requested scopes.'
        ]
      }
      if (grant !== 'authorization_code' && !listed(form['scope']).includes(ACCESS)) {
        return [
          'invalid_request',
          `AADSTS90009: Application '${CLIENT.id}'(shop) is requesting a token for itself. This scenario is ` +
          'supported only if resource is specified using the GUID based App Identifier.'
        ]
      }
      if (unknown(form['scope'], [...STANDARD, ACCESS]) !== undefined) {
        return ['invalid_scope', "AADSTS70011: The provided value for the input parameter 'scope' is not valid."]
      }
      return undefined
    },
    claims: () => ({
      aud: API,
      azp: CLIENT.id,
      azpacr: '1',
      oid: PERSON,
      sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
      preferred_username: 'ada@example.com',
      scp: 'access',
      tid: '9122040d-6c67-4c5b-b112-36a304b66dad',
      ver: '2.0'
    }),
    refreshes: (scope) => scope.includes('offline_access'),
    settings: { IDP_PROVIDER: 'entra', IDP_AUDIENCE: API }
  },
  /**
   * developer.okta.com/docs/guides/refresh-tokens (rotation, without the time of grace) and reference/api/oidc, a
   * custom authorization server.
   */
  okta: {
    path: '/oauth2/default',
    lifetime: 3600,
    idle: 7 * 86_400,
    rotates: true,
    document: (issuer) => ({
      code_challenge_methods_supported: ['S256'],
      revocation_endpoint: `${issuer}/revoke`,
      introspection_endpoint: `${issuer}/introspect`,
      scopes_supported: STANDARD
    }),
    refuses ({ scope, grant_type: grant }, session) {
      if (unknown(scope, STANDARD) !== undefined) {
        return ['invalid_scope', 'One or more scopes are not configured for the authorization server resource.']
      }
      if (grant === 'refresh_token' && session !== undefined && unknown(scope, session.scope) !== undefined) {
        return ['invalid_scope', 'The requested scope is invalid, unknown, or malformed.']
      }
      return undefined
    },
    claims: (scope) => ({
      ver: 1,
      jti: `AT.${randomBytes(8).toString('hex')}`,
      aud: 'api://default',
      cid: CLIENT.id,
      uid: '00uixa271s6x7qt8I0h7',
      scp: scope,
      sub: 'ada@example.com'
    }),
    refreshes: (scope) => scope.includes('offline_access'),
    settings: { IDP_PROVIDER: 'okta', IDP_AUDIENCE: 'api://default' }
  },
  /**
   * keycloak.org: "Server Administration Guide", timeouts of sessions and tokens; "Securing applications", OIDC
   * endpoints.
   */
  keycloak: {
    path: '/realms/shop',
    lifetime: 300,
    idle: 1800,
    rotates: false,
    document: (issuer) => ({
      code_challenge_methods_supported: ['plain', 'S256'],
      revocation_endpoint: `${issuer}/revoke`,
      introspection_endpoint: `${issuer}/introspect`,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: [
        'private_key_jwt',
        'client_secret_basic',
        'client_secret_post',
        'tls_client_auth',
        'client_secret_jwt'
      ]
    }),
    refuses ({ scope, grant_type: grant }, session) {
      if (unknown(scope, [...STANDARD, 'roles']) !== undefined) return ['invalid_scope', `Invalid scopes: ${scope}`]
      if (grant === 'refresh_token' && session !== undefined && unknown(scope, session.scope) !== undefined) {
        return ['invalid_scope', `Invalid scopes: ${scope}`]
      }
      return undefined
    },
    claims: (scope) => ({
      aud: ['shop-api', 'account'],
      typ: 'Bearer',
      azp: CLIENT.id,
      sub: 'b1e2',
      sid: 's',
      acr: '1',
      scope: scope.join(' '),
      preferred_username: 'ada',
      realm_access: { roles: ['default-roles-shop'] }
    }),
    refreshes: () => true,
    callback: (issuer) => ({ iss: issuer, session_state: 's' }),
    settings: { IDP_PROVIDER: 'keycloak', IDP_AUDIENCE: 'shop-api' }
  }
} as const satisfies Readonly<Record<string, Kind>>

export type ProviderKind = keyof typeof KINDS
export const PROVIDER_KINDS = Object.keys(KINDS) as readonly ProviderKind[]

/** A running provider. */
export interface StrictProvider {
  readonly issuer: string
  /** Of the shop, in front of it. */
  readonly settings: Form
  /** What `users.subject` is. */
  readonly subject: string
  /** The requests to the token endpoint: the form, without secrets, and the error, if there was one. */
  readonly requests: Array<{ readonly form: Form, readonly error?: string }>
  /** Refresh tokens that it was told to revoke. */
  readonly revoked: string[]
  /** Answers revocations with this status. */
  revocationStatus: number
  /** The life of access tokens, in seconds. */
  lifetime: number
  close(): Promise<void>
}

/** @param callback - the one that is registered for its only client, which has a secret */
export async function strictProvider (name: ProviderKind, callback: string): Promise<StrictProvider> {
  const kind: Kind = KINDS[name]
  const { privateKey, jwk } = signingKey('k')
  const [codes, tokens] = [
    new Map<string, Session>(),
    new Map<string, { readonly session: Session, readonly number: number }>()
  ]
  const now = (): number => Math.floor(Date.now() / 1000)

  function accepts (form: Form): string | undefined {
    if (form['client_id'] !== CLIENT.id || form['redirect_uri'] !== callback) return 'redirect_uri_mismatch'
    return form['response_type'] === 'code' && form['code_challenge_method'] === 'S256' &&
        /^[\w-]{43}$/.test(form['code_challenge'] ?? '')
      ? undefined
      : 'invalid_request'
  }

  function granted (session: Session, number: number): object {
    const refreshToken = `${name}-${randomBytes(16).toString('base64url')}`
    tokens.set(refreshToken, { session, number })
    session.used = now()
    const signed = (claims: object, lifetime: number): string =>
      sign(privateKey, { alg: 'RS256', kid: 'k', typ: 'JWT' }, {
        iss: provider.issuer,
        iat: now(),
        exp: now() + lifetime,
        ...claims
      })
    return {
      access_token: signed(kind.claims(session.scope), provider.lifetime),
      token_type: 'Bearer',
      expires_in: provider.lifetime,
      scope: session.scope.join(' '),
      ...kind.refreshes(session.scope) && { refresh_token: refreshToken },
      ...session.scope.includes('openid') && { id_token: signed({ sub: PERSON, aud: CLIENT.id }, 3600) }
    }
  }

  /** @returns the tokens, or an error and its description */
  function exchanged (form: Form): object | readonly [string, string] {
    if (form['grant_type'] === 'authorization_code') {
      const session = codes.get(form['code'] ?? '')
      codes.delete(form['code'] ?? '')
      const proves =
        createHash('sha256').update(form['code_verifier'] ?? '').digest('base64url') === session?.form['code_challenge']
      if (session === undefined || !proves || form['redirect_uri'] !== callback || now() - session.since > 60) {
        return ['invalid_grant', 'The code is not valid']
      }
      return kind.refuses(form, session) ?? granted(session, 1)
    }
    if (form['grant_type'] !== 'refresh_token') return ['unsupported_grant_type', form['grant_type'] ?? '']
    const { session, number } = tokens.get(form['refresh_token'] ?? '') ?? {}
    if (session === undefined || number === undefined || session.over || now() - session.used > kind.idle) {
      return ['invalid_grant', 'Session not active']
    }
    const refusal = kind.refuses(form, session)
    if (refusal !== undefined) return refusal
    if (kind.rotates) {
      const isRepeat = [...tokens.values()].some((other) => other.session === session && other.number > number)
      if (isRepeat) session.over = true
      if (isRepeat) return ['invalid_grant', 'The refresh token was used before: all tokens of its family are invalid']
    }
    return granted(session, number + 1)
  }

  function knows (authorization: string | undefined, form: Form): boolean {
    const [id, secret] = authorization === undefined
      ? [form['client_id'], form['client_secret']]
      : Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString().split(':').map((part) =>
        decodeURIComponent(part.replaceAll('+', ' '))
      )
    return id === CLIENT.id && secret === CLIENT.secret
  }

  const server = createServer((request, response) => {
    ;(async () => {
      const url = new URL(request.url ?? '', provider.issuer)
      const own = url.pathname.replace(kind.path, '')
      const json = (status: number, body: object): void => {
        response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(
          JSON.stringify(body)
        )
      }
      if (own === '/.well-known/openid-configuration') {
        const { issuer } = provider
        return json(200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          ...kind.document(issuer)
        })
      }
      if (own === '/keys') return json(200, { keys: [jwk] })
      if (own === '/authorize') {
        const form = Object.fromEntries(url.searchParams)
        const fault = accepts(form)
        if (fault !== undefined) return json(400, { error: fault })
        const refusal = kind.refuses(form, undefined)
        const code = randomBytes(16).toString('base64url')
        codes.set(code, { form, scope: listed(form['scope']), since: now(), used: now(), over: false })
        const back = new URL(callback)
        back.search = new URLSearchParams({
          ...refusal === undefined ? { code } : { error: refusal[0], error_description: refusal[1] },
          state: form['state'] ?? '',
          ...kind.callback?.(provider.issuer)
        }).toString()
        response.writeHead(302, { location: back.href }).end()
        return
      }
      const form = Object.fromEntries(new URLSearchParams(await text(request)))
      if (!knows(request.headers.authorization, form)) {
        return json(401, {
          error: 'invalid_client',
          error_description: name === 'entra' ? 'AADSTS7000215: Invalid client secret provided.' : 'Invalid client'
        })
      }
      if (own === '/revoke' && 'revocation_endpoint' in kind.document('')) {
        provider.revoked.push(form['token'] ?? '')
        const known = tokens.get(form['token'] ?? '')
        if (known !== undefined && provider.revocationStatus === 200) known.session.over = true
        return json(provider.revocationStatus, {})
      }
      if (own !== '/token') return json(404, {})
      const { client_secret: _secret, ...shown } = form
      const outcome = exchanged(form)
      const error = Array.isArray(outcome) ? { error: String(outcome[0]) } : {}
      provider.requests.push({ form: shown, ...error })
      json('error' in error ? 400 : 200, Array.isArray(outcome) ? { ...error, error_description: outcome[1] } : outcome)
    })().catch((error: unknown) => {
      response.writeHead(500).end(String(error))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${kind.path}`
  const provider: StrictProvider = {
    issuer,
    settings: {
      IDP_ISSUER: issuer,
      IDP_MCP_CLIENT_ID: CLIENT.id,
      IDP_MCP_CLIENT_SECRET: CLIENT.secret,
      ...kind.settings
    },
    subject: { entra: PERSON, okta: '00uixa271s6x7qt8I0h7', keycloak: 'b1e2' }[name],
    requests: [],
    revoked: [],
    revocationStatus: 200,
    lifetime: kind.lifetime,
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
  return provider
}
