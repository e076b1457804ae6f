import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { NOW, startIssuer, type Issuer } from '../../../packages/dual-auth/test/issuer.ts'
import { acceptedTokens, introspectionOptions } from '../src/auth.ts'
import { run } from '../src/commands/run.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { bearer, build, createShop, openTestDatabase } from './build.ts'
import { joined } from '../../../test/joined.ts'

const database = await openTestDatabase(t)
const base = 'http://localhost:8080'
const given = {
  PUBLIC_BASE_URL: base,
  API_KEY_PEPPERS: `test:${'p'.repeat(32)}`,
  PAY_KEY_SECRETS: `test:${'k'.repeat(32)}`,
  IDP_MCP_CLIENT_ID: 'web'
}
const [HOME, OTHER, STRANGE] = [
  '72f988bf-86f1-41af-91ab-2d7cd011db47',
  '6f2c1d1e-0d7a-4c55-8a43-3a1f6f0b1c02',
  '0e4b9a77-52b1-4f0e-9d3c-9f3f2a7c8d11'
]
const times = { iat: NOW - 10, exp: NOW + 3600 }

async function issuer (t: Test): Promise<Issuer> {
  const started = await startIssuer()
  t.teardown(async () => await started.stop())
  return started
}

/** A server with these settings, its log, and how it answers GET /me. */
async function open (t: Test, settings: object) {
  const lines: string[] = []
  const app = await build(t, database, { settings: {} } as never, {
    settings: { ...given, ...settings },
    logger: {
      level: 'trace',
      stream: {
        write: (line: string) => {
          lines.push(line)
        }
      }
    } as never
  })
  const me = async (token: string): Promise<unknown> => {
    const { statusCode, body } = await app.inject({ url: '/me', headers: bearer(token) })
    return statusCode === 200 ? JSON.parse(body).subject : statusCode
  }
  return { app, me, lines }
}

t.test('several tenants of Entra: each has its own people, and nobody of another tenant gets in', async (t) => {
  const entra = await issuer(t)
  const shared = `${entra.url}/{tenantid}/v2.0`
  entra.named = shared
  const { me, app } = await open(t, {
    IDP_ISSUER: shared,
    IDP_PROVIDER: 'entra',
    IDP_TENANTS: `${HOME},${OTHER}`,
    IDP_AUDIENCE: 'api',
    CONSOLE_ENABLED: true,
    IDP_CONSOLE_CLIENT_ID: 'console'
  })
  const of = (tid: string, more: object = {}): string =>
    entra.sign({
      iss: shared.replace('{tenantid}', tid),
      tid,
      oid: 'o1',
      sub: 's',
      aud: 'api',
      azp: 'web',
      scp: 'access',
      ver: '2.0',
      ...times,
      ...more
    })
  for (const tid of [HOME, OTHER]) {
    t.equal(await me(of(tid)), `${entra.url}/${tid}/v2.0#o1`, 'two people, though the id is the same')
  }
  for (
    const [title, token] of [
      ['of a tenant that is not listed', of(STRANGE)],
      ['with the issuer of one tenant and the id of another', of(HOME, { tid: OTHER })],
      ['with the issuer of a listed tenant and an id that is not listed', of(HOME, { tid: STRANGE })],
      ['with the placeholder itself', of(HOME, { iss: shared })]
    ] as const
  ) t.equal(await me(token), 401, title)
  const machine = (tid: string): string => of(tid, { oid: 'j1', sub: 'j1', azp: 'job', idtyp: 'app', scp: undefined })
  const { app: limited } = await open(t, {
    IDP_ISSUER: shared,
    IDP_PROVIDER: 'entra',
    IDP_TENANTS: `${HOME},${OTHER}`,
    IDP_AUDIENCE: 'api',
    IDP_M2M_CLIENT_IDS: 'job',
    RATE_LIMIT_MAX: 1,
    RATE_LIMIT_WINDOW: 3_600_000
  })
  const tags = `/shops/${await createShop(database, 'tenants')}/tags/`
  const status = async (url: string, token: string): Promise<number> =>
    (await limited.inject({ url, headers: bearer(token) })).statusCode
  t.strictSame([await status('/me', of(HOME)), await status('/me', of(OTHER)), await status('/me', of(HOME))], [
    200,
    200,
    429
  ], 'nobody uses up the calls of somebody in another tenant')
  t.strictSame(
    [await status(tags, machine(HOME)), await status(tags, machine(OTHER)), await status(tags, machine(HOME))],
    [200, 200, 429],
    'nor does a machine'
  )
  const { statusCode } = await app.inject({
    method: 'POST',
    url: tags,
    headers: bearer(machine(OTHER)),
    payload: { name: 'New', slug: 'new' }
  })
  t.strictSame(
    [
      statusCode,
      (await database.knex('history').where({ record_kind: 'tag' })).map(({ actor_id: id }) => id)
    ],
    [201, [`${entra.url}/${OTHER}/v2.0#job`]],
    'and the history says of which tenant it is'
  )
  const [, page = ''] = /id="settings"[^>]*>(.*?)<\/script>/s.exec((await app.inject('/console')).body) ?? []
  t.equal(JSON.parse(page).sign_in.issuer, `${entra.url}/organizations/v2.0`)
})

