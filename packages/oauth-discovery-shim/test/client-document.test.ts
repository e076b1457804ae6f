import t from 'tap'
import { nameFrom } from '../src/client-document/client.ts'
import { clientFromDocument, documentUrl } from '../src/client-document/document.ts'
import { isRegistered, portless, redirectKind } from '../src/client-document/redirect-uri.ts'

t.test('callback URLs', (t) => {
  for (
    const [uri, kind] of [
      ['https://agent.example.com/cb', 'https'],
      ['https://agent.example.com', 'https'],
      ['https://agent.example.com:8443/cb?x=1', 'https'],
      ['https://localhost/cb', 'https'],
      ['http://localhost/callback', 'loopback'],
      ['http://localhost', 'loopback'],
      ['http://127.0.0.1:33418', 'loopback'],
      ['http://127.0.0.1:80/', 'loopback'],
      ['http://[::1]:1/x', 'loopback'],
      ['http://127.0.0.1:33418?x=1', undefined],
      ['cursor://anysphere.cursor-mcp/oauth/callback', 'app'],
      ['com.example.app:/cb', 'app'],
      ['other://x', undefined],
      ['Cursor://x', undefined],
      ['http://localhost.example.com/', undefined],
      ['http://localhost:x/', undefined],
      ['http://localhost:123456/', undefined],
      ['http://example.com/', undefined],
      [`https://a.example.com/${'x'.repeat(478)}`, 'https'],
      [`https://a.example.com/${'x'.repeat(479)}`, undefined],
      ['https://user@a.example.com/', undefined],
      ['https://:secret@a.example.com/', undefined],
      ['https://a.example.com/\u0430', undefined],
      ['http://localhost/a/../b', undefined],
      ['https://A.example.com/', 'https'],
      ['HTTPS://A.example.com:443/Cb', 'https'],
      ['https://a.example.com:443', 'https'],
      ['https://a.example.com/../cb', undefined],
      ['', undefined],
      [undefined, undefined],
      [1, undefined],
      // A parser leaves all that stands behind the scheme of such a URL as it is.
      ['com.example.app:a_b', 'app'],
      ['com.example.app:a b', undefined],
      ['com.example.app:a"b', undefined],
      ['com.example.app:a<b', undefined],
      ['com.example.app:a#b', undefined]
    ] as const
  ) t.equal(redirectKind(uri, ['cursor']), kind, String(uri))
  for (
    const [uri, registered, is] of [
      ['http://127.0.0.1:9/cb', 'http://127.0.0.1/cb', true],
      ['http://127.0.0.1/cb', 'http://127.0.0.1:9/cb', true],
      ['http://127.0.0.1:9/cb', 'http://localhost:9/cb', false],
      ['http://127.0.0.1:9/', 'http://127.0.0.1:9', false],
      ['https://localhost:9/cb', 'https://localhost:8/cb', false],
      ['https://a.example.com/cb', 'https://a.example.com/cb', true]
    ] as const
  ) t.equal(isRegistered(uri, [registered]), is, `${uri} for ${registered}`)
  t.equal(portless('http://[::1]:9/a?b'), 'http://[::1]/a?b')
  t.equal(portless('https://localhost:9/'), undefined)
  t.end()
})

t.test('names', async (t) => {
  for (
    const [value, name] of [
      ['Agent', 'Agent'],
      [undefined, 'otherwise'],
      [1, 'otherwise'],
      ['', 'otherwise'],
      ['\u200b', 'otherwise'],
      [' a  b ', 'a b'],
      ['x'.repeat(60), 'x'.repeat(60)],
      ['x'.repeat(61), `${'x'.repeat(59)}…`],
      [`${'x'.repeat(58)}😀😀`, `${'x'.repeat(58)}😀😀`],
      [`${'x'.repeat(58)}😀😀😀`, `${'x'.repeat(58)}😀…`],
      [`${' '.repeat(999)}ab`, 'a'],
      ['x\u0334\u0334\u0334y', 'x\u0334\u0334\u0334y']
    ] as const
  ) t.equal(nameFrom(value, 'otherwise'), name, JSON.stringify(value))
})

