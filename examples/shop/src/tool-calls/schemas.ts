import { type Static, Type } from '@sinclair/typebox'
import { Instant, Nullable } from '../http/schemas.ts'

const Calls = Type.Integer({ description: 'How often it was called' })
const Errors = Type.Integer({ description: 'How many of these calls were errors for the agent' })
const Duration = (share: string) => Nullable(Type.Number({ description: `${share} of the calls took no longer, in milliseconds; at most 12 % off` }))

export const ToolCallsQuery = Type.Object({
  since: Type.Optional(Instant('From the start of this hour on. Default: 24 hours ago'))
}, { additionalProperties: false })

export const ToolCallsReport = Type.Object({
  since: Type.String({ format: 'date-time', description: 'The start of the first hour' }),
  calls: Calls,
  errors: Errors,
  tools: Type.Array(Type.Object({
    tool: Type.String(), calls: Calls, errors: Errors, p50_ms: Duration('50 %'), p99_ms: Duration('99 %')
  }), { description: 'Each tool that was called, the one with the most calls first' }),
  hours: Type.Array(Type.Object({
    hour: Type.String({ format: 'date-time', description: 'Its start' }), calls: Calls, errors: Errors
  }), { description: 'Each hour with calls, the oldest first' })
})

export type ToolCalls = Static<typeof ToolCallsReport>
