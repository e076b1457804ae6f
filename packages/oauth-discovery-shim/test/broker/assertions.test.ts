import { randomUUID } from 'node:crypto'
import { createLocalJWKSet, exportJWK, jwtVerify } from 'jose'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { freePort } from '../../../../shared/free-port.ts'
import { rsaKeyPair } from '../../../../test/rsa-keys.ts'
import { brokerKeySet, memoryBrokerStore, type AssertionOptions, type BrokerOptions } from '../../src/broker/index.ts'
import { agent, corporate, jwtOf, type Corporate } from './corporate.ts'
import { base, brokerWorld, clock, register, signedIn, type World } from './world.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const own = `${base}/oauth`
const resource = `${base}/mcp`
const keys = [{ id: '2026-11', secret: 'a secret of keys, as long as it has to be' }]
const other = { id: 'other', secret: 'the secret of another client, long enough' }
const clients = [agent, other].map(({ id, secret }) => ({ id, secrets: [secret] }))
const scopes = ['openid', 'email', 'read']

async function open (
  t: Test,
  assertions: Partial<AssertionOptions> = {},
  more: Partial<BrokerOptions> = {}
): Promise<World & { readonly acme: Corporate }> {
  const acme = await corporate(t, own, resource)
  return {
    acme,
    ...await brokerWorld(t, {
      scopes,
      broker: { assertions: { issuers: [{ issuer: acme.issuer }], keys, clients, ...assertions }, ...more }
    })
  }
}

const basic = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

async function exchanged (
  { app }: Pick<World, 'app'>,
  form: Readonly<Record<string, string>> | string,
  authorization: string | undefined = basic(agent.id, agent.secret)
) {
  const payload = typeof form === 'string' ? form : new URLSearchParams({ grant_type: GRANT, ...form }).toString()
  const { statusCode, headers, ...response } = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { ...authorization !== '' && { authorization }, 'content-type': 'application/x-www-form-urlencoded' },
    payload
  })
  return { status: statusCode, headers, body: response.json() }
}

t.test('without the option there is no such grant, and nothing says that there could be', async (t) => {
  const world = await brokerWorld(t)
  t.match(await exchanged(world, { assertion: 'x' }), {
    status: 400,
    body: {
      error: 'unsupported_grant_type',
      error_description: 'grant_type must be authorization_code or refresh_token'
    }
  })
  t.equal((await world.app.inject('/oauth/jwks')).statusCode, 404)
  const without = (await world.app.inject('/.well-known/oauth-authorization-server/oauth')).json()
  t.notOk('authorization_grant_profiles_supported' in without)

  const { app } = await open(t)
  const {
    token_endpoint_auth_methods_supported: methods,
    grant_types_supported: grants,
    authorization_grant_profiles_supported: profiles,
    jwks_uri: uri,
    ...rest
  } = (await app.inject('/.well-known/oauth-authorization-server/oauth')).json()
  t.strictSame([profiles, grants, methods, uri], [
    ['urn:ietf:params:oauth:grant-profile:id-jag'],
    [...without.grant_types_supported, GRANT],
    [...without.token_endpoint_auth_methods_supported, 'client_secret_basic', 'client_secret_post'],
    `${own}/jwks`
  ])
  t.strictSame(
    Object.keys(rest).sort(),
    Object.keys(without).filter((name) =>
      !['token_endpoint_auth_methods_supported', 'grant_types_supported', 'jwks_uri'].includes(name)
    ).sort()
  )
  t.notMatch(JSON.stringify(rest), /acme/, "who is trusted is nobody's business")
})

