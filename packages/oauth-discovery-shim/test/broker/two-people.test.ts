import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { brokerWorld, clock, signedIn, token, type Call } from './world.ts'

t.test('two people with one client refresh at once, and again within grace: each gets their own', async (t) => {
  const at = clock(t)
  const world = await brokerWorld(t, {
    broker: { clients: [{ id: 'desk', name: 'Desk', redirectUris: ['http://127.0.0.1/callback'] }] }
  })
  const { idp } = world
  const names = ['ada', 'kim']
  // The provider's refresh token says whose it is, and each access token names its owner.
  idp.answer = ({ path, form }: Call) => {
    if (path !== '/token') return undefined
    const owner = form['grant_type'] === 'refresh_token' ? form['refresh_token']!.split(' ')[0]! : names.shift()!
    return {
      status: 200,
      body: { access_token: `access of ${owner}`, refresh_token: `${owner} ${idp.calls.length}`, expires_in: 3600 }
    }
  }
  idp.wait = async () => {
    await wait(50)
  }
  const people = [await signedIn(world, 'desk'), await signedIn(world, 'desk')]
  t.strictSame(people.map(({ accessToken }) => accessToken), ['access of ada', 'access of kim'])

  const refresh = async (refreshToken: string) =>
    (await token(world, { grant_type: 'refresh_token', client_id: 'desk', refresh_token: refreshToken })).json()
  const own = ['access of ada', 'access of kim']
  const first = await Promise.all(people.map(({ refreshToken }) => refresh(refreshToken)))
  t.strictSame(first.map(({ access_token: access }) => access), own, 'at once')
  at(1000)
  const again = await Promise.all(people.map(({ refreshToken }) => refresh(refreshToken)))
  t.strictSame(again.map(({ access_token: access }) => access), own, 'what is remembered')
  const next = await Promise.all(first.map(({ refresh_token: refreshToken }) => refresh(refreshToken)))
  t.strictSame(next.map(({ access_token: access }) => access), own, 'by the tokens of before')

  let { refresh_token: ahead } = next[0]
  for (let i = 0; i < 3; i++) ahead = (await refresh(ahead)).refresh_token
  at(120_000)
  t.match(await refresh(next[1].refresh_token), { access_token: 'access of kim' }, 'whoever refreshes less often')
})
