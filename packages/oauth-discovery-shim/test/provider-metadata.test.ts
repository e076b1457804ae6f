import t from 'tap'
import { providerMetadataFromText } from '../src/provider-metadata.ts'
import { userPool } from './build.ts'

const issuer = 'https://idp.example.com/pool'
const good = userPool(issuer)
const read = (document: unknown) => providerMetadataFromText(JSON.stringify(document), issuer)

t.test('a good document is passed on as it came', async (t) => {
  const document = { ...good, claims_supported: ['sub'], 'x-vendor': { any: ['thing', 1, true] } }
  t.strictSame(read(document), document)
})

t.test('a document that clients cannot use is refused with the reason', async (t) => {
  for (
    const [text, reason] of [
      ['', 'it is not JSON'],
      ['<html>', 'it is not JSON'],
      ['[]', 'it is not a JSON object'],
      ['null', 'it is not a JSON object'],
      ['"x"', 'it is not a JSON object'],
      [{}, 'its issuer is undefined instead of "https://idp.example.com/pool"'],
      [
        { ...good, issuer: `${issuer}/` },
        'its issuer is "https://idp.example.com/pool/" instead of "https://idp.example.com/pool"'
      ],
      [
        { ...good, issuer: 'https://idp.example.com.evil.test/pool' },
        'its issuer is "https://idp.example.com.evil.test/pool" instead of "https://idp.example.com/pool"'
      ],
      [
        { ...good, issuer: [issuer, 'x'] },
        'its issuer is ["https://idp.example.com/pool","x"] instead of "https://idp.example.com/pool"'
      ],
      [
        { ...good, issuer: [issuer] },
        'its issuer is ["https://idp.example.com/pool"] instead of "https://idp.example.com/pool"'
      ],
      [
        { ...good, issuer: 'x'.repeat(10_000) },
        `its issuer is "${'x'.repeat(199)} instead of "https://idp.example.com/pool"`
      ],
      [
        { ...good, authorization_endpoint: undefined },
        'authorization_endpoint must be an https URL, or http on loopback'
      ],
      [
        { ...good, authorization_endpoint: 'javascript:alert(1)' },
        'authorization_endpoint must be an https URL, or http on loopback'
      ],
      [
        { ...good, authorization_endpoint: 'http://idp.example.com/authorize' },
        'authorization_endpoint must be an https URL, or http on loopback'
      ],
      [{ ...good, token_endpoint: 'file:///etc/passwd' }, 'token_endpoint must be an https URL, or http on loopback'],
      [{ ...good, token_endpoint: '/token' }, 'token_endpoint must be an https URL, or http on loopback'],
      [
        { ...good, token_endpoint: { toString: 'https://x.test' } },
        'token_endpoint must be an https URL, or http on loopback'
      ],
      [{ ...good, response_types_supported: undefined }, 'response_types_supported must contain code'],
      [{ ...good, response_types_supported: 'code' }, 'response_types_supported must contain code'],
      [{ ...good, response_types_supported: ['token'] }, 'response_types_supported must contain code'],
      [{ ...good, grant_types_supported: 'authorization_code' }, 'grant_types_supported must be a list of strings'],
      [
        { ...good, token_endpoint_auth_methods_supported: [1] },
        'token_endpoint_auth_methods_supported must be a list of strings'
      ],
      [{ ...good, code_challenge_methods_supported: {} }, 'code_challenge_methods_supported must be a list of strings']
    ] as const
  ) {
    t.throws(() => providerMetadataFromText(typeof text === 'string' ? text : JSON.stringify(text), issuer), {
      code: 'OAUTH_DISCOVERY_SHIM_PROVIDER_DOCUMENT',
      statusCode: 502,
      message: `The identity provider's metadata was rejected: ${reason}`
    }, JSON.stringify(text))
  }
})

t.test('http endpoints on other machines pass only where that is allowed', async (t) => {
  const text = JSON.stringify(good).replaceAll('https://', 'http://')
  t.throws(() => providerMetadataFromText(text, issuer.replace('https', 'http')))
  t.match(providerMetadataFromText(text, issuer.replace('https', 'http'), true), {
    token_endpoint: /^http:/,
    jwks_uri: /^http:/
  })
})

t.test('members that no client should act on are left out', async (t) => {
  t.strictSame(
    read({
      ...good,
      end_session_endpoint: 'javascript:alert(1)',
      jwks_uri: 'http://idp.example.com/jwks',
      op_policy_uri: '',
      revocation_endpoint: null,
      grant_types_supported: null
    }),
    Object.fromEntries(
      Object.entries(good).filter(([name]) =>
        !['end_session_endpoint', 'jwks_uri', 'revocation_endpoint'].includes(name)
      )
    )
  )
})

t.test('a member named __proto__ is dropped, at any depth', async (t) => {
  const text = JSON.stringify({ ...good, nested: { a: 1 } }).replace('"a":1', '"a":1,"__proto__":{"polluted":true}')
    .replace('{', '{"__proto__":{"polluted":true},')
  const document = providerMetadataFromText(text, issuer)
  t.strictSame(document, { ...good, nested: { a: 1 } })
  t.notOk(JSON.stringify(document).includes('polluted'))
  t.notOk('polluted' in {})
})
