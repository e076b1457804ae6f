import { Type } from '@sinclair/typebox'
import { AnyId, Instant, Nullable } from '../http/schemas.ts'
import { ActorKind, HistoryEntry, Operation } from './schemas.ts'

const Count = (description: string) => Type.Integer({ description })
const Percent = (description: string) => Nullable(Type.Number({ description }))

/** What one actor changed without a long pause. */
export const Work = Type.Object({
  ...Type.Pick(HistoryEntry, ['actor_kind', 'actor_id', 'actor_name']).properties,
  by_tool: Type.Boolean({ description: 'Whether any of it came through /mcp' }),
  operation: Nullable(
    Type.String({
      description: 'The operation of all of its changes, for example import_products; null if they have several'
    })
  ),
  started_at: Type.String({ format: 'date-time', description: 'Of its first change, for `since` of a revert' }),
  ended_at: Type.String({ format: 'date-time', description: 'Of its last change, for `until` of a revert' }),
  changes: Count('How many changes it has'),
  revertible: Count('How many of them can be reverted, unless later changes stand in the way'),
  records: Type.Array(
    Type.Object({
      ...Type.Pick(HistoryEntry, ['action', 'record_kind']).properties,
      count: Count('How many such changes'),
      records: Count('Of how many records')
    }),
    { description: 'The most frequent first' }
  ),
  prices: Nullable(
    Type.Object({
      count: Count('How many changes are of a price, in the same currency'),
      lowest: Percent('The change in percent: -10'),
      highest: Percent('The same: 5')
    })
  )
})

export const WorkQuery = Type.Object({
  until: Type.Optional(Instant('Changes at this time or before. Default: the newest')),
  actor_kind: Type.Optional(ActorKind),
  actor_id: Type.Optional(AnyId('As in the history', { minLength: 1, maxLength: 200 })),
  operation: Type.Optional(Operation)
}, { additionalProperties: false })

export const WorkPage = Type.Object({
  work: Type.Array(Work),
  next: Nullable(Type.String({ format: 'date-time', description: '`until` of the next page; null on the last one' }))
})
