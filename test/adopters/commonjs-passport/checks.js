/* global test, expect, afterAll, beforeAll */
const build = require('./app.js')

let app
beforeAll(async () => {
  app = await build()
})
afterAll(async () => {
  await app.close()
})

const signIn = (payload) => app.inject({ method: 'POST', url: '/session', payload })

test('nobody sees notes, and a wrong password signs nobody in', async () => {
  expect((await app.inject('/notes')).statusCode).toBe(401)
  expect((await signIn({ name: 'ada', password: 'x' })).statusCode).toBe(401)
})

test('people write notes that others do not see', async () => {
  const cookie = async (name, password) => (await signIn({ name, password })).headers['set-cookie'].split(';')[0]
  const headers = { cookie: await cookie('ada', 'enchantress') }
  expect((await app.inject({ method: 'POST', url: '/notes', headers, payload: {} })).statusCode).toBe(400)
  expect((await app.inject({ method: 'POST', url: '/notes', headers, payload: { text: 'Milk' } })).json()).toEqual({
    id: 1,
    text: 'Milk'
  })
  expect((await app.inject({ url: '/notes', headers })).json()).toEqual([{ id: 1, text: 'Milk' }])
  expect((await app.inject({ url: '/notes', headers: { cookie: await cookie('kim', 'fjord') } })).json()).toEqual([])
})
