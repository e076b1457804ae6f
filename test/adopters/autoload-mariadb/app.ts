import { join } from 'node:path'
import autoload from '@fastify/autoload'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import Fastify from 'fastify'

export async function build () {
  const app = Fastify().withTypeProvider<TypeBoxTypeProvider>()
  await app.register(autoload, { dir: join(import.meta.dirname, 'plugins') })
  await app.register(autoload, { dir: join(import.meta.dirname, 'routes') })
  return app
}
