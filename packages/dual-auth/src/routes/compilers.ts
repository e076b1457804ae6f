import AjvCompiler from '@fastify/ajv-compiler'
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify'
import type { RawQuery } from '#shared/list-grammar'

// What PostgreSQL accepts. Ajv's own format also accepts the prefix `urn:uuid:`.
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Validates a query by the grammar of lists. @param parameters - those that the schema names */
type QueryValidator = (
  query: RawQuery,
  parameters: readonly string[]
) => { value: unknown } | { error: FastifySchemaValidationError[] }

/**
 * Makes a scope compile its schemas with Fastify's default compilers, whatever the host uses for its own: its schemas
 * may be zod's, or it may have turned off the coercion that a query needs.
 *
 * The schema of a query is documentation; `validateQuery` validates it. JSON is not coerced. Unknown
 * names are rejected in both: if a misspelled `expires_at` were dropped, the key would never expire.
 */
export function compileOwnSchemas (scope: FastifyInstance, validateQuery?: QueryValidator): void {
  const validator = AjvCompiler()
  scope.setValidatorCompiler<{ readonly properties?: object }>((route) =>
    route.httpPart === 'querystring' && validateQuery !== undefined
      ? (query: RawQuery) => validateQuery(query, Object.keys(route.schema.properties ?? {}))
      : validator({}, {
        customOptions: {
          coerceTypes: false,
          removeAdditional: false,
          // The scopes of a new key are a list or a word.
          allowUnionTypes: true,
          // The schemas are constants; validating them takes longer than compiling them.
          validateSchema: false
        },
        onCreate: (ajv) => {
          ajv.addFormat('uuid', UUID)
        }
      })(route)
  )

  const serializer = SerializerSelector()({}, {})
  scope.setSerializerCompiler((route) => serializer({ ...route, httpStatus: route.httpStatus ?? '' }))
}
