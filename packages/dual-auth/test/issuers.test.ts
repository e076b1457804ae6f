import t, { type Test } from 'tap'
import type { DualAuthOptions, JwtOptions, Provider } from '../src/index.ts'
import { bearer, build } from './build.ts'
import { startIssuer, type Issuer } from './issuer.ts'
import { AUDIENCE, OTHER_TENANT_ID, SAMPLES, TENANT_ID, tokensOf } from './tokens.ts'

async function issuerOf (t: Test): Promise<Issuer> {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop().catch(() => {}))
  return issuer
}

async function withJwt (t: Test, issuer: Issuer, jwt: DualAuthOptions['jwt']) {
  const lines: string[] = []
  const { app } = await build(t, {
    issuer,
    auth: { jwt },
    server: { logger: { level: 'info', stream: { write: (line: string) => lines.push(line) } } }
  })
  const get = async (token: string) => {
    const response = await app.inject({ url: '/orders', headers: bearer(token) })
    return { status: response.statusCode, body: response.json() }
  }
  return { app, get, lines }
}

t.test('two issuers at once: each token by the rules and keys of its own', async (t) => {
  const [old, next] = [await issuerOf(t), await issuerOf(t)]
  const { app, get } = await withJwt(t, old, [
    { issuer: old.url, userClients: ['web-app'], audience: [AUDIENCE] },
    { ...SAMPLES.okta.jwt(next), algorithms: ['RS256', 'ES256'] }
  ])
  t.equal(app.dualAuthReady(), true)
  t.match(await get(old.user()), { status: 200, body: { issuer: old.url, subject: 'user-1' } })
  t.match(await get(tokensOf('okta', next).user()), {
    status: 200,
    body: { issuer: next.url, ...SAMPLES.okta.identities.user }
  })
  t.equal((await get(next.user())).status, 401, 'the claims of the one, the issuer of the other')
  t.equal((await get(old.user({ iss: next.url }))).status, 401, 'signed by the one, issued by the other')
  t.equal((await get(old.user({}, { alg: 'ES256' }))).status, 401, 'an algorithm of the other')
})

t.test('one of two issuers is down: tokens of the other pass, and the server says it is not ready', async (t) => {
  const [up, down] = [await issuerOf(t), await issuerOf(t)]
  await down.stop()
  const common = { userClients: ['web-app'], jwksTimeout: 500 }
  const { app, get } = await withJwt(t, up, [{ ...common, issuer: up.url }, { ...common, issuer: down.url }])
  t.equal((await get(up.user())).status, 200)
  t.equal((await get(down.user())).status, 503)
  t.equal(app.dualAuthReady(), false)
})

t.test('an issuer whose keys are an option, as that of this server itself, is never read', async (t) => {
  const [read, given] = [await issuerOf(t), await issuerOf(t)]
  await given.stop()
  const own = { issuer: given.url, userClients: ['web-app'], jwks: { keys: [given.key.jwk] } }
  const { app, get } = await withJwt(t, read, [{ issuer: read.url, userClients: ['web-app'] }, own])
  t.equal(app.dualAuthReady(), true)
  t.match(await get(given.user()), { status: 200, body: { issuer: given.url } })
  t.match(await get(given.user({}, { kid: 'unknown' })), { status: 401 })
  t.equal(given.fetches + given.discoveries, 0)
  await t.rejects(build(t, { issuer: read, auth: { jwt: { ...own, algorithms: ['ES256'] } } }), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message: `dual-auth: jwt.jwks of ${given.url} cannot be used: the key set has no usable key for ES256; it has RS256`
  })
})

for (
  const [title, named] of [['with a slash', (url: string) => `${url}/`], [
    'of another host',
    () => 'https://elsewhere.test'
  ], ['that is none', () => '']] as const
) {
  t.test(`startup fails when the issuer's own document names an issuer ${title}`, async (t) => {
    const issuer = await issuerOf(t)
    issuer.named = named(issuer.url)
    await t.rejects(build(t, { issuer }), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: jwt.issuer is ${issuer.url}, but ${issuer.url}/.well-known/openid-configuration says that ` +
        `the issuer is ${named(issuer.url)}: set jwt.issuer to exactly that`
    })
  })
}

t.test('an issuer with a slash at its end is that of its tokens', async (t) => {
  const issuer = await issuerOf(t)
  issuer.named = `${issuer.url}/`
  const { get } = await withJwt(t, issuer, { issuer: `${issuer.url}/`, userClients: ['web-app'], audience: [AUDIENCE] })
  t.equal((await get(issuer.user({ iss: `${issuer.url}/` }))).status, 200)
  t.equal((await get(issuer.user())).status, 401)
})

t.test('an issuer that cannot be reached does not fail startup; the log names it', async (t) => {
  const issuer = await issuerOf(t)
  const { url } = issuer
  await issuer.stop()
  const { lines } = await withJwt(t, issuer, { issuer: url, userClients: ['web-app'], audience: [AUDIENCE] })
  const said = lines.map((line) => JSON.parse(line)).filter(({ msg }) =>
    msg === 'the keys of the identity provider could not be read'
  )
  t.match(said, [{ level: 40, issuer: url, err: { message: String } }])
})

t.test('an issuer and keys over http, on another machine: only with insecureHttp', async (t) => {
  const issuer = await issuerOf(t)
  // Its address in another spelling, which is not known to be this machine.
  const url = issuer.url.replace('127.0.0.1', '[::ffff:7f00:1]')
  issuer.discoveryFault = (_request, response) => {
    response.end(JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks` }))
  }
  const jwt = { issuer: url, userClients: ['web-app'], audience: [AUDIENCE] }
  await t.rejects(withJwt(t, issuer, jwt), { code: 'DUAL_AUTH_INVALID_OPTION', message: /insecureHttp/ })
  const { get } = await withJwt(t, issuer, { ...jwt, insecureHttp: true })
  t.equal((await get(issuer.user({ iss: url }))).status, 200)
})

