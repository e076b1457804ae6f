import type { FastifyInstance } from 'fastify'
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'
import type { ToolCallEvent } from 'mcp-from-routes'
import { excerpt } from '../http/excerpt.ts'
import { VERSION } from './version.ts'

/** Traces of one app. */
export interface Tracing {
  /** To be registered first: it sees the hooks and routes that come after it. */
  instrument (app: FastifyInstance): Promise<void>
  /** For the option `onToolCall`: names the span of the request after the tool. */
  nameToolCall (event: ToolCallEvent): void
  /** Sends what was not sent yet. */
  close (): Promise<void>
}

/**
 * Whether the environment asks for traces, by the standard variables: an endpoint, and no switch that is off.
 *
 * @see [OTLP exporter](https://opentelemetry.io/docs/specs/otel/protocol/exporter/)
 */
export function wantsTraces (environment: NodeJS.ProcessEnv): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_SDK_DISABLED, OTEL_TRACES_EXPORTER } = environment
  return Boolean(OTEL_EXPORTER_OTLP_ENDPOINT || OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) &&
    OTEL_SDK_DISABLED?.toLowerCase() !== 'true' && OTEL_TRACES_EXPORTER !== 'none'
}

/**
 * Makes traces, in which a tool call and its route are one: the inner request runs inside the handler of the
 * outer one, whose span is its parent. Batches, sampling, resource and exporter go by the standard variables.
 *
 * @param exporter - default: OTLP over HTTP with protobuf
 */
export async function openTracing (exporter?: SpanExporter): Promise<Tracing> {
  // Loaded here: who wants no traces does not wait for the libraries.
  const [{ FastifyOtelInstrumentation }, { BatchSpanProcessor, NodeTracerProvider }, { defaultResource, detectResources, envDetector, resourceFromAttributes }] = await Promise.all([
    import('@fastify/otel'), import('@opentelemetry/sdk-trace-node'), import('@opentelemetry/resources')
  ])
  const provider = new NodeTracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': 'shop', 'service.version': VERSION })).merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter ?? await otlpExporter())]
  })
  // What carries the span from a handler to what it calls, and reads traceparent, is one for the whole process.
  provider.register()
  const instrumentation = new FastifyOtelInstrumentation({
    // A span for each hook of each request would hide the few that tell something.
    instrumentHooks: false,
    requestHook: (span, request) => {
      span.updateName(`${request.method} ${request.routeOptions.url ?? 'no route'}`)
      // Not the query, which may hold anything.
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
