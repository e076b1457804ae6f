import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.ts'

test('people sign in and see their own notes', async (t) => {
  const app = await build()
  t.after(() => app.close())
  assert.equal(
    (await app.inject({ method: 'POST', url: '/session', payload: { name: 'ada', password: 'x' } })).statusCode,
    401
  )
  const { token } =
    (await app.inject({ method: 'POST', url: '/session', payload: { name: 'ada', password: 'enchantress' } })).json()
  const headers = { authorization: `Bearer ${token}` }
  assert.equal((await app.inject('/notes')).statusCode, 401)
  assert.equal((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: ' ' } })).statusCode, 400)
  const created = await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: ' Milk ' } })
  assert.deepEqual([created.statusCode, created.json()], [201, { id: 1, text: 'Milk', priority: 'low' }])
  assert.deepEqual((await app.inject({ url: '/notes?q=Mi&limit=1', headers })).json(), [created.json()])
  const kim = `Bearer ${app.jwt.sign({ sub: 'kim' })}`
  assert.deepEqual((await app.inject({ url: '/notes', headers: { authorization: kim } })).json(), [])
})
