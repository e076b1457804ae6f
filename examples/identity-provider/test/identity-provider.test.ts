import { createHash, randomBytes } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { callbackFrom, startIdentityProvider, type IdentityProviderOptions } from '../src/index.ts'

const resource = 'http://localhost:8080'
const clientId = 'mcp-public'
const redirectUri = 'http://localhost:7777/callback'
const ada = { username: 'ada', password: 'correct horse battery' }
const eve = { username: 'eve', password: 'another password' }
const m2m = { clientId: 'machine', clientSecret: 'machine secret' }

async function start (t: Test, options: Partial<IdentityProviderOptions> = {}): Promise<string> {
  const { issuer, close } = await startIdentityProvider({
    port: 0,
    users: [{ ...ada, name: 'Ada', groups: ['admin'] }, eve],
    resource,
    clientId,
    m2m,
    ...options
  })
  t.teardown(close)
  return issuer
}

const claimsOf = (token: string, part: 0 | 1 = 1) =>
  JSON.parse(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString())

const post = (url: string, body: Record<string, string>, headers = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(body), headers })

/** An authorization request, and the code verifier that belongs to it. */
function authorization (issuer: string, change: Record<string, string | undefined> = {}) {
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(`${issuer}/auth`)
  for (
    const [name, value] of Object.entries({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: 's',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      resource: `${resource}/mcp`,
      ...change
    })
  ) if (value !== undefined) url.searchParams.set(name, value)
  return { url, verifier }
}

t.test('a sign-in outlives a restart and the session of the browser, and a revoked one does not', async (t) => {
  const dataDir = join(t.testdir(), 'data')
  const options = { port: 0, users: [ada], resource, clientId, m2m, dataDir }
  const first = await startIdentityProvider(options)
  const tokens = async () => {
    const { url, verifier } = authorization(first.issuer)
    const code = (await callbackFrom(url, ada)).searchParams.get('code') ?? ''
    const response = await post(`${first.issuer}/token`, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      client_id: clientId,
      redirect_uri: redirectUri
    })
    return (await response.json() as { refresh_token: string }).refresh_token
  }
  const [kept, revoked] = [await tokens(), await tokens()]
  await post(`${first.issuer}/token/revocation`, { token: revoked, client_id: clientId })
  await first.close()
  t.equal((await stat(join(dataDir, 'demo-sign-ins.json'))).mode & 0o777, 0o600)

  const second = await startIdentityProvider({ ...options, port: Number(new URL(first.issuer).port) })
  t.teardown(second.close)
  const refresh = async (token: string) =>
    (await post(`${second.issuer}/token`, { grant_type: 'refresh_token', refresh_token: token, client_id: clientId }))
      .status
  t.equal(await refresh(kept), 200)
  t.equal(await refresh(revoked), 400)
})

t.test('callbacks are compared as a user pool compares them: port and path count', async (t) => {
  const issuer = await start(t)
  const status = async (callback: string): Promise<number> =>
    (await fetch(authorization(issuer, { redirect_uri: callback }).url, { redirect: 'manual' })).status
  t.strictSame([
    await status(redirectUri),
    await status('http://localhost:7778/callback'),
    await status('http://localhost:7777/elsewhere')
  ], [303, 400, 400])
})

