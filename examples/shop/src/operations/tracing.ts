import type { FastifyInstance } from 'fastify'
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { ToolCallEvent } from 'mcp-from-routes'
import { excerpt } from '../http/excerpt.ts'
import { VERSION } from './version.ts'

/** The traces of one app. */
export interface Tracing {
  /** Register it first: it sees only hooks and routes that come after it. */
  instrument (app: FastifyInstance): Promise<void>
  /** For the option `onToolCall`: names the span of the request after the tool. */
  nameToolCall (event: ToolCallEvent): void
  /** Sends the remaining spans. */
  close (): Promise<void>
}

/**
 * Whether the standard variables request traces: there is an endpoint, and nothing disables them.
 *
 * @see [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/)
 */
export function wantsTraces (environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
    OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && OTEL_TRACES_EXPORTER !== 'none'
}

/**
 * Opens tracing. A tool call and its route are one trace: the inner request runs in the handler of the outer one, whose
 * span is its parent. The standard variables configure batches, sampling, resource and exporter.
 *
 * @param exporter - default: OTLP over HTTP with protobuf
 */
export async function openTracing (exporter?: SpanExporter): Promise<Tracing> {
  // Loaded here, so that a server without traces does not load the libraries.
  const [{ FastifyOtelInstrumentation }, { BatchSpanProcessor, NodeTracerProvider }, { defaultResource, detectResources, envDetector, resourceFromAttributes }] = await Promise.all([
    import('@fastify/otel'), import('@opentelemetry/sdk-trace-node'), import('@opentelemetry/resources')
  ])
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': 'shop', 'service.version': VERSION })).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter ?? await otlpExporter())]
  })
  // Context propagation, which also reads traceparent, is global to the process.
  provider.register()
  const instrumentation = new FastifyOtelInstrumentation({
    // A span for each hook of each request would hide the useful ones.
    instrumentHooks: false,
    requestHook: (span, request) => {
      span.updateName(`${request.method} ${request.routeOptions.url ?? 'no route'}`)
      // Without the query, which may contain anything.
      span.setAttributes({ 'url.path': excerpt(request.url.split('?')[0]!), 'request.id': request.id })
    }
  })
  instrumentation.setTracerProvider(provider)
  return {
    instrument: async (app) => { await app.register(instrumentation.plugin()) },
    nameToolCall ({ tool, request }) {
      request.opentelemetry().span?.updateName(`tools/call ${tool.name}`).setAttributes({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': tool.name })
    },
    close: async () => await provider.shutdown()
  }
}

async function otlpExporter (): Promise<SpanExporter> {
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto')
  return new OTLPTraceExporter()
}