t.test('an assertion becomes a short-lived token of this server, for this server alone', async (t) => {
  const world = await open(t)
  const { acme, app } = world
  const { status, headers, body } = await exchanged(world, {
    assertion: acme.assertion({ scope: 'email admin openid' }),
    scope: 'openid read',
    resource
  })
  t.equal(status, 200, JSON.stringify(body))
  t.equal(headers['cache-control'], 'no-store')
  const { access_token: token, ...answer } = body
  t.strictSame(
    answer,
    { token_type: 'Bearer', expires_in: 600, scope: 'openid', resource },
    'what the organization allows, the client wants and the server has; no refresh token'
  )

  const { body: published, headers: { 'cache-control': caching } } = await app.inject('/oauth/jwks')
  t.strictSame([JSON.parse(published), caching], [brokerKeySet(keys, `${base}/`), 'public, max-age=300'])
  t.notMatch(published, /"d":/, 'no private key')
  const { payload: { iat, exp, jti, ...claims }, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet(JSON.parse(published))
  )
  t.strictSame(protectedHeader, { typ: 'at+jwt', alg: 'EdDSA', kid: '2026-11' })
  t.strictSame(claims, {
    iss: own,
    aud: resource,
    sub: `${acme.issuer}#U019488227`,
    client_id: agent.id,
    scope: 'openid',
    preferred_username: 'ada@acme.example'
  })
  t.match(jti, /^[\w-]{36}$/)
  t.equal(exp! - iat!, 600)

  for (
    const [change, form, expected] of [
      [{ scope: undefined }, {}, { scope: '' }],
      [{ scope: undefined }, { scope: 'read' }, { scope: '' }],
      [{ scope: 'email' }, { scope: 'email read' }, { scope: 'email' }],
      [{ resource: `${resource}/` }, {}, { resource }],
      [{ resource: ['https://other.example', resource] }, {}, { resource }],
      [{ aud: [own] }, {}, {}],
      [{ sub: 'x'.repeat(255) }, {}, {}]
    ] as const
  ) {
    t.match(
      await exchanged(world, { assertion: acme.assertion(change), ...form }),
      { status: 200, body: expected },
      JSON.stringify(change)
    )
  }
  t.match(
    await exchanged(world, {
      assertion: acme.assertion({}, { key: acme.keys.ec.privateKey as never, header: { alg: 'ES256', kid: 'ec' } })
    }),
    { status: 200 }
  )
  t.match(
    await exchanged(world, { assertion: acme.assertion(), client_id: agent.id, client_secret: agent.secret }, ''),
    { status: 200 },
    'the secret in the form'
  )
  t.match(await exchanged(world, { assertion: acme.assertion() }, basic(agent.id, encodeURIComponent(agent.secret))), {
    status: 200
  }, 'a secret that is encoded as the standard says')
})

t.test('a person of the identity provider is the same one as after a sign-in, and nobody is a machine', async (t) => {
  const acme = await corporate(t, own, resource)
  const { app } = await brokerWorld(t, {
    issuer: acme.issuer,
    scopes,
    broker: {
      assertions: {
        issuers: [{ issuer: acme.issuer }, { issuer: 'https://globex.example', jwksUri: 'http://127.0.0.1:1/keys' }],
        keys,
        clients
      }
    }
  })
  const { body } = await exchanged({ app }, { assertion: acme.assertion() })
  t.match(JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString()), {
    sub: 'U019488227',
    preferred_username: undefined
  })
  t.match(await exchanged({ app }, { assertion: acme.assertion({ sub: agent.id }) }), {
    status: 400,
    body: { error: 'invalid_grant', error_description: /its sub is the client/ }
  })
  t.match(await exchanged({ app }, { assertion: acme.assertion({ sub: 'https://globex.example#kim' }) }), {
    status: 400,
    body: { error: 'invalid_grant', error_description: /its sub is that of a person of another issuer/ }
  })
})

const foreign = rsaKeyPair()
const now = (): number => Math.floor(Date.now() / 1000)

/** What is wrong with a request, what is changed in a good one, and what it gets. */
interface Hostile {
  readonly claims?: object
  readonly header?: Readonly<Record<string, unknown>>
  /** The assertion instead of one with the changed claims. */
  readonly text?: (acme: Corporate, jti: string, world: World) => string | Promise<string>
  readonly form?: Readonly<Record<string, string>>
  readonly authorization?: string
  readonly gets?: readonly [status: number, error: string]
}