t.test('two issuers of one pool: the same people, and neither signs for the other', async (t) => {
  const [first, second] = [await issuer(t), await issuer(t)]
  const { me } = await open(t, { IDP_ISSUER: first.url, IDP_SECOND_ISSUER: second.url })
  t.strictSame([
    await me(first.user({ client_id: 'web', sub: 'kim' })),
    await me(second.user({ client_id: 'web', sub: 'kim' }))
  ], ['kim', 'kim'])
  t.equal((await database.knex('users').where({ subject: 'kim' })).length, 1)
  t.strictSame([
    await me(first.user({ client_id: 'web', iss: second.url })),
    await me(second.user({ client_id: 'web', iss: first.url }))
  ], [401, 401])
  t.equal(await me(second.user({ client_id: 'another' })), 401, 'the clients are the same')
})

t.test('a person of the identity provider cannot be named as one whose organization vouches for them', async (t) => {
  const home = await issuer(t)
  const vouched = 'https://acme.example#kim'
  const { me } = await open(t, {
    IDP_ISSUER: home.url,
    OAUTH_BROKER: true,
    OAUTH_BROKER_SECRETS: `a:${'b'.repeat(32)}`,
    OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example',
    OAUTH_BROKER_ASSERTION_KEYS: `a:${'a'.repeat(32)}`
  })
  t.strictSame([
    await me(home.user({ client_id: 'web', sub: vouched })),
    await me(home.user({ client_id: 'web', sub: 'kim#1' }))
  ], [`${home.url}#${encodeURIComponent(vouched)}`, 'kim#1'])
})

t.test('a provider with other algorithms and claims is set up by settings', async (t) => {
  const provider = await issuer(t)
  const pairs = await Promise.all(
    ['ES256', 'PS256', 'EdDSA', 'RS256'].map(async (alg) => ({ alg, ...await generateKeyPair(alg) }))
  )
  provider.keys = await Promise.all(
    pairs.map(async ({ alg, publicKey }) => ({ ...await exportJWK(publicKey), kid: alg, alg }))
  )
  const claims = {
    iss: provider.url,
    aud: base,
    applicationId: 'web',
    id: '7',
    full_name: 'Ada',
    sub: 'ada@example.com',
    ...times
  }
  const { app, me } = await open(t, {
    IDP_ISSUER: provider.url,
    IDP_PROVIDER: 'generic',
    IDP_M2M_CLIENT_IDS: 'none',
    IDP_ALGORITHMS: 'ES256,PS256,EdDSA',
    IDP_CLIENT_CLAIM: 'applicationId',
    IDP_SUBJECT_CLAIM: 'id',
    IDP_USERNAME_CLAIM: 'full_name'
  })
  const answers = await Promise.all(
    pairs.map(async ({ alg, privateKey }) =>
      await me(await new SignJWT(claims).setProtectedHeader({ alg, kid: alg }).sign(privateKey))
    )
  )
  t.strictSame(answers, ['7', '7', '7', 401], 'RS256 is not among them')
  t.match(await database.knex('users').where({ subject: '7' }).first(), { name: 'Ada' })
  const another = await new SignJWT({ ...claims, applicationId: 'other' }).setProtectedHeader({
    alg: 'ES256',
    kid: 'ES256'
  }).sign(pairs[0]!.privateKey)
  t.equal(await me(another), 401, 'of another client')
  t.strictSame(
    await app.inject('/readyz').then((response) =>
      response.json().checks?.identity_provider ?? response.json().identity_provider
    ),
    'ok'
  )
})

