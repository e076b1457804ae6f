import AjvCompiler from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance } from 'fastify'
import { validatedKeyQuery } from './key-list.ts'
import type { RawQuery } from './list-grammar.ts'

// What a store may ask PostgreSQL for. Ajv's own format takes `urn:uuid:` before it as well.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Compiles the schemas of a scope by what Fastify itself compiles them with, whatever the host does with its own: it
 * may write them in another language (zod, say), or have turned the conversions off that a query needs.
 *
 * Of the query, which only the listing has, the schema is the documentation: the list grammar reads it. JSON is taken as it
 * is. Unknown names are refused in both: a misspelt `expires_at`, dropped in silence, would make a key that never ends.
 */
export function compileOwnSchemas (scope: FastifyInstance): void {
  const validator = AjvCompiler()
  scope.setValidatorCompiler<{ readonly properties?: object }>(route => route.httpPart === 'querystring'
    ? (query: RawQuery) => validatedKeyQuery(query, Object.keys(route.schema.properties ?? {}))
    : validator({}, {
      customOptions: {
        coerceTypes: false,
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
