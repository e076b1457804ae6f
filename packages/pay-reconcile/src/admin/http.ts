import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { errorCodes, type FastifyInstance, type FastifyReply, type FastifySchemaCompiler } from 'fastify'
import { PAY_RECONCILE_VALIDATION } from '../errors.ts'
import { excerpt } from '#shared/excerpt'

/**
 * Validation, serialization and JSON parsing of the admin routes, whatever the host has set. Invalid input is 422,
 * nothing is coerced or removed, and a request without a body may have the content type JSON.
 */
export function setHttpRules (scope: FastifyInstance): void {
  scope.setValidatorCompiler(strictValidator)
  // A host may compile schemas of another kind (zod, for example) and could not compile these.
  const serializer = SerializerSelector()({}, {})
  scope.setSerializerCompiler<TSchema>((route) => serializer({ ...route, httpStatus: route.httpStatus ?? '' }))

  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined)
    parseJson(request, String(body), done)
  })
  scope.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE())
  })
}

/** Sets `Content-Range` and exposes it to scripts of other origins, beside the headers that the host exposes. */
export function setContentRange (reply: FastifyReply, range: string): void {
  const exposed = reply.getHeader('access-control-expose-headers')
  reply.header('content-range', range)
  reply.header('access-control-expose-headers', exposed ? `${String(exposed)}, Content-Range` : 'Content-Range')
}

const strictValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === 'querystring') return (value) => knownParameters(schema, value)
  const checker = TypeCompiler.Compile(schema)
  return (value) => {
    if (checker.Check(value)) return { value }
    const { path: pointer = '', message = 'is invalid', schema: expected } = checker.Errors(value).First() ?? {}
    const path = excerpt(pointer)
    return {
      error: new PAY_RECONCILE_VALIDATION(
        fieldFrom(path),
        `${httpPart ?? 'request'}${path}: ${expected?.type === 'boolean' ? 'Expected true or false' : message}`
      )
    }
  }
}

/** Accepts a query string with known parameters only; the list grammar reads their values. */
function knownParameters ({ properties }: TSchema, value: object): { value: object } | { error: Error } {
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name))
  if (unknown === undefined) return { value }
  const name = excerpt(unknown)
  return { error: new PAY_RECONCILE_VALIDATION(name, `${name} is not a known parameter`) }
}

/** `attributes/0/value` from a JSON Pointer, RFC 6901. */
function fieldFrom (pointer: string): string {
  return pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~')
}
