import t, { type Test } from 'tap'
import {
  allow,
  authorizeUrl,
  brokerWorld,
  browser,
  type Browser,
  fakeIdp,
  grantOf,
  loopback,
  nextOf,
  pkce,
  register,
  sealedIn,
  token,
  type World,
  type WorldOptions
} from './world.ts'

/** Of the 4 KiB that proxies allow for the headers of a response the host needs some. */
const MOST_OF_COOKIES = 2048
const MOST_OF_HEADERS = 2400

/** The header that the browser sends. */
const cookieOf = ({ cookies }: Browser): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')

/** All responses of a world have short headers. */
async function measuredWorld (t: Test, options: WorldOptions = {}): Promise<World> {
  const world = await brokerWorld(t, options)
  const { inject } = world.app
  world.app.inject = (async (...args: Parameters<typeof inject>) => {
    const response = await inject.apply(world.app, args as never) as unknown as { raw: { res: { _header: string } } }
    t.ok(response.raw.res._header.length <= MOST_OF_HEADERS, `${response.raw.res._header.length} characters of headers`)
    return response
  }) as never
  return world
}

const wanted = (clientId: string, state: string, more: object = {}): string =>
  authorizeUrl(clientId, pkce().challenge, { state, ...more })

t.test('cookies stay short however many sign-ins begin: the latest end, the first says why not', async (t) => {
  const { app, idp } = await measuredWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const urls: string[] = []
  for (let i = 0; i < 30; i++) {
    urls.push(await allow(person, wanted(clientId, `state ${i}`)))
    t.ok(cookieOf(person).length <= MOST_OF_COOKIES, `${cookieOf(person).length} characters of cookies`)
  }
  for (const i of [20, 29, 25]) {
    const landed = new URL(nextOf(await person.get(idp.signIn(urls[i]!).href)))
    t.equal(landed.searchParams.get('state'), `state ${i}`)
  }
  const { statusCode, headers, body } = await person.get(idp.signIn(urls[0]!).href)
  t.equal(statusCode, 400)
  t.notOk('location' in headers)
  t.match(body, /was started in another browser, took too long, or was replaced by later ones in this browser/)
})

t.test('a question that later ones replaced cannot be answered any more, and says why', async (t) => {
  const { app } = await measuredWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  const { body } = await person.get(wanted(clientId, 'first'))
  for (let i = 0; i < 30; i++) await person.get(wanted(clientId, 'later'))
  t.ok(cookieOf(person).length <= MOST_OF_COOKIES)
  const answer = await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' })
  t.equal(answer.statusCode, 400)
  t.match(answer.body, /or was replaced by later ones in this browser/)
})

t.test('cookies stay short with a memory that is full, and the sign-in that fills it ends', async (t) => {
  const callback = 'https://agent.example.com/callback'
  const clients = Array.from({ length: 21 }, (_, i) => ({ id: `client-${i}`, name: 'Agent', redirectUris: [callback] }))
  const secrets = [{ id: 'i'.repeat(32), secret: 's'.repeat(32) }]
  const { app, idp } = await measuredWorld(t, { broker: { clients, secrets, rememberConsent: 400 * 86_400_000 } })
  const own = { 'sec-fetch-site': 'none' }
  const person = browser(app)
  for (const { id } of clients) {
    const url = await allow(person, wanted(id, 'x', { redirect_uri: callback }), own)
    t.ok(cookieOf(person).length <= MOST_OF_COOKIES, `${cookieOf(person).length} characters of cookies`)
    if (id !== 'client-20') continue
    t.equal(new URL(nextOf(await person.get(idp.signIn(url).href))).searchParams.get('state'), 'x')
  }
  const again = await person.get(wanted('client-20', 'x', { redirect_uri: callback }), own)
  t.equal(again.statusCode, 303, 'it is remembered')
})

t.test('a client gets its state back, whatever its length, and no cookie has it', async (t) => {
  const { app, idp } = await measuredWorld(t)
  const clientId = await register(app)
  for (const state of ['x', 'y'.repeat(500), 'z'.repeat(3500), `"<&'>\\${' '.repeat(4090)}`]) {
    const person = browser(app)
    const hint = '\u{1f600}'.repeat(200)
    const url = await allow(person, wanted(clientId, state, { prompt: hint, login_hint: hint }))
    t.equal(cookieOf(person).length, 2 * 87 + 2 - 2, 'a cookie of the question and one of the sign-in')
    const landed = new URL(nextOf(await person.get(idp.signIn(url).href)))
    t.strictSame([`${landed.origin}${landed.pathname}`, landed.searchParams.get('state')], [loopback, state])
  }
})

t.test('a code of the identity provider that is too long for a header reaches the client in a page', async (t) => {
  const idp = await fakeIdp(t)
  const world = await measuredWorld(t, { idp })
  const clientId = await register(world.app)
  const { verifier, challenge } = pkce()
  const person = browser(world.app)
  const callback = idp.signIn(await allow(person, authorizeUrl(clientId, challenge)))
  const code = `1.${'A'.repeat(1500)}`
  callback.searchParams.set('code', code)
  const page = await person.get(callback.href)
  t.equal(page.statusCode, 200)
  t.notOk('location' in page.headers)
  t.match(page.headers, { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-frame-options': 'DENY' })
  const sealed = new URL(nextOf(page)).searchParams.get('code')!
  t.notMatch(sealed, code)
  await token(world, { grant_type: 'authorization_code', client_id: clientId, code: sealed, code_verifier: verifier })
  t.equal(idp.calls[0]?.form['code'], code)
})

t.test('cookies that this server did not set are neither counted nor removed', async (t) => {
  const { app } = await measuredWorld(t)
  const clientId = await register(app)
  const person = browser(app)
  for (let i = 0; i < 100; i++) person.cookies.set(`__Host-oauth-sign-in-${i}`, 'x'.repeat(100))
  for (let i = 0; i < 100; i++) person.cookies.set(`__Host-oauth-asked-${String(i).padStart(22, '0')}`, 'x'.repeat(20))
  for (let i = 0; i < 20; i++) await person.get(wanted(clientId, 'x'))
  const left = [...person.cookies.keys()]
  t.equal(left.filter((name) => name.includes('sign-in')).length, 100)
  const planted = left.filter((name) => /asked-0{20}\d\d$/.test(name))
  t.equal(planted.length, 100 - 4 * 20, 'of planted ones that look like its own, a few at a time')
  t.equal((await allow(person, wanted(clientId, 'x'))).slice(0, 4), 'http')
})

t.test('a sign-in ends once, and in no other browser, also for who knows the state of it', async (t) => {
  const world = await measuredWorld(t)
  const clientId = await register(world.app)
  const [person, other] = [browser(world.app), browser(world.app)]
  const url = idp(world, await allow(person, wanted(clientId, 'own')))
  await allow(other, wanted(clientId, 'own'))
  t.equal((await other.get(url)).statusCode, 400, 'another browser, with a sign-in of its own')
  // The other one's value under the name of this one.
  const [mine, theirs] = [person, other].map(({ cookies }) => [...cookies].find(([name]) => name.includes('sign-in'))!)
  other.cookies.set(mine![0], theirs![1])
  t.equal((await other.get(url)).statusCode, 400, 'a value that does not belong to the state')
  t.equal((await person.get(url)).statusCode, 303)
  t.equal((await person.get(url)).statusCode, 400, 'it has ended')
  t.equal((await token(world, { ...await grantOf(world) })).statusCode, 200)
})

const idp = ({ idp }: World, url: string): string => idp.signIn(url).href