t.test('opaque tokens: asked once, while they live, and the secret is in no line of the log', async (t) => {
  const provider = await issuer(t)
  provider.introspectionEndpoint = `${provider.url}/introspect`
  const person = { active: true, client_id: 'web', sub: 'ada', aud: base }
  provider.answers.set('opaque', { ...person, exp: Math.floor(Date.now() / 1000) + 300 }).set('other', {
    ...person,
    aud: 'elsewhere'
  }).set('foreign', { ...person, iss: 'https://elsewhere.example' })
  const settings = {
    IDP_ISSUER: provider.url,
    IDP_PROVIDER: 'generic',
    IDP_M2M_CLIENT_IDS: 'none',
    IDP_INTROSPECTION_CLIENT_ID: 'shop',
    IDP_INTROSPECTION_CLIENT_SECRET: 'hidden',
    IDP_INTROSPECTION_CACHE_TIME: '600000'
  }
  const { me, lines } = await open(t, settings)
  t.strictSame([await me('opaque'), await me('opaque'), await me('other'), await me('foreign')], [
    'ada',
    'ada',
    401,
    401
  ])
  t.strictSame(
    provider.questions.map(({ form: { token }, authorization }) => [token, authorization]),
    ['opaque', 'other', 'foreign'].map((token) => [token, `Basic ${btoa('shop:hidden')}`])
  )
  provider.answers.set('opaque', { active: false })
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  Date.now = () => now() + 306_000
  t.equal(await me('opaque'), 401, 'it has expired, whatever is remembered')
  Date.now = now
  provider.introspectionFault = (_request, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/' }).end()
  }
  t.equal(await me('another'), 503, 'a redirect is not followed')
  t.notMatch(lines.join(''), /hidden|aGlkZGVu|c2hvcDpoaWRkZW4/)

  const environment = {
    ...given,
    ...settings,
    DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
    IDP_ISSUER: 'https://idp.example'
  }
  for (
    const [more, asked] of [
      [
        {},
        {
          clientId: 'shop',
          clientSecret: 'hidden',
          clientAuth: 'client_secret_basic',
          jwts: false,
          cacheTime: 600_000
        }
      ],
      [{
        IDP_INTROSPECTION_CLIENT_AUTH: 'client_secret_post',
        IDP_INTROSPECTION_JWTS: 'true',
        IDP_INTROSPECTION_ENDPOINT: 'https://idp.example/ask'
      }, { clientAuth: 'client_secret_post', jwts: true, endpoint: 'https://idp.example/ask' }]
    ] as const
  ) {
    const chosen = settingsFromEnvironment({ ...environment, ...more })
    t.match(introspectionOptions(chosen), asked)
    const [{ introspection } = {}] = acceptedTokens(chosen)
    t.match(introspection, { name: 'dual-auth/introspection', jwts: asked.jwts })
  }
})

