import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app'

test('notes are listed in both orders, to their person alone', async (t) => {
  const app = await build()
  t.after(() => app.close())
  const signIn = async (name: string, password: string) =>
    (await app.inject({ method: 'POST', url: '/session', payload: { name, password } })).json()
  assert.equal((await signIn('ada', 'x')).token, undefined)
  const headers = { authorization: `Bearer ${(await signIn('ada', 'enchantress')).token}` }
  assert.equal((await app.inject('/notes')).statusCode, 401)
  assert.equal((await app.inject({ url: '/notes?colour=red', headers })).statusCode, 400)
  for (const text of ['one', 'two']) {
    assert.equal((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text } })).statusCode, 201)
  }
  assert.deepEqual(
    (await app.inject({ url: '/notes?order=desc', headers })).json().map((note: { text: string }) => note.text),
    ['two', 'one']
  )
  const kim = { authorization: `Bearer ${(await signIn('kim', 'fjord')).token}` }
  assert.deepEqual((await app.inject({ url: '/notes', headers: kim })).json(), [])
})