const unsigned = ({ assertion }: Corporate, jti: string, alg: string): string => {
  const [, payload = ''] = assertion({ jti }).split('.')
  return `${Buffer.from(JSON.stringify({ typ: 'oauth-id-jag+jwt', alg })).toString('base64url')}.${payload}.`
}
const target = [400, 'invalid_target'] as const
const scope = [400, 'invalid_scope'] as const
const request = [400, 'invalid_request'] as const
const client = [401, 'invalid_client'] as const

const hostile: Readonly<Record<string, Hostile>> = {
  'typ of any JWT': { header: { typ: 'JWT' } },
  'typ of an access token': { header: { typ: 'at+jwt' } },
  'typ with more': { header: { typ: 'oauth-id-jag+jwt;x' } },
  'no typ': { header: { typ: undefined } },
  'typ is a number': { header: { typ: 1 } },
  'alg none': { text: (acme, jti) => unsigned(acme, jti, 'none') },
  'alg NONE': { text: (acme, jti) => unsigned(acme, jti, 'NONE') },
  'an empty signature': { text: (acme, jti) => unsigned(acme, jti, 'RS256') },
  'HS256 with the public key in PEM': {
    text: (acme, jti) =>
      acme.assertion({ jti }, {
        header: { alg: 'HS256' },
        hmac: (acme.keys.rsa.publicKey as never as typeof foreign.publicKey).export({ type: 'spki', format: 'pem' })
          .toString()
      })
  },
  'HS256 with the modulus': {
    text: (acme, jti) =>
      acme.assertion({ jti }, {
        header: { alg: 'HS256' },
        hmac: String((acme.keys.rsa.publicKey as never as typeof foreign.publicKey).export({ format: 'jwk' }).n)
      })
  },
  'an algorithm that is not allowed': { header: { alg: 'RS384' } },
  'a foreign key': { text: (acme, jti) => acme.assertion({ jti }, { key: foreign.privateKey }) },
  'a foreign key, in the header': {
    text: async (acme, jti) =>
      acme.assertion({ jti }, { key: foreign.privateKey, header: { jwk: await exportJWK(foreign.publicKey) } })
  },
  'a foreign key, at an address': {
    text: (acme, jti) =>
      acme.assertion({ jti }, {
        key: foreign.privateKey,
        header: { jku: 'http://127.0.0.1:1/keys', x5u: 'http://127.0.0.1:1/cert' }
      })
  },
  'kid is unknown': { header: { kid: 'unknown' } },
  'kid is a path': { header: { kid: '../../../../dev/null' } },
  'kid is SQL': { header: { kid: "rsa' or '1'='1" } },
  'kid is a number': { header: { kid: 1 } },
  'kid of a key of another type': { header: { kid: 'ec' } },
  'a critical extension': { header: { crit: ['exp2'], exp2: 1 } },
  'an unencoded payload': { header: { crit: ['b64'], b64: false } },
  'a changed payload': {
    text: ({ assertion }, jti) =>
      [assertion().split('.')[0], assertion({ jti, sub: 'admin' }).split('.')[1], assertion().split('.')[2]].join('.')
  },
  'a signature that is cut': { text: ({ assertion }, jti) => assertion({ jti }).slice(0, -8) },
  encrypted: {
    text: () =>
      `${Buffer.from('{"typ":"oauth-id-jag+jwt","alg":"RSA-OAEP","enc":"A256GCM"}').toString('base64url')}.a.b.c.d`
  },
  nested: {
    text: (acme, jti) =>
      jwtOf(acme.assertion({ jti }), { typ: 'oauth-id-jag+jwt', cty: 'JWT', alg: 'RS256', kid: 'rsa' }, {
        key: acme.keys.rsa.privateKey as never
      })
  },
  'a list as the payload': {
    text: (acme) =>
      jwtOf([], { typ: 'oauth-id-jag+jwt', alg: 'RS256', kid: 'rsa' }, { key: acme.keys.rsa.privateKey as never })
  },
  'no JWT': { text: () => 'x' },
  'an assertion of 40,000 characters': { claims: { x: 'x'.repeat(30_000) }, gets: request },
  'no assertion': { text: () => '', gets: request },
  'an ID token': { text: (acme) => acme.idToken('U019488227') },
  'an access token of this server': {
    text: async (acme, _jti, world) => (await exchanged(world, { assertion: acme.assertion() })).body.access_token
  },
  'another issuer': { claims: { iss: 'https://evil.example' } },
  'no issuer': { claims: { iss: undefined } },
  'this server as the issuer': { claims: { iss: own } },
  'a list of issuers': { text: (acme, jti) => acme.assertion({ jti, iss: [acme.issuer] }) },
  'an issuer with a slash': { text: (acme, jti) => acme.assertion({ jti, iss: `${acme.issuer}/` }) },
  'another audience': { claims: { aud: 'https://other.example/oauth' } },
  'no audience': { claims: { aud: undefined } },
  'the audience is the origin': { claims: { aud: base } },
  'the audience is the resource': { claims: { aud: resource } },
  'the audience is the token endpoint': { claims: { aud: `${own}/token` } },
  'an audience with a slash': { claims: { aud: `${own}/` } },
  'two audiences': { claims: { aud: [own, 'https://other.example'] } },
  'the same audience twice': { claims: { aud: [own, own] } },
  'no audience in the list': { claims: { aud: [] } },
  'a list in a list of audiences': { claims: { aud: [[own]] } },
  'of another client': { claims: { client_id: other.id } },
  'of another client, which authenticates': { authorization: basic(other.id, other.secret) },
  'of no client': { claims: { client_id: undefined } },
  'of a list of clients': { claims: { client_id: [agent.id] } },
  'another resource': { claims: { resource: 'https://other.example/mcp' }, gets: target },
  'no resource': { claims: { resource: undefined }, gets: target },
  'the resource is the origin': { claims: { resource: base }, gets: target },
  'a resource that starts alike': { claims: { resource: `${resource}.evil.example` }, gets: target },
  'a resource that leads elsewhere': { claims: { resource: `${resource}/../admin` }, gets: target },
  'an object as the resource': { claims: { resource: { [resource]: true } }, gets: target },
  'a request for another resource': { form: { resource: 'https://other.example/mcp' }, gets: target },
  'no sub': { claims: { sub: undefined } },
  'an empty sub': { claims: { sub: '' } },
  'sub is a space': { claims: { sub: ' ' } },
  'sub is a number': { claims: { sub: 1 } },
  'sub is a list': { claims: { sub: ['U019488227'] } },
  'sub of 256 characters': { claims: { sub: 'x'.repeat(256) } },
  'sub with a null character': { claims: { sub: 'U019488227\0' } },
  'sub with look-alike letters': { claims: { sub: '\u0430da' } },
  expired: { claims: { iat: now() - 400, exp: now() - 100 } },
  'no expiry': { claims: { exp: undefined } },
  'expiry is text': { claims: { exp: String(now() + 300) } },
  'an endless expiry': {
    text: (acme, jti) =>
      jwtOf(
        JSON.stringify({ iss: acme.issuer, sub: 'x', aud: own, resource, client_id: agent.id, jti, iat: now(), exp: 0 })
          .replace('"exp":0', '"exp":1e400'),
        { typ: 'oauth-id-jag+jwt', alg: 'RS256', kid: 'rsa' },
        { key: acme.keys.rsa.privateKey as never }
      )
  },
  'good for more than an hour': { claims: { exp: now() + 3700 } },
  'issued long ago, for long': { claims: { iat: now() - 7200, exp: now() + 300 } },
  'issued in the future': { claims: { iat: now() + 600, exp: now() + 900 } },
  'not valid yet': { claims: { nbf: now() + 600 } },
  'no iat': { claims: { iat: undefined } },
  'iat is text': { claims: { iat: String(now()) } },
  'no jti': { claims: { jti: undefined } },
  'an empty jti': { claims: { jti: '' } },
  'jti is a number': { claims: { jti: 1 } },
  'scopes as a list': { claims: { scope: ['openid'] } },
  'only scopes that are unknown here': { claims: { scope: 'admin root' }, gets: scope },
  'a request for scopes that the organization did not allow': { form: { scope: 'read' }, gets: scope },
  'bound to a key': { claims: { cnf: { jkt: '0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I' } } },
  'of an issuer with several tenants': { claims: { tenant: 'acme' } },
  'a client that does not authenticate': { form: { client_id: agent.id }, authorization: '', gets: client },
  'no client': { authorization: '', gets: client },
  'a wrong secret': { authorization: basic(agent.id, other.secret), gets: client },
  'an empty secret': { authorization: basic(agent.id, ''), gets: client },
  'an unknown client': { authorization: basic('unknown', agent.secret), gets: client },
  'a secret that begins alike': { authorization: basic(agent.id, agent.secret.slice(0, -1)), gets: client },
  'another scheme': { authorization: `Bearer ${agent.secret}`, gets: client },
  'no base64': { authorization: 'Basic !!!', gets: client },
  'two clients': { form: { client_id: other.id }, gets: client },
  'two ways to authenticate': { form: { client_id: agent.id, client_secret: agent.secret }, gets: request },
  'a client assertion of nobody': {
    form: {
      client_assertion: 'x.y.z',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_id: agent.id
    },
    authorization: '',
    gets: [400, 'invalid_client']
  }
}

