import { type Static, Type } from '@sinclair/typebox'
import { Nullable, serverFields, Uuid } from '../http/schemas.ts'

const counts = {
  calls: Type.Integer({ description: 'Calls of routes and tools by API keys and members' }),
  writes: Type.Integer({ description: 'Of these, the ones other than GET that succeeded and were no dry runs' }),
  imports: Type.Integer({ description: 'Of these, the files that were accepted' })
}

const MAX_LIMIT = 2_147_483_647
const Limit = (what: string) =>
  Nullable(Type.Integer({ minimum: 0, maximum: MAX_LIMIT, description: `Most ${what} in a day; null for any number` }))
const limits = { calls_per_day: Limit('calls'), writes_per_day: Limit('writes'), imports_per_day: Limit('imports') }

export const Limits = Type.Object({ ...limits, updated_at: serverFields.updated_at })
export const LimitChanges = Type.Partial(Type.Object(limits), { additionalProperties: false })

export const KeyUsageParams = Type.Object({ shop_id: Uuid(), key_id: Uuid() })
export const UsageQuery = Type.Object({
  since: Type.Optional(
    Type.String({
      format: 'date',
      pattern: '^(19|20|21)',
      description: 'The first day, in UTC, from 1900 to 2199. Default: 13 days ago'
    })
  )
}, { additionalProperties: false })

const usage = {
  since: Type.String({ format: 'date', description: 'The first day' }),
  resets_at: Type.String({
    format: 'date-time',
    description: 'When the day ends, and with it what was used of the limits'
  }),
  limits: Limits,
  today: Type.Object(counts),
  days: Type.Array(Type.Object({ day: Type.String({ format: 'date', description: 'In UTC' }), ...counts }), {
    description: 'Each day with calls, the oldest first'
  })
}

export const KeyUsage = Type.Object(usage)
export const ShopUsage = Type.Object({
  ...usage,
  keys: Type.Array(
    Type.Object({ key_id: Uuid(), name: Type.String(), limits: Type.Object(limits), today: Type.Object(counts) }),
    {
      description: 'Each API key that has called today or has a limit, the one with the most calls first'
    }
  )
})

export type Usage = Static<typeof KeyUsage>
export type UsageByKey = Static<typeof ShopUsage>['keys']
