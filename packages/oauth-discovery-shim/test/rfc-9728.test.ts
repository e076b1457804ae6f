import t from 'tap'
import { build, options, provider } from './build.ts'

const root = '/.well-known/oauth-protected-resource'

const contract = {
  resource: 'https://shop.example.com/mcp',
  authorization_servers: ['https://shop.example.com'],
  scopes_supported: ['openid', 'email', 'profile'],
  bearer_methods_supported: ['header'],
  resource_name: 'Example shop'
}

t.test('the root document names the public base URL as the authorization server', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), resourceName: 'Example shop' })

  const response = await app.inject(root)

  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), contract)
  t.match(response.headers, { 'content-type': /^application\/json/, 'cache-control': 'public, max-age=300' })
})

t.test("the document at the resource's own path names an authorization server whose issuer is its URL", async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), resourceName: 'Example shop' })

  for (const url of [`${root}/mcp`, `${root}/mcp/`]) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 200, url)
    t.strictSame(response.json(), { ...contract, authorization_servers: ['https://shop.example.com/oauth'] }, url)
  }
})

t.test('with strictDiscovery off every document is the root one', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), resourceName: 'Example shop', strictDiscovery: 'off' })

  for (const url of [root, `${root}/mcp`, `${root}/mcp/`]) {
    t.strictSame((await app.inject(url)).json(), contract, url)
  }
})

t.test('another path of the MCP endpoint is in every document', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), mcpPath: '/agents/v1', scopes: ['openid'] })

  t.strictSame((await app.inject(`${root}/agents/v1`)).json(), {
    resource: 'https://shop.example.com/agents/v1',
    authorization_servers: ['https://shop.example.com/oauth'],
    scopes_supported: ['openid'],
    bearer_methods_supported: ['header']
  })
  t.equal((await app.inject(`${root}/mcp`)).statusCode, 404)
  t.equal(
    app.oauthChallenge,
    'Bearer resource_metadata="https://shop.example.com/.well-known/oauth-protected-resource/agents/v1", scope="openid"'
  )
})

t.test('on a server without an MCP endpoint the resource is the server, and there is one document', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), resourceName: 'Example shop', mcpPath: false })

  t.strictSame((await app.inject(root)).json(), { ...contract, resource: 'https://shop.example.com' })
  t.equal((await app.inject(`${root}/mcp`)).statusCode, 404)
  t.equal(
    app.oauthChallenge,
    'Bearer resource_metadata="https://shop.example.com/.well-known/oauth-protected-resource", scope="openid ' +
      'email profile"'
  )
})

t.test("the challenge leads to the document at the resource's own path", async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))

  t.equal(
    app.oauthChallenge,
    'Bearer resource_metadata="https://shop.example.com/.well-known/oauth-protected-resource/mcp", ' +
      'scope="openid email profile"'
  )
  const [, url = ''] = /resource_metadata="([^"]+)"/.exec(app.oauthChallenge) ?? []
  t.equal((await app.inject(new URL(url).pathname)).json().resource, 'https://shop.example.com/mcp')
})

t.test('a host that ignores trailing slashes serves the same documents', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), server: { routerOptions: { ignoreTrailingSlash: true } } })

  for (const url of [root, `${root}/`, `${root}/mcp`, `${root}/mcp/`]) {
    t.equal((await app.inject(url)).json().resource, 'https://shop.example.com/mcp', url)
  }
})
