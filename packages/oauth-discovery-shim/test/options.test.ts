import Fastify from 'fastify'
import t from 'tap'
import shim, { type OAuthDiscoveryShimOptions } from '../src/index.ts'
import { settingsFromOptions } from '../src/options.ts'

const good: OAuthDiscoveryShimOptions = { publicBaseUrl: 'https://shop.example.com', issuer: 'https://idp.example.com/pool', clientId: 'c1' }

t.test('defaults', async t => {
  t.strictSame(settingsFromOptions(good), {
    ...good,
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

t.test('the public base URL is reduced to its origin', async t => {
  for (const [given, origin] of [
    ['https://shop.example.com/', 'https://shop.example.com'],
    ['HTTPS://Shop.EXAMPLE.com:443', 'https://shop.example.com'],
    ['http://localhost:8080', 'http://localhost:8080'],
    ['http://[::1]:8080/', 'http://[::1]:8080']
  ] as const) {
    t.equal(settingsFromOptions({ ...good, publicBaseUrl: given }).publicBaseUrl, origin, given)
  }
})

t.test('a wrong option stops the boot and is named', async t => {
  for (const [change, named] of [
    [{ publicBaseUrl: '' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'shop.example.com' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'ftp://shop.example.com' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'https://shop.example.com/api' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'https://shop.example.com?x' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'https://shop.example.com#x' }, 'publicBaseUrl'],
    [{ publicBaseUrl: 'https://user@shop.example.com' }, 'publicBaseUrl'],
    [{ issuer: '' }, 'issuer'],
    [{ issuer: 'http://idp.example.com' }, 'issuer'],
    [{ issuer: 'https://idp.example.com/?tenant=1' }, 'issuer'],
    [{ clientId: undefined as unknown as string }, 'clientId'],
    [{ clientId: 'two words' }, 'clientId'],
    [{ clientId: 'line\nbreak' }, 'clientId'],
    [{ mcpPath: '' }, 'mcpPath'],
    [{ mcpPath: '/' }, 'mcpPath'],
    [{ mcpPath: 'mcp' }, 'mcpPath'],
    [{ mcpPath: '/mcp/' }, 'mcpPath'],
    [{ mcpPath: '/:shop/mcp' }, 'mcpPath'],
    [{ redirectUris: [] }, 'redirectUris'],
    [{ redirectUris: ['/callback'] }, 'redirectUris'],
    [{ redirectUris: ['http://localhost:7777/callback#x'] }, 'redirectUris'],
    [{ redirectUris: ['javascript:alert(1)'] }, 'redirectUris'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: 'openid email' as unknown as string[] }, 'scopes'],
    [{ scopes: ['openid email'] }, 'scopes'],
    [{ scopes: ['open"id'] }, 'scopes'],
    [{ timeout: 0 }, 'timeout'],
    [{ timeout: NaN }, 'timeout'],
    [{ refreshInterval: 2 ** 31 }, 'refreshInterval'],
    [{ strictDiscovery: 'root' as 'off' }, 'strictDiscovery']
  ] as const) {
    const app = Fastify()
    t.teardown(() => app.close())
    app.register(shim, { ...good, ...change })
    await t.rejects(async () => app.ready(), { code: 'OAUTH_DISCOVERY_SHIM_INVALID_OPTION', message: new RegExp(`^oauth-discovery-shim: ${named} `) }, JSON.stringify(change))
  }
})

t.test('under a prefix, where no client looks, it does not start', async t => {
  const app = Fastify()
  t.teardown(() => app.close())
  app.register(async scope => { scope.register(shim, good) }, { prefix: '/api' })
  await t.rejects(async () => app.ready(), { code: 'OAUTH_DISCOVERY_SHIM_PREFIXED', message: 'oauth-discovery-shim: register it at the root, not under the prefix /api' })
})