t.test(`${Object.keys(hostile).length} requests that get no token, and use up nothing`, async (t) => {
  const world = await open(t)
  const { acme } = world
  for (
    const [
      name,
      {
        claims = {},
        header = {},
        text,
        form = {},
        authorization = basic(agent.id, agent.secret),
        gets: [status, error] = [400, 'invalid_grant']
      }
    ] of Object.entries(hostile)
  ) {
    const jti = randomUUID()
    const assertion = text === undefined ? acme.assertion({ jti, ...claims }, { header }) : await text(acme, jti, world)
    const { headers, ...answer } = await exchanged(world, { assertion, ...form }, authorization)
    t.match(answer, {
      status,
      body: { error, error_description: /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, access_token: undefined }
    }, name)
    t.equal(
      headers['www-authenticate'],
      status === 401 && authorization !== '' ? 'Basic realm="oauth"' : undefined,
      name
    )
    t.equal(
      (await exchanged(world, { assertion: acme.assertion({ jti }) })).status,
      200,
      `${name}: the good one still works`
    )
  }
  const { accessToken } = await signedIn(world)
  t.match(
    (await exchanged(world, { assertion: accessToken })).body,
    { error: 'invalid_grant' },
    'a token of the identity provider'
  )
  t.match(await exchanged(world, { assertion: acme.assertion(), client_id: await register(world.app) }, ''), {
    status: 401,
    body: { error: 'invalid_client' }
  }, 'a client that registered itself')
  t.match(
    await exchanged(
      world,
      `grant_type=${encodeURIComponent(GRANT)}&assertion=${acme.assertion()}&assertion=${acme.assertion()}`
    ),
    { status: 400, body: { error: 'invalid_request' } },
    'two assertions'
  )
})

