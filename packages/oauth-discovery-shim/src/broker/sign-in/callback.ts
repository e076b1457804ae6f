import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerUrl, errorAnswer } from './authorize.ts'
import type { Broker } from '../broker.ts'
import { browserOf } from './browser.ts'
import type { ClientAuth } from '../../client-document/client.ts'
import { digest } from '../digest.ts'
import { sendOn } from './pages.ts'
import { parametersFrom, queryOf } from '../parameters.ts'
import { refusal } from '../refusal.ts'
import { LONGEST_DESCRIPTION } from '../tokens/provider-calls.ts'
import { elsewhere, type Transaction } from './start.ts'

/** In seconds. Clients exchange a code at once. */
export const CODE_LIFETIME = 60

/**
 * What a code of this server holds: the identity provider's code, and what proves whose it is. Only the provider can
 * turn it into tokens, and does so once.
 */
export interface Code {
  /** Of the code, and of the refresh tokens that descend from it. */
  readonly family: string
  readonly client: string
  readonly auth: ClientAuth
  /** Stands for the callback. */
  readonly redirectUri: string
  readonly challenge: string
  readonly scope: string
  readonly code: string
  readonly verifier: string
}

/** Errors of a sign-in that mean the same to the client (RFC 6749 §4.1.2.1, OpenID Connect Core §3.1.2.6). */
const PASSED_ON = new Set([
  'access_denied',
  'invalid_scope',
  'temporarily_unavailable',
  'login_required',
  'interaction_required',
  'consent_required'
])

/**
 * `GET`: the identity provider sends the browser back. Only the browser that began this sign-in has the cookie that its
 * state belongs to: a code that somebody else got, or was tricked into, ends here.
 *
 * @param issuerFrom - what the identity provider calls itself in answers; `undefined` if it does not
 * @see [RFC 9700 §4.5](https://www.rfc-editor.org/rfc/rfc9700#section-4.5) (code injection),
 *   [§4.7](https://www.rfc-editor.org/rfc/rfc9700#section-4.7) (cross-site requests)
 */
export function finishSignIn (
  { settings: { publicBaseUrl, issuer }, sealer, isSecure }: Broker,
  sendsIssuer: () => boolean
) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const parameters = parametersFrom(queryOf(request.url))
    const state = parameters.get('state')
    const browser = browserOf(request, reply, isSecure)
    const transaction = sealer.open<Transaction>('transaction', state)
    const isOwn = transaction !== undefined && browser.hasBegun('sign-in', transaction.browser)
    if (state === undefined || transaction === undefined || !isOwn) throw elsewhere(browser)
    browser.end('sign-in', transaction.browser)

    // A mix-up: the answer of another authorization server (RFC 9207 §2.4).
    const sender = parameters.get('iss')
    if (sender === undefined ? sendsIssuer() : sender !== issuer) {
      throw refusal('invalid_request', 'The response did not come from the identity provider of this server')
    }

    const error = parameters.get('error')
    const code = parameters.get('code')
    if (error !== undefined || code === undefined) {
      const description = parameters.get('error_description')?.slice(0, LONGEST_DESCRIPTION)
      request.log.info(
        { error: error?.slice(0, 100), ...description !== undefined && { description } },
        'the identity provider did not sign a person in'
      )
      const told = error !== undefined && PASSED_ON.has(error) ? error : 'server_error'
      return sendOn(
        reply,
        answerUrl(
          transaction,
          publicBaseUrl,
          errorAnswer(refusal(told, 'The identity provider did not sign the person in'))
        )
      )
    }
    const { client, auth, redirectUri, challenge, scope, verifier } = transaction
    // The same however often the browser comes here with its cookie: of one sign-in only one code works.
    const family = digest(state).slice(0, 22)
    const grant: Code = { family, client, auth, redirectUri: digest(redirectUri), challenge, scope, code, verifier }
    return sendOn(reply, answerUrl(transaction, publicBaseUrl, { code: sealer.seal('code', grant, CODE_LIFETIME) }))
  }
}
