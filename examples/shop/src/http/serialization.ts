import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'

/**
 * Serializes as Fastify does by default, but compiles the schema of a response at its first use: most are never used.
 */
export function serializeOutput (app: FastifyInstance): void {
  const serializerOf = SerializerSelector()({}, {})
  app.setSerializerCompiler((route) => {
    let serialize: ((data: unknown) => string) | undefined
    return (data) => (serialize ??= serializerOf({ ...route, httpStatus: route.httpStatus ?? '' }))(data)
  })
}
