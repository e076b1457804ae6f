import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { run } from '../src/cli/run.ts'
import { examine } from '../src/doctor/index.ts'
import { keyPattern, type Provider } from '../src/index.ts'
import { NOW, signingKey, sign, startIssuer, type Issuer } from './issuer.ts'
import { AUDIENCE, SAMPLES, TENANT_ID, tokensOf } from './tokens.ts'
import { joined } from '../../../test/joined.ts'

const issuer = await startIssuer()
t.teardown(() => issuer.stop().catch(() => {}))

interface Given {
  readonly stdin?: string
  readonly token?: string
  readonly secret?: string
}

/** Runs the command in this process. */
async function command (args: readonly string[], { stdin = '', token, secret }: Given = {}) {
  const said = { out: '', err: '' }
  const code = await run(args, {
    stdin: (async function* () {
      yield stdin
    })(),
    stdout: {
      write: (text) => {
        said.out += text
      }
    },
    stderr: {
      write: (text) => {
        said.err += text
      }
    },
    env: { DUAL_AUTH_TOKEN: token, DUAL_AUTH_CLIENT_SECRET: secret }
  })
  return { code, ...said }
}

const keycloak = (
  url = issuer.url
) => [
  'doctor',
  '--issuer',
  url,
  '--provider',
  'keycloak',
  '--audience',
  AUDIENCE,
  '--user-client',
  'web-app',
  '--machine-client',
  'robot'
]
const first = (text: string, count: number) => text.split('\n').slice(0, count).join('\n')

t.test('an issuer in order, and tokens of a person and a machine', async (t) => {
  const { user, machine } = tokensOf('keycloak', issuer)
  const healthy = `ok    issuer  ${issuer.url}\nok    keys    1 for RS256\n`
  t.strictSame(await command(keycloak()), { code: 0, out: healthy, err: '' })
  t.strictSame(await command(keycloak(), { token: user() }), {
    code: 0,
    out: `${healthy}ok    token   accepted as a person: subject b6a7c1d2-4e0f-4a53-9a3d-2f1e0c9b8a71, ada; groups: ` +
      'staff; scopes: openid write\n',
    err: ''
  })
  const accepted = {
    code: 0,
    out: `${healthy}ok    token   accepted as a machine: client robot; scopes: write\n`,
    err: ''
  }
  t.strictSame(await command([...keycloak(), '--token', '-'], { stdin: `${machine()}\n` }), accepted)
  t.strictSame(
    await command([...keycloak(), '--token', '-'], { stdin: `Bearer ${machine()}`, token: 'another' }),
    accepted,
    'standard input comes first'
  )
})

