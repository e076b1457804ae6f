import Fastify from 'fastify'
import t, { type Test } from 'tap'
import type { Demo } from '../src/demo/demo-file.ts'
import { keysForShops } from '../src/demo/keys.ts'
import { openIdentityProvider } from './build.ts'

const idp = await openIdentityProvider(t)
const shop = { id: 'one', slug: 'one', name: 'One' }

/** A shop that answers each look at its tags, and each new key, with the next of these. */
async function keysOf (t: Test, looks: number[], made: number[], last?: string) {
  const app = Fastify()
  t.teardown(() => app.close())
  app.get('/shops/:id/tags', async (_request, reply) => await reply.code(looks.shift()!).send([]))
  app.post('/shops/:id/api-keys/', async (_request, reply) => {
    const status = made.shift()!
    return await reply.code(status).header('retry-after', '0').send(status === 201 ? { plaintext: 'new' } : {})
  })
  const shops = await keysForShops(app, [shop], {
    idp: idp.ofDemo,
    last: last === undefined ? undefined : { shops: [{ ...shop, api_key: last }] } as unknown as Demo
  })
  return [shops[0]?.api_key, looks.length, made.length]
}

t.test('the demo keeps a key that works, also if the shop cannot say so at once', async (t) => {
  t.strictSame(await keysOf(t, [200], [], 'old'), ['old', 0, 0])
  t.strictSame(await keysOf(t, [503, 503, 200], [201], 'old'), ['old', 0, 1])
  t.strictSame(await keysOf(t, [503, 401], [201], 'old'), ['new', 0, 0])
})

t.test('the demo has a key for each shop, also if the shop cannot make it at once, or does not start', async (t) => {
  t.strictSame(await keysOf(t, [], [201]), ['new', 0, 0])
  t.strictSame(await keysOf(t, [], [503, 201]), ['new', 0, 0])
  await t.rejects(keysOf(t, [], [409]), { message: /^No API key for the demo: 409 / })
  await t.rejects(keysOf(t, [500], [], 'old'), { message: /^The key of the demo was not tried: 500 / })
})
