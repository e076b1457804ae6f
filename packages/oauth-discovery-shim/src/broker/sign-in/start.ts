import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { answerUrl, errorAnswer, recipientFrom, signInRequestFrom, type Recipient, type SignInRequest } from './authorize.ts'
import type { Broker } from '../broker.ts'
import { browserOf, unguessable, type Browser } from './browser.ts'
import { digest } from '../clients/client.ts'
import { forgotten, remembers, rememberedWith } from './consent-memory.ts'
import { consentHeading, consentPage, consentTitle } from './consent.ts'
import { sendOn, sendPage, sendProblemPage } from './pages.ts'
import { formOf, parametersFrom, queryOf, required } from '../parameters.ts'
import { isRefusal, refusal, type Refusal } from '../refusal.ts'

/** In seconds: how long somebody may read the consent page, and then take to sign in. */
const TO_DECIDE = 600
const TO_SIGN_IN = 900

/**
 * How much a browser keeps of sign-ins that it has begun, in characters of cookies, and of questions that it was asked. With
 * more, servers reject its requests; the oldest go.
 */
const MOST_BEGUN = 8000
const MOST_ASKED = 600

/** What the consent page's form holds: the request, and which browser was asked. */
interface PendingConsent extends SignInRequest {
  readonly browser: string
  /** Whether no other site started this, so that the answer may be remembered. */
  readonly isOwnStart: boolean
  /** Whether the client gets a redirect if the person does not agree. */
  readonly isTold: boolean
}

/** What a browser keeps while its person is at the identity provider. */
export interface Transaction extends SignInRequest {
  /** Proves at the identity provider that the code was meant for this server (RFC 7636). */
  readonly verifier: string
}

/** `GET`: asks the person, or sends on a browser that remembers the answer. */
export function startSignIn (broker: Broker) {
  const { settings: { publicBaseUrl, resourceName, broker: { rememberConsent } }, clients, sealer, target, isSecure } = broker

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
    if (signIn.remember !== undefined && rememberConsent > 0 && !mustAsk && isOwnStart(request) && remembers(sealer, browser, signIn.remember)) {
      return goToProvider(broker, browser, reply, signIn)
    }
    const id = unguessable()
    makeRoom(browser, 'asked-', MOST_ASKED - id.length)
    // A cookie for each question: two that are asked at the same time in a new browser must not replace each other's.
    browser.set(askedCookie(digest(id)), id, TO_DECIDE)
    const pending: PendingConsent = { ...signIn, browser: digest(id), isOwnStart: isOwnStart(request), isTold: isToldByRedirect(recipient) }
    const consent = {
      ...recipient,
      scope: signIn.scope,
      resource: resourceName ?? new URL(publicBaseUrl).host,
      action: '/oauth/authorize',
      sealed: sealer.seal('request', pending, TO_DECIDE)
    }
    return sendPage(reply, 200, consentTitle(consent), consentPage(consent), consentHeading(consent))
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
 * Whether errors redirect to the client: only to programs on this machine and to listed clients. For others it would be an
 * open redirect, and would send people to the site that they have just refused (RFC 9700 §4.11.2).
 */
function isToldByRedirect ({ client, kind }: Recipient): boolean {
  return kind === 'loopback' || client.source === 'list'
}

/** `POST`: what the person decided. */
export function decideSignIn (broker: Broker) {
  const { settings: { publicBaseUrl, broker: { rememberConsent } }, sealer, isSecure } = broker

  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const form = formOf(request)
    const browser = browserOf(request, reply, isSecure)
    const pending = sealer.open<PendingConsent>('request', form.get('request'))
    // Another site's form comes without the cookie, and one with somebody else's request does not fit it (RFC 9700 §4.7).
    const isOwnForm = ['same-origin', undefined].includes(request.headers['sec-fetch-site'] as string | undefined)
    const id = pending && browser.get(askedCookie(pending.browser))
    if (pending === undefined || !isOwnForm || id === undefined || digest(id) !== pending.browser) throw elsewhere(browser)

    const { browser: _browser, isOwnStart: isOwn, isTold, ...signIn } = pending
    if (form.get('decision') !== 'allow') {
      request.log.info({ client: signIn.client }, 'a person did not let a client sign in')
      // Who allowed it before changed their mind.
      if (signIn.remember !== undefined && remembers(sealer, browser, signIn.remember)) browser.set('consent', forgotten(sealer, browser, signIn.remember), Math.ceil(rememberConsent / 1000))
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
      browser.set('consent', rememberedWith(sealer, browser, signIn.remember, rememberConsent), Math.ceil(rememberConsent / 1000))
    }
    return goToProvider(broker, browser, reply, signIn)
  }
}

/** Leaves the request with the browser, under a state that nobody else knows, and sends it to the identity provider. */
function goToProvider ({ provider, sealer, callback, target, settings: { broker: { sendResource } } }: Broker, browser: Browser, reply: FastifyReply, signIn: SignInRequest): FastifyReply {
  const state = unguessable()
  const verifier = unguessable()
  const url = provider.authorizationUrl({
    response_type: 'code',
    redirect_uri: callback,
    scope: signIn.scope,
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...signIn.hints,
    ...sendResource && { resource: target.resource }
  })
  const transaction: Transaction = { ...signIn, verifier }
  const sealed = sealer.seal('transaction', transaction, TO_SIGN_IN)
  makeRoom(browser, 'sign-in-', MOST_BEGUN - sealed.length)
  browser.set(`sign-in-${state}`, sealed, TO_SIGN_IN)
  return sendOn(reply, url)
}

/** The name of the cookie that shows that a browser was asked. */
const askedCookie = (id: string): string => `asked-${id.slice(0, 22)}`

/** Removes the oldest cookies of a kind until the others are no longer than this. */
function makeRoom (browser: Browser, kind: string, most: number): void {
  const cookies = browser.startingWith(kind)
  let total = cookies.reduce((sum, [, length]) => sum + length, 0)
  for (const [name, length] of cookies) {
    if (total <= most) return
    browser.remove(name)
    total -= length
  }
}

/**
 * Whether no other site started this: a browser that was sent here by a site could belong to somebody who wanted to sign
 * in elsewhere, so that person is asked. Browsers that do not say so ask as well.
 *
 * A link in a mail counts as no site. So what somebody answered when a site sent them is not remembered either: clients
 * that are sites always start like that, and a link finds nothing of theirs.
 */
function isOwnStart ({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'none' || headers['sec-fetch-site'] === 'same-origin'
}

/** What came back does not belong to this browser, or not any more. */
export function elsewhere (browser: Browser): Refusal {
  const hasOthers = ['asked-', 'sign-in-'].some((kind) => browser.startingWith(kind).length > 0)
  return refusal('invalid_request', hasOthers
    ? 'This sign-in was started in another browser, took too long, or was replaced by later ones in this browser'
    : 'This sign-in was started in another browser, or it took too long')
}
