import t, { type Test } from 'tap'
import { createHmac } from 'node:crypto'
import type { JwtOptions, Provider } from '../src/index.ts'
import { at, bearer, build, products, REFUSED } from './build.ts'
import { NOW, segment, sign, signingKey, startIssuer, type Issuer } from './issuer.ts'
import { AUDIENCE, OTHER_TENANT_ID, SAMPLES, TENANT_ID, tokensOf, type TokenClaims } from './tokens.ts'

const stranger = signingKey('key-1')

/** An issuer, the tokens that it issues as a provider does, and the claims of a good one. */
interface Target extends ReturnType<typeof tokensOf> {
  readonly issuer: Issuer
  readonly header: TokenClaims
  readonly claims: TokenClaims
  readonly client: string
}

function hmacToken (secret: string, { claims }: Target): string {
  const input = `${segment({ alg: 'HS256', kid: 'key-1' })}.${segment(claims)}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** The last character's four unused bits, set: the same bytes written in another way. */
function malleated (token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1)
}

type Attack = [title: string, token: (target: Target) => string]

/** Types of tokens that are no access tokens: of standards, and one that is not known yet. */
const OTHER_TYPES = [
  'dpop+jwt',
  'logout+jwt',
  'application/Logout+JWT',
  'secevent+jwt',
  'oauth-authz-req+jwt',
  'oauth-id-jag+jwt',
  'token-introspection+jwt',
  'kb+jwt',
  'rt+jwt',
  'unheard-of+jwt'
]

/** Bad tokens of every provider. */
const attacks: Attack[] = [
  // the header
  ['alg none', (target) => `${segment({ alg: 'none' })}.${segment(target.claims)}.`],
  [
    'alg none with a signature',
    (target) => sign(target.issuer.key.privateKey, { ...target.header, alg: 'none' }, target.claims)
  ],
  ['alg None', (target) => target.user({}, { alg: 'None' })],
  ['alg nOnE', (target) => target.user({}, { alg: 'nOnE' })],
  ['alg missing', (target) => sign(target.issuer.key.privateKey, { kid: 'key-1' }, target.claims)],
  ['alg in lower case', (target) => target.user({}, { alg: 'rs256' })],
  ['alg an array', (target) => target.user({}, { alg: ['RS256'] })],
  ['alg RS512', (target) => target.user({}, { alg: 'RS512' })],
  ['alg PS256', (target) => target.user({}, { alg: 'PS256' })],
  ['alg ES256', (target) => target.user({}, { alg: 'ES256' })],
  ['HS256 with the public PEM as secret', (target) => hmacToken(target.issuer.key.publicPem, target)],
  ['HS256 with the JWK as secret', (target) => hmacToken(JSON.stringify(target.issuer.key.jwk), target)],
  ['crit', (target) => target.user({}, { crit: ['exp'] })],
  ['crit empty', (target) => target.user({}, { crit: [] })],
  ['typ of an ID token', (target) => target.user({}, { typ: 'id_token+jwt' })],
  ...OTHER_TYPES.map((typ): Attack => [`typ ${typ}`, (target) => target.user({}, { typ })]),
  ['typ a number', (target) => target.user({}, { typ: 7 })],
  ['kid missing', (target) => sign(target.issuer.key.privateKey, { alg: 'RS256' }, target.claims)],
  ['kid unknown', (target) => target.user({}, { kid: 'unknown' })],
  ['kid a path', (target) => target.user({}, { kid: '../../key-1' })],
  ['kid a URL', (target) => target.user({}, { kid: 'http://127.0.0.1/key-1' })],
  ['kid of 5 KB', (target) => target.user({}, { kid: 'k'.repeat(5_000) })],
  ['kid a number', (target) => target.user({}, { kid: 1 })],
  ['kid an object', (target) => target.user({}, { kid: { toString: 'key-1' } })],
  ['kid null', (target) => target.user({}, { kid: null })],
  ['kid __proto__', (target) => target.user({}, { kid: '__proto__' })],
  ['kid constructor', (target) => target.user({}, { kid: 'constructor' })],
  ['kid SQL', (target) => target.user({}, { kid: "' or 1=1--" })],
  ['kid and a NUL', (target) => target.user({}, { kid: 'key-1\0' })],
  ['the header an array', (target) => sign(target.issuer.key.privateKey, [], target.claims)],
  ['the header a string', (target) => sign(target.issuer.key.privateKey, '"RS256"', target.claims)],
  ['the header null', (target) => sign(target.issuer.key.privateKey, null, target.claims)],
  ['the header not JSON', (target) => sign(target.issuer.key.privateKey, '{', target.claims)],
  // keys that the token brings along
  [
    'a key of its own in jwk',
    (target) => sign(stranger.privateKey, { ...target.header, jwk: stranger.jwk }, target.claims)
  ],
  [
    'a key of its own at jku',
    (target) => sign(stranger.privateKey, { ...target.header, jku: `${target.issuer.url}/jwks` }, target.claims)
  ],
  [
    'a key of its own at x5u',
    (target) => sign(stranger.privateKey, { ...target.header, x5u: `${target.issuer.url}/jwks` }, target.claims)
  ],
  [
    'a key of its own in x5c',
    (target) => sign(stranger.privateKey, { ...target.header, x5c: ['MIIB'] }, target.claims)
  ],
  ['another key of the same kid', (target) => sign(stranger.privateKey, target.header, target.claims)],
  // the signature
  ['no signature', (target) => target.user().replace(/[^.]*$/, '')],
  [
    'the signature of another token',
    (target) => target.user().replace(/[^.]*$/, target.user({ sub: 'other' }).split('.')[2] as string)
  ],
  ['the signature written in another way', (target) => malleated(target.user())],
  ['the signature padded', (target) => `${target.user()}==`],
  [
    'the signature in plain base64',
    (target) => target.user().replace(/[^.]*$/, (last) => `${last.slice(0, 10)}+/${last.slice(12)}`)
  ],
  ['the signature cut', (target) => target.user().slice(0, -4)],
  [
    'the claims changed',
    (target) => target.user().replace(/\.[^.]*\./, `.${segment({ ...target.claims, sub: 'root' })}.`)
  ],
  ['the claims written in another way', (target) => target.user().replace(/\.([^.]*)\./, (_all, part) => `.${part}=.`)],
  ['two segments', (target) => target.user().split('.').slice(0, 2).join('.')],
  ['four segments', (target) => `${target.user()}.x`],
  ['five segments, as a refresh token', (target) => `${target.user()}.x.y`],
  // time
  ['expired', (target) => target.user({ exp: NOW - 60 })],
  ['expired by more than the tolerance', (target) => target.user({ exp: Math.floor(Date.now() / 1000) - 6 })],
  ['exp missing', (target) => target.user({ exp: undefined })],
  ['exp a string', (target) => target.user({ exp: String(NOW + 3600) })],
  ['exp a float in the past', (target) => target.user({ exp: NOW - 60.5 })],
  ['exp negative', (target) => target.user({ exp: -1 })],
  ['exp 1e308', (target) => target.user({ exp: 1e308 })],
  ['exp null', (target) => target.user({ exp: null })],
  ['nbf in the future', (target) => target.user({ nbf: NOW + 3600 })],
  ['nbf a string', (target) => target.user({ nbf: 'now' })],
  ['iat in the future', (target) => target.user({ iat: NOW + 3600 })],
  ['iat missing', (target) => target.user({ iat: undefined })],
  // who it is from
  ['iss missing', (target) => target.user({ iss: undefined })],
  ['iss an array', (target) => target.user({ iss: [target.iss] })],
  ['iss of another pool', (target) => target.user({ iss: target.iss.replace('pool', 'pool2') })],
  ['iss with a slash', (target) => target.user({ iss: `${target.iss}/` })],
  ['iss in capitals', (target) => target.user({ iss: target.iss.toUpperCase() })],
  ['iss that starts alike', (target) => target.user({ iss: `${target.iss}.evil.test` })],
  // another kind of token
  ['bound to a key (DPoP)', (target) => target.user({ cnf: { jkt: 'x' } })],
  ['bound to a certificate', (target) => target.user({ cnf: { 'x5t#S256': 'x' } })],
  ['bound, by a name', (target) => target.user({ cnf: 'confirmation_method' })],
  ['bound to nothing known', (target) => target.user({ cnf: {} })],
  ['a machine bound to a key', (target) => target.machine({ cnf: { jwk: {} } })],
  ['a logout token', (target) => target.user({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } })],
  ['a security event', (target) => target.user({ events: {} })],
  // what and whom it is for
  ['an ID token', (target) => target.idToken()],
  ['an ID token that is meant for us', (target) => target.idToken({ aud: AUDIENCE })],
  ['a client that is not listed', (target) => target.user({ [target.client]: 'another' })],
  ['no client', (target) => target.user({ [target.client]: undefined })],
  ['an empty client', (target) => target.user({ [target.client]: '' })],
  ['a list of clients', (target) => target.user({ [target.client]: ['web-app'] })],
  ['aud another resource', (target) => target.user({ aud: 'https://evil.test/mcp' })],
  ['aud a list without ours', (target) => target.user({ aud: ['https://evil.test/mcp'] })],
  ['aud that starts alike', (target) => target.user({ aud: 'https://shop.test/mcp.evil' })],
  ['sub missing', (target) => target.user({ sub: undefined })],
  ['sub empty', (target) => target.user({ sub: '' })],
  ['sub a number', (target) => target.user({ sub: 7 })],
  // the payload as a whole
  ['the payload an array', (target) => sign(target.issuer.key.privateKey, target.header, [target.claims])],
  ['the payload null', (target) => sign(target.issuer.key.privateKey, target.header, null)],
  ['the payload a string', (target) => sign(target.issuer.key.privateKey, target.header, '"x"')],
  ['the payload not JSON', (target) => sign(target.issuer.key.privateKey, target.header, '{"iss"')],
  ['the payload nested without end', (target) => sign(target.issuer.key.privateKey, target.header, '['.repeat(2000))],
  [
    'a claim given twice, bad at last',
    (target) =>
      sign(
        target.issuer.key.privateKey,
        target.header,
        `${JSON.stringify(target.claims).slice(0, -1)},"iss":"https://evil.test"}`
      )
  ],
  [
    'claims in __proto__',
    (target) => sign(target.issuer.key.privateKey, target.header, `{"__proto__":${JSON.stringify(target.claims)}}`)
  ]
]

/** Bad tokens of one provider. */
const robotsName: typeof attacks[number] = [
  "a person's token in a machine's name",
  (target) => target.user({ [target.client]: 'robot' })
]
const more: Partial<Record<Provider, typeof attacks>> = {
  cognito: [
    robotsName,
    ['a refresh token', (target) => target.user({ token_use: 'refresh' })],
    ['token_use missing', (target) => target.user({ token_use: undefined })],
    ['token_use an array', (target) => target.user({ token_use: ['access', 'id'] })],
    ...[
      undefined,
      '',
      '/api',
      'api',
      'x/apix',
      'x/api-read',
      'evil/api',
      'a/b/api',
      'owner/API',
      'shop/api ',
      ' shop/api',
      'x\tshop/api',
      'x\nshop/api',
      ['evil/api'],
      { a: 'shop/api' }
    ].map((scope): [string, (target: Target) => string] => [
      `a machine of scope ${JSON.stringify(scope)}`,
      (target) => target.machine({ scope })
    ]),
    ['a machine that names a person', (target) => target.machine({ username: 'ada' })],
    ['a machine whose subject is not itself', (target) => target.machine({ sub: 'other' })]
  ],
  rfc9068: [
    robotsName,
    ['no type', (target) => sign(target.issuer.key.privateKey, { alg: 'RS256', kid: 'key-1' }, target.claims)],
    ['the type JWT', (target) => target.user({}, { typ: 'JWT' })],
    ["a machine's token by the grant, at a client of people", (target) => target.user({ gty: 'client_credentials' })],
    ['a client as the subject, by another claim', (target) => target.user({ azp: 'other', sub: 'other' })]
  ],
  auth0: [
    robotsName,
    ['a second client that is not listed', (target) => target.user({ client_id: 'other' })],
    ['a machine by one of its grants', (target) => target.user({ gty: ['client-credentials'] })],
    ['a machine by the grant', (target) => target.user({ grant_type: 'client_credentials' })],
    ['a machine whose subject is a person', (target) => target.machine({ sub: 'auth0|1' })],
    ['a nonce', (target) => target.user({ nonce: 'n' })]
  ],
  entra: [
    robotsName,
    [
      'another tenant',
      (target) => target.user({ tid: OTHER_TENANT_ID, iss: target.iss.replace(TENANT_ID, OTHER_TENANT_ID) })
    ],
    ['the tenant of another issuer', (target) => target.user({ tid: OTHER_TENANT_ID })],
    ['an issuer of another tenant', (target) => target.user({ iss: target.iss.replace(TENANT_ID, OTHER_TENANT_ID) })],
    ['no tenant', (target) => target.user({ tid: undefined })],
    [
      'the placeholder as tenant',
      (target) => target.user({ tid: '{tenantid}', iss: target.iss.replace(TENANT_ID, '{tenantid}') })
    ],
    ['an unknown version', (target) => target.user({ ver: '3.0' })],
    ['an ID token of version 1.0, which names no client', (target) => target.user({ ver: '1.0', azp: undefined })],
    ['an app that says it is a person', (target) => target.machine({ idtyp: 'user' })],
    ['a person that says it is an app', (target) => target.user({ idtyp: 'app' })],
    ['no scopes and another id than its own', (target) => target.user({ scp: undefined })],
    ['no oid', (target) => target.user({ oid: undefined })]
  ],
  keycloak: [
    robotsName,
    ['a refresh token', (target) => target.user({ typ: 'Refresh' })],
    ['a logout token', (target) => target.user({ typ: 'Logout' })],
    [
      'a person who is named like a machine',
      (target) => target.user({ azp: 'robot', preferred_username: 'service-account-robot' })
    ],
    ['a machine that is named like a person', (target) => target.machine({ preferred_username: 'ada' })],
    [
      "another client's service account, whose token was exchanged at an app of people",
      (target) => target.user({ preferred_username: 'service-account-robot' })
    ]
  ],
  generic: [
    ['a logout token by its type', (target) => target.user({}, { typ: 'logout+jwt' })],
    ['a refresh token by its claim', (target) => target.user({ typ: 'Refresh' })],
    ['an ID token by its claim', (target) => target.user({ token_use: 'id' })],
    ...['id', 'ID', 'id-token', 'refresh_token', 'Refresh', 'logout']
      .map((typ): Attack => [`the claim typ ${typ}`, (target) => target.user({ typ })]),
    ...['type', 'token_type', 'tokenType', 'TokenType', 'tok_type']
      .map((
        name
      ): Attack => [`a refresh token by the claim ${name}`, (target) => target.user({ [name]: 'refresh-token' })]),
    ['a refresh token of Descope', (target) => target.user({ drn: 'DSR' })],
    // By the type that belongs into the header, or one of several.
    ...[...OTHER_TYPES, 'logout+JWT ', ['Bearer', 'ID'], ['logout+jwt']]
      .map((typ): Attack => [`the claim typ ${JSON.stringify(typ)}`, (target) => target.user({ typ })]),
    ['a refresh token by the type in its header', (target) => target.user({}, { typ: 'refresh' })],
    ['an ID token by a hash of the code', (target) => target.user({ c_hash: 'x' })],
    ["a machine's token by the grant, at a client of people", (target) => target.user({ gty: 'client-credentials' })],
    ["a machine's token by one of its grants", (target) => target.user({ gty: ['client_credentials'] })],
    [
      "Casdoor: a machine's token at an app of people",
      (target) => target.user({ sub: 'admin/web', type: 'application' })
    ],
    [
      'Casdoor: such a token that says little',
      (target) => target.user({ sub: 'admin/web', owner: 'admin', name: 'web' })
    ],
    ['Oracle: a client', (target) => target.user({ sub_type: 'client' })],
    ['Entra: an app', (target) => target.user({ idtyp: 'app' })],
    ['Keycloak: a service account', (target) => target.user({ preferred_username: 'service-account-web-app' })],
    ['authentik: a service account', (target) => target.user({ preferred_username: 'ak-web-client_credentials' })],
    ['a client as the subject, by another claim', (target) => target.user({ azp: 'other', sub: 'other' })],
    [
      'a machine without a subject that is not listed',
      (target) => target.machine({ sub: undefined, client_id: 'web-app' })
    ],
    ['a client that signs in nobody', (target) => target.user({ client_id: 'other' })],
    ['a second client that is not listed', (target) => target.user({ azp: 'other' })],
    ['a second client that is no string', (target) => target.user({ azp: ['web-app'] })]
  ],
  okta: [robotsName, ['a machine whose subject is not itself', (target) => target.machine({ sub: 'ada@shop.test' })]],
  zitadel: [
    ['no jti', (target) => target.user({ jti: undefined })],
    ['a client of people as the subject', (target) => target.user({ sub: 'web-app' })]
  ],
  authentik: [
    [
      'the client credentials of an app that people sign in with',
      (target) => target.user({ preferred_username: 'ak-web-app-client_credentials' })
    ],
    ['a client of people as the subject', (target) => target.user({ sub: 'web-app' })]
  ],
  supabase: [
    ['an app in the claim azp alone', (target) => target.user({ client_id: undefined, azp: 'other' })],
    ['an empty app', (target) => target.user({ client_id: '' })],
    [
      'an ID token that is meant for us and names no app',
      (target) => target.idToken({ aud: AUDIENCE, client_id: undefined })
    ]
  ]
}

/** At Supabase, a token that names no client is a session. */
const isAttack = (title: string, provider: Provider): boolean => provider !== 'supabase' || title !== 'no client'

for (const provider of Object.keys(SAMPLES) as Provider[]) {
  const { jwt, client, header, user, identities } = SAMPLES[provider]
  const start = async (t: Test, changes: Partial<JwtOptions> = {}) => {
    const issuer = await startIssuer()
    t.teardown(() => issuer.stop())
    const { app } = await build(t, { issuer, auth: { jwt: { ...jwt(issuer), ...changes } } })
    const tokens = tokensOf(provider, issuer)
    const target: Target = {
      issuer,
      ...tokens,
      client,
      header: { alg: 'RS256', kid: 'key-1', ...header },
      claims: { iss: tokens.iss, iat: NOW - 10, exp: NOW + 3600, ...user }
    }
    return { app, target }
  }

  t.test(`${provider}: every bad token is the same 401, and unknown kids cost one read of the keys`, async (t) => {
    const { app, target } = await start(t)
    // Routes do not differ by provider.
    const urls = provider === 'cognito' ? ['/orders', products()] : ['/orders']
    t.equal(
      (await app.inject({
        url: '/orders',
        headers: bearer(sign(target.issuer.key.privateKey, target.header, target.claims))
      })).statusCode,
      200
    )
    for (const [title, token] of [...attacks, ...more[provider] ?? []].filter(([title]) => isAttack(title, provider))) {
      for (const url of urls) {
        const response = await app.inject({ url, headers: bearer(token(target)) })
        t.equal(response.statusCode, 401, title)
        t.strictSame(response.json(), REFUSED, title)
        t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"', title)
      }
    }
    // One at startup, one for the first unknown kid.
    t.equal(target.issuer.fetches, 2)
  })

  t.test(`${provider}: what is good passes`, async (t) => {
    const { app, target: { user, machine, iss } } = await start(t)
    const as = async (token: string) => (await app.inject({ url: '/orders', headers: bearer(token) })).json()
    t.strictSame(await as(user()), { ...identities.user, issuer: iss })
    if (identities.machine !== null) t.strictSame(await as(machine()), { ...identities.machine, issuer: iss })
    const good = [
      user({ aud: AUDIENCE }),
      user({ aud: ['x', AUDIENCE] }),
      user({ exp: Math.floor(Date.now() / 1000) - 2 }),
      user({ iat: Math.floor(Date.now() / 1000) + 3 }),
      user({ exp: NOW + 3600.5, iat: NOW - 10.25 }),
      // 150 groups of a person at Entra.
      user({ wids: Array.from({ length: 150 }, () => TENANT_ID) })
    ]
    for (const token of good) t.match(await as(token), { kind: 'user' })
  })

  t.test(`${provider}: a machine that is not listed is none, and its token no person's`, async (t) => {
    const { app, target } = await start(t, { machineClients: [] })
    t.equal((await app.inject({ url: '/orders', headers: bearer(target.machine()) })).statusCode, 401)
  })
}