t.test("sessions of the provider itself are people, and tokens of strangers' apps are not", async (t) => {
  const supabase = await issuer(t)
  const settings = { IDP_ISSUER: supabase.url, IDP_AUDIENCE: 'authenticated', IDP_USER_CLIENT_IDS: 'known-app' }
  const session = (sub: string, more: object = {}): string =>
    supabase.sign({ iss: supabase.url, sub, aud: 'authenticated', session_id: 's1', ...times, ...more })
  for (
    const [title, chosen] of [
      ['the provider supabase', { IDP_PROVIDER: 'supabase' }],
      ['generic, with IDP_SESSION_TOKENS', { IDP_PROVIDER: 'generic', IDP_SESSION_TOKENS: 'true' }]
    ] as const
  ) {
    const { me } = await open(t, { ...settings, ...chosen })
    t.strictSame(
      [
        await me(session('kim')),
        await me(session('kim', { client_id: 'known-app' })),
        await me(session('kim', { client_id: 'web' })),
        await me(session('kim', { client_id: 'strange-app' })),
        await me(session('kim', { aud: 'other' }))
      ],
      ['kim', 'kim', 'kim', 401, 401],
      title
    )
  }
  const { me } = await open(t, { ...settings, IDP_PROVIDER: 'generic' })
  t.strictSame([await me(session('kim')), await me(session('kim', { client_id: 'known-app' }))], [401, 'kim'])
})

t.test('with IDP_USER_CLIENT_IDS=any, self-registered clients act for people, and machines do not', async (t) => {
  const dynamic = await issuer(t)
  const settings = { IDP_ISSUER: dynamic.url, IDP_PROVIDER: 'generic', IDP_M2M_CLIENT_IDS: 'none' }
  const of = (client: string, more: object = {}): string =>
    dynamic.sign({ iss: dynamic.url, sub: 'kim', aud: base, client_id: client, ...times, ...more })
  const tokens = [of('registered-itself'), of('web'), of('job', { sub: 'job' }), of('registered-itself', { aud: 'x' })]
  const any = await open(t, { ...settings, IDP_USER_CLIENT_IDS: 'any' })
  t.strictSame(await Promise.all(tokens.map(any.me)), ['kim', 'kim', 401, 401])
  const listed = await open(t, settings)
  t.strictSame(await Promise.all(tokens.map(listed.me)), [401, 'kim', 401, 401])
})

