import { createHash, generateKeyPairSync, verify } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t from 'tap'
import shim from '../../src/index.ts'
import {
  allow,
  authorizeUrl,
  base,
  brokerWorld,
  browser,
  fakeIdp,
  grantOf,
  loopback,
  pkce,
  register,
  sealedIn,
  secrets,
  signedIn,
  signIn,
  token
} from './world.ts'

t.test('from a registration to tokens and their refresh: every step in order', async (t) => {
  const world = await brokerWorld(t)
  const { app, idp } = world
  const { verifier, challenge } = pkce()

  const registered = await app.inject({
    method: 'POST',
    url: '/oauth/clients',
    payload: { client_name: 'An agent', redirect_uris: [loopback], token_endpoint_auth_method: 'client_secret_post' }
  })
  t.equal(registered.statusCode, 201)
  const { client_id: clientId, client_id_issued_at: issuedAt, ...registration } = registered.json()
  t.ok(Number.isInteger(issuedAt) && Math.abs(issuedAt - Date.now() / 1000) < 60, 'in seconds')
  t.match(registered.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
  t.strictSame(registration, {
    client_name: 'An agent',
    redirect_uris: [loopback],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    scope: 'openid email profile'
  })

  const person = browser(app)
  const page = await person.get(authorizeUrl(clientId, challenge))
  t.equal(page.statusCode, 200)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer'
  })
  t.match(page.body, /Let An agent use Shop in your name\?/)
  const [asked = ''] = person.cookies.keys()
  t.match(asked, /^__Host-oauth-asked-[\w-]{22}$/)

  const decided = await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'allow' })
  t.equal(decided.statusCode, 303)
  const upstream = new URL(String(decided.headers.location))
  const { state: _state, code_challenge: ownChallenge, ...parameters } = Object.fromEntries(upstream.searchParams)
  t.strictSame(parameters, {
    response_type: 'code',
    redirect_uri: `${base}/oauth/callback`,
    scope: 'openid email profile',
    code_challenge_method: 'S256',
    resource: `${base}/mcp`,
    client_id: 'broker-client'
  })
  t.not(ownChallenge, challenge, 'PKCE on this leg has a verifier of its own')
  const [, begun = ''] = person.cookies.keys()
  t.match(begun, /^__Host-oauth-sign-in-[\w-]{22}$/)
  for (const value of person.cookies.values()) {
    t.match(value, /^[\w-]{43}$/, 'it holds only a value that nobody can guess')
  }
  for (const { httpOnly, secure, path, sameSite } of decided.cookies) {
    t.strictSame([httpOnly, secure, path, sameSite], [true, true, '/', 'Lax'])
  }

  const returned = idp.signIn(upstream.href)
  const landed = await person.get(returned.href)
  t.equal(landed.statusCode, 303)
  const { code, ...answer } = Object.fromEntries(new URL(String(landed.headers.location)).searchParams)
  t.equal(String(landed.headers.location).split('?')[0], loopback)
  t.strictSame(answer, { state: 'the state of the client', iss: `${base}/oauth` })
  t.strictSame([...person.cookies.keys()], [asked], 'the sign-in is over')

  const exchanged = await token(world, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier,
    redirect_uri: loopback,
    resource: `${base}/mcp`
  })
  t.equal(exchanged.statusCode, 200, exchanged.body)
  t.match(exchanged.headers, { 'cache-control': 'no-store', pragma: 'no-cache', 'access-control-allow-origin': '*' })
  const { access_token: accessToken, refresh_token: refreshToken, ...rest } = exchanged.json()
  t.strictSame(
    rest,
    { token_type: 'Bearer', expires_in: 3600, scope: 'openid email profile' },
    'the ID token, which is for this server, is not passed on'
  )
  t.match(accessToken, /^idp-access-/)
  t.notMatch(refreshToken, /idp-refresh/)
  t.match(idp.calls[0], {
    path: '/token',
    authorization: undefined,
    form: {
      grant_type: 'authorization_code',
      code: returned.searchParams.get('code')!,
      redirect_uri: `${base}/oauth/callback`,
      client_id: 'broker-client',
      resource: `${base}/mcp`
    }
  })
  t.equal(createHash('sha256').update(idp.calls[0]?.form['code_verifier'] ?? '').digest('base64url'), ownChallenge)

  const refreshed = await token(world, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken
  })
  t.equal(refreshed.statusCode, 200, refreshed.body)
  t.match(
    idp.calls[1]?.form,
    { grant_type: 'refresh_token', scope: 'openid email profile', resource: `${base}/mcp` },
    'what was granted is said again'
  )
  t.match(refreshed.json(), {
    access_token: /^idp-access-/,
    token_type: 'Bearer',
    expires_in: 3600,
    scope: 'openid email profile'
  })
  t.not(refreshed.json().refresh_token, refreshToken)
  const last = await token(world, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshed.json().refresh_token
  })
  t.equal(last.statusCode, 200)
  const revoked = await token(world, { client_id: clientId, token: last.json().refresh_token }, '/oauth/revoke')
  t.strictSame([revoked.statusCode, revoked.body], [200, ''])
  t.match(revoked.headers, { 'cache-control': 'no-store', pragma: 'no-cache' })
})

