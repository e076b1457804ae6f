import type { FastifyBaseLogger } from 'fastify'
import { textUpTo } from '../../http-response.ts'
import { objectFrom } from '../../json.ts'
import type { Provider } from '../../provider.ts'
import type { BrokerSettings } from '../options.ts'
import type { AtProvider } from '../grants/store.ts'
import { refusal } from '../refusal.ts'
import { authentication } from './provider-authentication.ts'

/** What the identity provider answered, as far as it is passed on. */
export interface ProviderTokens {
  readonly accessToken: string
  readonly refreshToken?: string
  /** Issued to this server, and not passed on. */
  readonly idToken?: string
  /** In seconds. */
  readonly expiresIn?: number
  readonly scope?: string
}

/** The identity provider as its client sees it: all requests are made as `clientId`. */
export interface ProviderCalls {
  /** The URL of its sign-in page. */
  authorizationUrl(parameters: Readonly<Record<string, string>>): string
  /** @throws a {@link refusal} with its error, or `temporarily_unavailable` */
  tokens(form: Readonly<Record<string, string>>): Promise<ProviderTokens>
  /**
   * Ends what a refresh token stands for. Never rejects: an identity provider that is down must not keep a client from
   * forgetting it.
   */
  revoke(refreshToken: string): Promise<AtProvider>
}

/** An answer to a request for tokens; the body is empty unless it is a JSON object. */
interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** In bytes. */
const LARGEST = 256 * 1024

/** In characters, in the log: Microsoft Entra ID puts its number of the error first. */
export const LONGEST_DESCRIPTION = 300

/** Errors that tell a client something it can act on (RFC 6749 §5.2). */
const PASSED_ON = new Set(['invalid_grant', 'invalid_scope', 'invalid_target', 'access_denied'])

/** Errors that no request of a client can cause, only the options. */
const OUR_FAULT = new Set(['invalid_client', 'unauthorized_client'])

export function providerCalls (
  provider: Provider,
  settings: BrokerSettings,
  log: FastifyBaseLogger
): ProviderCalls {
  const { clientId, timeout, upstream } = settings
  const authenticate = authentication(settings)
  const unavailable = () =>
    refusal('temporarily_unavailable', 'The identity provider cannot be reached. Try again in a moment', 503)

  function metadata () {
    const document = provider.metadata()
    if (document === undefined) throw unavailable()
    return document
  }

  async function post (url: string, form: Readonly<Record<string, string>>): Promise<Response> {
    const { headers, form: proof } = await authenticate(metadata())
    return await fetch(url, {
      method: 'POST',
      headers: { accept: 'application/json', ...headers },
      body: new URLSearchParams({ ...form, ...proof, client_id: clientId }),
      // it holds a code or token, which no other address may get
      redirect: 'error',
      signal: AbortSignal.timeout(timeout)
    })
  }

  async function answerTo (form: Readonly<Record<string, string>>, url: string): Promise<Answer> {
    try {
      const response = await post(url, form)
      return {
        status: response.status,
        body: objectFrom(
          await textUpTo(response.body, LARGEST, () => new Error(`its answer is larger than ${LARGEST} bytes`))
        )
      }
    } catch (err) {
      log.error({ err, url, timeout }, 'the identity provider did not answer a request for tokens')
      throw unavailable()
    }
  }

  return {
    authorizationUrl (parameters) {
      const url = new URL(metadata().authorization_endpoint)
      for (const [name, value] of Object.entries({ ...parameters, ...upstream.authorize, client_id: clientId })) {
        url.searchParams.set(name, value)
      }
      return url.href
    },

    async tokens (form) {
      const { token_endpoint: url } = metadata()
      const { status, body } = await answerTo({ ...upstream.token, ...form }, url)
      const { access_token: accessToken } = body
      if (status === 200 && typeof accessToken === 'string') return tokensFrom(accessToken, body)
      const error = typeof body['error'] === 'string' ? body['error'] : 'none'
      const description = typeof body['error_description'] === 'string'
        ? { description: body['error_description'].slice(0, LONGEST_DESCRIPTION) }
        : {}
      const isOurs = OUR_FAULT.has(error)
      log[status >= 500 || status === 200 || isOurs ? 'error' : 'info'](
        { status, error: error.slice(0, 100), ...description, url },
        isOurs
          ? 'the identity provider rejected this server, so nobody can sign in: check clientId, and clientSecret, ' +
            'clientAuth or clientKey of the broker'
          : 'the identity provider refused a request for tokens'
      )
      if (status >= 500 || status === 429) throw unavailable()
      throw PASSED_ON.has(error)
        ? refusal(error, `The identity provider rejected the request: ${error}`)
        : refusal('server_error', 'The identity provider rejected this server', 502)
    },

    async revoke (token) {
      const url = provider.metadata()?.['revocation_endpoint']
      if (typeof url !== 'string') return 'not_told'
      try {
        const response = await post(url, { token, token_type_hint: 'refresh_token' })
        await response.body?.cancel()
        if (response.ok) return 'revoked'
        log.warn({ status: response.status, url }, 'the identity provider did not revoke a refresh token')
      } catch (err) {
        log.warn({ err, url }, 'the identity provider did not revoke a refresh token')
      }
      return 'failed'
    }
  }
}

function tokensFrom (
  accessToken: string,
  { refresh_token: refreshToken, id_token: idToken, expires_in: seconds, scope }: Readonly<Record<string, unknown>>
): ProviderTokens {
  return {
    accessToken,
    ...typeof refreshToken === 'string' && { refreshToken },
    ...typeof idToken === 'string' && { idToken },
    // some providers send a number as text
    ...['number', 'string'].includes(typeof seconds) && seconds !== '' && Number.isFinite(Number(seconds)) &&
      { expiresIn: Number(seconds) },
    ...typeof scope === 'string' && scope.trim() !== '' && { scope: scope.trim() }
  }
}
