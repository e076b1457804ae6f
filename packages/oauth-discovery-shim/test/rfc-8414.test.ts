import t from 'tap'
import { build, options, provider, userPool } from './build.ts'

const contract = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration']
const strict = [
  '/.well-known/oauth-authorization-server/oauth',
  '/.well-known/openid-configuration/oauth',
  '/oauth/.well-known/openid-configuration'
]

/** The whole document for a user pool: as it came, with what clients miss in it. */
const expected = (issuer: string): Record<string, unknown> => ({
  ...userPool(issuer),
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post', 'none'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  code_challenge_methods_supported: ['S256'],
  registration_endpoint: 'https://shop.example.com/oauth/register'
})

t.test("the root document is the identity provider's, under its own issuer, plus registration", async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))

  for (const url of contract) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 200, url)
    t.strictSame(response.json(), expected(issuer), url)
    t.match(response.headers, { 'content-type': /^application\/json/, 'cache-control': 'public, max-age=300' }, url)
  }
})

t.test('under $B/oauth the same document carries that issuer', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, options(issuer))

  for (const url of strict) {
    const response = await app.inject(url)
    t.equal(response.statusCode, 200, url)
    t.strictSame(response.json(), { ...expected(issuer), issuer: 'https://shop.example.com/oauth' }, url)
  }
})

t.test('with strictDiscovery off there is no other issuer', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), strictDiscovery: 'off' })

  for (const url of strict) t.equal((await app.inject(url)).statusCode, 404, url)
  for (const url of contract) t.strictSame((await app.inject(url)).json(), expected(issuer), url)
})

t.test('what the provider says itself is not overwritten', async (t) => {
  const said = {
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256', 'plain']
  }
  const { issuer } = await provider(t, (document) => ({ ...document, ...said }))
  const app = await build(t, options(issuer))

  t.strictSame((await app.inject(contract[0] ?? '')).json(), { ...expected(issuer), ...said })
})

t.test('with advertisePkce off nothing is said for the provider', async (t) => {
  const { issuer } = await provider(t)
  const app = await build(t, { ...options(issuer), advertisePkce: false })

  const { code_challenge_methods_supported: _, ...rest } = expected(issuer)
  t.strictSame((await app.inject(contract[0] ?? '')).json(), rest)
})

t.test('a provider that names no auth methods has the default one, and none', async (t) => {
  const { issuer } = await provider(t, ({ token_endpoint_auth_methods_supported: _, ...document }) => document)
  const app = await build(t, options(issuer))

  t.strictSame((await app.inject(contract[0] ?? '')).json().token_endpoint_auth_methods_supported, [
    'client_secret_basic',
    'none'
  ])
})

t.test("promises that hold only for the provider's issuer stay out of the other one's document", async (t) => {
  const promises = {
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    signed_metadata: 'e30.e30.'
  }
  const { issuer } = await provider(t, (document) => ({ ...document, ...promises }))
  const app = await build(t, options(issuer))

  t.strictSame((await app.inject(contract[0] ?? '')).json(), { ...expected(issuer), ...promises })
  t.strictSame((await app.inject(strict[0] ?? '')).json(), {
    ...expected(issuer),
    issuer: 'https://shop.example.com/oauth'
  })
})

t.test('endpoints for clients with a certificate are left out, whatever they are', async (t) => {
  for (
    const aliases of [
      { token_endpoint: 'https://mtls.idp.example.com/token' },
      { token_endpoint: 'http://idp.example.com/token' },
      'javascript:alert(1)'
    ]
  ) {
    const { issuer } = await provider(t, (document) => ({ ...document, mtls_endpoint_aliases: aliases }))
    const app = await build(t, options(issuer))

    for (const url of contract) t.strictSame((await app.inject(url)).json(), expected(issuer), url)
    for (const url of strict) {
      t.strictSame(
        (await app.inject(url)).json(),
        { ...expected(issuer), issuer: 'https://shop.example.com/oauth' },
        url
      )
    }
  }
})

t.test("the provider's own registration gives way to this one", async (t) => {
  const { issuer } = await provider(
    t,
    (document) => ({ ...document, registration_endpoint: 'https://elsewhere.example.com/register' })
  )

  const app = await build(t, options(issuer))
  t.equal((await app.inject(contract[0] ?? '')).json().registration_endpoint, 'https://shop.example.com/oauth/register')

  const unconfigured = await build(t, { ...options(issuer), clientId: '' })
  for (const url of [...contract, ...strict]) {
    t.notOk('registration_endpoint' in (await unconfigured.inject(url)).json(), url)
  }
})