t.test("a user's tokens say what a user pool's say", async (t) => {
  const issuer = await start(t)
  const { url, verifier } = authorization(issuer)
  const callback = await callbackFrom(url, ada)
  t.strictSame([...callback.searchParams.keys()].sort(), ['code', 'state'], 'no iss')

  const response = await post(`${issuer}/token`, {
    grant_type: 'authorization_code',
    code: callback.searchParams.get('code') ?? '',
    code_verifier: verifier,
    client_id: clientId,
    redirect_uri: redirectUri
  })
  const tokens = await response.json() as Record<string, string>
  t.strictSame(Object.keys(tokens).sort(), [
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'scope',
    'token_type'
  ])

  const { jti, iat, exp, sub, ...access } = claimsOf(tokens['access_token'] ?? '')
  t.strictSame(access, {
    iss: issuer,
    aud: `${resource}/mcp`,
    client_id: clientId,
    scope: 'openid email profile',
    token_use: 'access',
    version: 2,
    username: 'ada',
    'cognito:groups': ['admin']
  })
  t.equal(exp - iat, 3600, 'access token: 60 minutes')
  t.match(claimsOf(tokens['access_token'] ?? '', 0), { alg: 'RS256', kid: String })

  const id = claimsOf(tokens['id_token'] ?? '')
  t.match(id, {
    sub,
    aud: clientId,
    token_use: 'id',
    'cognito:username': 'ada',
    'cognito:groups': ['admin'],
    email: 'ada@example.com',
    name: 'Ada'
  })
  t.equal(id.exp - id.iat, 3600, 'ID token: 60 minutes')

  const refreshed = await post(`${issuer}/token`, {
    grant_type: 'refresh_token',
    refresh_token: tokens['refresh_token'] ?? '',
    client_id: clientId
  })
  t.match(claimsOf((await refreshed.json() as Record<string, string>)['access_token'] ?? ''), { ...access, sub })
  t.equal(
    (await post(`${issuer}/token/revocation`, { token: tokens['refresh_token'] ?? '', client_id: clientId })).status,
    200
  )
  const revoked = await post(`${issuer}/token`, {
    grant_type: 'refresh_token',
    refresh_token: tokens['refresh_token'] ?? '',
    client_id: clientId
  })
  t.match(await revoked.json(), { error: 'invalid_grant' })
})

