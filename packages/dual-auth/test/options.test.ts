import t from 'tap'
import Fastify from 'fastify'
import { introspection, type IntrospectionOptions } from '../src/introspection/index.ts'
import dualAuth, { memoryStore, type ApiKeyOptions, type DualAuthOptions } from '../src/index.ts'
import { authenticate, PEPPER, type Options } from './build.ts'

const apiKeys: ApiKeyOptions = {
  marker: 'shop_test',
  peppers: [PEPPER],
  store: memoryStore(),
  ownerIdFromParam: 'uuid'
}
const jwt = { issuer: 'http://127.0.0.1:9/pool', userClients: ['web'], jwksTimeout: 100 }
const generic = { ...jwt, provider: 'generic', audience: ['api'] } as const
const client = { clientId: 'api', clientSecret: 'secret' }
const asking = introspection(client)

async function boot (options: Options): Promise<void> {
  const app = Fastify()
  try {
    await authenticate(app, options)
    await app.ready()
  } finally {
    await app.close()
  }
}

const MARKER =
  'dual-auth: apiKeys.marker must be lower-case words joined by _, at most 16 characters, and must not start ' +
  'like a JWT (ey)'
const PEPPERS = 'dual-auth: apiKeys.peppers must be a non-empty array of peppers'
const SECRET = 'dual-auth: apiKeys.peppers[0].secret must be a string or Buffer of at least 32 bytes'
const STORE =
  'dual-auth: apiKeys.store must be a key store, with the methods find, insert, list, revoke, rotate, rehash, ' +
  'touch, takeNotices'
const CLIENT_ISS = "dual-auth: jwt.claims.client must not be iss: the tokens of other people's apps have the same. " +
  'For sessions, which name no client, set sessionTokens, or the provider supabase'
const API = 'https://api.example.com'
const ANY_CLIENT = 'dual-auth: jwt.userClients may be any with the provider generic only'
const ANY_AUDIENCE =
  'dual-auth: jwt.audience must be the URL of this API where jwt.userClients is any: clients request tokens for that'
const IDS =
  "'integer', 'uuid', 'slug', or a function that returns the id of an owner as you store it, or undefined for " +
  'what is none'
const JWT = "dual-auth: jwt must be the options of an issuer, an array of them, false or 'host'"
const PATH = 'dual-auth: management.path must start with / and not end with it, such as /teams/:team/api-keys'
/** The value that was passed may follow. */
const beginning = (message: string): RegExp =>
  new RegExp(`^${message.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?: \\(got .*\\))?$`)