t.test('nothing is kept on the server: any replica with the secrets goes on with the next step', async (t) => {
  const idp = await fakeIdp(t)
  const [one, other, third] = [
    await brokerWorld(t, { idp }),
    await brokerWorld(t, { idp }),
    await brokerWorld(t, { idp })
  ]
  const clientId = await register(one.app)
  const { verifier, challenge } = pkce()
  const person = browser(other.app)
  const page = await person.get(authorizeUrl(clientId, challenge))
  const onThird = browser(third.app)
  for (const [name, value] of person.cookies) onThird.cookies.set(name, value)
  const decided = await onThird.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'allow' })
  const onFirst = browser(one.app)
  for (const [name, value] of onThird.cookies) onFirst.cookies.set(name, value)
  const landed = await onFirst.get(idp.signIn(String(decided.headers.location)).href)
  const code = new URL(String(landed.headers.location)).searchParams.get('code')!
  const exchanged = await token(other, {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: verifier
  })
  t.equal(exchanged.statusCode, 200, exchanged.body)
  t.equal(
    (await token(third, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: exchanged.json().refresh_token
    })).statusCode,
    200
  )
})

t.test('secrets rotate: what the old one sealed works until it is removed', async (t) => {
  const idp = await fakeIdp(t)
  const next = { id: '2026-02', secret: 'the next secret of the tests, long enough' }
  const before = await brokerWorld(t, { idp })
  const { clientId, refreshToken } = await signedIn(before)
  const during = await brokerWorld(t, { idp, broker: { secrets: [next, ...secrets] } })
  const refreshed = await token(during, {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken
  })
  t.equal(refreshed.statusCode, 200, refreshed.body)
  t.match(refreshed.json().refresh_token, /^2026-02\./, 'the newest secret seals')
  const after = await brokerWorld(t, { idp, broker: { secrets: [next] } })
  t.equal(
    (await token(after, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: refreshed.json().refresh_token
    })).statusCode,
    200
  )
  t.match(
    (await token(after, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json(),
    { error: 'invalid_client' },
    'so the client registers again'
  )
  const { statusCode, body } = await after.app.inject(authorizeUrl(clientId, pkce().challenge))
  t.equal(statusCode, 400)
  t.match(
    body,
    /This server does not know the client: its registration was made elsewhere, or with a secret that is no longer used/
  )
})

t.test('the documents of the broker name its own issuer, sign-in page, registration and iss', async (t) => {
  const world = await brokerWorld(t)
  for (
    const [url, issuer, path] of [
      ['/.well-known/oauth-authorization-server/oauth', `${base}/oauth`, '/oauth/authorize'],
      ['/.well-known/openid-configuration/oauth', `${base}/oauth`, '/oauth/authorize'],
      ['/oauth/.well-known/openid-configuration', `${base}/oauth`, '/oauth/authorize']
    ] as const
  ) {
    t.strictSame((await world.app.inject(url)).json(), {
      issuer,
      authorization_endpoint: `${base}${path}`,
      token_endpoint: `${base}/oauth/token`,
      revocation_endpoint: `${base}/oauth/revoke`,
      registration_endpoint: `${base}/oauth/clients`,
      scopes_supported: ['openid', 'email', 'profile'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      revocation_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      revocation_endpoint_auth_signing_alg_values_supported: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      jwks_uri: `${world.idp.issuer}/.well-known/jwks.json`,
      userinfo_endpoint: 'https://shop.auth.eu-west-1.example.com/oauth2/userInfo',
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256']
    }, url)
  }
  const clientId = await register(world.app)
  t.equal((await signIn(world, authorizeUrl(clientId, pkce().challenge))).searchParams.get('iss'), `${base}/oauth`)
})

t.test("the root is the identity provider's, with the broker as without it", async (t) => {
  const idp = await fakeIdp(t)
  const [brokered, plain] = [(await brokerWorld(t, { idp })).app, Fastify()]
  t.teardown(() => plain.close())
  await plain.register(shim, {
    publicBaseUrl: base,
    issuer: idp.issuer,
    clientId: 'broker-client',
    resourceName: 'Shop'
  })
  const bodies = [undefined, '', '{', '{"redirect_uris":["https://evil.example.com/cb"]}']
  const requests: ReadonlyArray<readonly [method: 'GET' | 'POST', url: string, payload?: string | undefined]> = [
    ['GET', '/.well-known/oauth-protected-resource'],
    ['GET', '/.well-known/oauth-authorization-server'],
    ['GET', '/.well-known/openid-configuration'],
    ...bodies.map((body) => ['POST', '/oauth/register', body] as const)
  ]
  for (const [method, url, payload] of requests) {
    const [one, other] = await Promise.all(
      [brokered, plain].map(async (app) => await app.inject({ method, url, ...payload !== undefined && { payload } }))
    )
    t.strictSame([one!.statusCode, one!.body], [other!.statusCode, other!.body], url)
  }
  t.match((await brokered.inject('/.well-known/oauth-authorization-server')).json(), {
    issuer: idp.issuer,
    authorization_endpoint: /\/authorize$/,
    registration_endpoint: `${base}/oauth/register`
  })
  t.match((await brokered.inject({ method: 'POST', url: '/oauth/register', payload: '{' })).json(), {
    client_id: 'broker-client',
    redirect_uris: ['http://localhost:7777/callback', 'http://127.0.0.1:7777/callback']
  })
  t.match((await brokered.inject('/.well-known/oauth-protected-resource')).json(), { authorization_servers: [base] })
  t.match((await brokered.inject('/.well-known/oauth-protected-resource/mcp')).json(), {
    authorization_servers: [`${base}/oauth`]
  }, 'where the 401 leads')
})

t.test("what tokens are checked with is the provider's own, as far as the provider says it", async (t) => {
  const said = {
    claims_supported: ['sub'],
    ui_locales_supported: ['de'],
    scopes_supported: ['phone'],
    end_session_endpoint: 'https://idp.example.com/logout'
  }
  const { app } = await brokerWorld(t, { idp: await fakeIdp(t, said) })
  const metadata = (await app.inject('/.well-known/oauth-authorization-server/oauth')).json()
  t.match(metadata, {
    claims_supported: ['sub'],
    ui_locales_supported: ['de'],
    scopes_supported: ['openid', 'email', 'profile']
  })
  t.notOk('end_session_endpoint' in metadata)
})

t.test('what the operator turned off is neither announced nor there', async (t) => {
  const { app } = await brokerWorld(t, {
    broker: { registration: false, documents: false, clients: [{ id: 'desk', name: 'Desk', redirectUris: [loopback] }] }
  })
  const metadata = (await app.inject('/.well-known/oauth-authorization-server/oauth')).json()
  t.notOk('registration_endpoint' in metadata)
  t.equal(metadata.client_id_metadata_document_supported, false)
  for (const endpoint of ['token', 'revocation']) {
    t.strictSame(metadata[`${endpoint}_endpoint_auth_methods_supported`], ['none'])
    t.notOk(`${endpoint}_endpoint_auth_signing_alg_values_supported` in metadata)
  }
  t.equal(
    (await app.inject({ method: 'POST', url: '/oauth/clients', payload: { redirect_uris: [loopback] } })).statusCode,
    404
  )
  t.match(
    (await app.inject(authorizeUrl('https://agent.example.com/client.json', pkce().challenge))).body,
    /does not accept clients by a metadata document/
  )
  t.match((await app.inject(authorizeUrl('desk', pkce().challenge))).body, /<bdi>Desk<\/bdi><br>Known to this server\./)
})

t.test('a client of the list signs in, on any port of loopback', async (t) => {
  const world = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: ['http://localhost/callback'] }] }
  })
  for (const port of ['', ':80', ':1', ':65535']) {
    t.equal(
      (await token(world, { ...await grantOf(world, 'desk', `http://localhost${port}/callback`) })).statusCode,
      200,
      port
    )
  }
})

