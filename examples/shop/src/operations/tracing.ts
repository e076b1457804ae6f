import { randomUUID } from 'node:crypto'
import type { Tracer } from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { FastifyInstance } from 'fastify'
import type { Database } from '../database/index.ts'
import { TOOLS_VERSION, VERSION } from './version.ts'

/** The traces of one app. */
export interface Tracing {
  /** For the option `telemetry` of mcp-from-routes. */
  readonly tracer: Tracer
  /** Register it first: it sees only requests of hooks and routes that come after it. */
  instrument(app: FastifyInstance, database: Database): void
  /** Sends the remaining spans. */
  close(): Promise<void>
}

/**
 * Whether the standard variables request traces: there is an endpoint, and nothing disables them.
 *
 * @see [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/)
 */
export function wantsTraces (environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } =
    environment
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
    OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && OTEL_TRACES_EXPORTER !== 'none'
}

/**
 * Opens tracing. A tool call, its route, the statements and the requests to other services are one trace. The standard
 * variables configure batches, sampling, resource and exporter.
 *
 * @param exporter - default: OTLP over HTTP with protobuf
 */
export async function openTracing (exporter?: SpanExporter): Promise<Tracing> {
  // Loaded here, so that a server without traces does not load the libraries.
  const [
    { context, propagation, trace },
    { BatchSpanProcessor, NodeTracerProvider },
    { defaultResource, detectResources, envDetector, resourceFromAttributes },
    { traceRequests },
    { traceStatements },
    { traceCallsOut }
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/resources'),
    import('./spans/requests.ts'),
    import('./spans/statements.ts'),
    import('./spans/calls-out.ts')
  ])
  const own = { 'service.name': 'shop', 'service.version': TOOLS_VERSION, 'service.instance.id': randomUUID() }
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(own)).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter ?? await otlpExporter())]
  })
  // Context propagation, which also reads traceparent, is global to the process.
  provider.register()
  const tracer = provider.getTracer('shop', VERSION)
  const ends = [traceCallsOut(tracer)]
  return {
    tracer,
    instrument (app, database) {
      traceRequests(app, tracer)
      for (const one of [database, ...database.replica === undefined ? [] : [database.replica.database]]) {
        ends.push(traceStatements(one, tracer))
      }
    },
    async close () {
      for (const end of ends) end()
      for (const api of [context, propagation, trace]) api.disable()
      await provider.shutdown()
    }
  }
}

async function otlpExporter (): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}