const refusals: Array<[title: string, token: (issuer: Issuer) => string, reason: string, note: RegExp]> = [
  [
    'for another audience',
    (i) => tokensOf('keycloak', i).user({ aud: 'account' }),
    'aud is another resource',
    /^note {2}aud +"account"; accepted: https:\/\/shop\.test\/mcp$/m
  ],
  [
    'without an audience',
    (i) => tokensOf('keycloak', i).user({ aud: undefined }),
    'aud is missing',
    /^note {2}aud +missing; accepted: https/m
  ],
  [
    'of another client',
    (i) => tokensOf('keycloak', i).user({ azp: 'another' }),
    'client is not a known app',
    /^note {2}azp +"another"; accepted: web-app, robot$/m
  ],
  [
    'without a client',
    (i) => tokensOf('keycloak', i).user({ azp: undefined }),
    'azp is not a string',
    /^note {2}azp +missing; /m
  ],
  [
    'that is an ID token',
    (i) => tokensOf('keycloak', i).idToken(),
    'the claim typ is not Bearer',
    /^note {2}typ +"ID"$/m
  ],
  [
    'of a machine without client_id',
    (i) => tokensOf('keycloak', i).user({ azp: 'other', preferred_username: 'service-account-other' }),
    'it is unclear whether a person or a machine holds it',
    /^note {2}preferred_username +"service-account-other"$/m
  ],
  [
    'of another issuer',
    (i) => tokensOf('keycloak', i).user({ iss: 'https://elsewhere.test' }),
    'iss is another issuer',
    /^note {2}iss +"https:\/\/elsewhere\.test"; accepted: http:\/\/127/m
  ],
  [
    'that has expired',
    (i) => tokensOf('keycloak', i).user({ exp: NOW - 60 }),
    'Authorization token expired',
    /^note {2}exp +"\d{4}-\d\d-\d\dT/m
  ],
  [
    'with another algorithm',
    (i) => tokensOf('keycloak', i).user({}, { alg: 'ES256' }),
    'alg is not allowed',
    /^note {2}header alg +"ES256"; accepted: RS256$/m
  ],
  [
    'with an unknown key',
    (i) => tokensOf('keycloak', i).user({}, { kid: 'another' }),
    'kid is unknown',
    /^note {2}header kid +"another"$/m
  ],
  [
    'signed by somebody else',
    (i) => sign(signingKey('key-1').privateKey, { alg: 'RS256', kid: 'key-1' }, { iss: i.url }),
    'Authorization token is invalid: The token signature is invalid',
    /^note {2}sub +missing$/m
  ],
  [
    'that contains control characters',
    (i) => tokensOf('keycloak', i).user({ aud: '\u001b[2J' }),
    'aud is another resource',
    /^note {2}aud +"\\u001b\[2J"; /m
  ]
]
for (const [title, token, reason, note] of refusals) {
  t.test(`a token ${title}: why it is rejected, and what it has`, async (t) => {
    const value = token(issuer)
    const { code, out, err } = await command(keycloak(), { token: value })
    t.strictSame([code, err], [1, ''])
    t.match(out, new RegExp(`^fail  token +rejected: ${reason}`, 'm'))
    t.match(out, note)
    for (const part of value.split('.')) t.notOk(out.includes(part), 'the token is not printed')
  })
}

t.test('all that a rejected token has and that may decide about it, in order', async (t) => {
  const kinds = [
    'token_use',
    'ver',
    'idtyp',
    'gty',
    'tid',
    'oid',
    'uid',
    'client_id',
    'clientId',
    'cid',
    'nonce',
    'at_hash'
  ]
  const notes = async (claims: Record<string, unknown>, header: Record<string, unknown> = {}) => {
    const findings = await examine(
      SAMPLES.keycloak.jwt(issuer),
      issuer.sign({ iss: issuer.url, aud: 'account', typ: 'Bearer', sub: 'ada', ...claims }, header)
    )
    return findings.filter(({ level }) => level === 'note').map(({ what, found }) => `${what}: ${found}`)
  }
  t.strictSame(
    await notes({
      ...Object.fromEntries(kinds.map((name) => [name, name])),
      azp: 'web-app',
      exp: NOW + 60,
      iat: NOW,
      preferred_username: 'ada',
      realm_access: { roles: ['staff'] },
      scope: 'write',
      acr: '1'
    }, { typ: 'JWT' }),
    [
      'header alg: "RS256"; accepted: RS256',
      'header typ: "JWT"',
      'header kid: "key-1"',
      `iss: "${issuer.url}"; accepted: ${issuer.url}`,
      'sub: "ada"',
      `exp: "${new Date((NOW + 60) * 1000).toISOString()}"`,
      `iat: "${new Date(NOW * 1000).toISOString()}"`,
      `aud: "account"; accepted: ${AUDIENCE}`,
      'azp: "web-app"; accepted: web-app, robot',
      'typ: "Bearer"',
      ...kinds.map((name) => `${name}: "${name}"`),
      'preferred_username: "ada"',
      'realm_access.roles: ["staff"]',
      'scope: "write"'
    ]
  )
  t.strictSame(await notes({ sub: undefined, exp: 'soon', iat: 1e300 }), [
    'header alg: "RS256"; accepted: RS256',
    'header typ: missing',
    'header kid: "key-1"',
    `iss: "${issuer.url}"; accepted: ${issuer.url}`,
    'sub: missing',
    'exp: "soon"',
    'iat: 1e+300',
    `aud: "account"; accepted: ${AUDIENCE}`,
    'azp: missing; accepted: web-app, robot',
    'typ: "Bearer"'
  ], 'of what it lacks, only what every token needs')
})