t.test('what does not go together is a mistake at startup, which quotes no secret', async (t) => {
  const good = { ...given, IDP_ISSUER: 'https://idp.example', IDP_AUDIENCE: 'api' }
  const entra = {
    ...good,
    IDP_PROVIDER: 'entra',
    IDP_ISSUER: 'https://login.microsoftonline.com/{tenantid}/v2.0',
    IDP_TENANTS: HOME
  }
  const generic = {
    ...good,
    IDP_PROVIDER: 'generic',
    IDP_INTROSPECTION_CLIENT_ID: 'shop',
    IDP_INTROSPECTION_CLIENT_SECRET: 'hidden'
  }
  const cognito = { ...good, IDP_ISSUER: 'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_A' }
  for (
    const settings of [entra, generic, {
      ...cognito,
      IDP_SECOND_ISSUER: 'https://issuer-cognito-idp.eu-west-1.amazonaws.com/eu-west-1_A'
    }]
  ) t.doesNotThrow(() => settingsFromEnvironment(settings))
  for (
    const [settings, mistake] of [
      [
        { ...entra, IDP_TENANTS: '' },
        joined(
          /^IDP_TENANTS is required with an IDP_ISSUER that contains \{tenantid\}: /,
          /otherwise the people of every tenant could sign in$/
        )
      ],
      [
        { ...entra, IDP_TENANTS: `${HOME},common,${OTHER.toUpperCase()}` },
        /^IDP_TENANTS must be ids of tenants .* Invalid: common, 6F2C.*$/
      ],
      [{ ...entra, IDP_PROVIDER: 'generic' }, /^IDP_ISSUER may contain \{tenantid\} only with IDP_PROVIDER=entra$/],
      [{ ...good, IDP_TENANTS: HOME }, /^IDP_TENANTS needs an IDP_ISSUER that contains \{tenantid\}/],
      [
        { ...entra, IDP_SECOND_ISSUER: 'https://idp.example' },
        /^IDP_SECOND_ISSUER and IDP_ISSUER must be two single issuers/
      ],
      [{ ...good, IDP_SECOND_ISSUER: good.IDP_ISSUER }, /^IDP_SECOND_ISSUER is IDP_ISSUER$/],
      [
        { ...good, IDP_ALGORITHMS: 'ES256,HS256, none' },
        /^IDP_ALGORITHMS must be some of RS256, .*, Ed25519\. Invalid: HS256, none$/
      ],
      [{ ...good, IDP_ALGORITHMS: ',' }, /^IDP_ALGORITHMS/],
      [{ ...good, IDP_SUBJECT_CLAIM: 'a b' }, /^IDP_SUBJECT_CLAIM has the wrong format/],
      [{
        ...good,
        IDP_SUBJECT_CLAIM: 'uid',
        OAUTH_BROKER: 'true',
        OAUTH_BROKER_SECRETS: `a:${'b'.repeat(32)}`,
        OAUTH_BROKER_ASSERTION_KEYS: `a:${'a'.repeat(32)}`,
        OAUTH_BROKER_ASSERTION_ISSUERS: good.IDP_ISSUER
      }, /^IDP_SUBJECT_CLAIM must be sub if OAUTH_BROKER_ASSERTION_ISSUERS has IDP_ISSUER/],
      [{ ...good, IDP_SECOND_ISSUER: `${base}/oauth` }, /^IDP_SECOND_ISSUER is this server itself/],
      [{ ...good, IDP_SECOND_ISSUER: 'http://idp.example' }, /^IDP_SECOND_ISSUER must be an https URL/],
      ...['eu-west-1.amazonaws.com/eu-west-1_B', 'us-east-1.amazonaws.com/eu-west-1_A'].map((pool) =>
        [
          { ...cognito, IDP_SECOND_ISSUER: `https://issuer-cognito-idp.${pool}` },
          /^IDP_SECOND_ISSUER must be of the same user pool/
        ] as const
      ),
      [{ ...cognito, IDP_SECOND_ISSUER: 'https://idp.example' }, /^IDP_SECOND_ISSUER must be of the same user pool/],
      [
        { ...generic, IDP_INTROSPECTION_CLIENT_SECRET: '' },
        /^IDP_INTROSPECTION_CLIENT_SECRET is required with IDP_INTROSPECTION_CLIENT_ID$/
      ],
      [
        { ...generic, IDP_PROVIDER: 'okta' },
        /^IDP_INTROSPECTION_CLIENT_ID needs IDP_PROVIDER=generic or keycloak or zitadel/
      ],
      [
        { ...generic, IDP_INTROSPECTION_CLIENT_ID: '' },
        /^IDP_INTROSPECTION_CLIENT_SECRET needs IDP_INTROSPECTION_CLIENT_ID$/
      ],
      [{ ...generic, IDP_INTROSPECTION_CACHE_TIME: '600001' }, /^IDP_INTROSPECTION_CACHE_TIME must be <= 600000$/],
      [
        { ...good, IDP_PROVIDER: 'supabase', IDP_AUDIENCE: '' },
        /^IDP_AUDIENCE is required with IDP_PROVIDER=supabase: authenticated, as its sessions have it$/
      ],
      [
        { ...good, IDP_PROVIDER: 'supabase', IDP_AUDIENCE: 'authenticated', IDP_SESSION_TOKENS: 'true' },
        /^IDP_SESSION_TOKENS is for IDP_PROVIDER=generic; supabase has it on$/
      ],
      [
        { ...generic, IDP_SESSION_TOKENS: 'true' },
        /^IDP_SESSION_TOKENS excludes IDP_INTROSPECTION_CLIENT_ID: its answers may leave out the client$/
      ],
      [
        { ...good, IDP_USER_CLIENT_IDS: 'any', IDP_M2M_CLIENT_IDS: 'none' },
        /^IDP_USER_CLIENT_IDS may be any only with IDP_PROVIDER=generic$/
      ],
      [
        { ...good, IDP_PROVIDER: 'generic', IDP_USER_CLIENT_IDS: 'web, any' },
        /^IDP_USER_CLIENT_IDS must be any alone, or a list without it$/
      ],
      [
        { ...good, IDP_PROVIDER: 'generic', IDP_USER_CLIENT_IDS: 'any', IDP_AUDIENCE: '' },
        /^IDP_M2M_CLIENT_IDS is required with IDP_USER_CLIENT_IDS=any: any client could be a machine$/
      ],
      [
        {
          ...good,
          IDP_PROVIDER: 'generic',
          IDP_USER_CLIENT_IDS: 'any',
          IDP_M2M_CLIENT_IDS: 'none',
          IDP_AUDIENCE: `${base},api`
        },
        /^IDP_AUDIENCE must be URLs of this server with IDP_USER_CLIENT_IDS=any: clients request tokens for them$/
      ],
      [
        { ...generic, IDP_INTROSPECTION_ENDPOINT: 'http://10.0.0.1/ask' },
        /^IDP_INTROSPECTION_ENDPOINT must be an https URL/
      ]
    ] as const
  ) {
    const { message } = t.throws(() => settingsFromEnvironment(settings)) as Error
    t.match(message.split('\n').slice(1).map((line) => line.trim()), [mistake])
    t.equal(message.split('\n').length, 2, 'it is the only one')
    t.notMatch(message, 'hidden')
  }
})

