import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import t from 'tap'
import Fastify from 'fastify'
import oauthBroker, { type BrokerOptions } from '../../src/broker/index.ts'
import { settingsFromBrokerOptions } from '../../src/broker/options.ts'
import shim from '../../src/index.ts'
import { settingsFromOptions } from '../../src/options.ts'
import { secrets } from './world.ts'

const shimOptions = {
  publicBaseUrl: 'https://shop.example.com',
  issuer: 'https://idp.example.com/pool',
  clientId: 'c1'
}
const good: BrokerOptions = { ...shimOptions, secrets }

const PEM = '-----BEGIN PRIVATE KEY-----'
const pemOf = ({ privateKey }: { readonly privateKey: KeyObject }): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

t.test('defaults', async (t) => {
  const { store, ...settings } = settingsFromBrokerOptions(good)
  t.type(store.raise, 'function')
  t.strictSame(settings, {
    ...settingsFromOptions(shimOptions),
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
})

t.test('a wrong option stops the boot and is named', async (t) => {
  for (
    const [broker, named, more = {}] of [
      [{}, 'secrets'],
      [{ secrets: [] }, 'secrets'],
      [{ secrets: 'x' }, 'secrets'],
      [{ secrets: [{ id: 'a.b', secret: 'x'.repeat(32) }] }, 'secrets[0].id'],
      [{ secrets: [{ id: '', secret: 'x'.repeat(32) }] }, 'secrets[0].id'],
      [{ secrets: [{ id: 'a', secret: 'x'.repeat(31) }] }, 'secrets[0].secret'],
      [{ secrets: [{ id: 'a' }] }, 'secrets[0].secret'],
      [{ secrets: [...secrets, ...secrets] }, 'secrets must have different ids'],
      [{ secrets: [{ ...secrets[0], sercet: 'x' }] }, 'secrets[0].sercet is not an option. Did you mean secret?'],
      [{ secrets, store: {} }, 'store'],
      [{ secrets, registration: 'yes' }, 'registration'],
      [{ secrets, documents: true }, 'documents'],
      [{ secrets, documents: { privateHosts: ['a:1'] } }, 'documents.privateHosts'],
      [{ secrets, documents: { privateHosts: ['A'] } }, 'documents.privateHosts'],
      [{ secrets, documents: { allow: [] } }, 'documents.allow'],
      [{ secrets, documents: { ca: 1 } }, 'documents.ca'],
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
      ].map((scheme) => [{ secrets, appSchemes: ['cursor', scheme] }, 'appSchemes'] as const),
      [{ secrets, appSchemes: ['javascript'] }, 'appSchemes'],
      [{ secrets, appSchemes: ['cursor:'] }, 'appSchemes'],
      [{ secrets, appSchemes: ['Cursor'] }, 'appSchemes'],
      [{ secrets, clients: {} }, 'clients'],
      [
        { secrets, clients: [{ id: 'a b', name: 'x', redirectUris: ['https://x.example.com/'] }] },
        'clients[0].id'
      ],
      [
        { secrets, clients: [{ id: 'a', name: '', redirectUris: ['https://x.example.com/'] }] },
        'clients[0].name'
      ],
      [
        { secrets, clients: [{ id: 'a', name: 'x', redirectUris: ['http://x.example.com/'] }] },
        'clients[0].redirectUris'
      ],
      [{ secrets, clients: [{ id: 'a', name: 'x', redirectUris: [] }] }, 'clients[0].redirectUris'],
      [
        { secrets, clients: [{ redirect_uris: [] }] },
        'clients[0].redirect_uris is not an option. Did you mean redirectUris'
      ],
      [{ secrets, rememberConsent: -1 }, 'rememberConsent'],
      [{ secrets, rememberConsent: 401 * 86_400_000 }, 'rememberConsent'],
      [{ secrets, refreshLifetime: 1 }, 'refreshLifetime'],
      [{ secrets, refreshGrace: 3_600_001 }, 'refreshGrace'],
      [{ secrets, clientKey: { pem: 'x' } }, 'clientKey.pem'],
      [{ secrets, clientKey: { pem: 7 } }, 'clientKey.pem must be a private key'],
      [{ secrets, clientKey: { pem: null } }, 'clientKey.pem must be a private key'],
      [{ secrets, clientKey: { pem: PEM } }, 'clientKey.pem'],
      [
        { secrets, clientKey: { pem: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' })) } },
        'clientKey.pem must be a private key for RS256'
      ],
      [
        { secrets, clientKey: { pem: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-384' })), alg: 'ES256' } },
        'clientKey.pem must be a private key for ES256'
      ],
      [{ secrets, clientKey: { pem: PEM, alg: 'HS256' } }, 'clientKey.alg'],
      [{ secrets, clientKey: { pem: PEM, header: { alg: 'none' } } }, 'clientKey.header'],
      [{ secrets, clientKey: { pem: PEM, audience: '' } }, 'clientKey.audience'],
      [
        { secrets, clientKey: { pem: PEM, kid: 'x' } },
        'clientKey.kid is not an option. Known: pem, alg, header, audience'
      ],
      [{ secrets, clientKey: { pem: PEM }, clientSecret: 'x' }, 'clientSecret and clientKey exclude each other'],
      [{ secrets, clientAuth: 'client_secret_post' }, 'clientAuth'],
      [{ secrets, clientSecret: 'x', clientAuth: 'none' }, 'clientAuth'],
      [{ secrets, requiredScopes: ['a b'] }, 'requiredScopes'],
      [{ secrets, requiredScopes: 'a' }, 'requiredScopes'],
      [{ secrets, upstream: { authorise: {} } }, 'upstream.authorise is not an option. Did you mean authorize?'],
      [{ secrets, upstream: { token: { a: 1 } } }, 'upstream.token'],
      [
        { secrets, upstream: { authorize: { state: 'x' } } },
        'upstream.authorize.state is set by the broker itself'
      ],
      [{ secrets, sendResource: 1 }, 'sendResource'],
      [{ secrets, clientSecret: '' }, 'clientSecret'],
      [{ secrets, enabled: true }, 'enabled is not an option'],
      [{ secrets, registration: false, documents: false }, 'registration, documents and clients admit no client'],
      [{ secrets }, 'clientId must not be empty', { clientId: '' }],
      [{ secrets }, 'publicBaseUrl must be https', { publicBaseUrl: 'http://shop.example.com' }],
      [{ secrets }, 'strictDiscovery is not an option of the broker', { strictDiscovery: 'path' }],
      [{ secrets }, 'broker is not an option here', { broker: { secrets } }]
    ] as const
  ) {
    t.throws(() => settingsFromBrokerOptions({ ...shimOptions, ...broker, ...more } as never), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: new RegExp(`^oauth-discovery-shim: ${named.replace(/[.[\]()?]/g, '\\$&')}`)
    }, named)
  }
  for (const publicBaseUrl of ['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1']) {
    t.ok(settingsFromBrokerOptions({ ...good, publicBaseUrl }))
  }
})

t.test('assertions: what is missing or wrong stops the boot and is named', async (t) => {
  const issuers = [{ issuer: 'https://acme.example' }]
  const clients = [{ id: 'agent', secrets: ['x'.repeat(32)] }]
  const whole = { issuers, keys: secrets, clients }
  const settings = (assertions: object | null, broker: object = {}, more: object = {}) =>
    settingsFromBrokerOptions({ ...good, ...more, assertions, ...broker } as never).assertions
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
      [{ issuers: undefined }, '.issuers must be a non-empty array of issuers'],
      [{ issuers: [] }, '.issuers must be a non-empty array of issuers'],
      [{ issuers: ['https://acme.example'] }, '.issuers[0] must be an object'],
      [
        { issuers: [{ issuer: 'http://acme.example' }] },
        '.issuers[0].issuer must be https, or http on loopback: insecureHttp allows http'
      ],
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
      [{ keys: undefined }, '.keys must be a non-empty array of secrets (got undefined)'],
      [{ keys: [] }, '.keys must be a non-empty array of secrets (got an array)'],
      [{ keys: [{ id: 'a' }] }, '.keys[0].secret'],
      [{ keys: [{ id: 'a', secret: 'x'.repeat(31) }] }, '.keys[0].secret'],
      [{ keys: [...secrets, ...secrets] }, '.keys must have different ids'],
      [{ clients: 'agent' }, '.clients must be an array'],
      [{ clients: ['agent'] }, '.clients[0] must be an object'],
      [{ clients: [{ id: 'a b', secrets: ['x'.repeat(32)] }] }, '.clients[0].id'],
      [{ clients: [{ id: 'agent' }] }, '.clients[0].secrets'],
      [{ clients: [{ id: 'agent', secrets: [] }] }, '.clients[0].secrets'],
      [{ clients: [{ id: 'agent', secrets: ['x'.repeat(31)] }] }, '.clients[0].secrets'],
      [{ clients: [{ ...clients[0], secret: 'x' }] }, '.clients[0].secret is not an option'],
      [{ clients: [...clients, ...clients] }, '.clients must have different ids'],
      [{}, '.clients[0].id is also in the option clients', {
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
      message: new RegExp(`^oauth-discovery-shim: assertions${named.replace(/[.[\]()?]/g, '\\$&')}`)
    }, named)
  }
})

t.test('grants: what is missing or wrong stops the boot and is named', async (t) => {
  const store = { raise: async () => ({ raised: true } as const) }
  const grants = { store: { record: () => {}, list: () => {}, find: () => {}, end: () => {} }, whose: () => '' }
  const settings = (change: unknown, broker: object = { store }) =>
    settingsFromBrokerOptions({ ...good, ...broker, grants: change } as never).grants
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
      [grants, ' needs the option store', {}]
    ] as const
  ) {
    t.throws(() => settings(change, broker), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: `oauth-discovery-shim: grants${named}`
    }, named)
  }
  const ofTenants = (subjectClaim: unknown) =>
    settingsFromBrokerOptions(
      { ...good, issuer: 'https://login.example/{tenantid}', store, grants: { ...grants, subjectClaim } } as never
    )
  for (const claim of [undefined, 'oid']) {
    t.throws(() => ofTenants(claim), {
      message: /grants.subjectClaim must be a function with an issuer of several tenants/
    })
  }
  t.doesNotThrow(() => ofTenants(() => 'somebody'))
})

