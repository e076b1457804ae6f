import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app'

test('controllers and guards of Nest', async (t) => {
  const app = await build()
  t.after(() => app.close())
  await app.init()
  await app.getHttpAdapter().getInstance().ready()
  const signIn = async (name: string, password: string) =>
    (await app.inject({ method: 'POST', url: '/session', payload: { name, password } })).json()
  assert.equal((await signIn('ada', 'x')).statusCode, 401)
  const headers = { authorization: `Bearer ${(await signIn('ada', 'enchantress')).token}` }
  assert.equal((await app.inject('/notes')).statusCode, 401)
  assert.equal((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: '' } })).statusCode, 400)
  assert.deepEqual((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: 'Milk' } })).json(), {
    id: 1,
    text: 'Milk'
  })
  assert.deepEqual((await app.inject({ url: '/notes', headers })).json(), [{ id: 1, text: 'Milk' }])
})
