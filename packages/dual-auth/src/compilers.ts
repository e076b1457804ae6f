import AjvCompiler from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'

// What a store may ask PostgreSQL for. Ajv's own format takes `urn:uuid:` before it as well.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Compiles the schemas of a scope by what Fastify itself compiles them with, whatever the host does with its own: it
 * may write them in another language (zod, say), or have turned the conversions off that a query needs.
 *
 * What comes as text, in path and query, is converted. JSON is taken as it is, and what the schema does not know is
 * refused: a misspelt `expires_at`, dropped in silence, would make a key that never ends.
 */
export function compileOwnSchemas (scope: FastifyInstance): void {
  const validator = AjvCompiler()
  scope.setValidatorCompiler(route => validator({}, {
    customOptions: {
      coerceTypes: route.httpPart !== 'body',
      removeAdditional: false,
      useDefaults: false,
      // They are constants: checking them takes longer than compiling them.
      validateSchema: false
    },
    onCreate: ajv => { ajv.addFormat('uuid', UUID) }
  })(route))

  const serializer = SerializerSelector()({}, {})
  scope.setSerializerCompiler(route => serializer({ ...route, httpStatus: route.httpStatus ?? '' }))
}
