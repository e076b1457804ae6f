import t from 'tap'
import { memoryBrokerStore, type BrokerStore } from '../../src/broker/index.ts'
import {
  allow,
  authorizeUrl,
  brokerWorld,
  browser,
  clock,
  grantOf,
  pkce,
  register,
  sealedIn,
  signedIn,
  token,
  type Browser,
  type World
} from './world.ts'

const refresh = async (world: World, clientId: string, refreshToken: string) =>
  (await token(world, { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken })).json()

t.test('ten minutes to agree, a quarter of an hour to sign in, a minute for the code', async (t) => {
  const at = clock(t)
  const world = await brokerWorld(t)
  const clientId = await register(world.app)
  const { verifier, challenge } = pkce()
  const person = browser(world.app)
  const { body } = await person.get(authorizeUrl(clientId, challenge))
  const decide = () => person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' })
  at(599_999)
  const decided = await decide()
  t.equal(decided.statusCode, 303)
  t.match(decided.cookies, [{ name: /^__Host-oauth-sign-in-/, maxAge: 900 }])
  at(600_000)
  t.equal((await decide()).statusCode, 400)

  const callback = world.idp.signIn(String(decided.headers.location)).href
  const cookies = [...person.cookies]
  const finish = async () => {
    for (const [name, value] of cookies) person.cookies.set(name, value)
    return await person.get(callback)
  }
  at(599_000 + 899_999)
  const landed = await finish()
  t.equal(landed.statusCode, 303)
  at(599_000 + 900_000)
  t.equal((await finish()).statusCode, 400)

  const grant = {
    grant_type: 'authorization_code',
    client_id: clientId,
    code: new URL(String(landed.headers.location)).searchParams.get('code')!,
    code_verifier: verifier
  }
  at(599_000 + 899_000 + 60_000)
  t.match((await token(world, grant)).json(), {
    error: 'invalid_grant',
    error_description: 'The code is not valid or has expired'
  })
  at(599_000 + 899_000 + 59_999)
  t.equal((await token(world, grant)).statusCode, 200)
})

t.test('a refresh token works as long as the option says, and comes again for the time of grace', async (t) => {
  const at = clock(t)
  const world = await brokerWorld(t, { broker: { refreshLifetime: 100_000, refreshGrace: 60_000 } })
  const { clientId, refreshToken } = await signedIn(world)
  at(100_000)
  t.match(await refresh(world, clientId, refreshToken), {
    error: 'invalid_grant',
    error_description: 'The refresh token is not valid or has expired'
  })
  at(10_000)
  t.type((await refresh(world, clientId, refreshToken)).refresh_token, 'string')
  at(69_999)
  t.type((await refresh(world, clientId, refreshToken)).refresh_token, 'string')
  at(70_000)
  t.match(await refresh(world, clientId, refreshToken), {
    error: 'invalid_grant',
    error_description: 'The refresh token was used before or revoked'
  })

  const strict = await brokerWorld(t, { broker: { refreshGrace: 1 } })
  const other = await signedIn(strict)
  for (let i = 0; i < 2; i++) {
    t.type(
      (await refresh(strict, other.clientId, other.refreshToken)).refresh_token,
      'string',
      'in the same millisecond'
    )
  }
})

t.test('who refreshes now and then stays signed in: each refresh token has the whole time again', async (t) => {
  const at = clock(t)
  const world = await brokerWorld(t, { broker: { refreshLifetime: 100_000 } })
  const { clientId, ...first } = await signedIn(world)
  let { refreshToken } = first
  for (let times = 1; times <= 4; times++) {
    at(times * 99_000)
    refreshToken = (await refresh(world, clientId, refreshToken)).refresh_token
    t.type(refreshToken, 'string', `the ${times}th time`)
  }
})