type Wrong = [Partial<Options>, string]
const wrong: Wrong[] = [
  ...['', 'Owner', 'owner__test', '_owner', 'owner_', '1owner', 'owner-test', 'eyowner', 'a'.repeat(17)].map((
    marker
  ): Wrong => [{ apiKeys: { ...apiKeys, marker } }, MARKER]),
  [{ apiKeys: { ...apiKeys, peppers: [] } }, PEPPERS],
  [{ apiKeys: { ...apiKeys, peppers: [{ id: 'p', secret: 'x'.repeat(31) }] } }, SECRET],
  // As an environment variable that is not set, and one that is not a string.
  [{ apiKeys: { ...apiKeys, peppers: [{ id: 'p', secret: undefined as never }] } }, SECRET],
  [{ apiKeys: { ...apiKeys, peppers: [PEPPER, { id: 'p', secret: 32 as never }] } }, SECRET.replace('0', '1')],
  [{ apiKeys: { ...apiKeys, peppers: 'secret' as never } }, PEPPERS],
  [{ apiKeys: { ...apiKeys, peppers: [null as never] } }, 'dual-auth: apiKeys.peppers[0] must be an object'],
  [
    { apiKeys: { ...apiKeys, peppers: [{ ...PEPPER, sekret: '' } as never] } },
    'dual-auth: apiKeys.peppers[0].sekret is not an option. Did you mean secret?'
  ],
  [{ apiKeys: { ...apiKeys, peppers: [PEPPER, PEPPER] } }, 'dual-auth: apiKeys.peppers must have different ids'],
  [
    { apiKeys: { ...apiKeys, peppers: [{ ...PEPPER, id: '' }] } },
    'dual-auth: apiKeys.peppers[0].id must be a non-empty string'
  ],
  [
    { apiKeys: { ...apiKeys, peppers: [{ secret: PEPPER.secret } as never] } },
    'dual-auth: apiKeys.peppers[0].id must be a non-empty string'
  ],
  [{ apiKeys: undefined as never }, 'dual-auth: apiKeys must be an object (got undefined)'],
  [{ jwt: false, tokenScopes: () => ['read'] }, 'dual-auth: tokenScopes needs jwt: without it no tokens are accepted'],
  [{ jwt: true as never }, JWT],
  [{ apiKeys: [] as never }, 'dual-auth: apiKeys must be an object'],
  [{ apiKeys: { ...apiKeys, store: undefined as never } }, STORE],
  ...['find', 'insert', 'list', 'revoke', 'rehash', 'touch'].map((
    method
  ): Wrong => [{ apiKeys: { ...apiKeys, store: { ...memoryStore(), [method]: undefined } } }, STORE]),
  [{ apiKeys: { ...apiKeys, logN: 0 } }, 'dual-auth: apiKeys.logN must be an integer from 1 to 15'],
  [{ apiKeys: { ...apiKeys, logN: 16 } }, 'dual-auth: apiKeys.logN must be an integer from 1 to 15 (got 16)'],
  [{ apiKeys: { ...apiKeys, logN: 7.5 } }, 'dual-auth: apiKeys.logN must be an integer from 1 to 15'],
  [
    { apiKeys: { ...apiKeys, headerName: 'Authorization' } },
    'dual-auth: apiKeys.headerName must be the name of a header other than Authorization'
  ],
  [
    { apiKeys: { ...apiKeys, headerName: 'x api key' } },
    'dual-auth: apiKeys.headerName must be the name of a header other than Authorization'
  ],
  [
    { apiKeys: { ...apiKeys, headerName: 5 as never } },
    'dual-auth: apiKeys.headerName must be the name of a header other than Authorization'
  ],
  ...[5, '', ':owner_id', 'owner-id'].map((
    ownerParam
  ): Wrong => [
    { apiKeys: { ...apiKeys, ownerParam: ownerParam as never } },
    'dual-auth: apiKeys.ownerParam must be the name of a route parameter, without its colon, or null'
  ]),
  [
    { apiKeys: { ...apiKeys, ownerParam: null }, management: { canManage: () => true } },
    'dual-auth: management.owner is required where apiKeys.ownerParam is null: nothing else says whose keys these are'
  ],
  [{ apiKeys: { ...apiKeys, ownerIdFromParam: 'x' as never } }, `dual-auth: apiKeys.ownerIdFromParam must be ${IDS}`],
  [
    { apiKeys: { ...apiKeys, ownerIdFromParam: 'toString' as never } },
    `dual-auth: apiKeys.ownerIdFromParam must be ${IDS}`
  ],
  [
    { apiKeys: { marker: 'm', peppers: [PEPPER], store: memoryStore() }, management: { canManage: () => true } },
    `dual-auth: apiKeys.ownerIdFromParam is required with management by path: ${IDS}. Paths may spell one owner ` +
    'in several ways, such as 1 and 01'
  ],
  [{ apiKeys: { ...apiKeys, logN: null as never } }, 'dual-auth: apiKeys.logN must be an integer from 1 to 15'],
  [
    { apiKeys: { ...apiKeys, peper: [] } as never },
    'dual-auth: apiKeys.peper is not an option. Known: marker, peppers, store, logN, headerName, ownerParam, ' +
    'ownerIdFromParam, mayUse, mayUseCacheTime, maxPerOwner, concurrency, queueLength, storeTimeout'
  ],
  [
    { apiKeys: { ...apiKeys, maxPerOwner: 0 } },
    'dual-auth: apiKeys.maxPerOwner must be an integer, at least 1 (got 0)'
  ],
  [
    { apiKeys: { ...apiKeys, concurrency: 0 } },
    'dual-auth: apiKeys.concurrency must be an integer, at least 1 (got 0)'
  ],
  [
    { apiKeys: { ...apiKeys, queueLength: -1 } },
    'dual-auth: apiKeys.queueLength must be an integer, at least 0 (got -1)'
  ],
  [
    { apiKeys: { ...apiKeys, storeTimeout: Infinity } },
    'dual-auth: apiKeys.storeTimeout must be an integer of milliseconds from 1 to 2147483647 (got Infinity)'
  ],
  [
    { jwt: { ...jwt, issuer: 'pool' } },
    "dual-auth: jwt.issuer must be an https URL without user, password and white space (got 'pool')"
  ],
  [
    { jwt: { ...jwt, issuer: jwt.issuer + '\n' } },
    'dual-auth: jwt.issuer must be an https URL without user, password and white space'
  ],
  [
    { jwt: { ...jwt, jwksUri: '/jwks' } },
    "dual-auth: jwt.jwksUri must be an https URL without user, password and white space (got '/jwks')"
  ],
  [
    { jwt: { ...jwt, jwksUri: 'https://user@idp.example.com/jwks' } },
    'dual-auth: jwt.jwksUri must be an https URL without user, password and white space ' +
    "(got 'https://…@idp.example.com/jwks')"
  ],
  [{ jwt: { ...jwt, jwks: [] as never } }, 'dual-auth: jwt.jwks must be a JWK Set, with a list of keys (got an array)'],
  [{ jwt: { ...jwt, jwks: {} as never } }, 'dual-auth: jwt.jwks must be a JWK Set, with a list of keys'],
  [
    { jwt: { ...jwt, jwks: { keys: [] }, jwksUri: 'https://idp.example.com/jwks' } },
    'dual-auth: jwt.jwks excludes jwt.jwksUri and jwt.introspection: nothing is read of the issuer'
  ],
  [
    { jwt: { ...jwt, issuer: 'https://:secret@idp.example.com' } },
    'dual-auth: jwt.issuer must be an https URL without user, password and white space ' +
    "(got 'https://…@idp.example.com')"
  ],
  [
    { jwt: { ...jwt, issuer: 'http://idp.example.com' } },
    'dual-auth: jwt.issuer must be https, or http on loopback: jwt.insecureHttp allows http, inside a ' +
    'network of your own'
  ],
  [{ jwt: { ...jwt, insecureHttp: 'yes' as never } }, 'dual-auth: jwt.insecureHttp must be true or false'],
  ...[jwt, generic, { ...generic, sessionTokens: true }, { ...generic, provider: 'supabase' as const }].map((
    one
  ): Wrong => [
    { jwt: { ...one, userClients: null as never } },
    "dual-auth: jwt.userClients must be an array of client ids, or 'any'"
  ]),
  [{ jwt: { ...jwt, userClients: [''] } }, "dual-auth: jwt.userClients must be an array of client ids, or 'any'"],
  [
    { jwt: { ...jwt, userClients: 'web' as never } },
    "dual-auth: jwt.userClients must be an array of client ids, or 'any'"
  ],
  [
    { jwt: { ...jwt, machineScopes: 'billing/api' as never } },
    'dual-auth: jwt.machineScopes must be an array of strings'
  ],
  [
    { jwt: { ...jwt, audience: 'https://api.example.com' as never } },
    'dual-auth: jwt.audience must be an array of strings'
  ],
  [
    { jwt: { ...jwt, jwksRefresh: 2 ** 31 } },
    'dual-auth: jwt.jwksRefresh must be an integer of milliseconds from 1 to 2147483647 (got 2147483648)'
  ],
  [
    { jwt: { ...jwt, algorithms: [] } },
    'dual-auth: jwt.algorithms must be a non-empty array of asymmetric signature algorithms, such as RS256 or ES256'
  ],
  [
    { jwt: { ...jwt, algorithms: ['HS256' as never] } },
    'dual-auth: jwt.algorithms must be a non-empty array of asymmetric signature algorithms, such as RS256 or ES256'
  ],
  [
    { jwt: { ...jwt, algorithms: ['RS256', 'none' as never] } },
    'dual-auth: jwt.algorithms must be a non-empty array of asymmetric signature algorithms, such as RS256 or ES256'
  ],
  [
    { jwt: { ...jwt, algorithms: 'RS256' as never } },
    'dual-auth: jwt.algorithms must be a non-empty array of asymmetric signature algorithms, such as RS256 or ES256'
  ],
  [
    { jwt: { ...jwt, algorithms: [['RS256']] as never } },
    'dual-auth: jwt.algorithms must be a non-empty array of asymmetric signature algorithms, such as RS256 or ES256'
  ],
  [
    { jwt: { ...generic, introspection: introspection({ ...client, endpoint: 'http://idp.example.com/introspect' }) } },
    'dual-auth: jwt.introspection.endpoint must be https, or http on loopback: jwt.insecureHttp allows ' +
    'http, inside a network of your own'
  ],
  [
    { jwt: { ...generic, jwksUri: 'https://idp.example.com/jwks', introspection: asking } },
    'dual-auth: jwt.introspection.endpoint is required with jwt.jwksUri: no discovery document is read that ' +
    'could name it'
  ],
  [
    { jwt: { ...jwt, introspection: asking } },
    'dual-auth: jwt.introspection is for the providers keycloak, zitadel, generic: generic reads what any ' +
    'issuer answers'
  ],
  [
    { jwt: [{ ...generic, introspection: asking }, { ...generic, issuer: 'https://b.test', introspection: asking }] },
    'dual-auth: jwt must have introspection for one issuer only: an opaque token does not name its own'
  ],
  [
    { jwt: { ...generic, issuer: 'https://token.actions.githubusercontent.com' } },
    'dual-auth: jwt.machineClients is required with https://token.actions.githubusercontent.com: anybody gets ' +
    'tokens of it for any audience'
  ],
  [{ jwt: { ...jwt, insecureNoAudience: true } }, 'dual-auth: jwt.insecureNoAudience is for the provider generic'],
  [
    { jwt: { ...generic, insecureNoAudience: 'yes' as never } },
    'dual-auth: jwt.insecureNoAudience must be true or false'
  ],
  [
    { jwt: { ...generic, insecureNoAudience: true, audience: [] } },
    'dual-auth: jwt.audience is required with the provider generic: it lists the values of aud that mean this API'
  ],
  [
    { jwt: { ...generic, machineClients: 'robot' as never } },
    'dual-auth: jwt.machineClients must be an array of client ids'
  ],
  [
    { jwt: { ...generic, machineClients: ['robot'], userClients: 5 as never } },
    "dual-auth: jwt.userClients must be an array of client ids, or 'any'"
  ],
  ...[null, client, 'dual-auth/introspection'].map((plain): Wrong => [
    { jwt: { ...generic, jwksUri: 'https://x.example/jwks', introspection: plain as never } },
    'dual-auth: jwt.introspection must be introspection(…) of dual-auth/introspection'
  ]),
  [
    { jwt: { ...generic, userClients: ['web', 'both'], machineClients: ['both'] } },
    'dual-auth: jwt.machineClients and jwt.userClients must not both list both: with the provider generic its ' +
    'people would be machines'
  ],
  [
    { jwt: { ...jwt, machineClients: 'robot' as never } },
    'dual-auth: jwt.machineClients must be an array of client ids'
  ],
  ...(['iss', ['iss']] as const).map((client): Wrong => [{ jwt: { ...generic, claims: { client } } }, CLIENT_ISS]),
  [
    { jwt: { ...jwt, sessionTokens: true } },
    'dual-auth: jwt.sessionTokens is for the provider generic; supabase has it on'
  ],
  [{ jwt: { ...generic, sessionTokens: 'yes' as never } }, 'dual-auth: jwt.sessionTokens must be true or false'],
  [
    { jwt: { ...generic, sessionTokens: true, introspection: asking } },
    'dual-auth: jwt.sessionTokens excludes jwt.introspection: the answer may leave out the client'
  ],
  ...[
    {},
    { provider: 'supabase', audience: ['authenticated'] },
    {
      provider: 'okta',
      audience: ['https://api.example.com']
    }
  ]
    .map((more): Wrong => [{ jwt: { ...jwt, ...more as object, userClients: 'any' } }, ANY_CLIENT]),
  ...[{ audience: ['api'] }, { audience: ['project:1'] }, { audience: [API, 'client_01ENV'] }, {
    audience: [API],
    insecureNoAudience: true
  }]
    .map((more): Wrong => [{ jwt: { ...generic, userClients: 'any', machineClients: [], ...more } }, ANY_AUDIENCE]),
  [
    { jwt: { ...generic, userClients: 'any', audience: [API] } },
    'dual-auth: jwt.machineClients is required where jwt.userClients is any: any client could be a machine'
  ],
  [
    { jwt: { ...jwt, claims: { groups: 5 as never } } },
    'dual-auth: jwt.claims.groups must be the name of a claim, or an array of names (got 5)'
  ],
  [
    { jwt: { ...jwt, claims: { groups: '' } } },
    "dual-auth: jwt.claims.groups must be the name of a claim, or an array of names (got '')"
  ],
  [
    { jwt: { ...jwt, claims: { roles: 'roles' } as never } },
    'dual-auth: jwt.claims.roles is not an option. Known: client, subject, username, groups, scopes'
  ],
  [
    { jwt: { ...jwt, provider: 'google' as never } },
    "dual-auth: jwt.provider must be 'cognito', 'rfc9068', 'auth0', 'entra', 'keycloak', 'okta', 'zitadel', " +
    "'authentik', 'supabase' or 'generic' (got 'google')"
  ],
  [{ jwt: { issuer: jwt.issuer } }, 'dual-auth: jwt.userClients is required with the provider cognito'],
  [
    { jwt: { ...jwt, provider: 'okta' } },
    'dual-auth: jwt.audience is required with the provider okta: it lists the values of aud that mean this API'
  ],
  [
    { jwt: { ...jwt, provider: 'okta', audience: [] } },
    'dual-auth: jwt.audience is required with the provider okta: it lists the values of aud that mean this API'
  ],
  [
    { jwt: { ...jwt, provider: 'okta', audience: ['api'], issuer: 'https://okta.test/{tenantid}', tenants: ['a'] } },
    'dual-auth: jwt.issuer may contain {tenantid} only with the provider entra'
  ],
  [
    { jwt: { ...jwt, provider: 'entra', audience: ['api'], issuer: 'https://entra.test/{tenantid}/v2.0' } },
    'dual-auth: jwt.tenants must be given if and only if jwt.issuer contains {tenantid}'
  ],
  [
    { jwt: { ...jwt, provider: 'entra', audience: ['api'], tenants: ['a'] } },
    'dual-auth: jwt.tenants must be given if and only if jwt.issuer contains {tenantid}'
  ],
  [{ jwt: [] }, 'dual-auth: jwt must have at least one issuer'],
  [{ jwt: [jwt, jwt] }, 'dual-auth: jwt must have different issuers'],
  [
    { jwt: [jwt, { ...jwt, issuer: 'https://b.test', clockTolerance: 0 }] },
    'dual-auth: jwt must have the same clockTolerance for all issuers'
  ],
  [
    { jwt: [jwt, { ...jwt, issuer: 'b' }] },
    "dual-auth: jwt[1].issuer must be an https URL without user, password and white space (got 'b')"
  ],
  [{ jwt: null as never }, JWT],
  [
    { jwt: { ...jwt, algorithm: 'RS256' } as never },
    'dual-auth: jwt.algorithm is not an option. Did you mean algorithms?'
  ],
  [
    { jwt: { ...jwt, clockTolerance: 60_001 } },
    'dual-auth: jwt.clockTolerance must be an integer of milliseconds from 0 to 60000 (got 60001)'
  ],
  [
    { jwt: { ...jwt, jwksCooldown: 0 } },
    'dual-auth: jwt.jwksCooldown must be an integer of milliseconds from 1 to 2147483647 (got 0)'
  ],
  [
    { challenge: { resourceMetadata: '/metadata' } },
    'dual-auth: challenge.resourceMetadata must be an absolute URL in ASCII, with http or https'
  ],
  [
    { challenge: { resourceMetadata: 'localhost:8080/metadata' } },
    'dual-auth: challenge.resourceMetadata must be an absolute URL in ASCII, with http or https'
  ],
  [
    { challenge: { resourceMetadata: 'https://shop.test/"' } },
    'dual-auth: challenge.resourceMetadata must be an absolute URL in ASCII, with http or https'
  ],
  [{ challenge: { scope: 'a\nb' } }, 'dual-auth: challenge.scope must be scopes separated by spaces'],
  [{ challenge: { scope: 5 as never } }, 'dual-auth: challenge.scope must be scopes separated by spaces'],
  [{ challenge: null as never }, 'dual-auth: challenge must be an object'],
  [{ challenge: 'https://shop.test' as never }, 'dual-auth: challenge must be an object'],
  [{ challenge: { scopes: 'openid' } as never }, 'dual-auth: challenge.scopes is not an option. Did you mean scope?'],
  [{ policy: 'dual' as never }, 'dual-auth: policy must be a function'],
  [{ policy: null as never }, 'dual-auth: policy must be a function'],
  [{ scopes: ['read'] as never }, 'dual-auth: scopes must be a function'],
  [{ tokenScopes: ['catalog/read'] as never }, 'dual-auth: tokenScopes must be a function'],
  [{ management: {} as never }, 'dual-auth: management.canManage must be a function'],
  [
    { management: { canManage: () => true, onKeyChange: 'audit' as never } },
    'dual-auth: management.onKeyChange must be a function'
  ],
  [
    { management: { canManage: () => true, path: '/keys' } },
    'dual-auth: management.path must contain :owner_id, or management.owner must say whose keys these are'
  ],
  [
    { management: { canManage: () => true, path: '/owners/:owner_id/keys/' } },
    PATH
  ],
  [
    { management: { canManage: () => true, path: 5 as never } },
    PATH
  ],
  [
    { management: { canManage: () => true, owner: 'me' as never, path: '/me/keys' } },
    'dual-auth: management.owner must be a function'
  ],
  ...[undefined, 'keys', null].map((path): Wrong => [
    { management: { canManage: () => true, owner: () => 'me', path: path as never } },
    PATH
  ]),
  [
    { management: { canManage: () => true, owner: () => 'me', path: '/owners/:owner_id/keys' } },
    'dual-auth: management.path must not contain :owner_id with management.owner'
  ],
  [
    { management: { canManage: () => true, operationName: 'a b' } },
    'dual-auth: management.operationName must consist of letters, digits and _'
  ],
  [
    { management: [{ canManage: () => true }, { canManage: () => true, path: '/x/:owner_id' }] },
    'dual-auth: management.operationName must be different in each registration: there is a create_api_key already'
  ],
  [
    {
      apiKeys: { ...apiKeys, ownerParam: 'owner' },
      management: [
        { canManage: () => true, path: '/users/:owner/api-keys' },
        { canManage: () => true, path: '/orgs/:owner/api-keys', operationName: 'org_key' }
      ]
    },
    'dual-auth: management must not have :owner in /users/:owner/api-keys and in /orgs/:owner/api-keys: ' +
    'owners of two kinds with the same id would be one. Manage the keys of one of them by owner'
  ],
  [
    { management: { canManage: () => true, paths: [] } as never },
    'dual-auth: management.paths is not an option. Did you mean path?'
  ],
  [{ challange: {} } as never, 'dual-auth: challange is not an option. Did you mean challenge?']
]

