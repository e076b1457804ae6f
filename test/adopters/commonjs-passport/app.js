const { Authenticator } = require('@fastify/passport')
const secureSession = require('@fastify/secure-session')
const Fastify = require('fastify')
const { Strategy } = require('passport-local')

const passwords = { ada: 'enchantress', kim: 'fjord' }
const Note = {
  type: 'object',
  required: ['id', 'text'],
  properties: { id: { type: 'integer' }, text: { type: 'string' } }
}

/** Notes of people who sign in with a form, and stay signed in by an encrypted cookie. */
module.exports = async function build () {
  const app = Fastify()
  const passport = new Authenticator()
  passport.use(
    'local',
    new Strategy(
      { usernameField: 'name' },
      (name, password, done) => done(null, passwords[name] === password ? { name } : false)
    )
  )
  passport.registerUserSerializer(async ({ name }) => name)
  passport.registerUserDeserializer(async (name) => ({ name }))
  await app.register(secureSession, {
    key: Buffer.alloc(32, 'k'),
    cookie: { path: '/', httpOnly: true, sameSite: 'strict' }
  })
  await app.register(passport.initialize())
  await app.register(passport.secureSession())

  async function signedIn (request, reply) {
    if (!request.isAuthenticated()) return reply.code(401).send({ message: 'Sign in first' })
  }

  app.post('/session', { preValidation: passport.authenticate('local') }, async ({ user }) => user)

  await app.register(async (scope) => {
    const notes = new Map()
    scope.addHook('preHandler', signedIn)
    scope.get('/', {
      schema: {
        operationId: 'list_notes',
        description: 'List your notes.',
        tags: ['notes'],
        response: { 200: { type: 'array', items: Note } }
      }
    }, async ({ user }) => notes.get(user.name) ?? [])
    scope.post('/', {
      schema: {
        operationId: 'create_note',
        description: 'Write a note.',
        tags: ['notes'],
        body: { type: 'object', required: ['text'], properties: { text: { type: 'string', minLength: 1 } } },
        response: { 201: Note }
      }
    }, async ({ user, body: { text } }, reply) => {
      const mine = notes.get(user.name) ?? []
      const note = { id: mine.length + 1, text }
      notes.set(user.name, [...mine, note])
      return reply.code(201).send(note)
    })
  }, { prefix: '/notes' })

  return app
}
