import cookie from '@fastify/cookie'
import session from '@fastify/session'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface Session {
    person?: string
  }
}

export default fp(async (app) => {
  await app.register(cookie)
  await app.register(session, {
    secret: 'a secret of an application, of 32 characters',
    cookie: { secure: false, sameSite: 'strict' },
    saveUninitialized: false
  })
}, { name: 'sign-in' })