t.test("the browser's client may not ask for more than it is registered for", async (t) => {
  const issuer = await start(t)
  for (
    const [change, error] of [
      [{ scope: 'openid phone' }, 'invalid_scope'],
      [{ scope: `openid ${resource}/api` }, 'invalid_scope'],
      [{ resource: 'https://elsewhere.example.com' }, 'invalid_target'],
      [{ resource: `${resource}.evil.example` }, 'invalid_target'],
      [{ code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type']
    ] as const
  ) {
    const response = await fetch(authorization(issuer, change).url, { redirect: 'manual' })
    const location = new URL(response.headers.get('location') ?? '')
    t.equal(
      location.searchParams.get('error') ?? new URLSearchParams(location.hash.slice(1)).get('error'),
      error,
      JSON.stringify(change)
    )
  }
  for (
    const change of [
      { client_id: 'unknown' },
      { redirect_uri: 'http://localhost:7777/elsewhere' },
      {
        redirect_uri: 'https://evil.example/callback'
      }
    ]
  ) {
    const response = await fetch(authorization(issuer, change).url, { redirect: 'manual' })
    t.equal(response.status, 400, JSON.stringify(change))
    t.equal(response.headers.get('location'), null, 'nobody is sent anywhere')
    t.match(await response.text(), '<h1>Sign-in refused</h1>')
  }
})

t.test('the sign-in page', async (t) => {
  const issuer = await start(t)
  const redirect = await fetch(authorization(issuer).url, { redirect: 'manual' })
  const cookie = redirect.headers.getSetCookie().map((text) => text.split(';')[0]).join('; ')
  const page = new URL(redirect.headers.get('location') ?? '', issuer)
  const interaction = /_interaction=[^;]*;.*?expires=([^;]+)/.exec(redirect.headers.getSetCookie().join('\n'))?.[1] ??
    ''
  t.ok(Math.abs(Date.parse(interaction) - Date.now() - 180_000) < 60_000, 'a sign-in is open for three minutes')

  const shown = await fetch(page, { headers: { cookie } })
  const html = await shown.text()
  t.equal(shown.status, 200)
  for (
    const part of [
      '<html lang="en">',
      '<title>Sign in</title>',
      '<label for="username">',
      '<label for="password">',
      'autocomplete="current-password"'
    ]
  ) t.match(html, part)
  t.notMatch(html, /<script|https?:\/\//, 'nothing is loaded from anywhere')
  t.match(
    shown.headers.get('content-security-policy'),
    /^default-src 'none'; style-src 'nonce-[^']+'; base-uri 'none'; frame-ancestors 'none'$/
  )
  t.equal(shown.headers.get('cache-control'), 'no-store')

  const submit = async (form: Record<string, string>) => {
    const response = await fetch(page, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { cookie },
      redirect: 'manual'
    })
    return { status: response.status, html: (await response.text()).replaceAll(/nonce="[^"]+"/g, '') }
  }
  const wrong = await submit({ username: 'ada', password: 'wrong' })
  t.equal(wrong.status, 401)
  t.match(wrong.html, '<p id="error" role="alert">Incorrect username or password.</p>')
  t.match(wrong.html, 'aria-describedby="error"')
  t.equal(
    (await submit({ username: 'bob', password: 'wrong' })).html,
    wrong.html.replace('value="ada"', 'value="bob"'),
    'it does not say which users there are'
  )
  for (
    const form of [
      {},
      { username: 'ada' },
      { username: 'ada', password: '' },
      { username: 'nobody', password: '' },
      { username: '', password: '' }
    ]
  ) {
    t.equal((await submit(form as Record<string, string>)).status, 401, JSON.stringify(form))
  }
  t.match(
    (await submit({ username: '"><script>alert(1)</script>', password: 'x' })).html,
    'value="&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;"'
  )
  t.equal((await submit({ ...ada, padding: 'x'.repeat(100_000) })).status, 303, 'what follows the password is not kept')

  const stranger = await fetch(page)
  t.equal(stranger.status, 400)
  t.match(await stranger.text(), '<h1>This sign-in has expired</h1>')
})

t.test('in one browser somebody else can sign in, and the same person again', async (t) => {
  const issuer = await start(t)
  const browser = new Map<string, string>()
  const names: string[] = []
  for (const person of [ada, eve, ada, ada]) {
    const { url, verifier } = authorization(issuer)
    const callback = await callbackFrom(url, person, browser)
    const response = await post(`${issuer}/token`, {
      grant_type: 'authorization_code',
      code: callback.searchParams.get('code') ?? '',
      code_verifier: verifier,
      client_id: clientId,
      redirect_uri: redirectUri
    })
    names.push(claimsOf((await response.json() as Record<string, string>)['access_token'] ?? '').username)
  }
  t.strictSame(names, ['ada', 'eve', 'ada', 'ada'])
})

t.test('the signing key stays, readable by its owner only', async (t) => {
  const dataDir = join(t.testdir(), 'data')
  const keys = async () => {
    const { issuer, close } = await startIdentityProvider({ port: 0, users: [], resource, clientId, m2m, dataDir })
    const { keys } = await (await fetch(`${issuer}/jwks`)).json() as { keys: Array<Record<string, string>> }
    await close()
    return keys
  }
  const before = await keys()
  t.strictSame(
    Object.keys(before[0] ?? {}).sort(),
    ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    'only the public half is shown'
  )
  t.strictSame(await keys(), before)
  t.equal((await stat(join(dataDir, 'signing-key.json'))).mode & 0o777, 0o600)
})

t.test('it does not start in production', async (t) => {
  const before = process.env['NODE_ENV']
  t.teardown(() => {
    if (before === undefined) delete process.env['NODE_ENV']
    else process.env['NODE_ENV'] = before
  })
  process.env['NODE_ENV'] = 'production'
  await t.rejects(startIdentityProvider({ port: 0, users: [], resource, clientId, m2m }), {
    code: 'DEMO_IDENTITY_PROVIDER_IN_PRODUCTION'
  })
})