for (const [options, message] of wrong) {
  t.test(`${message}: ${JSON.stringify(options)}`, async (t) => {
    await t.rejects(boot({ apiKeys, jwt, ...options }), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: beginning(message)
    })
  })
}

t.test('no message shows a secret', async (t) => {
  const secret = 'hunter2'
  for (
    const wrong of [
      { apiKeys: secret },
      { apiKeys: [secret] },
      { apiKeys: { ...apiKeys, peppers: secret } },
      { apiKeys: { ...apiKeys, peppers: [secret] } },
      { apiKeys: { ...apiKeys, peppers: [[secret]] } },
      { apiKeys: { ...apiKeys, peppers: { id: 'p', secret } } },
      { apiKeys: { ...apiKeys, peppers: [{ id: 'p', secret }] } },
      { apiKeys: { ...apiKeys, peppers: [{ id: 'p', secret: Buffer.from(secret) }] } },
      { apiKeys: { ...apiKeys, store: secret } },
      { apiKeys: { ...apiKeys, store: { connection: secret } } },
      { apiKeys: { ...apiKeys, mayUse: { secret } } },
      { jwt: secret },
      { jwt: { ...jwt, issuer: `https://kim:${secret}@idp.example.com` } },
      { jwt: { ...jwt, jwksUri: `https://kim:${secret}@idp.example.com/jwks` } },
      { jwt: { ...jwt, jwks: secret } },
      { jwt: { ...jwt, jwks: { secret } } },
      { jwt: { ...generic, introspection: { ...client, clientSecret: secret } } },
      { jwt: { ...generic, introspection: secret } }
    ]
  ) {
    const { message } = await boot({ apiKeys, jwt, ...wrong } as never).catch((error: Error) => error) as Error
    t.match(message, / must be .*\(got (?:an? \w+|.*https:\/\/….*|\[Object\])\)$/)
    t.notMatch(message, secret)
  }
  for (const clientSecret of [[secret], { secret }, Buffer.from(secret)]) {
    t.throws(() => introspection({ ...client, clientSecret } as never), {
      message: /^dual-auth: introspection\.clientSecret must be a non-empty string \(got an (?:array|object)\)$/
    })
  }
})

