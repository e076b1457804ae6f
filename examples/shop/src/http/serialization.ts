import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'

/** Output is written as Fastify does by default, but the schema of an answer is compiled when the first is sent: most of those declared never are. */
export function serializeOutput (app: FastifyInstance): void {
  const serializerOf = SerializerSelector()({}, {})
  app.setSerializerCompiler((route) => {
    let serialize: ((data: unknown) => string) | undefined
    return (data) => (serialize ??= serializerOf({ ...route, httpStatus: route.httpStatus ?? '' }))(data)
  })
}
