import { Type } from '@sinclair/typebox'
import { AnyId, Nullable, Uuid } from '../http/schemas.ts'
import { type Filter, instantBound, search } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

export const ActorKind = Text(
  'user, machine or api-key; anybody on public routes; command; server for a setting applied at startup; ' +
    'scanner for a leaked key'
)
export const Action = Type.Unsafe<'create' | 'update' | 'delete' | 'event'>({
  type: 'string',
  enum: ['create', 'update', 'delete', 'event'],
  description: 'What happened to the record; event: it was not changed'
})
export const Operation = Text(
  'The operation id of the route, for example update_product; the command, for example admin add; the setting; ' +
    'or the event, for example api_key.refused'
)
export const RecordKindName = Text(
  'product, category, tag, attribute, price, account, order, shop_config, api_key, member, pay_key, shop or user'
)
export const RecordName = Nullable(Type.String({ description: 'The name of the record then; null if it has none' }))

/** An entry of the history: a change, or an event of an API key. */
export const HistoryEntry = Type.Object({
  id: Uuid('Set by the server'),
  at: Type.String({ format: 'date-time' }),
  shop_id: Nullable(Uuid('The shop, which may have been deleted; null if the change is not about a shop')),
  actor_kind: ActorKind,
  actor_id: Nullable(
    AnyId(
      'The id of the person or API key, the client id of the machine, the user name that a command ran under, ' +
        'or github for a leaked key; null if unknown'
    )
  ),
  actor_name: Nullable(Type.String({ description: 'The name of the person or API key then; null for others' })),
  actor_prefix: Nullable(Type.String({ description: 'The prefix of the API key; null for others' })),
  operation: Operation,
  tool: Nullable(
    Type.String({ description: 'The tool that was called; null if the change did not come through /mcp' })
  ),
  confirmed: Nullable(
    Type.String({
      description: 'The client in which a person confirmed the call, as it calls itself; null if nobody was asked'
    })
  ),
  action: Action,
  record_kind: RecordKindName,
  record_id: AnyId("The id of the record; of a member, the person's; unknown for refused API keys that nobody has"),
  record_name: RecordName,
  changes: Type.Unsafe<Record<string, { before: unknown, after: unknown }>>({
    type: 'object',
    description:
      'Each changed field, before and after; of an event, what there is to say of it. Never contains secrets',
    additionalProperties: { type: 'object', additionalProperties: true }
  }),
  affected: Type.Unsafe<Record<string, number>>({
    type: 'object',
    description: 'Of a deletion: how many other records lost a link to the record or were deleted with it, by kind',
    additionalProperties: { type: 'integer' }
  }),
  request_id: Nullable(
    Type.String({
      description: 'The X-Request-Id of the response and of the log lines; null for commands, settings and events'
    })
  ),
  reverts: Nullable(Uuid('The change that this one reverts')),
  reverted_by: Nullable(Uuid('The change that reverted this one, unless it was reverted itself')),
  revertible: Type.Boolean({ description: 'Whether a revert can be tried: later changes may still stand in its way' })
})

const reverted: Filter = {
  schema: Type.Boolean({ description: 'true: only changes that were reverted; false: only others' }),
  apply: (query, is: boolean) => {
    query.whereRaw(`reverted_by is ${is ? 'not null' : 'null'}`)
  }
}

/** The list reads the last two fields as columns too. */
export const list = listRules(HistoryEntry, {
  sort: '-at',
  filters: {
    at_gte: instantBound('at', '>=', 'At this time or later'),
    at_lte: instantBound('at', '<=', 'At this time or before'),
    q: search(['record_name', 'actor_name', 'operation']),
    reverted
  }
})