for (
  const [title, token, reason] of [
    [
      'an opaque token',
      'x'.repeat(40),
      'the token is opaque, not a JWT: some issuers send one to a client that requests no audience'
    ],
    ['an encrypted token', 'eyJ.b.c.d.e', 'the token is encrypted (JWE)'],
    [
      'a long one',
      `a.${'b'.repeat(20_000)}.c`,
      'all headers of a request may have 16384 bytes, node --max-http-header-size, and this token alone has 20004'
    ],
    ['something else', 'a b\u001b', 'Authorization is not Bearer, one space and a single token']
  ] as const
) {
  t.test(`${title} is no token that the plugin reads`, async (t) => {
    const { code, out } = await command(keycloak(), { token })
    t.equal(code, 1)
    t.ok(out.includes(`\nfail  token   rejected: ${reason}\n`), out)
    t.notOk(out.includes(token))
  })
}

t.test('claims with other names, also inside another, are named on the command line', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const token = issuer.sign({
    iss: issuer.url,
    aud: AUDIENCE,
    applicationId: 'web-app',
    sub: 'u1',
    o: { rol: ['staff'] },
    iat: NOW,
    exp: NOW + 3600
  })
  const args = [
    'doctor',
    '--issuer',
    issuer.url,
    '--provider',
    'generic',
    '--audience',
    AUDIENCE,
    '--user-client',
    'web-app'
  ]
  t.match(await command([...args, '--claim', 'client=applicationId', '--claim', 'groups=["o","rol"]'], { token }), {
    code: 0,
    out: /accepted as a person: subject u1; groups: staff/
  })
  t.match(await command(args, { token }), { code: 1, out: /name the claim that has the client in claims\.client/ })
  for (
    const [claim, problem] of [['role=x', /^jwt\.claims\.role is not an option\. Known: client, /], [
      'client',
      /^jwt\.claims\.client must/
    ], ['groups=["o"', /^--claim groups must be the name of a claim/]] as const
  ) t.match(await command([...args, '--claim', claim], { token }), { code: 2, err: problem })
})

t.test('the issuer in place of the client is found; a session or any client passes where wanted', async (t) => {
  const args = ['doctor', '--issuer', issuer.url, '--provider', 'generic', '--audience', AUDIENCE]
  t.match(await command([...args, '--claim', 'client=iss', '--user-client', issuer.url]), {
    code: 2,
    err: /^jwt\.claims\.client must not be iss: .*set sessionTokens, or the provider supabase\n/
  })
  const session = issuer.sign({ iss: issuer.url, aud: AUDIENCE, sub: 'u1', iat: NOW, exp: NOW + 3600 })
  const app = issuer.sign({ iss: issuer.url, aud: AUDIENCE, sub: 'u1', client_id: 'other', iat: NOW, exp: NOW + 3600 })
  t.match(await command(args, { token: session }), { code: 1, out: /hint .*set sessionTokens\n/ })
  t.match(await command([...args, '--session-tokens'], { token: session }), {
    code: 0,
    out: /accepted as a person: subject u1/
  })
  t.match(await command([...args, '--session-tokens'], { token: app }), {
    code: 1,
    out: /rejected: client is not a known app\nhint .*an app got it in a person's name.* add "other" to userClients\n/
  })
  t.match(await command([...args, '--any-user-client', '--machine-client', 'robot'], { token: app }), {
    code: 0,
    out: /accepted as a person: subject u1/
  })
  t.match(await command([...args, '--any-user-client', '--user-client', 'web'], { token: app }), {
    code: 2,
    err: /^--any-user-client excludes --user-client\n/
  })
})