t.test('a confidential client of the provider authenticates as its metadata says, or the operator', async (t) => {
  const basic = `Basic ${Buffer.from('c%3A1:s%3A%2F+secret').toString('base64')}`
  for (
    const [methods, clientAuth, authorization, secret] of [
      [undefined, undefined, basic, undefined],
      [['client_secret_basic', 'client_secret_post'], undefined, basic, undefined],
      [['private_key_jwt', 'client_secret_post'], undefined, undefined, 's:/ secret'],
      [['private_key_jwt'], undefined, basic, undefined],
      [['client_secret_basic'], 'client_secret_post', undefined, 's:/ secret'],
      [['client_secret_post'], 'client_secret_basic', basic, undefined]
    ] as const
  ) {
    const idp = await fakeIdp(t, { token_endpoint_auth_methods_supported: methods })
    const world = await brokerWorld(t, {
      idp,
      clientId: 'c:1',
      broker: { clientSecret: 's:/ secret', sendResource: false, ...clientAuth && { clientAuth } }
    })
    const { clientId, refreshToken } = await signedIn(world)
    await token(world, { client_id: clientId, token: refreshToken }, '/oauth/revoke')
    for (const call of idp.calls) {
      t.strictSame([call.authorization, call.form['client_secret'], call.form['resource']], [
        authorization,
        secret,
        undefined
      ], `${methods?.join()} ${call.path}`)
    }
  }
})

