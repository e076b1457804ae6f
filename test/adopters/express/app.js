import fastifyExpress from '@fastify/express'
import express from 'express'
import session from 'express-session'
import Fastify from 'fastify'

const passwords = { ada: 'enchantress', kim: 'fjord' }

/** An Express application that moves to Fastify route by route: sign-in is still Express, notes are moved. */
export async function build () {
  const app = Fastify()
  await app.register(fastifyExpress)
  app.use(
    session({
      secret: 'a secret of an application for tests',
      resave: false,
      saveUninitialized: false,
      cookie: { sameSite: 'strict', httpOnly: true }
    })
  )

  const legacy = express.Router()
  legacy.post('/session', express.json(), ({ body: { name, password }, session }, response) => {
    if (passwords[name] !== password) return response.status(401).json({ message: 'Wrong name or password' })
    session.person = name
    response.json({ name })
  })
  legacy.get(
    '/legacy/me',
    ({ session: { person } }, response) => response.status(person ? 200 : 401).json({ person: person ?? null })
  )
  app.use(legacy)

  app.decorateRequest('person')
  app.addHook('onRequest', async (request) => {
    request.person = request.raw.session?.person
  })

  const signedIn = async ({ person }, reply) => {
    if (person === undefined) await reply.code(401).send({ message: 'Sign in first' })
  }
  const notes = new Map()
  const Note = {
    type: 'object',
    required: ['id', 'text'],
    properties: { id: { type: 'integer' }, text: { type: 'string' } }
  }

  app.get('/notes', {
    preHandler: signedIn,
    schema: {
      operationId: 'list_notes',
      description: 'List your notes.',
      tags: ['notes'],
      response: { 200: { type: 'array', items: Note } }
    }
  }, async ({ person }) => notes.get(person) ?? [])

  app.post('/notes', {
    preHandler: signedIn,
    schema: {
      operationId: 'create_note',
      description: 'Write a note.',
      tags: ['notes'],
      body: { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } },
      response: { 201: Note }
    }
  }, async ({ person, body: { text } }, reply) => {
    const mine = notes.get(person) ?? []
    notes.set(person, [...mine, { id: mine.length + 1, text }])
    return reply.code(201).send({ id: mine.length + 1, text })
  })

  return app
}