t.test('with the client for introspection, an opaque token: who holds it, or why it is rejected', async (t) => {
  const asked = await startIssuer()
  t.teardown(() => asked.stop())
  asked.introspectionEndpoint = `${asked.url}/introspect`
  asked.answers.set('opaque-1', { active: true, client_id: 'web-app', sub: 'u1', aud: AUDIENCE }).set('opaque-2', {
    active: true,
    client_id: 'web-app',
    sub: 'u1'
  })
  const args = [
    'doctor',
    '--issuer',
    asked.url,
    '--provider',
    'generic',
    '--audience',
    AUDIENCE,
    '--user-client',
    'web-app',
    '--introspection-client',
    'api'
  ]
  const given = (token: string) => ({ token, secret: 'secret' })
  t.match(await command(args, given('opaque-1')), {
    code: 0,
    out: `ok    endpoint  opaque tokens are introspected at ${asked.url}/introspect\nok    token     accepted as a ` +
      'person: subject u1; groups: none; scopes: none\n'
  })
  t.match(await command(args, given('opaque-2')), {
    code: 1,
    out: /\nfail {2}token +rejected: aud is missing\nhint {2}token .*insecureNoAudience risks\n$/
  })
  t.match(
    await command([
      ...args,
      '--insecure-no-audience',
      '--introspection-auth',
      'client_secret_post',
      '--introspection-endpoint',
      `${asked.url}/introspect`
    ], given('opaque-2')),
    { code: 0 }
  )
  asked.introspectionFault = (_request, response) => {
    response.writeHead(401).end()
  }
  t.match(await command(args, given('opaque-1')), {
    code: 1,
    out: joined(
      /rejected: what the issuer says of a token at \S+ cannot be read: status 401\n/,
      /hint {2}token +The issuer did not answer as it should/
    )
  })
  t.match(await command(args, { token: 'opaque-1' }), {
    code: 2,
    err: /^introspection\.clientSecret must be a non-empty string \(got ''\)\n/
  })
})

t.test('every provider: the command accepts the token that the plugin accepts', async (t) => {
  for (const provider of Object.keys(SAMPLES) as Provider[]) {
    const { issuer: url, jwksUri, tenants = [], machineScopes = [], audience = [], claims } = SAMPLES[provider].jwt(
      issuer
    )
    if (claims !== undefined) continue
    const { user, machine } = tokensOf(provider, issuer)
    const args = [
      'doctor',
      '--issuer',
      url,
      '--provider',
      provider,
      '--user-client',
      'web-app',
      '--machine-client',
      'robot',
      ...jwksUri === undefined ? [] : ['--jwks-uri', jwksUri],
      ...tenants.flatMap((tenant) => ['--tenant', tenant]),
      ...machineScopes.flatMap((scope) => ['--machine-scope', scope]),
      ...audience.flatMap((aud) => ['--audience', aud])
    ]
    t.match(await command(args, { token: user() }), { code: 0, out: /accepted as a person/ }, provider)
    if (SAMPLES[provider].identities.machine === null) continue
    t.match(await command(args, { token: machine() }), { code: 0, out: /accepted as a machine/ }, provider)
  }
})

t.test('what the plugin requires and was not given stands beside what the token has', async (t) => {
  const { user } = tokensOf('keycloak', issuer)
  t.match(await command(keycloak().slice(0, 5), { token: user() }), {
    code: 1,
    out: /aud +\["https:\/\/shop\.test\/mcp","account"\]; accepted: \(set --audience\)/
  })
  t.match(await command(['doctor', '--issuer', issuer.url], { token: issuer.user() }), {
    code: 1,
    out: joined(
      /warn {2}audience(.*\n)+fail {2}token +rejected: client is not a known app\n/,
      /(.*\n)+note {2}client_id +"web-app"; accepted: none\n/
    )
  })
})