t.test('an assertion works once, on whichever replica, and no longer than it says', async (t) => {
  const at = clock(t)
  const store = memoryBrokerStore()
  const world = await open(t, {}, { store })
  const { acme } = world
  const replica = await brokerWorld(t, {
    scopes,
    broker: { store, assertions: { issuers: [{ issuer: acme.issuer, jwksUri: `${acme.issuer}/keys` }], keys, clients } }
  })
  const assertion = acme.assertion()
  const both = await Promise.all([exchanged(world, { assertion }), exchanged(replica, { assertion })])
  t.strictSame(both.map(({ status }) => status).sort(), [200, 400])
  const late = acme.assertion()
  at(329_000)
  t.match(await exchanged(replica, { assertion }), {
    status: 400,
    body: { error: 'invalid_grant', error_description: 'The assertion was refused: it was used before' }
  }, 'as long as clocks may differ')
  t.match(await exchanged(world, { assertion: late }), { status: 200 })
  at(330_000)
  t.match(await exchanged(world, { assertion: late }), {
    status: 400,
    body: { error_description: 'The assertion was refused: it has expired' }
  })
})

t.test('while the keys of an issuer cannot be read, its assertions are neither refused nor used up', async (t) => {
  const acme = await corporate(t, own, resource)
  acme.isUp = false
  const lines: string[] = []
  const world = await brokerWorld(t, {
    scopes,
    refreshInterval: 50,
    server: { logger: { stream: { write: (line: string) => lines.push(line) } } },
    broker: { assertions: { issuers: [{ issuer: acme.issuer }], keys, clients } }
  })
  const assertion = acme.assertion()
  const unread = await exchanged(world, { assertion })
  t.match(unread, { status: 503, headers: { 'retry-after': '5' }, body: { error: 'temporarily_unavailable' } })
  t.match(lines.join(''), /the identity provider could not be read/)
  const named = await brokerWorld(t, {
    scopes,
    broker: { assertions: { issuers: [{ issuer: acme.issuer, jwksUri: `${acme.issuer}/keys` }], keys, clients } }
  })
  t.match(await exchanged(named, { assertion }), { status: 503, body: { error: 'temporarily_unavailable' } })
  acme.isUp = true
  let answer = await exchanged(world, { assertion })
  while (answer.status === 503) answer = await exchanged(world, { assertion })
  t.equal(answer.status, 200)
})