t.test('a client with a key signs an assertion for each request, in the form that RFC 7523 has', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  const seen = new Set<unknown>()
  for (const audience of [undefined, 'https://tenant.example.com/']) {
    const world = await brokerWorld(t, {
      broker: { clientKey: { pem, alg: 'ES256', header: { 'x5t#S256': 'thumbprint' }, ...audience && { audience } } }
    })
    const { clientId, refreshToken } = await signedIn(world)
    await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
    t.equal(world.idp.calls.length, 2)
    for (const { form } of world.idp.calls) {
      t.equal(form['client_assertion_type'], 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
      const [header = '', claims = '', signature = ''] = form['client_assertion']!.split('.')
      t.ok(
        verify(
          'sha256',
          Buffer.from(`${header}.${claims}`),
          { key: publicKey, dsaEncoding: 'ieee-p1363' },
          Buffer.from(signature, 'base64url')
        )
      )
      t.strictSame(JSON.parse(Buffer.from(header, 'base64url').toString()), {
        typ: 'JWT',
        'x5t#S256': 'thumbprint',
        alg: 'ES256'
      })
      const { jti, iat, nbf, exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      t.strictSame([rest, exp - iat, nbf], [
        { iss: 'broker-client', sub: 'broker-client', aud: audience ?? `${new URL(world.idp.issuer).origin}/token` },
        60,
        iat
      ])
      seen.add(jti)
    }
  }
  t.equal(seen.size, 4, 'each once')
})

t.test('the provider gets what the client wants of its page, and what the operator adds', async (t) => {
  const world = await brokerWorld(t, {
    scopes: ['openid', 'api://shop/access'],
    broker: {
      requiredScopes: ['offline_access', 'api://shop/access'],
      upstream: { authorize: { audience: 'shop', prompt: 'login' }, token: { audience: 'shop' } }
    }
  })
  const clientId = await register(world.app)
  const { verifier, challenge } = pkce()
  const asked = async (more: Readonly<Record<string, string | undefined>>) =>
    Object.fromEntries(new URL(await allow(browser(world.app), authorizeUrl(clientId, challenge, more))).searchParams)
  t.match(await asked({ scope: 'openid', prompt: 'select_account', login_hint: 'ada@example.com' }), {
    scope: 'openid offline_access api://shop/access',
    prompt: 'login',
    login_hint: 'ada@example.com',
    audience: 'shop'
  }, 'no client undoes what the operator wants')
  t.match(
    await asked({ scope: 'email' }),
    { scope: 'offline_access api://shop/access', prompt: 'login' },
    'what is required is always requested'
  )
  t.match(await asked({ scope: undefined }), { scope: 'openid api://shop/access offline_access' })
  const code = (await signIn(world, authorizeUrl(clientId, challenge, { scope: 'openid api://shop/access' })))
    .searchParams.get('code')!
  await token(world, { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier })
  t.match(world.idp.calls[0]?.form, { audience: 'shop', grant_type: 'authorization_code' })
})

t.test('two refreshes at once, or after a lost response, are one at a provider that takes it once', async (t) => {
  const idp = await fakeIdp(t)
  idp.rotates = true
  const world = await brokerWorld(t, { idp })
  const { clientId, refreshToken } = await signedIn(world)
  idp.wait = async () => await sleep(50)
  const refresh = async (refreshToken: string) =>
    (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()
  const results = [...await Promise.all([refresh(refreshToken), refresh(refreshToken)]), await refresh(refreshToken)]
  t.equal(new Set(results.map(({ access_token: token }) => token)).size, 1)
  t.equal(idp.calls.filter(({ form }) => form['grant_type'] === 'refresh_token').length, 1)
  for (const { refresh_token: next } of results) {
    t.match(await refresh(next), { access_token: String }, 'each successor goes on')
  }
})

t.test('a refresh token of the provider of 12,000 characters comes back', async (t) => {
  const world = await brokerWorld(t)
  const grant = await grantOf(world)
  const long = 'r'.repeat(12_000)
  world.idp.answer = () => ({ status: 200, body: { access_token: 'x', refresh_token: long } })
  const { refresh_token: sealed } = (await token(world, { ...grant })).json()
  t.equal(
    (await token(world, { grant_type: 'refresh_token', client_id: grant.client_id, refresh_token: sealed })).statusCode,
    200
  )
  t.equal(world.idp.calls.at(-1)?.form['refresh_token'], long)
})

t.test('a client with an unknown scheme among its callbacks gets the others, and hears where to list it', async (t) => {
  const lines: string[] = []
  const world = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: [loopback] }] },
    server: {
      logger: {
        level: 'info',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  })
  const response = await world.app.inject({
    method: 'POST',
    url: '/oauth/clients',
    payload: { client_name: 'Zed', redirect_uris: ['zed://callback', loopback] }
  })
  t.strictSame([response.statusCode, response.json().redirect_uris], [201, [loopback]])
  const { client_id: clientId } = response.json()
  for (
    const [id, uri, says] of [
      [
        clientId,
        'zed://callback',
        'The callback zed://callback of Zed is not allowed here: it must be https, http on this computer, or ' +
        'open an app of a known scheme. The operator lists schemes in appSchemes'
      ],
      [
        clientId,
        'https://zed.example.com/cb',
        'The callback https://zed.example.com/cb of Zed is not one that it registered. Remove this server in ' +
        'the app and add it again, so that it registers anew'
      ],
      [
        'desk',
        'https://desk.example.com/cb',
        'The callback https://desk.example.com/cb of desk is not in redirectUris of the client, where the ' +
        'operator lists it in clients'
      ]
    ] as const
  ) {
    lines.length = 0
    const page = await world.app.inject(authorizeUrl(id, pkce().challenge, { redirect_uri: uri }))
    t.ok(page.body.includes(says), page.body)
    t.ok(lines.some((line) => JSON.parse(line).msg === says))
  }
})

