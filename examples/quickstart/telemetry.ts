import { FastifyOtelInstrumentation } from '@fastify/otel'
import { metrics, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import Fastify from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { telemetry } from 'mcp-from-routes/telemetry'

// Where spans go is up to your own setup of OpenTelemetry. This one reads OTEL_EXPORTER_OTLP_ENDPOINT.
new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())] }).register()

const app = Fastify()
await app.register(new FastifyOtelInstrumentation({ instrumentHooks: false }).plugin()) // The spans of requests.
await app.register(mcpFromRoutes, {
  serverInfo: { name: 'notes', version: '1.0.0' },
  extensions: [telemetry({ tracer: trace.getTracer('notes'), meter: metrics.getMeter('notes') })]
})

app.get('/notes', {
  schema: { operationId: 'list_notes', description: 'List all notes.', tags: ['mcp'] }
}, async () => [{ id: '1', text: 'Water the plants' }])

const address = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`list_notes at ${address}/mcp`)