t.test('the required options alone start the server, even with the provider out of reach', async (t) => {
  await t.resolves(boot({ apiKeys, jwt }))
})

const wrongQuestions: Array<[IntrospectionOptions, string]> = [
  [{ clientId: 'api' } as never, 'introspection.clientSecret must be a non-empty string'],
  [
    { ...client, clientAuth: 'private_key_jwt' as never },
    "introspection.clientAuth must be 'client_secret_basic' or 'client_secret_post' (got 'private_key_jwt')"
  ],
  [
    { ...client, cacheTime: 600_001 },
    'introspection.cacheTime must be an integer of milliseconds from 0 to 600000 (got 600001)'
  ],
  [{ ...client, timeout: 0 }, 'introspection.timeout must be an integer of milliseconds from 1 to 2147483647 (got 0)'],
  [{ ...client, jwts: 'yes' as never }, 'introspection.jwts must be true or false'],
  [{ ...client, endpoint: 5 as never }, 'introspection.endpoint must be a non-empty string'],
  [
    { ...client, cache: 5 } as never,
    'introspection.cache is not an option. Known: clientId, clientSecret, clientAuth, endpoint, jwts, ' +
    'cacheTime, timeout'
  ],
  [null as never, 'introspection must be an object']
]
for (const [options, message] of wrongQuestions) {
  t.test(`${message}: ${JSON.stringify(options)}`, async (t) => {
    t.throws(() => introspection(options), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: beginning(`dual-auth: ${message}`)
    })
  })
}