t.test('somebody who does not agree, or does not sign in, is sent back with the reason', async (t) => {
  const { app, idp } = await brokerWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const page = await person.get(authorizeUrl(clientId, pkce().challenge))
  const denied = await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'deny' })
  t.equal(
    denied.headers.location,
    `${loopback}?error=access_denied&error_description=The+person+did+not+agree&state=the+state+of+the+client&iss=${
      encodeURIComponent(`${base}/oauth`)
    }`
  )

  const passedOn = [
    'access_denied',
    'invalid_scope',
    'temporarily_unavailable',
    'login_required',
    'interaction_required',
    'consent_required'
  ].map((error) => [error, error] as const)
  for (
    const [error, told] of [...passedOn, ['unauthorized_client', 'server_error'], ['<script>', 'server_error']] as const
  ) {
    const decided = await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'allow' })
    const callback = idp.signIn(String(decided.headers.location), { error })
    callback.searchParams.delete('code')
    const answer = new URL(String((await person.get(callback.href)).headers.location)).searchParams
    t.strictSame([answer.get('error'), answer.get('state'), answer.has('code')], [
      told,
      'the state of the client',
      false
    ], error)
  }
})

t.test('of what the provider answers, the client gets what is of the right type', async (t) => {
  const world = await brokerWorld(t)
  const { clientId, refreshToken: first } = await signedIn(world)
  let refreshToken = first
  const usual = { token_type: 'Bearer', scope: 'openid email profile' }
  for (
    const [answer, expected] of [
      [{}, usual],
      [{ expires_in: 60 }, { ...usual, expires_in: 60 }],
      [{ expires_in: '60' }, { ...usual, expires_in: 60 }],
      [{ expires_in: 'soon' }, usual],
      [{ expires_in: '' }, usual],
      [{ expires_in: null }, usual],
      [{ expires_in: true }, usual],
      [{ scope: 'openid' }, { ...usual, scope: 'openid' }],
      [{ scope: 1 }, usual],
      [{ refresh_token: 1 }, usual]
    ] as const
  ) {
    world.idp.answer = () => ({ status: 200, body: { access_token: 'x', ...answer } })
    const { access_token: _access, refresh_token: next, ...rest } =
      (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()
    t.strictSame(rest, expected, JSON.stringify(answer))
    t.type(next, 'string')
    refreshToken = next
  }
})

t.test('a hook of the host that replaces the body leaves no parameters', async (t) => {
  for (const body of [null, { grant_type: 'refresh_token' }, Buffer.from('grant_type=refresh_token')]) {
    const { app } = await brokerWorld(t, {
      onRequest: (request) => {
        Object.defineProperty(request, 'body', { get: () => body, set: () => {} })
      }
    })
    const response = await token({ app }, { grant_type: 'refresh_token' })
    t.strictSame([response.statusCode, response.json().error], [400, 'invalid_request'])
  }
})

t.test('a provider that grants less, or no refresh token, is taken at its word', async (t) => {
  const world = await brokerWorld(t)
  const exchange = async (body: object) => {
    const grant = await grantOf(world)
    world.idp.answer = () => ({ status: 200, body: { access_token: 'x', ...body } })
    return { clientId: grant.client_id, tokens: (await token(world, { ...grant })).json() }
  }
  t.strictSame((await exchange({})).tokens, { access_token: 'x', token_type: 'Bearer', scope: 'openid email profile' })
  const { clientId, tokens } = await exchange({ refresh_token: 'y', scope: 'openid' })
  t.equal(tokens.scope, 'openid')
  world.idp.answer = () => ({ status: 200, body: { access_token: 'x' } })
  const refresh = async (scope?: string) =>
    (await token(world, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: tokens.refresh_token,
      scope
    })).json()
  t.match(await refresh('openid phone'), { error: 'invalid_scope' })
  t.equal((await refresh('openid email')).scope, 'openid', 'a client may repeat what it asked for')
  t.equal((await refresh()).scope, 'openid')
  t.equal(world.idp.calls.at(-1)?.form['scope'], 'openid')
})

