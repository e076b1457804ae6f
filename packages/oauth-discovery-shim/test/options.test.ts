import Fastify from 'fastify'
import { inspect } from 'node:util'
import t from 'tap'
import shim, { type OAuthDiscoveryShimOptions } from '../src/index.ts'
import { settingsFromOptions } from '../src/options.ts'

const good: OAuthDiscoveryShimOptions = {
  publicBaseUrl: 'https://shop.example.com',
  issuer: 'https://idp.example.com/pool',
  clientId: 'c1'
}

t.test('defaults', async (t) => {
  t.strictSame(settingsFromOptions(good), {
    ...good,
    insecureHttp: false,
    mcpPath: '/mcp',
    redirectUris: ['http://localhost:7777/callback', 'http://127.0.0.1:7777/callback'],
    scopes: ['openid', 'email', 'profile'],
    resourceName: undefined,
    strictDiscovery: 'path',
    advertisePkce: true,
    timeout: 3000,
    refreshInterval: 3600000,
    config: {}
  })
})

t.test('the public base URL is reduced to its origin', async (t) => {
  for (
    const [given, origin] of [
      ['https://shop.example.com/', 'https://shop.example.com'],
      ['HTTPS://Shop.EXAMPLE.com:443', 'https://shop.example.com'],
      ['http://localhost:8080', 'http://localhost:8080'],
      ['http://[::1]:8080/', 'http://[::1]:8080']
    ] as const
  ) {
    t.equal(settingsFromOptions({ ...good, publicBaseUrl: given }).publicBaseUrl, origin, given)
  }
})

/** What JavaScript and the environment can hand over, and the compiler would not let through. */
const untyped = (options: object) => options as Partial<OAuthDiscoveryShimOptions>

t.test('a wrong option stops the boot and is named', async (t) => {
  const wrong: Readonly<Record<string, readonly unknown[]>> = {
    publicBaseUrl: [
      '',
      'shop.example.com',
      'ftp://shop.example.com',
      'https://shop.example.com/api',
      'https://shop.example.com?x',
      'https://shop.example.com#x',
      'https://user@shop.example.com',
      'https://:secret@shop.example.com',
      new URL('https://shop.example.com')
    ],
    issuer: [
      '',
      'http://idp.example.com',
      'https://idp.example.com/?tenant=1',
      'https://user:secret@idp.example.com',
      'https://idp.example.com/pool\n',
      new URL('https://idp.example.com')
    ],
    insecureHttp: ['yes'],
    clientId: [undefined, 'two words', 'line\nbreak'],
    mcpPath: ['', '/', 'mcp', '/mcp/', '/:shop/mcp', '/..', '/api/./mcp', ['/mcp']],
    redirectUris: [
      [],
      ['/callback'],
      ['localhost:7777/callback'],
      ['app.example.com:443'],
      ['http://localhost:7777/callback#x'],
      ['javascript:alert(1)'],
      ['http://localhost:7777/callback', '/callback'],
      [new URL('http://localhost:7777/callback')],
      'http://localhost:7777/callback'
    ],
    scopes: [[], 'openid email', ['openid email'], ['open"id'], ['openid', 'email profile'], [42]],
    timeout: [0, NaN, 0.5, '3000'],
    refreshInterval: [2 ** 31, 0.5],
    strictDiscovery: ['root', ['path']],
    resourceName: [{ a: 1 }],
    advertisePkce: ['false'],
    config: ['public', []]
  }
  for (
    const [change, named] of [
      ...Object.entries(wrong).flatMap(([name, values]) =>
        values.map((value) => [untyped({ [name]: value }), name] as const)
      ),
      ...Object.keys(settingsFromOptions(good)).flatMap((name) =>
        [null, 42n].map((value) => [untyped({ [name]: value }), name] as const)
      ),
      [
        untyped({ redirectUrls: ['http://localhost:7777/callback'] }),
        'redirectUrls is not an option. Did you mean redirectUris\\?$'
      ],
      [
        untyped({ timeout: '3000' }),
        "timeout must be an integer of milliseconds from 1 to 2147483647 \\(got '3000'\\)$"
      ],
      [untyped({ enabled: undefined }), 'enabled is not an option']
    ] as const
  ) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(shim, { ...good, ...change })
    await t.rejects(async () => app.ready(), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: new RegExp(`^oauth-discovery-shim: ${named}(?!\\w)`)
    }, inspect(change))
  }
})

t.test('what Fastify takes for itself is no option of the plugin', async (t) => {
  const settings = settingsFromOptions({ ...good, ...untyped({ logLevel: 'silent', logSerializers: {}, prefix: '' }) })
  t.strictSame(settings, settingsFromOptions(good))
})

t.test('under a prefix, where no client looks, it does not start', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(async (scope) => {
    scope.register(shim, good)
  }, { prefix: '/api' })
  await t.rejects(async () => app.ready(), {
    code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
    message: 'oauth-discovery-shim: register it at the root, not under the prefix /api'
  })
})

t.test('the option broker, now a plugin of its own, is refused by a message that names its import', async (t) => {
  for (const broker of [{ secrets: [] }, undefined]) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(shim, { ...good, ...untyped({ broker }) })
    await t.rejects(async () => app.ready(), {
      code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
      message: 'oauth-discovery-shim: broker is not an option: register the plugin of oauth-discovery-shim/broker in ' +
        'place of this one, with the members of broker beside the other options'
    })
  }
})

t.test('a second registration does not start', async (t) => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(shim, good)
  app.register(shim, good)
  await t.rejects(async () => app.ready(), {
    code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION',
    message: /^oauth-discovery-shim: register one plugin, once/
  })
})