t.test('what is wrong with an issuer', async (t) => {
  const other = await startIssuer()
  t.teardown(() => other.stop().catch(() => {}))
  const told = async (url = other.url, token?: string) => {
    const { code, out } = await command(keycloak(url), token === undefined ? {} : { token })
    t.equal(code, 1)
    return first(out, 1).replaceAll(other.url, 'ISSUER')
  }
  t.equal(
    await told(`${other.url}/`),
    'fail  issuer  jwt.issuer is ISSUER/, but ISSUER/.well-known/openid-configuration says that the issuer is ' +
      'ISSUER: set jwt.issuer to exactly that',
    'a slash too many'
  )
  other.named = `${other.url}/`
  t.match(
    await told(),
    /^fail {2}issuer {2}jwt\.issuer is ISSUER, but .* says that the issuer is ISSUER\/: /,
    'a slash too few'
  )
  t.match(
    (await command(keycloak(other.url), { token: issuer.user() })).out,
    'fail  token   not checked: the issuer comes first'
  )
  other.named = null
  t.match(
    await told(other.url.replace('/pool', '/realms')),
    joined(
      /^fail {2}issuer {2}the discovery document at /,
      /\S+\/realms\/\.well-known\/openid-configuration cannot be read: status 404$/
    )
  )
  other.keys = [{ kty: 'EC', kid: 'e', alg: 'ES256' }, { kty: 'RSA', kid: 'r', use: 'enc' }]
  t.equal(await told(), 'fail  issuer  the key set has no usable key for RS256; it has ES256, RSA not for signatures')
  other.keys = []
  t.equal(await told(), 'fail  issuer  the key set has no usable key for RS256; it has none')
  other.fault = (_request, response) => {
    response.end('<html>')
  }
  t.equal(await told(), 'fail  issuer  the key set at ISSUER/jwks is not JSON')
  await other.stop()
  t.match(await told(), /^fail {2}issuer {2}the discovery document at \S+ cannot be read: \w+$/)
})

t.test('a page that is no discovery document', async (t) => {
  const other = await startIssuer()
  t.teardown(() => other.stop())
  Object.assign(other, { named: [] })
  t.match(await command(keycloak(other.url)), { code: 1, out: /is not a discovery document: it names no issuer/ })
})

t.test('several issuers at once: each is examined, and the token goes to its own', async (t) => {
  const other = await startIssuer()
  t.teardown(() => other.stop())
  const jwt = [
    { issuer: issuer.url, userClients: ['web-app'], audience: ['https://other.test'] },
    SAMPLES.okta.jwt(other)
  ]
  const findings = await examine(jwt, tokensOf('okta', other).machine())
  t.match(findings, [{ level: 'ok', found: issuer.url }, { what: 'keys' }, { level: 'ok', found: other.url }, {
    what: 'keys'
  }, { level: 'ok', what: 'token', found: 'accepted as a machine: client robot; scopes: write' }])
  const rejected = await examine(jwt, tokensOf('okta', other).machine({ aud: 'x' }))
  t.match(rejected, [{}, {}, {}, {}, { level: 'fail' }])
  t.equal(
    rejected.find(({ what }) => what === 'aud')?.found,
    `"x"; accepted: ${AUDIENCE}`,
    'compared with what its own issuer accepts'
  )
})

t.test('a tenant of Entra', async (t) => {
  const { issuer: url, jwksUri = '' } = SAMPLES.entra.jwt(issuer)
  const args = [
    'doctor',
    '--issuer',
    url,
    '--provider',
    'entra',
    '--tenant',
    TENANT_ID,
    '--audience',
    AUDIENCE,
    '--jwks-uri',
    jwksUri
  ]
  t.match(await command(args, { token: tokensOf('entra', issuer).user({ ver: '3.0' }) }), {
    code: 1,
    out: /rejected: ver is not 2\.0 or 1\.0\n(.*\n)*note {2}ver +"3\.0"\n/
  })
})

t.test('what was examined is not read again', async (t) => {
  const other = await startIssuer()
  t.teardown(() => other.stop())
  await examine({ ...SAMPLES.okta.jwt(other), jwksRefresh: 20 }, tokensOf('okta', other).machine())
  t.equal(other.fetches, 2, 'once for the issuer, and once for the token')
  await new Promise((resolve) => setTimeout(resolve, 60))
  t.equal(other.fetches, 2)
})

