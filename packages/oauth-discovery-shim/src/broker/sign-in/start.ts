import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  answerUrl,
  errorAnswer,
  recipientFrom,
  signInRequestFrom,
  type Recipient,
  type SignInRequest
} from './authorize.ts'
import type { Broker } from '../broker.ts'
import { browserOf, unguessable, type Browser } from './browser.ts'
import { forgotten, remembers, rememberedWith } from './consent-memory.ts'
import { consentHeading, consentPage, consentTitle } from './consent.ts'
import { sendOn, sendPage, sendProblemPage } from './pages.ts'
import { formOf, parametersFrom, queryOf, required } from '../parameters.ts'
import { isRefusal, refusal, type Refusal } from '../refusal.ts'

/** In seconds: how long somebody may read the consent page, and then take to sign in. */
const TO_DECIDE = 600
const TO_SIGN_IN = 900

/** What the consent page's form holds: the request, and which browser was asked. */
interface PendingConsent extends SignInRequest {
  /** The mark of its cookie. */
  readonly browser: string
  /** Whether no other site started this, so that the answer may be remembered. */
  readonly isOwnStart: boolean
  /** Whether the client gets a redirect if the person does not agree. */
  readonly isTold: boolean
}

/**
 * What is needed when the identity provider sends the browser back. It travels as the `state`, sealed: in cookies, a
 * few sign-ins at once would be more than proxies accept.
 */
export interface Transaction extends Omit<SignInRequest, 'hints' | 'remember'> {
  /** Whose sign-in it is: the mark of the browser's cookie. */
  readonly browser: string
  /** Proves at the identity provider that the code was meant for this server (RFC 7636). */
  readonly verifier: string
}

/** `GET`: asks the person, or sends on a browser that remembers the answer. */
export function startSignIn (broker: Broker) {
  const { settings: { publicBaseUrl, resourceName, rememberConsent }, clients, sealer, target, isSecure } = broker

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const parameters = parametersFrom(queryOf(request.url))
    const client = await clients.find(required(parameters, 'client_id'))
    const recipient = recipientFrom(parameters, client, target)
    let signIn: SignInRequest
    try {
      signIn = signInRequestFrom(parameters, recipient, target)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return tellClient(reply, recipient, error)
    }

    const browser = browserOf(request, reply, isSecure)
    const mustAsk = parameters.get('prompt')?.split(' ').includes('consent') === true
    if (
      signIn.remember !== undefined && rememberConsent > 0 && !mustAsk && isOwnStart(request) &&
      remembers(sealer, browser, signIn.remember)
    ) {
      return goToProvider(broker, browser, reply, signIn)
    }
    const pending: PendingConsent = {
      ...signIn,
      browser: browser.begin('asked', TO_DECIDE),
      isOwnStart: isOwnStart(request),
      isTold: isToldByRedirect(recipient)
    }
    const consent = {
      ...recipient,
      scope: signIn.scope,
      resource: resourceName ?? new URL(publicBaseUrl).host,
      action: '/oauth/authorize',
      sealed: sealer.seal('request', pending, TO_DECIDE)
    }
    return sendPage(reply, 200, consentTitle(consent), consentPage(consent), { heading: consentHeading(consent) })
  }

  function tellClient (reply: FastifyReply, recipient: Recipient, error: Refusal): FastifyReply {
    const { client, kind, redirectUri, state } = recipient
    const url = answerUrl({ redirectUri, state }, publicBaseUrl, errorAnswer(error))
    if (isToldByRedirect(recipient)) return sendOn(reply, url)
    return sendProblemPage(reply, {
      statusCode: 400,
      title: 'This app cannot sign in here',
      reason: `This server does not accept the request of the app: ${error.message}`,
      advice: 'Nothing was sent to it. Update the app, or tell its maker',
      code: error.oauth,
      back: { url, place: kind === 'https' ? new URL(redirectUri).host : client.name }
    })
  }
}

