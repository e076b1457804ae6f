import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import { settingsFromOptions, type OAuthDiscoveryShimOptions } from '../../src/options.ts'
import { secrets } from './world.ts'

const good: OAuthDiscoveryShimOptions = {
  publicBaseUrl: 'https://shop.example.com',
  issuer: 'https://idp.example.com/pool',
  clientId: 'c1',
  broker: { secrets }
}

const PEM = '-----BEGIN PRIVATE KEY-----'
const pemOf = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

t.test('defaults', async (t) => {
  const { store, ...settings } = settingsFromOptions(good).broker!
  t.type(store.raise, 'function')
  t.strictSame(settings, {
    secrets,
    clientSecret: undefined,
    clientKey: undefined,
    clientAuth: undefined,
    clients: [],
    registration: true,
    documents: {},
    appSchemes: ['cursor', 'vscode', 'vscode-insiders', 'windsurf'],
    remembersAlone: true,
    rememberConsent: 2_592_000_000,
    refreshLifetime: 2_592_000_000,
    refreshGrace: 60_000,
    requiredScopes: [],
    upstream: { authorize: {}, token: {} },
    sendResource: true,
    assertions: undefined,
    grants: undefined
  })
  t.equal(settingsFromOptions({ ...good, broker: undefined } as never).broker, undefined)
})

t.test('a wrong option stops the boot and is named', async (t) => {
  for (
    const [broker, named, more = {}] of [
      [null, 'broker must be an object'],
      [true, 'broker must be an object'],
      [{}, 'broker.secrets'],
      [{ secrets: [] }, 'broker.secrets'],
      [{ secrets: 'x' }, 'broker.secrets'],
      [{ secrets: [{ id: 'a.b', secret: 'x'.repeat(32) }] }, 'broker.secrets[0].id'],
      [{ secrets: [{ id: '', secret: 'x'.repeat(32) }] }, 'broker.secrets[0].id'],
      [{ secrets: [{ id: 'a', secret: 'x'.repeat(31) }] }, 'broker.secrets[0].secret'],
      [{ secrets: [{ id: 'a' }] }, 'broker.secrets[0].secret'],
      [{ secrets: [...secrets, ...secrets] }, 'broker.secrets must have different ids'],
      [{ secrets, store: {} }, 'broker.store'],
      [{ secrets, registration: 'yes' }, 'broker.registration'],
      [{ secrets, documents: true }, 'broker.documents'],
      [{ secrets, documents: { privateHosts: ['a:1'] } }, 'broker.documents.privateHosts'],
      [{ secrets, documents: { privateHosts: ['A'] } }, 'broker.documents.privateHosts'],
      [{ secrets, documents: { allow: [] } }, 'broker.documents.allow'],
      [{ secrets, documents: { ca: 1 } }, 'broker.documents.ca'],
      ...[
        'http',
        'https',
        'data',
        'vbscript',
        'file',
        'blob',
        'about',
        'filesystem',
        'ws',
        'wss',
        'ftp',
        'mailto',
        'tel',
        'intent',
        'view-source'
      ].map((scheme) => [{ secrets, appSchemes: ['cursor', scheme] }, 'broker.appSchemes'] as const),
      [{ secrets, appSchemes: ['javascript'] }, 'broker.appSchemes'],
      [{ secrets, appSchemes: ['cursor:'] }, 'broker.appSchemes'],
      [{ secrets, appSchemes: ['Cursor'] }, 'broker.appSchemes'],
      [{ secrets, clients: {} }, 'broker.clients'],
      [
        { secrets, clients: [{ id: 'a b', name: 'x', redirectUris: ['https://x.example.com/'] }] },
        'broker.clients[0].id'
      ],
      [
        { secrets, clients: [{ id: 'a', name: '', redirectUris: ['https://x.example.com/'] }] },
        'broker.clients[0].name'
      ],
      [
        { secrets, clients: [{ id: 'a', name: 'x', redirectUris: ['http://x.example.com/'] }] },
        'broker.clients[0].redirectUris'
      ],
      [{ secrets, clients: [{ id: 'a', name: 'x', redirectUris: [] }] }, 'broker.clients[0].redirectUris'],
      [{ secrets, rememberConsent: -1 }, 'broker.rememberConsent'],
      [{ secrets, rememberConsent: 401 * 86_400_000 }, 'broker.rememberConsent'],
      [{ secrets, refreshLifetime: 1 }, 'broker.refreshLifetime'],
      [{ secrets, refreshGrace: 3_600_001 }, 'broker.refreshGrace'],
      [{ secrets, clientKey: { pem: 'x' } }, 'broker.clientKey.pem'],
      [{ secrets, clientKey: { pem: 7 } }, 'broker.clientKey.pem must be a private key'],
      [{ secrets, clientKey: { pem: null } }, 'broker.clientKey.pem must be a private key'],
      [{ secrets, clientKey: { pem: PEM } }, 'broker.clientKey.pem'],
      [
        { secrets, clientKey: { pem: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })) } },
        'broker.clientKey.pem must be a private key for RS256'
      ],
      [
        { secrets, clientKey: { pem: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), alg: 'ES256' } },
        'broker.clientKey.pem must be a private key for ES256'
      ],
      [{ secrets, clientKey: { pem: PEM, alg: 'HS256' } }, 'broker.clientKey.alg'],
      [{ secrets, clientKey: { pem: PEM, header: { alg: 'none' } } }, 'broker.clientKey.header'],
      [{ secrets, clientKey: { pem: PEM, audience: '' } }, 'broker.clientKey.audience'],
      [{ secrets, clientKey: { pem: PEM, kid: 'x' } }, 'broker.clientKey.kid is not an option'],
      [{ secrets, clientKey: { pem: PEM }, clientSecret: 'x' }, 'exclude each other'],
      [{ secrets, clientAuth: 'client_secret_post' }, 'broker.clientAuth'],
      [{ secrets, clientSecret: 'x', clientAuth: 'none' }, 'broker.clientAuth'],
      [{ secrets, requiredScopes: ['a b'] }, 'broker.requiredScopes'],
      [{ secrets, requiredScopes: 'a' }, 'broker.requiredScopes'],
      [{ secrets, upstream: { authorise: {} } }, 'broker.upstream.authorise is not an option'],
      [{ secrets, upstream: { token: { a: 1 } } }, 'broker.upstream.token'],
      [
        { secrets, upstream: { authorize: { state: 'x' } } },
        'broker.upstream.authorize.state is set by the broker itself'
      ],
      [{ secrets, sendResource: 1 }, 'broker.sendResource'],
      [{ secrets, clientSecret: '' }, 'broker.clientSecret'],
      [{ secrets, enabled: true }, 'broker.enabled is not an option'],
      [{ secrets, registration: false, documents: false }, 'broker admits no client'],
      [{ secrets }, 'broker needs a clientId', { clientId: '' }],
      [{ secrets }, 'broker needs a publicBaseUrl with https', { publicBaseUrl: 'http://shop.example.com' }],
      [{ secrets }, 'strictDiscovery must be path with broker', { strictDiscovery: 'off' }]
    ] as const
  ) {
    t.throws(() => settingsFromOptions({ ...good, broker, ...more } as never), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: new RegExp(named.replace(/[.[\]]/g, '\\$&'))
    }, named)
  }
  for (const publicBaseUrl of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1']) {
    t.ok(settingsFromOptions({ ...good, publicBaseUrl }).broker)
  }
})

