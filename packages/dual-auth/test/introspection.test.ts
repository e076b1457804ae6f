import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import Provider from 'oidc-provider'
import t, { type Test } from 'tap'
import { introspection as askingAs, type IntrospectionOptions } from '../src/introspection/index.ts'
import type { JwtOptions } from '../src/index.ts'
import { mintKey } from '../src/keys/format.ts'
import { at, bearer, build, products, REFUSED } from './build.ts'
import { NOW, startIssuer, type Issuer } from './issuer.ts'

const AUDIENCE = 'https://api.example.com'
const UNAVAILABLE = {
  statusCode: 503,
  code: 'DUAL_AUTH_PROVIDER_UNAVAILABLE',
  error: 'Service Unavailable',
  message: 'Tokens cannot be verified at the moment'
}
const CLIENT = { clientId: 'api 1', clientSecret: 's:ecret' }
const PERSON = {
  active: true,
  client_id: 'web',
  sub: 'u1',
  username: 'ada',
  aud: AUDIENCE,
  scope: 'openid write',
  token_type: 'Bearer',
  exp: NOW + 3600
}

interface Setup {
  readonly introspection?: Partial<IntrospectionOptions>
  readonly jwt?: Partial<JwtOptions>
  /** Changes the issuer before the server starts. */
  readonly before?: (issuer: Issuer) => unknown
}