t.test('the store is told what to remember, and for how long', async (t) => {
  const told: unknown[][] = []
  const inner = memoryBrokerStore()
  const store: BrokerStore = {
    async raise (...args) {
      told.push(args)
      return await inner.raise(...args)
    }
  }
  const world = await brokerWorld(t, { broker: { store, refreshLifetime: 100_001 } })
  const grant = await grantOf(world)
  const { refresh_token: refreshToken } = (await token(world, { ...grant })).json()
  const [[key] = []] = told
  t.match(key, /^code:[\w-]{22}$/)
  const family = String(key).replace('code', 'family')
  t.strictSame(told.splice(0), [[key, 1, 120]], 'twice as long as a code works')
  await refresh(world, grant.client_id, refreshToken)
  t.strictSame(told.splice(0), [[family, 0, 101], [family, 1, 101]], 'as long as the refresh token works')
  await token(world, { client_id: grant.client_id, token: refreshToken }, '/oauth/revoke')
  t.strictSame(told.splice(0), [[family, 2_147_483_647, 101]])
  await token(world, { ...grant })
  t.strictSame(told.splice(0), [[key, 1, 120], [family, 2_147_483_647, 101]])
})

t.test('consent is remembered for as long as the option says, for the last twenty clients', async (t) => {
  const at = clock(t)
  const callback = 'https://agent.example.com/callback'
  const clients = Array.from({ length: 21 }, (_, i) => ({ id: `client-${i}`, name: 'Agent', redirectUris: [callback] }))
  const { app, idp } = await brokerWorld(t, { broker: { clients, rememberConsent: 1_000_500 } })
  const own = { 'sec-fetch-site': 'none' }
  const url = (i: number) => authorizeUrl(`client-${i}`, pkce().challenge, { redirect_uri: callback })
  const person = browser(app)
  const isAsked = async (i: number, who: Browser = person) => (await who.get(url(i), own)).statusCode === 200
  const decide = async (i: number, decision: string, who: Browser = person) => {
    const { body } = await who.get(url(i), own)
    return (await who.post('/oauth/authorize', { request: sealedIn(body), decision })).cookies.filter(({ name }) =>
      name.endsWith('consent')
    )
  }
  t.match(await decide(0, 'allow'), [{ maxAge: 1001 }])
  at(600_000)
  await decide(1, 'allow')
  at(999_999)
  t.strictSame([await isAsked(0), await isAsked(1), await isAsked(2)], [false, false, true])
  at(1_000_000)
  t.strictSame([await isAsked(0), await isAsked(1)], [true, false], 'each counts from when it was allowed')
  at(1_599_999)
  t.equal(await isAsked(1), false)
  at(1_600_000)
  t.equal(await isAsked(1), true)

  at(0)
  const many = browser(app)
  for (const { id } of clients) await allow(many, authorizeUrl(id, pkce().challenge, { redirect_uri: callback }), own)
  t.strictSame([await isAsked(0, many), await isAsked(1, many), await isAsked(20, many)], [true, false, false])
  // The key's id and a dot, then in base64url: 28 bytes of IV and tag, and 36 for each client in an object in a list.
  t.equal(
    many.cookies.get('__Host-oauth-consent')?.length,
    8 + Math.ceil((28 + '[null,{}]'.length - 1 + 20 * 36) * 4 / 3)
  )
  // Of somebody who allowed it before and was asked all the same.
  const page = await many.get(
    authorizeUrl('client-1', pkce().challenge, { redirect_uri: callback, prompt: 'consent' }),
    own
  )
  const denied = await many.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'deny' })
  t.match(denied.cookies, [{ name: '__Host-oauth-consent', maxAge: 1001 }])
  t.strictSame([await isAsked(1, many), await isAsked(20, many)], [true, false])
  t.strictSame(await decide(1, 'deny', many), [], 'nothing to forget')

  const never = await brokerWorld(t, { idp, broker: { clients, rememberConsent: 0 } })
  const before = browser(never.app)
  for (const [name, value] of many.cookies) before.cookies.set(name, value)
  t.equal(await isAsked(20, before), true, 'what was remembered before the option was 0 does not count')
  t.strictSame(await decide(20, 'allow', before), [], 'and no cookie is sent')
})