t.test('the doctor examines each issuer, names this server as one, and says of a token which it is of', async (t) => {
  const [first, second] = [await issuer(t), await issuer(t)]
  const environment = {
    ...given,
    IDP_ISSUER: first.url,
    IDP_SECOND_ISSUER: second.url,
    IDP_M2M_CLIENT_IDS: 'none',
    OAUTH_BROKER: 'true',
    OAUTH_BROKER_SECRETS: `a:${'b'.repeat(32)}`,
    OAUTH_BROKER_ASSERTION_ISSUERS: 'https://acme.example',
    OAUTH_BROKER_ASSERTION_KEYS: `a:${'a'.repeat(32)}`,
    ALLOW_INSECURE: 'http-base-url,http-issuer,weak-secrets,embedded-database'
  }
  const doctor = async (token?: string, more: object = {}): Promise<string> =>
    (await run(
      ['doctor'],
      { ...environment, ...more, ...token !== undefined && { SHOP_TOKEN: token } },
      async () => ({ ...database, close: async () => {} })
    )).stdout
  const out = await doctor(second.user({ client_id: 'web', sub: 'kim' }))
  t.strictSame(
    [...out.matchAll(/^ok {4}(identity provider|second issuer|this server|signing keys) +(.*)$/gm)].map((
      [, what, found]
    ) => [what, found]),
    [
      ['identity provider', first.url],
      ['signing keys', '1 for RS256'],
      ['second issuer', second.url],
      ['signing keys', '1 for RS256'],
      ['this server', `${base}/oauth`],
      ['signing keys', '1 for EdDSA, Ed25519, of the option jwks: nothing is read of this issuer']
    ]
  )
  t.match(
    out,
    new RegExp(
      '\nok {4}SHOP_TOKEN +accepted as a person: subject kim, ada; groups: staff; scopes: openid email; issuer: ' +
        `${second.url}\n`
    )
  )
  t.match(
    out,
    new RegExp(
      `\nok {4}tokens +access tokens of ${base}/oauth \\(rfc9068\\); clients of people: any that exchanges an ` +
        `assertion; of machines: none; aud: one of ${base}\n`
    )
  )
  t.match(
    await doctor(undefined, { IDP_PROVIDER: 'supabase', IDP_AUDIENCE: 'authenticated', IDP_SECOND_ISSUER: '' }),
    /\(supabase\); clients of people: web, and sessions without a client; of machines: none; aud: .* authenticated/
  )
  t.match(
    await doctor(undefined, { IDP_PROVIDER: 'generic', IDP_USER_CLIENT_IDS: 'any', IDP_SECOND_ISSUER: '' }),
    /\(generic\); clients of people: any; of machines: none; aud:/
  )
  t.match(
    await doctor(first.user({ client_id: 'other' })),
    joined(
      /\nfail {2}SHOP_TOKEN +rejected: client is not a known app\n/,
      /hint {2}SHOP_TOKEN +It is a token of a person\. If people sign in with this client, add "other" to IDP_USER_CLIENT_IDS\n/
    )
  )
})