for (const provider of ['rfc9068', 'auth0', 'entra', 'keycloak', 'okta'] as const) {
  t.test(`${provider}: where any app of people is accepted, one that is listed for machines is none`, async (t) => {
    const issuer = await startIssuer()
    t.teardown(() => issuer.stop())
    const { jwt, client } = SAMPLES[provider]
    const { userClients: _, ...rest } = jwt(issuer)
    const { app } = await build(t, { issuer, auth: { jwt: rest } })
    const { user } = tokensOf(provider, issuer)
    const as = async (id: string) => {
      const headers = bearer(user({ [client]: id }))
      return (await app.inject({ url: '/orders', headers })).statusCode
    }
    t.strictSame([await as('another'), await as('robot')], [200, 401])
  })
}

t.test('a token of Cognito may have no aud, and any type of an access token', async (t) => {
  const { app, issuer } = await build(t)
  for (
    const token of [
      issuer.user(),
      issuer.machine(),
      issuer.user({}, { typ: 'JWT' }),
      issuer.user({}, { typ: 'at+jwt' }),
      issuer.user({ client_id: 'mcp-app' }),
      issuer.machine({ scope: 'other shop/api' })
    ]
  ) {
    t.equal((await app.inject({ url: '/orders', headers: bearer(token) })).statusCode, 200)
  }
})

