import t from 'tap'
import { createHmac } from 'node:crypto'
import { at, bearer, build, products, REFUSED } from './build.ts'
import { NOW, segment, sign, signingKey, startIssuer, type Issuer } from './issuer.ts'

const HEADER = { alg: 'RS256', kid: 'key-1' }
const stranger = signingKey('key-1')

/** A whole set of good claims of a person. */
const claimsOf = (issuer: Issuer) => ({ iss: issuer.url, sub: 'user-1', client_id: 'web-app', token_use: 'access', username: 'ada', iat: NOW - 10, exp: NOW + 3600 })

function hmacToken (secret: string, issuer: Issuer): string {
  const input = `${segment({ alg: 'HS256', kid: 'key-1' })}.${segment(claimsOf(issuer))}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
}

/** The last character's four unused bits, set: the same bytes written in another way. */
function malleated (token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, -1) + alphabet.charAt(alphabet.indexOf(token.slice(-1)) + 1)
}

const attacks: Array<[title: string, token: (issuer: Issuer) => string]> = [
  // the header
  ['alg none', issuer => `${segment({ alg: 'none' })}.${segment(claimsOf(issuer))}.`],
  ['alg none with a signature', issuer => sign(issuer.key.privateKey, { ...HEADER, alg: 'none' }, claimsOf(issuer))],
  ['alg None', issuer => issuer.user({}, { alg: 'None' })],
  ['alg nOnE', issuer => issuer.user({}, { alg: 'nOnE' })],
  ['alg missing', issuer => sign(issuer.key.privateKey, { kid: 'key-1' }, claimsOf(issuer))],
  ['alg in lower case', issuer => issuer.user({}, { alg: 'rs256' })],
  ['alg an array', issuer => issuer.user({}, { alg: ['RS256'] })],
  ['alg RS512', issuer => issuer.user({}, { alg: 'RS512' })],
  ['alg PS256', issuer => issuer.user({}, { alg: 'PS256' })],
  ['alg ES256', issuer => issuer.user({}, { alg: 'ES256' })],
  ['HS256 with the public PEM as secret', issuer => hmacToken(issuer.key.publicPem, issuer)],
  ['HS256 with the JWK as secret', issuer => hmacToken(JSON.stringify(issuer.key.jwk), issuer)],
  ['crit', issuer => issuer.user({}, { crit: ['exp'] })],
  ['crit empty', issuer => issuer.user({}, { crit: [] })],
  ['typ of an ID token', issuer => issuer.user({}, { typ: 'id_token+jwt' })],
  ['typ a number', issuer => issuer.user({}, { typ: 7 })],
  ['kid missing', issuer => sign(issuer.key.privateKey, { alg: 'RS256' }, claimsOf(issuer))],
  ['kid unknown', issuer => issuer.user({}, { kid: 'unknown' })],
  ['kid a path', issuer => issuer.user({}, { kid: '../../key-1' })],
  ['kid a URL', issuer => issuer.user({}, { kid: 'http://127.0.0.1/key-1' })],
  ['kid of 5 KB', issuer => issuer.user({}, { kid: 'k'.repeat(5_000) })],
  ['kid a number', issuer => issuer.user({}, { kid: 1 })],
  ['kid an object', issuer => issuer.user({}, { kid: { toString: 'key-1' } })],
  ['kid null', issuer => issuer.user({}, { kid: null })],
  ['kid __proto__', issuer => issuer.user({}, { kid: '__proto__' })],
  ['kid constructor', issuer => issuer.user({}, { kid: 'constructor' })],
  ['kid SQL', issuer => issuer.user({}, { kid: "' or 1=1--" })],
  ['kid and a NUL', issuer => issuer.user({}, { kid: 'key-1\0' })],
  ['the header an array', issuer => sign(issuer.key.privateKey, [], claimsOf(issuer))],
  ['the header a string', issuer => sign(issuer.key.privateKey, '"RS256"', claimsOf(issuer))],
  ['the header null', issuer => sign(issuer.key.privateKey, null, claimsOf(issuer))],
  ['the header not JSON', issuer => sign(issuer.key.privateKey, '{', claimsOf(issuer))],
  // keys that the token brings along
  ['a key of its own in jwk', issuer => sign(stranger.privateKey, { ...HEADER, jwk: stranger.jwk }, claimsOf(issuer))],
  ['a key of its own at jku', issuer => sign(stranger.privateKey, { ...HEADER, jku: `${issuer.url}/jwks` }, claimsOf(issuer))],
  ['a key of its own at x5u', issuer => sign(stranger.privateKey, { ...HEADER, x5u: `${issuer.url}/jwks` }, claimsOf(issuer))],
  ['a key of its own in x5c', issuer => sign(stranger.privateKey, { ...HEADER, x5c: ['MIIB'] }, claimsOf(issuer))],
  ['another key of the same kid', issuer => sign(stranger.privateKey, HEADER, claimsOf(issuer))],
  // the signature
  ['no signature', issuer => issuer.user().replace(/[^.]*$/, '')],
  ['the signature of another token', issuer => issuer.user().replace(/[^.]*$/, issuer.user({ sub: 'other' }).split('.')[2] as string)],
  ['the signature written in another way', issuer => malleated(issuer.user())],
  ['the signature padded', issuer => `${issuer.user()}==`],
  ['the signature in plain base64', issuer => issuer.user().replace(/[^.]*$/, last => `${last.slice(0, 10)}+/${last.slice(12)}`)],
  ['the signature cut', issuer => issuer.user().slice(0, -4)],
  ['the claims changed', issuer => issuer.user().replace(/\.[^.]*\./, `.${segment({ ...claimsOf(issuer), sub: 'root' })}.`)],
  ['the claims written in another way', issuer => issuer.user().replace(/\.([^.]*)\./, (_all, part) => `.${part}=.`)],
  ['two segments', issuer => issuer.user().split('.').slice(0, 2).join('.')],
  ['four segments', issuer => `${issuer.user()}.x`],
  ['five segments, as a refresh token', issuer => `${issuer.user()}.x.y`],
  ['8 KiB and more', issuer => issuer.user({ scope: Array.from({ length: 10_000 }, (_, i) => `s${i}`).join(' ').slice(0, 8_000) })],
  // time
  ['expired', issuer => issuer.user({ exp: NOW - 60 })],
  ['expired by more than the tolerance', issuer => issuer.user({ exp: Math.floor(Date.now() / 1000) - 6 })],
  ['exp missing', issuer => issuer.user({ exp: undefined })],
  ['exp a string', issuer => issuer.user({ exp: String(NOW + 3600) })],
  ['exp a float', issuer => issuer.user({ exp: NOW + 3600.5 })],
  ['exp negative', issuer => issuer.user({ exp: -1 })],
  ['exp 1e308', issuer => issuer.user({ exp: 1e308 })],
  ['exp null', issuer => issuer.user({ exp: null })],
  ['nbf in the future', issuer => issuer.user({ nbf: NOW + 600 })],
  ['nbf a string', issuer => issuer.user({ nbf: 'now' })],
  ['iat in the future', issuer => issuer.user({ iat: NOW + 600 })],
  ['iat missing', issuer => issuer.user({ iat: undefined })],
  // who it is from
  ['iss missing', issuer => issuer.user({ iss: undefined })],
  ['iss an array', issuer => issuer.user({ iss: [issuer.url] })],
  ['iss of another pool', issuer => issuer.user({ iss: issuer.url.replace('pool', 'pool2') })],
  ['iss with a slash', issuer => issuer.user({ iss: `${issuer.url}/` })],
  ['iss in capitals', issuer => issuer.user({ iss: issuer.url.toUpperCase() })],
  ['iss that starts alike', issuer => issuer.user({ iss: `${issuer.url}.evil.test` })],
  // what and whom it is for
  ['an ID token', issuer => issuer.user({ token_use: 'id', aud: 'web-app' })],
  ['a refresh token', issuer => issuer.user({ token_use: 'refresh' })],
  ['token_use missing', issuer => issuer.user({ token_use: undefined })],
  ['token_use an array', issuer => issuer.user({ token_use: ['access', 'id'] })],
  ['client_id of another app of the pool', issuer => issuer.user({ client_id: 'another' })],
  ['client_id missing', issuer => issuer.user({ client_id: undefined })],
  ['client_id an array', issuer => issuer.user({ client_id: ['web-app'] })],
  ['aud another resource', issuer => issuer.user({ aud: 'https://evil.test/mcp' })],
  ['aud a list without ours', issuer => issuer.user({ aud: ['https://evil.test/mcp'] })],
  ['aud that starts alike', issuer => issuer.user({ aud: 'https://shop.test/mcp.evil' })],
  ['sub missing', issuer => issuer.user({ sub: undefined })],
  ['sub empty', issuer => issuer.user({ sub: '' })],
  ['sub a number', issuer => issuer.user({ sub: 7 })],
  // machines
  ...[undefined, '', '/api', 'api', 'x/apix', 'x/api-read', 'evil/api', 'a/b/api', 'shop/API', 'shop/api ', ' shop/api', 'x\tshop/api', 'x\nshop/api', ['shop/api'], { a: 'shop/api' }].map((scope): [string, (issuer: Issuer) => string] => [
    `a machine of scope ${JSON.stringify(scope)}`, issuer => issuer.machine({ scope })
  ]),
  ['a machine that names a person', issuer => issuer.machine({ username: 'ada' })],
  ['a machine whose subject is not itself', issuer => issuer.machine({ sub: 'other' })],
  // the payload as a whole
  ['the payload an array', issuer => sign(issuer.key.privateKey, HEADER, [claimsOf(issuer)])],
  ['the payload null', issuer => sign(issuer.key.privateKey, HEADER, null)],
  ['the payload a string', issuer => sign(issuer.key.privateKey, HEADER, '"x"')],
  ['the payload not JSON', issuer => sign(issuer.key.privateKey, HEADER, '{"iss"')],
  ['the payload nested without end', issuer => sign(issuer.key.privateKey, HEADER, '['.repeat(2000))],
  ['a claim given twice, bad at last', issuer => sign(issuer.key.privateKey, HEADER, `${JSON.stringify(claimsOf(issuer)).slice(0, -1)},"token_use":"id"}`)],
  ['claims in __proto__', issuer => sign(issuer.key.privateKey, HEADER, `{"__proto__":${JSON.stringify(claimsOf(issuer))}}`)]
]

t.test('every bad token is the same 401, on both kinds of routes; strange kids cost one reading of the keys', async t => {
  const { app, issuer } = await build(t)
  for (const [title, token] of attacks) {
    for (const url of ['/orders', products()]) {
      const response = await app.inject({ url, headers: bearer(token(issuer)) })
      t.equal(response.statusCode, 401, title)
      t.strictSame(response.json(), REFUSED, title)
      t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"', title)
    }
  }
  // One when the server got ready, one for the first unknown kid.
  t.equal(issuer.fetches, 2)
})

t.test('what is good passes', async t => {
  const { app, issuer } = await build(t)
  const good = [
    issuer.user(), issuer.machine(),
    issuer.user({}, { typ: 'JWT' }), issuer.user({}, { typ: 'at+jwt' }),
    issuer.user({ aud: 'https://shop.test/mcp' }), issuer.user({ aud: ['x', 'https://shop.test/mcp'] }),
    issuer.user({ client_id: 'mcp-app' }), issuer.user({ scope: 'openid shop/api' }),
    issuer.user({ exp: Math.floor(Date.now() / 1000) - 2 }), issuer.user({ iat: Math.floor(Date.now() / 1000) + 3 }),
    issuer.machine({ scope: 'other shop/api' })
  ]
  for (const token of good) t.equal((await app.inject({ url: '/orders', headers: bearer(token) })).statusCode, 200)
})

t.test('a token that was good is refused when it has expired: verdicts are not kept', async t => {
  const { app, issuer } = await build(t, { jwt: { clockTolerance: 0 } })
  const token = issuer.user({ exp: NOW + 3600 })
  const statusAt = (seconds: number) => at(seconds * 1000, async () => (await app.inject({ url: '/orders', headers: bearer(token) })).statusCode)
  t.equal(await statusAt(NOW + 3599), 200)
  t.equal(await statusAt(NOW + 3601), 401)
})

t.test('the reason is in the log, the token is not', async t => {
  const logged: string[] = []
  const { app, issuer } = await build(t, { server: { logger: { level: 'info', stream: { write: (line: string) => logged.push(line) } } } })
  const token = issuer.user({ token_use: 'id' })
  await app.inject({ url: '/orders', headers: bearer(token) })
  const text = logged.join('')
  t.match(text, '"reason":"token_use is not access"')
  t.notMatch(text, token.slice(0, 30))
})

t.test('a host may have @fastify/jwt for itself', async t => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const { default: fastifyJwt } = await import('@fastify/jwt')
  const { app } = await build(t, { issuer, routes: app => { app.register(fastifyJwt, { secret: 'own', namespace: 'own' }) } })
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
})