t.test('without an audience the log warns once for each issuer', async (t) => {
  const issuer = await issuerOf(t)
  const warnings = async (jwt: JwtOptions) =>
    (await withJwt(t, issuer, jwt)).lines.filter((line) => line.includes('jwt.audience is not set')).length
  t.equal(await warnings({ issuer: issuer.url, userClients: ['web-app'] }), 1)
  t.equal(await warnings({ issuer: issuer.url, userClients: ['web-app'], audience: [AUDIENCE] }), 0)
})

t.test('Entra: one set of keys for all tenants, in which a key may be of one tenant only', async (t) => {
  const issuer = await issuerOf(t)
  const template = `${issuer.url}/{tenantid}/v2.0`
  for (
    const [owner, tenants, status] of [
      [undefined, [TENANT_ID], 200],
      [template, [TENANT_ID], 200],
      [template.replace('{tenantid}', TENANT_ID), [TENANT_ID, OTHER_TENANT_ID], 200],
      [template.replace('{tenantid}', OTHER_TENANT_ID), [TENANT_ID, OTHER_TENANT_ID], 401],
      ['https://elsewhere.test/{tenantid}/v2.0', [TENANT_ID], 401]
    ] as const
  ) {
    issuer.keys = [{ ...issuer.key.jwk, issuer: owner }]
    const { get } = await withJwt(t, issuer, { ...SAMPLES.entra.jwt(issuer), tenants })
    t.equal((await get(tokensOf('entra', issuer).user())).status, status, String(owner))
  }
})

t.test('Entra: the document of all organizations names the placeholder', async (t) => {
  const issuer = await issuerOf(t)
  const { jwksUri, ...jwt } = SAMPLES.entra.jwt(issuer)
  issuer.named = jwt.issuer
  const { get } = await withJwt(t, issuer, jwt)
  t.equal((await get(tokensOf('entra', issuer).user())).status, 200)
})

t.test('a host names claims of its own', async (t) => {
  const issuer = await issuerOf(t)
  const { get } = await withJwt(t, issuer, {
    ...SAMPLES.rfc9068.jwt(issuer),
    claims: {
      client: 'app',
      subject: 'employee',
      username: ['person', 'name'],
      groups: ['person', 'teams'],
      scopes: 'permissions'
    }
  })
  const token = tokensOf('rfc9068', issuer).user({
    app: 'web-app',
    employee: 'e7',
    person: { name: 'Ada', teams: ['staff'] },
    permissions: ['write']
  })
  t.strictSame((await get(token)).body, {
    kind: 'user',
    issuer: issuer.url,
    subject: 'e7',
    username: 'Ada',
    groups: ['staff'],
    scopes: ['write']
  })
})

t.test("people and machines come in, and only Cognito's tokens need no audience", async (t) => {
  for (const provider of Object.keys(SAMPLES) as Provider[]) {
    const issuer = await issuerOf(t)
    const { get } = await withJwt(t, issuer, SAMPLES[provider].jwt(issuer))
    const { user, machine, idToken, iss } = tokensOf(provider, issuer)
    const elsewhere = provider === 'entra'
      ? { tid: OTHER_TENANT_ID, iss: iss.replace(TENANT_ID, OTHER_TENANT_ID) }
      : { iss: `${iss}2` }
    const tokens = [
      user(),
      machine(),
      idToken({ aud: AUDIENCE }),
      user({ aud: 'https://other.test' }),
      user({ aud: undefined }),
      user(elsewhere),
      user({ [SAMPLES[provider].client]: 'another' })
    ]
    const statuses = await Promise.all(tokens.map(async (token) => (await get(token)).status))
    const asMachine = SAMPLES[provider].identities.machine === null ? 401 : 200
    t.strictSame(statuses, [200, asMachine, 401, 401, provider === 'cognito' ? 200 : 401, 401, 401], provider)
  }
})
