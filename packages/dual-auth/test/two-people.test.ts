import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { JwtOptions } from '../src/index.ts'
import { introspection } from '../src/introspection/index.ts'
import { bearer, build } from './build.ts'
import { NOW, signingKey, sign, startIssuer, type Issuer } from './issuer.ts'

const AUDIENCE = 'https://api.example.com'

async function issuerOf (t: Test): Promise<Issuer> {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  return issuer
}

/** A server, and who it takes the holder of a token for: the issuer and subject, or the status. */
async function serverOf (t: Test, issuer: Issuer, jwt: JwtOptions | readonly JwtOptions[]) {
  const { app } = await build(t, { issuer, auth: { jwt } })
  return async (token: string): Promise<string | number> => {
    const response = await app.inject({ url: '/orders', headers: bearer(token) })
    return response.statusCode === 200 ? `${response.json().issuer} ${response.json().subject}` : response.statusCode
  }
}

for (const jwts of [false, true]) {
  t.test(`two people are introspected at once, and remembered, each as themselves (jwts: ${jwts})`, async (t) => {
    const issuer = await issuerOf(t)
    const { url } = issuer
    const asking = introspection({ clientId: 'api', clientSecret: 'secret', endpoint: `${url}/introspect`, jwts })
    const generic = { provider: 'generic', audience: [AUDIENCE], userClients: ['web'] } as const
    const holderOf = await serverOf(t, issuer, { ...generic, issuer: url, introspection: asking })
    const tokenOf = (sub: string) => jwts ? issuer.sign({ iss: url, sub, iat: NOW, exp: NOW + 3600 }) : `opaque-${sub}`
    for (const sub of ['ada', 'kim', 'lee']) {
      issuer.answers.set(tokenOf(sub), { active: true, sub, client_id: 'web', aud: AUDIENCE })
    }
    issuer.introspectionFault = async (_request, response) => {
      const { token = '' } = issuer.questions.at(-1)?.form ?? {}
      await wait(50)
      response.end(JSON.stringify(issuer.answers.get(token) ?? { active: false }))
    }
    const ask = () => Promise.all(['ada', 'nobody', 'kim'].map((sub) => holderOf(tokenOf(sub))))
    const expected = [`${url} ada`, 401, `${url} kim`]
    t.strictSame(await ask(), expected, 'while the issuer is being asked')
    t.strictSame(await ask(), expected, 'from memory')
    t.equal(issuer.questions.length, 3)
    t.equal(await holderOf(tokenOf('lee')), `${url} lee`, 'after somebody was refused')
  })
}

t.test('two issuers with the same kid, client and subject each have keys, reads and a cool-down', async (t) => {
  const [one, other] = [await issuerOf(t), await issuerOf(t)]
  const holderOf = await serverOf(t, one, [one, other].map(({ url }) => ({ issuer: url, userClients: ['web-app'] })))
  const both = () => Promise.all([one, other].map((issuer) => holderOf(issuer.user())))
  t.strictSame(await both(), [`${one.url} user-1`, `${other.url} user-1`])
  t.strictSame(await both(), [`${one.url} user-1`, `${other.url} user-1`], 'from memory')

  // Both rotate to a key of one name; one of them answers slowly, so that its read is still going on.
  const keys = [signingKey('key-2'), signingKey('key-2')] as const
  one.keys = [keys[0].jwk]
  other.keys = [keys[1].jwk]
  one.fault = async (_request, response) => {
    await wait(100)
    response.end(JSON.stringify({ keys: one.keys }))
  }
  const rotated = ({ url }: Issuer, key: 0 | 1) =>
    sign(keys[key].privateKey, { alg: 'RS256', kid: 'key-2' }, {
      iss: url,
      sub: 'user-1',
      client_id: 'web-app',
      token_use: 'access',
      iat: NOW,
      exp: NOW + 3600
    })
  const read = () => Promise.all([rotated(one, 0), rotated(other, 1), rotated(one, 1), rotated(other, 0)].map(holderOf))
  const expected = [`${one.url} user-1`, `${other.url} user-1`, 401, 401]
  t.strictSame(await read(), expected, 'while one is being read')
  t.strictSame(await read(), expected, 'from memory')
})