t.test('a client that refreshes with the scopes it asked for gets a token for this API', async (t) => {
  const [api, all] = ['api://shop/access', 'api://shop/.default']
  const world = await brokerWorld(t, { broker: { requiredScopes: ['offline_access', api, all] } })
  const grant = await grantOf(world)
  const answer = (scope?: string) => {
    world.idp.answer = () => ({
      status: 200,
      body: { access_token: 'x', refresh_token: 'y', ...scope !== undefined && { scope } }
    })
  }
  answer(`openid email ${api} api://shop/read`)
  let { refresh_token: refreshToken } = (await token(world, { ...grant })).json()
  for (
    const [wanted, granted, requested] of [
      ['openid', undefined, `openid ${api} api://shop/read`],
      ['email openid email', undefined, `openid email ${api} api://shop/read`],
      ['openid email profile', 'openid', `openid email ${api} api://shop/read`]
    ] as const
  ) {
    answer(granted)
    const { scope, refresh_token: next } = (await token(world, {
      grant_type: 'refresh_token',
      client_id: grant.client_id,
      refresh_token: refreshToken,
      scope: wanted
    })).json()
    t.strictSame([world.idp.calls.at(-1)?.form['scope'], scope], [requested, granted ?? requested], wanted)
    refreshToken = next
  }
})

t.test('a provider that cannot be reached is told as that, and does not end a sign-in', async (t) => {
  const idp = await fakeIdp(t)
  const world = await brokerWorld(t, { idp })
  const { clientId, refreshToken } = await signedIn(world)
  const refresh = () => token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })
  for (
    const [status, error, told] of [
      [500, 'server_error', 503],
      [429, 'slow_down', 503],
      [400, 'invalid_client', 502],
      [200, 'no token in it', 502]
    ] as const
  ) {
    idp.answer = () => ({ status, body: { error } })
    const { statusCode, headers, body } = await refresh()
    t.equal(statusCode, told, body)
    t.equal(headers['retry-after'], told === 503 ? '5' : undefined)
  }
  idp.answer = () => undefined
  t.equal((await refresh()).statusCode, 200, 'the token was not used up')

  const unknown = await brokerWorld(t, { issuer: 'http://127.0.0.1:9' })
  const page = await browser(unknown.app).get(authorizeUrl(await register(unknown.app), pkce().challenge))
  t.equal(page.statusCode, 200)
  t.equal(
    (await token(unknown, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }))
      .statusCode,
    503
  )
})
