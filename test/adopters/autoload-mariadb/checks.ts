import assert from 'node:assert/strict'
import { test } from 'node:test'
import { build } from './app.ts'

test('notes are stored in MariaDB, for the person of the session', async (t) => {
  const app = await build()
  t.after(() => app.close())
  const signIn = async (name: string, password: string) =>
    await app.inject({ method: 'POST', url: '/session', payload: { name, password } })
  assert.equal((await signIn('ada', 'x')).statusCode, 401)
  const cookieOf = async (name: string, password: string) => ({
    cookie: String((await signIn(name, password)).headers['set-cookie']).split(';')[0]
  })
  const headers = await cookieOf('ada', 'enchantress')
  assert.equal((await app.inject('/notes')).statusCode, 401)
  assert.equal((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: '' } })).statusCode, 400)
  const created = await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: 'Mílk 🥛' } })
  assert.equal(created.statusCode, 201, created.body)
  assert.deepEqual((await app.inject({ url: '/notes', headers })).json(), [created.json()])
  assert.deepEqual((await app.inject({ url: '/notes', headers: await cookieOf('kim', 'fjord') })).json(), [])
})
