import t from 'tap'
import { flawOfKey } from '../src/keys/format.ts'
import { credentialFromHeaders, sameCredential } from '../src/credentials.ts'

const KEY = 'shop_test_abcdefghijkl_rest'
const JWT = 'aa.bb.cc'

const cases: Array<[title: string, headers: Record<string, string>, kind: string, value?: string]> = [
  ['nothing', {}, 'none'],
  ['a key in its own header', { 'x-api-key': KEY }, 'api-key', KEY],
  ['a key as Bearer', { authorization: `Bearer ${KEY}` }, 'api-key', KEY],
  ['the scheme in lower case', { authorization: `bearer ${KEY}` }, 'api-key', KEY],
  ['the scheme in upper case', { authorization: `BEARER ${JWT}` }, 'jwt', JWT],
  ['a token', { authorization: `Bearer ${JWT}` }, 'jwt', JWT],
  ['the same key twice', { 'x-api-key': KEY, authorization: `Bearer ${KEY}` }, 'api-key', KEY],
  ['a key beside a token: the key decides', { 'x-api-key': 'bad', authorization: `Bearer ${JWT}` }, 'api-key', 'bad'],
  ['a key beside another scheme', { 'x-api-key': KEY, authorization: 'Basic abc' }, 'api-key', KEY],
  ['two different keys', { 'x-api-key': KEY, authorization: `Bearer ${KEY}x` }, 'malformed'],
  ['an empty key header', { 'x-api-key': '' }, 'none'],
  ['an empty key header beside a token', { 'x-api-key': ' ', authorization: `Bearer ${JWT}` }, 'jwt', JWT],
  ...['', 'Bearer', 'Bearer ', `Bearer  ${JWT}`, `Bearer\t${JWT}`, `Bearer ${JWT} `, `Bearer ${JWT} ${JWT}`, 'Basic YTpi', `Token ${JWT}`].map((authorization): typeof cases[number] =>
    [JSON.stringify(authorization), { authorization }, 'malformed']),
  ...['aa.bb', 'aa.bb.cc.dd', 'nanUu7Xw', 'aa.bb.cc.dd.ee', 'aa.bb.', 'aa.bb.cc=', 'SHOP_TEST_abc'].map((token): typeof cases[number] => [token, { authorization: `Bearer ${token}` }, 'opaque', token])
]

for (const [title, headers, kind, value] of cases) {
  t.test(`${title} is ${kind}`, async t => {
    t.match(credentialFromHeaders(headers, 'x-api-key', 'shop_test'), value === undefined ? { kind } : { kind, value })
  })
}

const OTHER_KEY = `shop_live_abcdefghijkl_${'x'.repeat(49)}`
const flaws: Array<[authorization: string, reason: string]> = [
  ['eyJhbGciOiJSUzI1NiJ9.e30.c2ln', 'Authorization has no scheme: it must start with Bearer'],
  [OTHER_KEY, 'Authorization has no scheme: it must start with Bearer'],
  ['Basic eDp5', 'Authorization has another scheme than Bearer'],
  ['Bearer', 'Authorization has nothing after Bearer'],
  ...['undefined', 'null', 'NaN', '[object Object]', '${TOKEN}', '<token>', '{{token}}'].map((value): [string, string] => // eslint-disable-line no-template-curly-in-string
    [`Bearer ${value}`, 'Authorization has a placeholder, or a variable that is not set']),
  ['Bearer "eyJhbGciOiJSUzI1NiJ9.e30.c2ln"', 'Authorization contains quotes'],
  ['Bearer eyJhbGciOiJSU0EtT0FFUCJ9.a.b.c.d', 'the token is encrypted (JWE)'],
  ['Bearer eyJhbGciOiJSUzI1NiJ9.e30', 'the token is a damaged JWT'],
  [`Bearer ${OTHER_KEY}`, 'the API key has the marker shop_live instead of shop_test'],
  [`Bearer  ${JWT}`, 'Authorization is not Bearer, one space and a single token'],
  [`Bearer ${JWT}, Bearer ${JWT}`, 'Authorization is not Bearer, one space and a single token']
]
for (const [authorization, reason] of flaws) {
  t.test(`${authorization.slice(0, 40)}: ${reason}`, async t => {
    t.match(credentialFromHeaders({ authorization }, 'x-api-key', 'shop_test'), { kind: 'malformed', reason })
  })
}

t.test('an API key that is none: of another server, mistyped, something else', async t => {
  t.equal(flawOfKey(OTHER_KEY, 'shop_test'), 'the API key has the marker shop_live instead of shop_test')
  t.equal(flawOfKey(OTHER_KEY, 'shop'), 'the API key has the marker shop_live instead of shop')
  t.equal(flawOfKey(OTHER_KEY, 'shop_live'), 'the checksum of the API key is wrong: it was mistyped or cut')
  t.equal(flawOfKey('x', 'shop_test'), 'the API key is malformed')
})

t.test('only what was presented can be the same again', async t => {
  t.ok(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'api-key', value: KEY }))
  t.notOk(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'jwt', value: KEY }))
  t.notOk(sameCredential({ kind: 'jwt', value: JWT }, { kind: 'jwt', value: 'aa.bb.dd' }))
  t.notOk(sameCredential({ kind: 'none' }, { kind: 'none' }))
})