t.test('no message shows a secret', async (t) => {
  const secret = 'hunter2'
  const store = { raise: async () => ({ raised: true } as const) }
  const assertions = { issuers: [{ issuer: 'https://acme.example' }], keys: secrets }
  for (
    const wrong of [
      { secrets: secret },
      { secrets: [secret] },
      { secrets: { id: 'a', secret } },
      { secrets: [{ id: 'a', secret }] },
      { clientSecret: [secret] },
      { clientKey: secret },
      { clientKey: { pem: secret } },
      { clientKey: { pem: [secret] } },
      { clientKey: { pem: PEM, header: { secret, alg: 'none' } } },
      { store: { secret } },
      { store: secret },
      { upstream: { token: secret } },
      { upstream: { token: { secret, a: 1 } } },
      { upstream: { authorize: [secret] } },
      { issuer: `https://user:${secret}@idp.example.com` },
      { publicBaseUrl: `https://user:${secret}@shop.example.com` },
      { assertions: secret },
      { assertions: { ...assertions, keys: secret } },
      { assertions: { ...assertions, keys: [secret] } },
      { assertions: { ...assertions, keys: [{ id: 'a', secret }] } },
      { assertions: { ...assertions, clients: secret } },
      { assertions: { ...assertions, clients: [secret] } },
      { assertions: { ...assertions, clients: [{ id: 'a', secrets: [secret] }] } },
      { assertions: { ...assertions, clients: [{ id: 'a', secrets: secret }] } },
      { store, grants: { store: { secret } } },
      { store, grants: { store: secret } }
    ]
  ) {
    let message = ''
    try {
      settingsFromBrokerOptions({ ...good, ...wrong } as never)
    } catch (error) {
      message = (error as Error).message
    }
    t.match(message, / must be /)
    t.notMatch(message, secret)
  }
})

t.test('it is registered in place of the shim, not beside it', async (t) => {
  for (const plugins of [[oauthBroker, shim], [shim, oauthBroker]]) {
    const app = Fastify()
    t.teardown(() => app.close())
    for (const plugin of plugins) app.register(plugin as typeof shim, plugin === shim ? shimOptions : good)
    await t.rejects(async () => app.ready(), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: 'oauth-discovery-shim: register one plugin, once: that of oauth-discovery-shim/broker serves the ' +
        'documents of oauth-discovery-shim too'
    })
  }
})