for (const room of ['management', 'scanning']) {
  t.test(`${room}, now a plugin of its own, is no option, and the message names its import`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    await t.rejects(async () => app.register(dualAuth, { apiKeys, jwt, [room]: undefined } as DualAuthOptions), {
      code: 'DUAL_AUTH_INVALID_OPTION',
      message: `dual-auth: ${room} is a plugin of its own: register the default export of dual-auth/${room} ` +
        'after dual-auth'
    })
  })

  t.test(`dual-auth/${room} without dual-auth fails startup`, async (t) => {
    const app = Fastify()
    t.teardown(() => app.close())
    const { default: plugin } = await import(`../src/${room}/index.ts`)
    await t.rejects(async () => app.register(plugin), {
      message: `The dependency 'dual-auth' of plugin 'dual-auth/${room}' is not registered`
    })
  })
}

t.test("Fastify's own registration options are not ours", async (t) => {
  await t.resolves(boot({ apiKeys, jwt, prefix: '/v1', logLevel: 'warn', logSerializers: {} } as DualAuthOptions))
})

t.test('without any options, the first required one is named', async (t) => {
  await t.rejects(boot({} as never), {
    code: 'DUAL_AUTH_INVALID_OPTION',
    message: 'dual-auth: apiKeys must be an object (got undefined)'
  })
})

t.test('a second registration says that one is enough', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  await app.register(dualAuth, { apiKeys, jwt })
  const message = 'dual-auth: this app has it already: register it once, with several issuers in jwt'
  await t.rejects(async () => {
    await app.register(dualAuth, { apiKeys, jwt: false })
  }, { code: 'DUAL_AUTH_INVALID_OPTION', message })
})
