import t from 'tap'
import { flawOfKey } from '../src/keys/format.ts'
import { credentialFromHeaders, sameCredential } from '../src/credentials.ts'

const KEY = 'shop_test_abcdefghijkl_rest'
const JWT = 'aa.bb.cc'

const OTHER_KEY = `shop_live_abcdefghijkl_${'x'.repeat(49)}`
const flaws: Array<[authorization: string, reason: string]> = [
  ['eyJhbGciOiJSUzI1NiJ9.e30.c2ln', 'Authorization has no scheme: it must start with Bearer'],
  [OTHER_KEY, 'Authorization has no scheme: it must start with Bearer'],
  ['Basic eDp5', 'Authorization has another scheme than Bearer'],
  ['Bearer', 'Authorization has nothing after Bearer'],
  // eslint-disable-next-line no-template-curly-in-string
  ...['undefined', 'null', 'NaN', '[object Object]', '${TOKEN}', '<token>', '{{token}}'].map((
    value
  ): [string, string] => [`Bearer ${value}`, 'Authorization has a placeholder, or a variable that is not set']),
  ['Bearer "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"', 'Authorization contains quotes'],
  ['Bearer eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d', 'the token is encrypted (JWE)'],
  ['Bearer eyJhbGciOiJSUzI1NiJ9.e30', 'the token is a damaged JWT'],
  [`Bearer ${OTHER_KEY}`, 'the API key has the marker shop_live instead of shop_test'],
  [`Bearer  ${JWT}`, 'Authorization is not Bearer, one space and a single token'],
  [`Bearer ${JWT}, Bearer ${JWT}`, 'Authorization is not Bearer, one space and a single token']
]
for (const [authorization, reason] of flaws) {
  t.test(`${authorization.slice(0, 40)}: ${reason}`, async (t) => {
    t.match(credentialFromHeaders({ authorization }, 'x-api-key', 'shop_test'), { kind: 'malformed', reason })
  })
}

t.test('an API key that is none: of another server, mistyped, something else', async (t) => {
  t.equal(flawOfKey(OTHER_KEY, 'shop_test'), 'the API key has the marker shop_live instead of shop_test')
  t.equal(flawOfKey(OTHER_KEY, 'owner'), 'the API key has the marker shop_live instead of owner')
  t.equal(flawOfKey(OTHER_KEY, 'shop_live'), 'the checksum of the API key is wrong: it was mistyped or cut')
  t.equal(flawOfKey('x', 'shop_test'), 'the API key is malformed')
})

t.test('only what was presented can be the same again', async (t) => {
  t.ok(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'api-key', value: KEY }))
  t.notOk(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'jwt', value: KEY }))
  t.notOk(sameCredential({ kind: 'jwt', value: JWT }, { kind: 'jwt', value: 'aa.bb.dd' }))
  t.notOk(sameCredential({ kind: 'none' }, { kind: 'none' }))
})
