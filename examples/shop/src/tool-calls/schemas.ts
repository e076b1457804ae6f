import { type Static, Type } from '@sinclair/typebox'
import { Instant, Nullable, Uuid } from '../http/schemas.ts'

const Calls = Type.Integer({ description: 'How often it was called' })
const Errors = Type.Integer({ description: 'How many of these calls were errors for the agent' })
const Duration = (share: string) =>
  Nullable(Type.Number({ description: `${share} of the calls took no longer, in milliseconds; at most 12 % off` }))
const Time = (description: string) => Type.String({ format: 'date-time', description })

const Since = (otherwise: string) =>
  Type.Object({ since: Type.Optional(Instant(`From the start of this hour on. Default: ${otherwise}`)) }, {
    additionalProperties: false
  })

export const ToolCallsQuery = Since('24 hours ago')
export const KeyCallsQuery = Since('14 days ago')

const Hours = Type.Array(Type.Object({ hour: Time('Its start'), calls: Calls, errors: Errors }), {
  description: 'Each hour with calls, the oldest first'
})

const report = {
  since: Time('The start of the first hour'),
  calls: Calls,
  errors: Errors,
  tools: Type.Array(
    Type.Object({
      tool: Type.String(),
      calls: Calls,
      errors: Errors,
      p50_ms: Duration('50 %'),
      p99_ms: Duration('99 %')
    }),
    { description: 'Each tool that was called, the one with the most calls first' }
  ),
  hours: Hours
}

const ByKey = Type.Array(Type.Object({ key_id: Uuid(), name: Type.String(), calls: Calls, errors: Errors }), {
  description: 'Each API key that called, the one with the most errors first'
})

export const ToolCallsReport = Type.Object(report)
export const ShopToolCallsReport = Type.Object({ ...report, keys: ByKey })

export const KeyCallsParams = Type.Object({ shop_id: Uuid(), key_id: Uuid() })

export const KeyCallsReport = Type.Object({
  since: report.since,
  last_used_at: Nullable(Time('When the key was last used, for calls of tools or of routes')),
  calls: Calls,
  errors: Errors,
  tools: Type.Array(Type.Object({ tool: Type.String(), calls: Calls, errors: Errors }), {
    description: 'Each tool that was called, the one with the most calls first'
  }),
  hours: Hours,
  clients: Type.Array(
    Type.Object({
      name: Type.String({ description: 'As the client calls itself, which proves nothing' }),
      version: Type.String({ description: 'Empty if it did not say' }),
      first_seen_at: Time('Its first message with this key'),
      last_seen_at: Time(
        'About when it was last heard of; clients before revision 2026-07-28 say who they are only when they connect'
      )
    }),
    { description: 'The clients that the key is used in, the last one first' }
  ),
  failed: Type.Array(
    Type.Object({
      at: Time('When it failed'),
      tool: Type.String(),
      status: Nullable(Type.Integer({ description: 'Status of the route; null if the call did not reach it' })),
      arguments: Type.String({ description: 'JSON, cut and without secrets' }),
      answer: Type.String({ description: 'What the agent read, cut and without secrets' })
    }),
    { description: 'The newest calls that failed, the last one first; FAILED_CALLS_KEPT says how many are kept' }
  )
})

export type ToolCalls = Static<typeof ToolCallsReport>
export type CallsByKey = Static<typeof ByKey>
export type KeyCalls = Static<typeof KeyCallsReport>
