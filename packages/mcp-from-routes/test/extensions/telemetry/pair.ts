import { context, propagation, trace } from '@opentelemetry/api'
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node'
import { telemetry } from '../../../src/extensions/telemetry/index.ts'
import type { Described, Exchange } from '../described.ts'

export const pair: Described = {
  make (t) {
    const exporter = new InMemorySpanExporter()
    const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
    provider.register()
    t.teardown(() => [trace, context, propagation].forEach((api) => api.disable()))
    return {
      extension: telemetry({ tracer: provider.getTracer('test') }),
      watch (exchange) {
        const spans = exporter.getFinishedSpans().map(({ name, attributes }) => [name, attributes['error.type']])
        exporter.reset()
        const wanted = [[nameOf(exchange), errorOf(exchange)]]
        return JSON.stringify(spans) === JSON.stringify(wanted)
          ? undefined
          : `${JSON.stringify(exchange)}: ${JSON.stringify(spans)} and not ${JSON.stringify(wanted)}`
      }
    }
  },
  adds: { call: 'watch', error: 'watch' }
}

/** The span of a call is named by the tool that ran, if there is one. */
function nameOf ({ method, params: { name, arguments: args }, result, error }: Exchange): string {
  const text = JSON.stringify(error?.message ?? result?.content)
  if (method !== 'tools/call' || error?.message.startsWith('Unknown tool') === true) return method
  const isThrough = String(name).startsWith('call_') && !text.includes('Unknown tool')
  return `${method} ${String(isThrough ? Reflect.get(Object(args), 'name') : name)}`
}

/** What the span of a message says of its error. */
function errorOf ({ result, error }: Exchange): string | undefined {
  if (error !== undefined) return String(error.code)
  return result?.isError === true ? 'tool_error' : undefined
}