t.test('assertions: what is missing or wrong stops the boot and is named', async (t) => {
  const issuers = [{ issuer: 'https://acme.example' }]
  const clients = [{ id: 'agent', secrets: ['x'.repeat(32)] }]
  const whole = { issuers, keys: secrets, clients }
  const settings = (assertions: object | null, broker: object = {}, more: object = {}) =>
    settingsFromOptions({ ...good, ...more, broker: { secrets, assertions, ...broker } } as never).broker!.assertions
  t.strictSame(settings(whole), { ...whole, tokenLifetime: 600_000 })
  t.strictSame(
    settings({
      issuers: [{ issuer: 'http://127.0.0.1:1/x', jwksUri: 'http://localhost/keys' }],
      keys: secrets,
      tokenLifetime: 60_000
    }),
    {
      issuers: [{ issuer: 'http://127.0.0.1:1/x', jwksUri: 'http://localhost/keys' }],
      keys: secrets,
      clients: [],
      tokenLifetime: 60_000
    }
  )
  t.ok(settings({ ...whole, tokenLifetime: 3_600_000 }, { registration: false, documents: false }), 'no other clients')
  t.ok(settings({ ...whole, issuers: [{ issuer: 'http://acme.internal' }] }, {}, { insecureHttp: true }))
  for (
    const [change, named, broker = {}] of [
      [null, ' must be an object'],
      [[], ' must be an object'],
      [{ issuers: undefined }, '.issuers must list at least one'],
      [{ issuers: [] }, '.issuers must list at least one'],
      [{ issuers: ['https://acme.example'] }, '.issuers[0] must be an object'],
      [{ issuers: [{ issuer: 'http://acme.example' }] }, '.issuers[0].issuer must be an https URL'],
      [{ issuers: [{ issuer: 'https://acme.example?x' }] }, '.issuers[0].issuer'],
      [{ issuers: [{ issuer: 'https://acme.example/{tenantid}' }] }, '.issuers[0].issuer'],
      [{ issuers: [...issuers, {}] }, '.issuers[1].issuer'],
      [
        { issuers: [{ issuer: 'https://shop.example.com/oauth' }] },
        '.issuers[0].issuer must not be this server itself'
      ],
      [{ issuers: [...issuers, ...issuers] }, '.issuers must be different'],
      [{ issuers: [{ ...issuers[0], jwksUri: 'http://acme.example/keys' }] }, '.issuers[0].jwksUri'],
      [{ issuers: [{ ...issuers[0], name: 'x' }] }, '.issuers[0].name is not an option'],
      [{ keys: undefined }, '.keys must be a list of at least one secret'],
      [{ keys: [] }, '.keys must be a list'],
      [{ keys: [{ id: 'a' }] }, '.keys[0].secret'],
      [{ keys: [{ id: 'a', secret: 'x'.repeat(31) }] }, '.keys[0].secret'],
      [{ keys: [...secrets, ...secrets] }, '.keys must have different ids'],
      [{ clients: 'agent' }, '.clients must be a list'],
      [{ clients: ['agent'] }, '.clients[0] must be an object'],
      [{ clients: [{ id: 'a b', secrets: ['x'.repeat(32)] }] }, '.clients[0].id'],
      [{ clients: [{ id: 'agent' }] }, '.clients[0].secrets'],
      [{ clients: [{ id: 'agent', secrets: [] }] }, '.clients[0].secrets'],
      [{ clients: [{ id: 'agent', secrets: ['x'.repeat(31)] }] }, '.clients[0].secrets'],
      [{ clients: [{ ...clients[0], secret: 'x' }] }, '.clients[0].secret is not an option'],
      [{ clients: [...clients, ...clients] }, '.clients must have different ids'],
      [{}, '.clients[0].id is also in broker.clients', {
        clients: [{ id: 'agent', name: 'x', redirectUris: ['https://x.example.com/'] }]
      }],
      [{ clients: [] }, '.clients must list a client', { documents: false }],
      [{ tokenLifetime: 59_999 }, '.tokenLifetime'],
      [{ tokenLifetime: 3_600_001 }, '.tokenLifetime'],
      [{ tokenLifetime: 60_000.5 }, '.tokenLifetime'],
      [{ enabled: true }, '.enabled is not an option']
    ] as const
  ) {
    t.throws(() => settings(change === null || Array.isArray(change) ? change : { ...whole, ...change }, broker), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: new RegExp(`^oauth-discovery-shim: broker\\.assertions${named.replace(/[.[\]]/g, '\\$&')}`)
    }, named)
  }
})