/**
 * Whether errors redirect to the client: only to programs on this machine and to listed clients. For others it would be
 * an open redirect, and would send people to the site that they have just refused (RFC 9700 §4.11.2).
 */
function isToldByRedirect ({ client, kind }: Recipient): boolean {
  return kind === 'loopback' || client.source === 'list'
}

/** `POST`: what the person decided. */
export function decideSignIn (broker: Broker) {
  const { settings: { publicBaseUrl, rememberConsent }, sealer, isSecure } = broker
  const toRemember = Math.ceil(rememberConsent / 1000)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const form = formOf(request)
    const browser = browserOf(request, reply, isSecure)
    const pending = sealer.open<PendingConsent>('request', form.get('request'))
    // Another site's form comes without the cookie, and one with somebody else's request does not fit it (RFC 9700
    // §4.7).
    const isOwnForm = ['same-origin', undefined].includes(request.headers['sec-fetch-site'] as string | undefined)
    if (pending === undefined || !isOwnForm || !browser.hasBegun('asked', pending.browser)) throw elsewhere(browser)

    const { browser: _browser, isOwnStart: isOwn, isTold, ...signIn } = pending
    if (form.get('decision') !== 'allow') {
      request.log.info({ client: signIn.client }, 'a person did not let a client sign in')
      // Who allowed it before changed their mind.
      if (signIn.remember !== undefined && remembers(sealer, browser, signIn.remember)) {
        browser.keepConsent(forgotten(sealer, browser, signIn.remember), toRemember)
      }
      const denied = refusal('access_denied', 'The person did not agree')
      const url = answerUrl(signIn, publicBaseUrl, errorAnswer(denied))
      if (isTold) return sendOn(reply, url)
      const { protocol, host } = new URL(signIn.redirectUri)
      return sendProblemPage(reply, {
        statusCode: 200,
        title: 'You did not allow it',
        reason: 'The app cannot act in your name and received nothing',
        advice: 'You can close this page',
        code: denied.oauth,
        back: { url, place: protocol === 'https:' ? host : 'the app' }
      })
    }
    if (signIn.remember !== undefined && isOwn && rememberConsent > 0) {
      browser.keepConsent(rememberedWith(sealer, browser, signIn.remember, rememberConsent), toRemember)
    }
    return goToProvider(broker, browser, reply, signIn)
  }
}

/** Sends the browser to the identity provider, with a value that only it has and a state that belongs to that value. */
function goToProvider (
  { provider, sealer, callback, target, settings: { sendResource } }: Broker,
  browser: Browser,
  reply: FastifyReply,
  signIn: SignInRequest
): FastifyReply {
  const { hints, remember: _remember, ...kept } = signIn
  const verifier = unguessable()
  const transaction: Transaction = { ...kept, browser: browser.begin('sign-in', TO_SIGN_IN), verifier }
  return sendOn(
    reply,
    provider.authorizationUrl({
      response_type: 'code',
      redirect_uri: callback,
      scope: signIn.scope,
      state: sealer.seal('transaction', transaction, TO_SIGN_IN),
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...hints,
      ...sendResource && { resource: target.resource }
    })
  )
}

/**
 * Whether no other site started this: a browser that was sent here by a site could belong to somebody who wanted to
 * sign in elsewhere, so that person is asked. Browsers that do not say so ask as well.
 *
 * A link in a mail counts as no site. So what somebody answered when a site sent them is not remembered either: clients
 * that are sites always start like that, and a link finds nothing of theirs.
 */
function isOwnStart ({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'none' || headers['sec-fetch-site'] === 'same-origin'
}

/** What came back does not belong to this browser, or not any more. */
export function elsewhere (browser: Browser): Refusal {
  return refusal(
    'invalid_request',
    browser.isBusy()
      ? 'This sign-in was started in another browser, took too long, or was replaced by later ones in this browser'
      : 'This sign-in was started in another browser, or it took too long'
  )
}