const misuses: Array<[title: string, args: readonly string[], says: RegExp | string]> = [
  ['nothing', [], /^Usage: /],
  ['another command', ['check'], /^The command must be doctor or rules\n/],
  ['no issuer', ['doctor'], /^--issuer is required\n/],
  ['a word too many', ['doctor', 'https://x.test', '--issuer', 'https://x.test'], /^doctor takes options only\n/],
  ['an unknown option', ['doctor', '--isuer', 'https://x.test'], /^Unknown option '--isuer'/],
  [
    'plain http',
    ['doctor', '--issuer', 'http://idp.test', '--user-client', 'x'],
    /^jwt\.issuer must be https, or http on loopback: /
  ],
  [
    'an unknown provider',
    ['doctor', '--issuer', 'https://idp.test', '--provider', 'google'],
    /^jwt\.provider must be 'cognito', 'rfc9068', /
  ],
  [
    'a symmetric algorithm',
    ['doctor', '--issuer', 'https://idp.test', '--algorithm', 'HS256'],
    /^jwt\.algorithms must be /
  ],
  [
    'an empty standard input',
    ['doctor', '--issuer', 'https://idp.test', '--token', '-'],
    /^Standard input has no token\n/
  ],
  ['no scanner', ['rules', '--marker', 'acme'], /^rules takes one of regex, gitleaks, trufflehog\n/],
  [
    'an unknown scanner',
    ['rules', 'constructor', '--marker', 'acme'],
    /^rules takes one of regex, gitleaks, trufflehog\n/
  ],
  ['no marker', ['rules', 'gitleaks'], /^--marker must be lower-case words/],
  [
    'a marker that cannot be',
    ['rules', 'gitleaks', '--marker', "a'''"],
    /^--marker must be lower-case words joined by _, at most 16 characters, and must not start like a JWT \(ey\)\n/
  ]
]
for (const [title, args, says] of misuses) {
  t.test(`wrong usage: ${title}`, async (t) => {
    const { code, out, err } = await command(args)
    t.strictSame([code, out], [2, ''])
    t.match(err, says)
    t.match(err, 'Exit status: 0 if all is well, 1 if something fails, 2 for wrong usage.')
  })
}

t.test('a token among the arguments is refused and not printed', async (t) => {
  const token = issuer.user()
  for (const args of [['--token', token], [`--token=${token}`], [token], [`--${token}`], ['-t', token]]) {
    const { code, out, err } = await command([...keycloak(), ...args])
    t.equal(code, 2)
    t.notOk((out + err).includes(token.slice(0, 40)), args[0]!.slice(0, 8))
  }
  t.match(await command([...keycloak(), '--token', token]), {
    err: /^The token must not be an argument: .* Use --token - or DUAL_AUTH_TOKEN\n/
  })
})

t.test('a flood on standard input ends', async (t) => {
  let chunks = 0
  const stdin = (async function* () {
    for (;;) {
      chunks++
      yield 'x'.repeat(1024)
    }
  })()
  const nowhere = { write: () => {} }
  t.equal(await run([...keycloak(), '--token', '-'], { stdin, stdout: nowhere, stderr: nowhere, env: {} }), 1)
  t.equal(chunks, 65, 'the last chunk is the one that is beyond 64 KiB')
})

t.test('rules: what scanners find keys by', async (t) => {
  const pattern = `\\b${keyPattern('acme')}\\b`
  t.strictSame(await command(['rules', 'regex', '--marker', 'acme']), { code: 0, out: `${pattern}\n`, err: '' })
  for (const scanner of ['gitleaks', 'trufflehog']) {
    t.ok((await command(['rules', scanner, '--marker', 'acme'])).out.includes(`'${pattern}'`))
  }
  t.match((await command(['rules', 'gitleaks', '--marker', 'acme_test'])).out, 'id = "acme-test-api-key"')
})

t.test('help', async (t) => {
  t.match(await command(['--help']), { code: 0, out: /^Usage: dual-auth doctor/, err: '' })
})

t.test('as a program', async (t) => {
  const child = spawn(process.execPath, [
    ...process.execArgv,
    fileURLToPath(new URL('../src/cli/cli.ts', import.meta.url)),
    ...keycloak(),
    '--token',
    '-'
  ])
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stdin.end(tokensOf('keycloak', issuer).machine())
  const [code] = await once(child, 'close')
  t.equal(code, 0)
  t.match(out, /^ok {4}token {3}accepted as a machine: client robot/m)
})