t.test('metadata documents', async (t) => {
  const url = 'https://agent.example.com/client.json'
  const good = { client_id: url, client_name: 'Agent', redirect_uris: ['https://agent.example.com/cb'] }
  const client = { id: url, source: 'document', name: 'Agent', redirectUris: good.redirect_uris, auth: 'none' }
  const read = (change: object) => clientFromDocument(JSON.stringify({ ...good, ...change }), url, ['cursor'])
  const uris = (count: number) => Array.from({ length: count }, (_, i) => `https://agent.example.com/${i}`)
  const [key, jwks, jwksUri] = [
    { token_endpoint_auth_method: 'private_key_jwt' },
    { keys: [] },
    'https://agent.example.com/keys'
  ]
  for (
    const [change, expected] of [
      [{}, {}],
      [{ client_name: undefined }, { name: 'agent.example.com' }],
      [{ redirect_uris: uris(20) }, { redirectUris: uris(20) }],
      [{ redirect_uris: ['cursor://x/y', 'http://localhost/cb'] }, {
        redirectUris: ['cursor://x/y', 'http://localhost/cb']
      }],
      [{ redirect_uris: ['zed://callback', 'https://agent.example.com/cb'] }, {
        redirectUris: ['https://agent.example.com/cb']
      }],
      [{ grant_types: ['refresh_token', 'authorization_code'], response_types: ['token', 'code'] }, {}],
      [{ ...key, jwks }, { auth: 'private_key_jwt', keys: { jwks } }],
      [{ ...key, jwks_uri: jwksUri }, { auth: 'private_key_jwt', keys: { jwksUri } }],
      [{ ...key, jwks, jwks_uri: jwksUri }, { auth: 'private_key_jwt', keys: { jwks } }],
      [{ ...key, jwks, token_endpoint_auth_methods_supported: ['private_key_jwt', 'none'] }, {}],
      [{ token_endpoint_auth_method: 'none', jwks }, {}]
    ] as const
  ) t.strictSame(read(change), { ...client, ...expected }, JSON.stringify(change))

  const callbacks = 'which is not allowed here: callbacks must be https, http on this computer, or open a known app'
  const methods = 'with a metadata document only none and private_key_jwt can work'
  const keys = 'it has neither jwks nor an https jwks_uri, which private_key_jwt needs'
  for (
    const [change, fault] of [
      [{ client_id: `${url}?` }, 'its client_id is not the address that it was read from'],
      [{ client_secret_expires_at: 0 }, 'it contains a client_secret, which anybody could read'],
      [{ redirect_uris: [] }, 'its redirect_uris is not a list of 1 to 20 URLs'],
      [{ redirect_uris: uris(21) }, 'its redirect_uris is not a list of 1 to 20 URLs'],
      [{ redirect_uris: 'https://agent.example.com/cb' }, 'its redirect_uris is not a list of 1 to 20 URLs'],
      [{ redirect_uris: ['x:"\\é y', 'y:z'] }, `its redirect_uris contains x:y, ${callbacks}`],
      [{ redirect_uris: ['x'.repeat(80)] }, `its redirect_uris contains ${'x'.repeat(80)}, ${callbacks}`],
      [{ redirect_uris: ['x'.repeat(81)] }, `its redirect_uris contains ${'x'.repeat(77)}..., ${callbacks}`],
      [{ grant_types: [] }, 'its grant_types does not contain authorization_code'],
      [{ grant_types: 'authorization_code' }, 'its grant_types does not contain authorization_code'],
      [{ response_types: null }, 'its response_types does not contain code'],
      [{
        token_endpoint_auth_method: 'client_secret_basic',
        token_endpoint_auth_methods_supported: ['private_key_jwt']
      }, `its token_endpoint_auth_method is client_secret_basic: ${methods}`],
      [
        { token_endpoint_auth_method: 1, token_endpoint_auth_methods_supported: 'none' },
        `its token_endpoint_auth_method is 1: ${methods}`
      ],
      [{ ...key, jwks: null }, keys],
      [{ ...key, jwks: 'x' }, keys],
      [{ ...key, jwks_uri: 'http://agent.example.com/keys' }, keys],
      [{ ...key, jwks_uri: 'keys' }, keys],
      [{ ...key, jwks_uri: 1 }, keys]
    ] as const
  ) t.throws(() => read(change), { message: fault }, JSON.stringify(change))
  for (const text of ['null', '1', '"x"', '[{}]']) {
    t.throws(() => clientFromDocument(text, url, []), { message: 'it is not a JSON object' }, text)
  }

  const address = (length: number) => `https://agent.example.com/${'x'.repeat(length - 26)}`
  t.equal(documentUrl(address(500)).href, address(500))
  t.throws(() => documentUrl(address(501)), { message: 'its address is not a URL, or is longer than 500 characters' })
  t.throws(() => documentUrl('https://:secret@agent.example.com/c'), {
    message: 'its address contains a username or password'
  })
})
