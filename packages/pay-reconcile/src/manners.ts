import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { errorCodes, type FastifyInstance, type FastifySchemaCompiler } from 'fastify'
import { PAY_RECONCILE_VALIDATION } from './errors.ts'

/**
 * The HTTP manners of the admin routes, whatever the host's own are: invalid input is 422, nothing is
 * coerced or stripped, and a request without a body may say that it is JSON.
 */
export function setManners (scope: FastifyInstance): void {
  scope.setValidatorCompiler(strictValidator)
  // A host may compile schemas of another kind (zod, say) and could make nothing of these.
  const serializer = SerializerSelector()({}, {})
  scope.setSerializerCompiler<TSchema>(route => serializer({ ...route, httpStatus: route.httpStatus ?? '' }))

  const parseJson = scope.getDefaultJsonParser('error', 'error')
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') return done(null, undefined)
    parseJson(request, String(body), (error, value) => {
      if (error) done(new PAY_RECONCILE_VALIDATION('body is not JSON'))
      else done(null, value)
    })
  })
  scope.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else done(new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE())
  })
}

const strictValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  if (httpPart === 'querystring') return value => ({ value })
  const checker = TypeCompiler.Compile(schema)
  return value => {
    if (checker.Check(value)) return { value }
    const first = checker.Errors(value).First()
    const error = new PAY_RECONCILE_VALIDATION(`${httpPart ?? 'request'}${first?.path ?? ''}: ${first?.message ?? 'is invalid'}`)
    return { error }
  }
}
