import {
  context,
  propagation,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Tracer
} from '@opentelemetry/api'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { excerpt } from '#shared/excerpt'
import { calledBy } from '../called-by.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False for routes without spans. */
    traced?: boolean
  }
  interface FastifyRequest {
    /** What is open around the handler, with the span of the request; null for requests without one. */
    traceContext: Context | null
  }
}

/**
 * A span of each request, also of the inner one of a tool call, whose parent is the span of the call.
 *
 * @see [HTTP server spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span)
 */
export function traceRequests (app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('traceContext', null)

  app.addHook('onRequest', (request, reply, done) => {
    const { routeOptions: { config, url: route }, method } = request
    if (config.traced === false) return done()
    const around = context.active()
    const parent = trace.getSpan(around) === undefined ? propagation.extract(around, request.headers) : around
    const span = tracer.startSpan(`${method} ${route ?? 'no route'}`, {
      kind: SpanKind.SERVER,
      attributes: {
        'http.request.method': method,
        ...route !== undefined && { 'http.route': route },
        // Without the query, which may contain anything.
        'url.path': excerpt(request.url.split('?')[0]!),
        'url.scheme': request.protocol,
        'request.id': request.id
      }
    }, parent)
    // Not onResponse, which does not run when the client goes away.
    reply.raw.once('close', () => {
      const { headersSent, statusCode } = reply.raw
      span.setAttributes(callerIn(request))
      if (headersSent) span.setAttribute('http.response.status_code', statusCode)
      // A 4xx is an error of the client.
      if (headersSent && statusCode >= 500) {
        span.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    })
    request.traceContext = trace.setSpan(parent, span)
    context.with(request.traceContext, done)
  })

  // The context of a request ends where its body is read from the connection.
  app.addHook('preValidation', ({ traceContext }, _reply, done) => {
    if (traceContext === null) return done()
    context.with(traceContext, done)
  })
}

/**
 * Who made the request, as its line in the log says it, but of a person only the digest. The tool is that of the call
 * in the request.
 *
 * @see [User attributes](https://opentelemetry.io/docs/specs/semconv/registry/attributes/user/)
 */
function callerIn (request: FastifyRequest): Attributes {
  const { caller, callerId, subjectDigest, shopId } = calledBy(request)
  const tool = request.told?.tool
  return {
    'shop.caller.kind': caller,
    ...caller !== 'user' && callerId !== undefined && { 'shop.caller.id': callerId },
    ...subjectDigest !== undefined && { 'user.hash': subjectDigest },
    ...shopId !== undefined && { 'shop.id': shopId },
    ...tool !== undefined && { 'gen_ai.tool.name': tool }
  }
}