t.test('keys rotate: the newest signs, all are published', async (t) => {
  const rotated = [{ id: '2027-01', secret: 'the next secret, also as long as it has to be' }, ...keys]
  const [old, next] = [await open(t), await open(t, { keys: rotated })]
  const [before, after] = [
    await exchanged(old, { assertion: old.acme.assertion() }),
    await exchanged(next, { assertion: next.acme.assertion() })
  ].map(({ body }) => body.access_token)
  const published = createLocalJWKSet((await next.app.inject('/oauth/jwks')).json())
  t.equal((await jwtVerify(before, published)).protectedHeader.kid, '2026-11')
  t.equal((await jwtVerify(after, published)).protectedHeader.kid, '2027-01')
  await t.rejects(jwtVerify(after, createLocalJWKSet(brokerKeySet(keys, base) as never)), {
    code: 'ERR_JWKS_NO_MATCHING_KEY'
  })
  t.not(
    brokerKeySet(keys, base).keys[0]!['x'],
    brokerKeySet(keys, 'https://other.example').keys[0]!['x'],
    'servers that share a secret have different keys'
  )
})

t.test('the program of the page about it lets in a person of the organization, and nobody else', async (t) => {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const acme = await corporate(t, `${url}/oauth`, `${url}/mcp`)
  const program = fileURLToPath(new URL('../../../../examples/quickstart/enterprise.ts', import.meta.url))
  const secret = 'long enough for the secrets of a test'
  const child = spawn(process.execPath, [...process.execArgv, program], {
    env: {
      ...process.env,
      PORT: String(port),
      IDP_ISSUER: acme.issuer,
      IDP_MCP_CLIENT_ID: 'mcp',
      ORGANIZATION: acme.issuer,
      AGENT_SECRET: agent.secret,
      BROKER_SECRET: secret,
      KEY_SECRET: secret,
      PEPPER: secret
    },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  // Warnings would come first, but for the one about the store.
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  t.match((await lines.next()).value, /shim: store is not set/)
  t.equal((await lines.next()).value, `listening at ${url}`)

  const post = async (authorization: string) =>
    await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: '{"id":1}'
    })
  const answer = await fetch(`${url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: basic(agent.id, agent.secret) },
    body: new URLSearchParams({ grant_type: GRANT, assertion: acme.assertion() })
  })
  const { access_token: token } = await answer.json() as { access_token: string }
  t.match(await (await post(`Bearer ${token}`)).json(), {
    result: { identity: { kind: 'user', issuer: `${url}/oauth`, subject: 'U019488227', scopes: ['openid', 'email'] } }
  })
  t.equal((await post(`Bearer ${acme.assertion()}`)).status, 401, 'an assertion is no access token')
  const machine = jwtOf(
    { iss: `${url}/oauth`, sub: agent.id, client_id: agent.id, aud: `${url}/mcp`, iat: now(), exp: now() + 60 },
    { typ: 'at+jwt', alg: 'RS256', kid: 'rsa' },
    { key: acme.keys.rsa.privateKey as never }
  )
  t.equal((await post(`Bearer ${machine}`)).status, 401, 'the organization issues no tokens')
})
