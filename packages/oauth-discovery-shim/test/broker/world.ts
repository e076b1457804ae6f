import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify'
import { createHash, randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import oauthBroker, { type BrokerOptions } from '../../src/broker/index.ts'
import type { OAuthDiscoveryShimOptions } from '../../src/index.ts'
import { serve, userPool } from '../build.ts'

export const base = 'https://shop.example.com'
export const secrets = [{ id: '2026-01', secret: 'a secret of the tests, long enough' }]
export const loopback = 'http://127.0.0.1:33418/callback'

/** A request to the identity provider's token or revocation endpoint. */
export interface Call {
  readonly path: string
  readonly form: Readonly<Record<string, string>>
  readonly authorization: string | undefined
}

/** An identity provider whose person is always signed in, and what the broker asked of it. */
export interface Idp {
  readonly issuer: string
  readonly calls: Call[]
  /** Answers instead of it. */
  answer: (call: Call) => { readonly status: number, readonly body: object | null } | undefined
  /** Holds an answer back. */
  wait: (call: Call) => Promise<void>
  /** Whether a refresh token works once. */
  rotates: boolean
  /** The next access token. */
  accessToken: () => string
  /** Signs somebody in: the URL that the browser is sent back to. */
  signIn(authorizationUrl: string, more?: Readonly<Record<string, string>>): URL
}

export async function fakeIdp (t: Test, document: Readonly<Record<string, unknown>> = {}): Promise<Idp> {
  const codes = new Map<string, URLSearchParams>()
  const refreshTokens = new Set<string>()
  const idp: Omit<Idp, 'issuer'> & { issuer: string } = {
    issuer: '',
    calls: [],
    answer: () => undefined,
    wait: async () => {},
    rotates: false,
    accessToken: () => `idp-access-${randomBytes(4).toString('hex')}`,
    signIn (authorizationUrl, more = {}) {
      const wanted = new URL(authorizationUrl).searchParams
      const code = `idp-code-${randomBytes(8).toString('hex')}`
      codes.set(code, wanted)
      const callback = new URL(wanted.get('redirect_uri')!)
      callback.search = new URLSearchParams({ code, state: wanted.get('state')!, ...more }).toString()
      return callback
    }
  }
  function tokens (form: Readonly<Record<string, string>>): { status: number, body: object } {
    const invalid = { status: 400, body: { error: 'invalid_grant' } }
    if (form['grant_type'] === 'authorization_code') {
      const wanted = codes.get(form['code']!)
      codes.delete(form['code']!)
      const proves =
        createHash('sha256').update(form['code_verifier'] ?? '').digest('base64url') === wanted?.get('code_challenge')
      if (!proves || form['redirect_uri'] !== wanted?.get('redirect_uri')) return invalid
    } else if (!refreshTokens.has(form['refresh_token']!)) return invalid
    if (form['grant_type'] === 'refresh_token' && !idp.rotates) {
      return { status: 200, body: { access_token: idp.accessToken(), token_type: 'Bearer', expires_in: 3600 } }
    }
    refreshTokens.delete(form['refresh_token']!)
    const refreshToken = `idp-refresh-${randomBytes(4).toString('hex')}`
    refreshTokens.add(refreshToken)
    return {
      status: 200,
      body: {
        access_token: idp.accessToken(),
        refresh_token: refreshToken,
        id_token: 'idp-id-token',
        token_type: 'Bearer',
        expires_in: 3600
      }
    }
  }
  const origin = await serve(t, async (request, response) => {
    response.setHeader('content-type', 'application/json')
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = request.url ?? ''
    if (request.method === 'GET') {
      const own = {
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`
      }
      response.end(JSON.stringify({ ...userPool(idp.issuer), ...own, ...document }))
      return
    }
    const call: Call = {
      path,
      form: Object.fromEntries(new URLSearchParams(text)),
      authorization: request.headers.authorization
    }
    idp.calls.push(call)
    const { status, body } = idp.answer(call) ?? (path === '/token' ? tokens(call.form) : { status: 200, body: {} })
    await idp.wait(call)
    if (path === '/revoke') refreshTokens.delete(call.form['token']!)
    response.writeHead(status).end(JSON.stringify(body))
  })
  idp.issuer = `${origin}/pool`
  return idp
}

export interface World {
  readonly app: FastifyInstance
  readonly idp: Idp
}

export type WorldOptions = Partial<OAuthDiscoveryShimOptions> & {
  broker?: Partial<BrokerOptions>,
  idp?: Idp,
  server?: FastifyServerOptions,
  onRequest?: (request: FastifyRequest) => void
}

/** A server with the broker, in front of an identity provider; closed when the test ends. */
export async function brokerWorld (
  t: Test,
  { broker = {}, idp, server = {}, onRequest, ...options }: WorldOptions = {}
): Promise<World> {
  const provider = idp ?? await fakeIdp(t)
  const app = Fastify(server)
  t.teardown(() => app.close())
  if (onRequest) {
    app.addHook('onRequest', async (request) => {
      onRequest(request)
    })
  }
  await app.register(oauthBroker, {
    publicBaseUrl: base,
    issuer: provider.issuer,
    clientId: 'broker-client',
    resourceName: 'Shop',
    ...options,
    secrets,
    ...broker
  })
  await app.ready()
  return { app, idp: provider }
}

type Response = Awaited<ReturnType<FastifyInstance['inject']>>

/** Somebody's browser: it keeps cookies, and follows no redirect by itself. */
export interface Browser {
  readonly cookies: Map<string, string>
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>
  post(
    url: string,
    form: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>
  ): Promise<Response>
}

export function browser (app: FastifyInstance): Browser {
  const cookies = new Map<string, string>()
  async function send (
    method: 'GET' | 'POST',
    url: string,
    headers: Readonly<Record<string, string>>,
    form?: Readonly<Record<string, string>>
  ): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await app.inject({
      method,
      url: url.replace(base, ''),
      headers: {
        ...cookie !== '' && { cookie },
        ...form && { 'content-type': 'application/x-www-form-urlencoded' },
        ...headers
      },
      ...form && { payload: new URLSearchParams(form).toString() }
    })
    for (const { name, value, maxAge } of response.cookies) {
      if (maxAge === 0) cookies.delete(name)
      else cookies.set(name, value)
    }
    return response
  }
  return {
    cookies,
    get: (url, headers = {}) => send('GET', url, headers),
    post: (url, form, headers = {}) => send('POST', url, headers, form)
  }
}

/** A secret of a client and its hash (RFC 7636). */
export function pkce (): { readonly verifier: string, readonly challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** @returns the client id */
export async function register (
  app: FastifyInstance,
  redirectUris: readonly string[] = [loopback],
  name = 'An agent'
): Promise<string> {
  const response = await app.inject({
    method: 'POST',
    url: '/oauth/clients',
    payload: { client_name: name, redirect_uris: redirectUris }
  })
  return response.json().client_id
}

/** The URL that a client opens in a browser; `undefined` leaves a parameter out. */
export function authorizeUrl (
  clientId: string,
  challenge: string,
  more: Readonly<Record<string, string | undefined>> = {}
): string {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: loopback,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'the state of the client',
    scope: 'openid email profile',
    resource: `${base}/mcp`,
    ...more
  }
  return `/oauth/authorize?${
    new URLSearchParams(Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined))
      .toString()
  }`
}

/** The sealed request in a consent page. */
export function sealedIn (page: string): string {
  return /name="request" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

/** Where a browser goes from here by itself: by a redirect, or by a page if the URL is too long for a header. */
export function nextOf ({ headers, body }: Pick<Response, 'headers' | 'body'>): string {
  const [, url] = /<meta http-equiv="refresh" content="0;url=([^"]*)">/.exec(body) ?? []
  return String(headers.location ?? url?.replaceAll('&amp;', '&').replaceAll('&#39;', "'"))
}

/** Allows what the page asks. @returns the identity provider's URL, where the browser is sent */
export async function allow (
  person: Browser,
  url: string,
  more: Readonly<Record<string, string>> = {}
): Promise<string> {
  const { body } = await person.get(url, more)
  return nextOf(await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' }))
}

/** A person signs in with a client. @returns where the browser ends */
export async function signIn ({ app, idp }: World, url: string, person = browser(app)): Promise<URL> {
  return new URL(nextOf(await person.get(idp.signIn(await allow(person, url)).href)))
}

/** A request for tokens. */
export async function token (
  { app }: Pick<World, 'app'>,
  form: Readonly<Record<string, string | undefined>>,
  url = '/oauth/token'
): Promise<Response> {
  return await app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(
      Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined)
    ).toString()
  })
}

/** What the exchange of a code takes. */
export interface Grant {
  readonly grant_type: 'authorization_code'
  readonly client_id: string
  readonly code: string
  readonly code_verifier: string
  readonly redirect_uri: string
}

/** A client that has a code. */
export async function grantOf (world: World, clientId?: string, redirectUri = loopback): Promise<Grant> {
  const id = clientId ?? await register(world.app)
  const { verifier, challenge } = pkce()
  const landed = await signIn(world, authorizeUrl(id, challenge, { redirect_uri: redirectUri }))
  return {
    grant_type: 'authorization_code',
    client_id: id,
    code: landed.searchParams.get('code') ?? '',
    code_verifier: verifier,
    redirect_uri: redirectUri
  }
}

/** A client that signed in. */
export async function signedIn (
  world: World,
  clientId?: string
): Promise<{ readonly clientId: string, readonly accessToken: string, readonly refreshToken: string }> {
  const grant = await grantOf(world, clientId)
  const tokens = (await token(world, { ...grant })).json()
  return { clientId: grant.client_id, accessToken: tokens.access_token, refreshToken: tokens.refresh_token }
}

/** Stops the clock at a whole second. @returns sets it to so many milliseconds after that */
export function clock (t: Test): (milliseconds: number) => void {
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const start = Math.ceil(now() / 1000) * 1000
  const at = (milliseconds: number): void => {
    Date.now = () => start + milliseconds
  }
  at(0)
  return at
}
