import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { SpanKind, SpanStatusCode, trace, type Span, type Tracer } from '@opentelemetry/api'

/** What Node.js says of a request that `fetch` sends. */
interface Sent {
  readonly request: { readonly origin: string | URL, readonly method: string, readonly path: string }
  readonly response?: { readonly statusCode: number }
  /** Its code is a number if it was aborted. */
  readonly error?: Error & { readonly code?: unknown }
}

/**
 * A span of each request that the server sends by `fetch` for a caller, to the payment provider or the identity
 * provider. They learn nothing of the trace.
 *
 * @returns ends it
 * @see [HTTP client spans](https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span)
 */
export function traceCallsOut (tracer: Tracer): () => void {
  const open = new WeakMap<object, Span>()
  const onMessage: Readonly<Record<string, (sent: Sent) => void>> = {
    'undici:request:create' ({ request }) {
      if (trace.getActiveSpan() === undefined) return
      const { hostname, port, protocol, origin } = new URL(request.origin)
      open.set(
        request,
        tracer.startSpan(request.method, {
          kind: SpanKind.CLIENT,
          attributes: {
            'http.request.method': request.method,
            'server.address': hostname,
            'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
            // Without the query, which may contain anything.
            'url.full': origin + request.path.split('?')[0]
          }
        })
      )
    },
    'undici:request:headers' ({ request, response }) {
      const { statusCode } = response!
      const span = open.get(request)?.setAttribute('http.response.status_code', statusCode)
      if (statusCode >= 400) {
        span?.setAttribute('error.type', String(statusCode)).setStatus({ code: SpanStatusCode.ERROR })
      }
    },
    'undici:request:trailers' ({ request }) {
      open.get(request)?.end()
    },
    'undici:request:error' ({ request, error }) {
      const type = typeof error?.code === 'string' ? error.code : error?.name ?? '_OTHER'
      open.get(request)?.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }).end()
    }
  }
  const listeners = Object.entries(onMessage).map(([channel, listen]) =>
    [channel, (message: unknown) => listen(message as Sent)] as const
  )
  for (const [channel, listener] of listeners) subscribe(channel, listener)
  return () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener)
  }
}
