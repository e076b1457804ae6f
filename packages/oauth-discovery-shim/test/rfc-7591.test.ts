import t from 'tap'
import { build, options, provider } from './build.ts'

const answer = {
  client_id: 'public-client-1',
  redirect_uris: ['http://localhost:7777/callback', 'http://127.0.0.1:7777/callback'],
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  scope: 'openid email profile'
}

t.test('every client is given the configured client id', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))

  const response = await app.inject({
    method: 'POST',
    url: '/oauth/register',
    payload: {
      client_name: 'another',
      redirect_uris: ['http://localhost:1/other'],
      token_endpoint_auth_method: 'client_secret_basic'
    }
  })

  t.equal(response.statusCode, 201)
  t.strictSame(response.json(), answer)
  t.match(response.headers, { 'content-type': /^application\/json/, 'cache-control': 'no-store', pragma: 'no-cache' })
})

t.test('the client has the grant refresh_token unless the provider lists only others', async (t) => {
  for (
    const [grants, expected] of [
      [['authorization_code'], ['authorization_code']],
      [['authorization_code', 'refresh_token', 'client_credentials'], ['authorization_code', 'refresh_token']],
      [undefined, ['authorization_code', 'refresh_token']]
    ] as const
  ) {
    const { issuer } = await provider(t, (document) => ({ ...document, grant_types_supported: grants }))
    const app = await build(t, options(issuer))
    t.strictSame((await app.inject({ method: 'POST', url: '/oauth/register' })).json(), {
      ...answer,
      grant_types: expected
    })
  }
})

t.test('callbacks and scopes are the configured ones', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, {
    ...options(issuer),
    redirectUris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
    scopes: ['openid', 'catalog/read']
  })

  t.strictSame((await app.inject({ method: 'POST', url: '/oauth/register' })).json(), {
    ...answer,
    redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'],
    scope: 'openid catalog/read'
  })
})

t.test("without a client id registering answers 503 with the reason, in OAuth's words and in Fastify's", async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), clientId: '' })
  const message = 'Browser login is not configured: this server has no client id to hand out'

  const response = await app.inject({ method: 'POST', url: '/oauth/register', payload: {} })

  t.equal(response.statusCode, 503)
  t.equal(response.headers['cache-control'], 'no-store')
  t.strictSame(response.json(), {
    statusCode: 503,
    code: 'OAUTH_DISCOVERY_SHIM_NO_CLIENT_ID',
    error: 'temporarily_unavailable',
    message,
    error_description: message
  })
})
