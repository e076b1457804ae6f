import t from 'tap'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brokerWorld, grantOf, register, token } from './world.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/**
 * More by hand, to see the heap: `SIGN_INS=1000 npm test -- packages/oauth-discovery-shim/test/broker/memory.test.ts`
 */
const SIGN_INS = Number(process.env['SIGN_INS'] ?? 25)

/** In bytes, after everything that nobody holds is gone. */
async function heap (): Promise<number> {
  for (let i = 0; i < 5; i++) {
    collect()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
}

t.test('many sign-ins in a row leave nothing in memory but numbers', async (t) => {
  const requests: Array<WeakRef<object>> = []
  const world = await brokerWorld(t, {
    onRequest: (request) => {
      requests.push(new WeakRef(request))
    }
  })
  const clientId = await register(world.app)
  const signIn = async () => {
    const exchanged = await token(world, { ...await grantOf(world, clientId) })
    if (exchanged.statusCode !== 200) t.fail(exchanged.body)
    const refreshed = await token(world, {
      grant_type: 'refresh_token',
      client_id: clientId,
      refresh_token: exchanged.json().refresh_token
    })
    if (refreshed.statusCode !== 200) t.fail(refreshed.body)
    await token(world, { client_id: clientId, token: refreshed.json().refresh_token }, '/oauth/revoke')
    world.idp.calls.length = 0
  }
  for (let i = 0; i < 5; i++) await signIn()
  const before = await heap()
  for (let i = 0; i < SIGN_INS; i++) await signIn()
  t.comment(`${SIGN_INS} sign-ins: ${Math.round((await heap() - before) / 1000)} kB more`)
  const held = requests.filter((request) => request.deref() !== undefined).length
  t.ok(requests.length > 6 * SIGN_INS)
  t.ok(held < 20, `${held} of ${requests.length} requests are still held`)
})