t.test('other tokens must have an aud', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const { app } = await build(t, { issuer, auth: { jwt: SAMPLES.rfc9068.jwt(issuer) } })
  t.equal(
    (await app.inject({ url: '/orders', headers: bearer(tokensOf('rfc9068', issuer).user({ aud: undefined })) }))
      .statusCode,
    401
  )
})

t.test('a token that was good is refused when it has expired: verdicts are not kept', async (t) => {
  const { app, issuer } = await build(t, { jwt: { clockTolerance: 0 } })
  const token = issuer.user({ exp: NOW + 3600 })
  const statusAt = (seconds: number) =>
    at(seconds * 1000, async () => (await app.inject({ url: '/orders', headers: bearer(token) })).statusCode)
  t.equal(await statusAt(NOW + 3599), 200)
  t.equal(await statusAt(NOW + 3601), 401)
})

t.test('the reason is in the log, the token is not', async (t) => {
  const logged: string[] = []
  const { app, issuer } = await build(t, {
    server: { logger: { level: 'info', stream: { write: (line: string) => logged.push(line) } } }
  })
  const token = issuer.user({ token_use: 'id' })
  await app.inject({ url: '/orders', headers: bearer(token) })
  const text = logged.join('')
  t.match(text, '"reason":"token_use is not access"')
  t.notMatch(text, token.slice(0, 30))
})

t.test('a host may have @fastify/jwt for itself', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const { default: fastifyJwt } = await import('@fastify/jwt')
  const { app } = await build(t, {
    issuer,
    routes: (app) => {
      app.register(fastifyJwt, { secret: 'own', namespace: 'own' })
    }
  })
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
})