t.test('grants: what is missing or wrong stops the boot and is named', async (t) => {
  const store = { raise: async () => ({ raised: true } as const) }
  const grants = { store: { record: () => {}, list: () => {}, find: () => {}, end: () => {} }, whose: () => '' }
  const settings = (change: unknown, broker: object = { store }) =>
    settingsFromOptions({ ...good, broker: { secrets, ...broker, grants: change } } as never).broker!.grants
  t.strictSame(settings(grants), { ...grants, subjectClaim: 'sub', config: {}, issuer: good.issuer })
  for (
    const [change, named, broker] of [
      [null, ' must be an object'],
      [{ ...grants, store: undefined }, '.store must be a store'],
      [{ ...grants, store: { ...grants.store, find: 1 } }, '.store must be a store'],
      [{ ...grants, whose: undefined }, '.whose must be a function'],
      [{ ...grants, subjectClaim: '' }, '.subjectClaim'],
      [{ ...grants, config: [] }, '.config must be an object'],
      [{ ...grants, path: '/x' }, '.path is not an option'],
      [grants, ' needs broker.store', {}]
    ] as const
  ) {
    t.throws(() => settings(change, broker), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: `oauth-discovery-shim: broker.grants${named}`
    }, named)
  }
  const ofTenants = (subjectClaim: unknown) =>
    settingsFromOptions(
      {
        ...good,
        issuer: 'https://login.example/{tenantid}',
        broker: { secrets, store, grants: { ...grants, subjectClaim } }
      } as never
    )
  for (const claim of [undefined, 'oid']) {
    t.throws(() => ofTenants(claim), {
      message: /broker.grants.subjectClaim must be a function with an issuer of several tenants/
    })
  }
  t.doesNotThrow(() => ofTenants(() => 'somebody'))
})