/** A server that asks an issuer about opaque tokens. */
async function asking (t: Test, { introspection, jwt, before }: Setup = {}) {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop().catch(() => {}))
  const { url } = issuer
  issuer.introspectionEndpoint = `${url}/introspect`
  await before?.(issuer)
  const lines: string[] = []
  const { app } = await build(t, {
    issuer,
    auth: {
      jwt: {
        provider: 'generic',
        issuer: url,
        audience: [AUDIENCE],
        userClients: ['web'],
        machineClients: ['robot'],
        introspection: askingAs({ ...CLIENT, ...introspection }),
        ...jwt
      }
    },
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
  const get = async (token: string) => {
    const response = await app.inject({ url: '/orders', headers: bearer(token) })
    return { status: response.statusCode, body: response.json(), headers: response.headers }
  }
  /** Why credentials were refused, and why the issuer could not say. */
  const reasons = () =>
    lines.splice(0).map((line) => JSON.parse(line)).flatMap(({ reason, msg, err }) =>
      reason ?? (msg === 'a token could not be introspected' ? err.message : [])
    )
  return { app, issuer, get, reasons, lines }
}

t.test('an opaque token of a person or a machine is good, and its issuer is asked once', async (t) => {
  const { issuer, get, app } = await asking(t)
  issuer.answers.set('none.of-these/1', { ...PERSON, groups: ['staff'], iss: issuer.url }).set('opaque+2==', {
    active: true,
    client_id: 'robot',
    aud: [AUDIENCE],
    scope: 'write',
    sub: null,
    exp: null
  })
  for (let i = 0; i < 2; i++) {
    t.strictSame((await get('none.of-these/1')).body, {
      kind: 'user',
      issuer: issuer.url,
      subject: 'u1',
      username: 'ada',
      groups: ['staff'],
      scopes: ['openid', 'write']
    })
    t.strictSame((await get('opaque+2==')).body, {
      kind: 'machine',
      issuer: issuer.url,
      clientId: 'robot',
      scopes: ['write']
    })
  }
  t.strictSame(issuer.questions.map(({ form }) => form.token), ['none.of-these/1', 'opaque+2=='])
  t.strictSame(issuer.questions[0], {
    authorization: `Basic ${Buffer.from('api+1:s%3Aecret').toString('base64')}`,
    form: { token: 'none.of-these/1', token_type_hint: 'access_token' }
  })

  const jwt = issuer.sign({ iss: issuer.url, sub: 'u1', client_id: 'web', aud: AUDIENCE, iat: NOW, exp: NOW + 3600 })
  t.equal((await get(jwt)).status, 200)
  for (
    const headers of [
      bearer(`${jwt}AAAA`),
      bearer(`${jwt}.a.b`),
      bearer(mintKey('shop_test').plaintext),
      bearer(mintKey('shop_live').plaintext),
      bearer('undefined'),
      { authorization: 'Basic opaque' }
    ]
  ) {
    t.equal((await app.inject({ url: products(), headers })).statusCode, 401)
  }
  t.equal(issuer.questions.length, 2, 'it is sent no JWT, no API key of any stage and no placeholder')
})

for (
  const [title, answer, jwt, identity] of [
    [
      'of RFC 7662 §2.2',
      {
        active: true,
        client_id: 'l238j323ds-23ij4',
        username: 'jdoe',
        scope: 'read write dolphin',
        sub: 'Z5O3upPC88QrAjx00dis',
        aud: 'https://protected.example.net/resource',
        exp: NOW + 3600,
        iat: NOW,
        extension_field: 'twenty-seven'
      },
      { audience: ['https://protected.example.net/resource'], userClients: ['l238j323ds-23ij4'] },
      {
        kind: 'user',
        subject: 'Z5O3upPC88QrAjx00dis',
        username: 'jdoe',
        groups: [],
        scopes: ['read', 'write', 'dolphin']
      }
    ],
    [
      'of Duende (docs.duendesoftware.com/identityserver/reference/endpoints/introspection)',
      {
        nbf: NOW,
        iat: NOW,
        exp: NOW + 3600,
        client_id: 'client',
        jti: '44FD2DE9E9F8E9F4DDD141CD7C244BE9',
        scope: 'api1',
        token_type: 'access_token',
        active: true
      },
      { insecureNoAudience: true, machineClients: ['client'] },
      { kind: 'machine', clientId: 'client', scopes: ['api1'] }
    ],
    [
      'of Hydra (ory.com/docs/hydra/reference/api, introspectOAuth2Token)',
      {
        active: true,
        aud: [AUDIENCE],
        client_id: 'web',
        exp: NOW + 3600,
        iat: NOW,
        nbf: NOW,
        sub: 'u1',
        scope: 'openid',
        token_type: 'Bearer',
        token_use: 'access_token',
        ext: {}
      },
      {},
      { kind: 'user', subject: 'u1', username: null, groups: [], scopes: ['openid'] }
    ],
    [
      'of Zitadel (zitadel.com/docs/apis/openidoauth/endpoints, introspection_endpoint)',
      {
        active: true,
        aud: [AUDIENCE, '257714027772314751'],
        client_id: 'web',
        exp: NOW + 3600,
        iat: NOW,
        nbf: NOW,
        jti: 'V2_257',
        scope: 'openid',
        sub: '257712562366383231',
        token_type: 'Bearer',
        username: 'ada',
        preferred_username: 'ada',
        'urn:zitadel:iam:org:project:roles': { staff: { 257: 'example.com' } }
      },
      { provider: 'zitadel' },
      { kind: 'user', subject: '257712562366383231', username: 'ada', groups: ['staff'], scopes: ['openid'] }
    ]
  ] as const
) {
  t.test(`the answer ${title}`, async (t) => {
    const { issuer, get } = await asking(t, { jwt })
    issuer.answers.set('opaque', { ...answer, iss: issuer.url })
    t.strictSame((await get('opaque')).body, { issuer: issuer.url, ...identity })
  })
}

t.test('oidc-provider: the opaque tokens of a machine and of a person, until it revokes them', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const machine = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] }
  const provider = new Provider(url, {
    clients: [
      { ...machine, client_id: CLIENT.clientId, client_secret: CLIENT.clientSecret },
      { ...machine, client_id: 'robot', client_secret: 'secret' },
      { client_id: 'web', token_endpoint_auth_method: 'none', redirect_uris: ['https://app.example.com/callback'] }
    ],
    scopes: ['openid', 'write'],
    features: {
      clientCredentials: { enabled: true },
      introspection: { enabled: true, allowedPolicy: () => true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'write', audience: AUDIENCE, accessTokenFormat: 'opaque' })
      }
    }
  })
  server.on('request', provider.callback())
  const { get } = await asking(t, { introspection: { cacheTime: 0 }, jwt: { issuer: url } })

  const granted = await fetch(`${url}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa('robot:secret')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', resource: AUDIENCE, scope: 'write' })
  })
  const { access_token: token } = await granted.json() as { access_token: string }
  t.strictSame((await get(token)).body, { kind: 'machine', issuer: url, clientId: 'robot', scopes: ['write'] })

  const client = (await provider.Client.find('web'))!
  const grant = new provider.Grant({ accountId: 'ada', clientId: 'web' })
  grant.addResourceScope(AUDIENCE, 'write')
  const of = { accountId: 'ada', client, grantId: await grant.save(), scope: 'write', gty: 'authorization_code' }
  const access = new provider.AccessToken(
    { ...of, aud: AUDIENCE } as ConstructorParameters<typeof provider.AccessToken>[0]
  )
  const opaque = await access.save()
  t.strictSame((await get(opaque)).body, {
    kind: 'user',
    issuer: url,
    subject: 'ada',
    username: null,
    groups: [],
    scopes: ['write']
  })
  t.equal(
    (await get(await new provider.RefreshToken(of as ConstructorParameters<typeof provider.RefreshToken>[0]).save()))
      .status,
    401,
    'a refresh token is active as well'
  )
  await access.destroy()
  t.equal((await get(opaque)).status, 401)
})

t.test('the endpoint is on the origin of the issuer, or the one that the host names', async (t) => {
  for (
    const [endpoint, message] of [
      [null, /names none$/],
      [
        'https://elsewhere.test/introspect',
        /names https:\/\/elsewhere\.test\/introspect, which is not on the origin of the issuer$/
      ]
    ] as const
  ) {
    const before = (issuer: Issuer) => {
      issuer.introspectionEndpoint = endpoint
    }
    await t.rejects(asking(t, { before }), { code: 'DUAL_AUTH_INVALID_OPTION', message })
  }
  const other = await startIssuer()
  t.teardown(() => other.stop())
  const { get } = await asking(t, {
    introspection: { endpoint: `${other.url}/introspect`, clientAuth: 'client_secret_post' },
    before: (issuer) => {
      issuer.introspectionEndpoint = null
    }
  })
  other.answers.set('opaque', PERSON)
  t.equal((await get('opaque')).status, 200)
  t.strictSame(other.questions, [{
    authorization: undefined,
    form: { token: 'opaque', token_type_hint: 'access_token', client_id: 'api 1', client_secret: 's:ecret' }
  }])
})

const REFUSED_ANSWERS: ReadonlyArray<readonly [title: string, answer: object, reason: string]> = [
  ['not active', { ...PERSON, active: false }, 'the issuer says that the token is not active'],
  ['for another API', { ...PERSON, aud: 'https://other.example.com' }, 'aud is another resource'],
  ['for no API in particular', { ...PERSON, aud: null }, 'aud is missing'],
  ['of another client', { ...PERSON, client_id: 'other' }, 'client is not a known app'],
  ['of no client', { ...PERSON, client_id: undefined }, 'client_id or azp is not a string'],
  [
    'of nobody, at an app of people',
    { ...PERSON, sub: undefined },
    'it is unclear whether a person or a machine holds it'
  ],
  ['of another issuer', { ...PERSON, iss: 'https://elsewhere.test' }, 'iss is another issuer'],
  ['a refresh token by its type', { ...PERSON, token_type: 'refresh_token' }, 'token_type is not Bearer'],
  ['a refresh token by its use', { ...PERSON, token_use: 'refresh_token' }, 'token_use is not access'],
  ['an ID token', { ...PERSON, nonce: 'n' }, 'nonce, at_hash or c_hash is present: it is an ID token'],
  ['a logout token', { ...PERSON, events: {} }, 'events is present: it is a logout token or another security event'],
  ['bound to a key', { ...PERSON, cnf: { jkt: 'x' } }, 'cnf is present: the token is bound to a key'],
  ['for a proof of possession', { ...PERSON, token_type: 'DPoP' }, 'token_type is not Bearer'],
  ['expired', { ...PERSON, exp: NOW - 60 }, 'exp has passed'],
  ['without a readable end', { ...PERSON, exp: 'soon' }, 'exp or iat is not a time'],
  ['not valid yet', { ...PERSON, nbf: NOW + 600 }, 'nbf is in the future, or not a time'],
  ['of the future', { ...PERSON, iat: NOW + 600 }, 'iat is in the future'],
  ['with scopes of another shape', { ...PERSON, scope: { write: true } }, 'scopes are not a list of scopes']
]
t.test('a token that the issuer calls anything else is 401, and is asked about again after ten seconds', async (t) => {
  const { issuer, get, reasons } = await asking(t)
  for (const [title, answer, reason] of REFUSED_ANSWERS) {
    const token = title.replaceAll(/\W/g, '_')
    issuer.answers.set(token, answer)
    const call = () => at(NOW * 1000, () => get(token))
    t.match(await call(), {
      status: 401,
      body: REFUSED,
      headers: { 'www-authenticate': 'Bearer error="invalid_token"' }
    }, title)
    t.equal((await call()).status, 401)
    t.strictSame(reasons(), [reason, reason])
  }
  t.equal(issuer.questions.length, REFUSED_ANSWERS.length)
  issuer.answers.set('expired', PERSON)
  t.equal((await at(NOW * 1000 + 9_999, () => get('expired'))).status, 401)
  t.equal((await at(NOW * 1000 + 10_000, () => get('expired'))).status, 200)
})

const ANSWERS_STRANGELY: ReadonlyArray<readonly [title: string, fault: RequestListener, reason: RegExp]> = [
  ['stops in the middle', (_request, response) => {
    response.write('{"active":true,')
    setImmediate(() => response.destroy())
  }, /cannot be read/],
  ['sends a page', (_request, response) => {
    response.setHeader('content-type', 'text/html').end('<h1>Sign in</h1>')
  }, /is not JSON$/],
  ['sends a string as active', (_request, response) => {
    response.end(JSON.stringify({ ...PERSON, active: 'true' }))
  }, /no active that is true or false$/],
  ['sends a number as active', (_request, response) => {
    response.end(JSON.stringify({ ...PERSON, active: 1 }))
  }, /no active that is true or false$/],
  ['says nothing of active', (_request, response) => {
    response.end(JSON.stringify({ ...PERSON, active: undefined }))
  }, /no active that is true or false$/],
  ['sends a list', (_request, response) => {
    response.end(JSON.stringify([PERSON]))
  }, /no active that is true or false$/],
  ['never ends', (_request, response) => {
    const timer = setInterval(() => response.write(' '.repeat(100_000)), 1)
    response.on('close', () => {
      clearInterval(timer)
    })
  }, /more than 524288 bytes$/],
  ['redirects', (_request, response) => {
    response.writeHead(307, { location: '/pool/elsewhere' }).end()
  }, /redirect/],
  ['rejects this client', (_request, response) => {
    response.writeHead(401).end('{"error":"invalid_client"}')
  }, /status 401$/],
  ['fails, and says active', (_request, response) => {
    response.writeHead(500).end(JSON.stringify(PERSON))
  }, /status 500$/],
  ['is asked too often', (_request, response) => {
    response.writeHead(429).end()
  }, /status 429$/]
]
t.test('an issuer that cannot say makes it 503, and the token works as soon as the issuer does', async (t) => {
  const { issuer, get, reasons, lines } = await asking(t)
  for (const [title, fault, reason] of ANSWERS_STRANGELY) {
    const token = title.replaceAll(/\W/g, '_')
    issuer.answers.set(token, PERSON)
    issuer.introspectionFault = fault
    t.match(await get(token), { status: 503, body: UNAVAILABLE, headers: { 'retry-after': '5' } }, title)
    t.notOk(
      lines.some((line) => line.includes('ecret') || line.includes(token)),
      'neither the secret nor the token is logged'
    )
    t.match(reasons(), [reason])
    issuer.introspectionFault = null
    t.equal((await get(token)).status, 200)
  }
})

t.test('an issuer that does not answer in time, or is down, makes it 503', async (t) => {
  const { issuer, get, reasons } = await asking(t, { introspection: { timeout: 100 } })
  issuer.introspectionFault = () => {}
  t.equal((await get('opaque')).status, 503)
  await issuer.stop()
  t.equal((await get('opaque')).status, 503)
  t.match(reasons(), [/aborted due to timeout/, /cannot be read/])
})

t.test('while the endpoint is not known, opaque tokens are 503', async (t) => {
  const { issuer, get, reasons } = await asking(t, {
    jwt: { jwksCooldown: 50, jwksTimeout: 500 },
    before: (issuer) => issuer.stop()
  })
  t.equal((await get('opaque')).status, 503)
  t.match(reasons(), ['the discovery document could not be read yet'])
  await issuer.start()
  issuer.answers.set('opaque', PERSON)
  while ((await get('opaque')).status !== 200) await wait(20)
})

t.test('a token that was revoked works for cacheTime, and never longer than it lives', async (t) => {
  const start = NOW * 1000
  for (
    const [introspection, exp, last] of [[{}, NOW + 3600, 60_000], [{ cacheTime: 300_000 }, NOW + 3600, 300_000], [
      { cacheTime: 300_000 },
      NOW + 90,
      90_000
    ], [{ cacheTime: 600_000 }, undefined, 600_000]] as const
  ) {
    const { issuer, get } = await asking(t, { introspection })
    issuer.answers.set('opaque', { ...PERSON, exp })
    t.equal((await at(start, () => get('opaque'))).status, 200)
    issuer.answers.delete('opaque')
    t.equal((await at(start + last - 1, () => get('opaque'))).status, 200)
    t.equal((await at(start + last, () => get('opaque'))).status, 401)
  }
  const { issuer, get } = await asking(t, { introspection: { cacheTime: 0 } })
  issuer.answers.set('opaque', PERSON)
  t.equal((await at(start, () => get('opaque'))).status, 200)
  issuer.answers.delete('opaque')
  t.equal((await at(start, () => get('opaque'))).status, 401, 'with cacheTime 0 each request asks')
})

t.test('requests with one token at once share one call, and its failure', async (t) => {
  const { issuer, get } = await asking(t)
  issuer.answers.set('opaque', PERSON)
  const statuses = async () =>
    new Set((await Promise.all(Array.from({ length: 50 }, () => get('opaque')))).map(({ status }) => status))
  issuer.introspectionFault = (_request, response) => {
    response.writeHead(500).end()
  }
  t.strictSame([...await statuses()], [503])
  issuer.introspectionFault = null
  t.strictSame([...await statuses()], [200])
  t.equal(issuer.questions.length, 2)
})

t.test('a flood of invented tokens: at most 128 calls at once, and who is known is let in', async (t) => {
  const { issuer, get } = await asking(t, { introspection: { timeout: 60_000 } })
  issuer.answers.set('opaque', PERSON)
  t.equal((await get('opaque')).status, 200)
  const waiting: Array<() => void> = []
  issuer.introspectionFault = (_request, response) => {
    waiting.push(() => response.end('{"active":false}'))
  }
  const flood = Promise.all(Array.from({ length: 300 }, (_, i) => get(`invented-${i}`)))
  t.equal((await get('opaque')).status, 200)
  while (waiting.length < 128) await wait(5)
  for (const answer of waiting) answer()
  const statuses = (await flood).map(({ status }) => status)
  t.strictSame([401, 503].map((wanted) => statuses.filter((status) => status === wanted).length), [128, 172])
})

t.test('the memory is bounded: a caller with many groups who was not seen for long is asked about again', async (t) => {
  const { issuer, get } = await asking(t)
  const groups = Array.from({ length: 4 }, (_, i) => String(i).repeat(120_000))
  const count = 20
  for (let i = 0; i < count; i++) {
    issuer.answers.set(`opaque-${i}`, { ...PERSON, groups })
    t.equal((await get(`opaque-${i}`)).status, 200)
  }
  await get(`opaque-${count - 1}`)
  t.equal(issuer.questions.length, count)
  await get('opaque-0')
  t.equal(issuer.questions.length, count + 1)
})

t.test('with jwts, a JWT is verified and then asked about: a lightweight token of Keycloak', async (t) => {
  const { issuer, get, reasons } = await asking(t, {
    introspection: { jwts: true, cacheTime: 0 },
    jwt: { provider: 'keycloak' }
  })
  const light = (claims: object) =>
    issuer.sign({ iss: issuer.url, jti: 'j1', typ: 'Bearer', azp: 'web', iat: NOW, exp: NOW + 3600, ...claims })
  const said = {
    active: true,
    iss: issuer.url,
    jti: 'j1',
    typ: 'Bearer',
    azp: 'web',
    client_id: 'web',
    sub: 'u1',
    aud: AUDIENCE,
    username: 'ada',
    preferred_username: 'ada',
    token_type: 'Bearer',
    realm_access: { roles: ['staff'] },
    scope: 'openid',
    iat: NOW,
    exp: NOW + 3600
  }
  const [person, machine] = [light({ sid: 's' }), light({ jti: 'j2', azp: 'robot' })]
  issuer.answers.set(person, { ...said, sid: 's' })
    .set(machine, {
      ...said,
      jti: 'j2',
      azp: 'robot',
      client_id: 'robot',
      clientHost: '10.0.0.7',
      username: 'service-account-robot',
      preferred_username: 'service-account-robot',
      sub: 'u2'
    })
  t.strictSame((await get(person)).body, {
    kind: 'user',
    issuer: issuer.url,
    subject: 'u1',
    username: 'ada',
    groups: ['staff'],
    scopes: ['openid']
  })
  t.strictSame((await get(machine)).body, {
    kind: 'machine',
    issuer: issuer.url,
    clientId: 'robot',
    scopes: ['openid']
  })
  const forged = `${person.slice(0, person.lastIndexOf('.'))}.${machine.split('.')[2]!}`
  t.equal((await get(forged)).status, 401)
  t.equal((await get(light({ exp: NOW - 60 }))).status, 401)
  t.equal(issuer.questions.length, 2, 'it is not asked about what is not its own')

  const bound = light({ cnf: { jkt: 'x' } })
  issuer.answers.set(bound, said)
  reasons()
  t.equal((await get(bound)).status, 401, 'the answer says nothing of it')
  t.strictSame(reasons(), ['cnf is present: the token is bound to a key'])
  issuer.answers.set(person, issuer.answers.get(machine))
  t.equal((await get(person)).status, 503)
  t.match(reasons(), [/is of another token$/])
  issuer.answers.delete(person)
  t.equal((await get(person)).status, 401)
  t.strictSame(reasons(), ['the issuer says that the token is not active'])
})
