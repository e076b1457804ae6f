import { check, checkKeys } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { Telemetry } from './context.ts'
import { observerFrom } from './observer.ts'

export type { Telemetry } from './context.ts'

/**
 * Spans and durations of tool calls and other messages, by the semantic conventions of OpenTelemetry for MCP:
 * `telemetry({ tracer: trace.getTracer('notes'), meter: metrics.getMeter('notes') })`.
 * @returns for the option `extensions`
 */
export function telemetry (options: Telemetry): Extension {
  return {
    name: 'mcp-from-routes/telemetry',
    keys: [],
    install () {
      checkKeys(options, 'telemetry', ['tracer', 'meter', 'content'])
      const { tracer, meter, content } = options
      check(tracer !== undefined || meter !== undefined, 'telemetry', 'must have a tracer or a meter')
      check(
        tracer === undefined || typeof tracer?.startActiveSpan === 'function',
        'telemetry.tracer',
        'must be a tracer of OpenTelemetry'
      )
      check(
        meter === undefined || typeof meter?.createHistogram === 'function',
        'telemetry.meter',
        'must be a meter of OpenTelemetry'
      )
      check(content === undefined || typeof content === 'boolean', 'telemetry.content', 'must be true or false')
      return observerFrom(options)
    }
  }
}
