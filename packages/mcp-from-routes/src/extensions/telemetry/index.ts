import { BOOLEAN, type Table } from '#shared/option-table'
import { check, settingsBy } from '../../checks.ts'
import type { Extension } from '../../extension.ts'
import type { Telemetry } from './context.ts'
import { observerFrom } from './observer.ts'

export type { Telemetry } from './context.ts'

const TABLE: Table<Telemetry> = {
  tracer: {
    holds: (tracer) => typeof Object(tracer).startActiveSpan === 'function',
    rule: 'must be a tracer of OpenTelemetry'
  },
  meter: {
    holds: (meter) => typeof Object(meter).createHistogram === 'function',
    rule: 'must be a meter of OpenTelemetry'
  },
  content: BOOLEAN
}

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
      const { tracer, meter } = settingsBy(TABLE, options, 'telemetry')
      check(tracer !== undefined || meter !== undefined, 'telemetry', 'must have a tracer or a meter')
      return observerFrom(options)
    }
  }
}
