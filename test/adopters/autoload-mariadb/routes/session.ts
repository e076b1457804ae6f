import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'

const passwords: Readonly<Record<string, string>> = { ada: 'enchantress', kim: 'fjord' }

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/session', {
    schema: { body: Type.Object({ name: Type.String(), password: Type.String() }) }
  }, async ({ body: { name, password }, session }, reply) => {
    if (passwords[name] !== password) return reply.code(401).send({ message: 'Wrong name or password' })
    session.person = name
    return { name }
  })
}

export default routes
