import t from 'tap'
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
  ['an empty key header', { 'x-api-key': '' }, 'api-key', ''],
  ['an empty Authorization', { authorization: '' }, 'malformed'],
  ['a scheme alone', { authorization: 'Bearer' }, 'malformed'],
  ['a scheme and a space', { authorization: 'Bearer ' }, 'malformed'],
  ['two spaces', { authorization: `Bearer  ${JWT}` }, 'malformed'],
  ['a tab', { authorization: `Bearer\t${JWT}` }, 'malformed'],
  ['a space at the end', { authorization: `Bearer ${JWT} ` }, 'malformed'],
  ['two tokens', { authorization: `Bearer ${JWT} ${JWT}` }, 'malformed'],
  ['Basic', { authorization: 'Basic YTpi' }, 'malformed'],
  ['Token', { authorization: `Token ${JWT}` }, 'malformed'],
  ['two segments', { authorization: 'Bearer aa.bb' }, 'malformed'],
  ['four segments', { authorization: 'Bearer aa.bb.cc.dd' }, 'malformed'],
  ['five segments', { authorization: 'Bearer aa.bb.cc.dd.ee' }, 'malformed'],
  ['an empty signature', { authorization: 'Bearer aa.bb.' }, 'malformed'],
  ['padding', { authorization: 'Bearer aa.bb.cc=' }, 'malformed'],
  ['a token of 8 KiB and one', { authorization: `Bearer aa.bb.${'c'.repeat(8187)}` }, 'malformed'],
  ['a marker in capitals', { authorization: 'Bearer SHOP_TEST_abc' }, 'malformed']
]

for (const [title, headers, kind, value] of cases) {
  t.test(`${title} is ${kind}`, async t => {
    t.match(credentialFromHeaders(headers, 'x-api-key', 'shop_test'), value === undefined ? { kind } : { kind, value })
  })
}

t.test('a token of 8 KiB is read', async t => {
  t.equal(credentialFromHeaders({ authorization: `Bearer aa.bb.${'c'.repeat(8186)}` }, 'x-api-key', 'shop_test').kind, 'jwt')
})

t.test('only what was presented can be the same again', async t => {
  t.ok(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'api-key', value: KEY }))
  t.notOk(sameCredential({ kind: 'api-key', value: KEY }, { kind: 'jwt', value: KEY }))
  t.notOk(sameCredential({ kind: 'jwt', value: JWT }, { kind: 'jwt', value: 'aa.bb.dd' }))
  t.notOk(sameCredential({ kind: 'none' }, { kind: 'none' }))
})
