import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.js'

test('the session of Express opens routes of Express and of Fastify', async (t) => {
  const app = await build()
  t.after(() => app.close())
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const post = async (path, body, headers = {}) =>
    await fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body)
    })
  assert.equal((await post('/session', { name: 'ada', password: 'x' })).status, 401)
  const headers = {
    cookie: (await post('/session', { name: 'ada', password: 'enchantress' })).headers.get('set-cookie').split(';')[0]
  }
  assert.deepEqual(await (await fetch(`${origin}/legacy/me`, { headers })).json(), { person: 'ada' })
  assert.equal((await fetch(`${origin}/notes`)).status, 401)
  assert.equal((await post('/notes', {}, headers)).status, 400)
  assert.deepEqual(await (await post('/notes', { text: 'Milk' }, headers)).json(), { id: 1, text: 'Milk' })
  assert.deepEqual(await (await fetch(`${origin}/notes`, { headers })).json(), [{ id: 1, text: 'Milk' }])
})
