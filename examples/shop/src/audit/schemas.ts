import { Type } from '@sinclair/typebox'
import { Instant, Nullable, Uuid } from '../http/schemas.ts'
import { bound } from '../lists/filters.ts'
import { listRules } from '../lists/list.ts'

const Text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

const ActorKind = Text('user, machine or api-key; anybody on public routes; command, or server for a setting applied at startup')
const Action = Type.Unsafe<'create' | 'update' | 'delete'>({ type: 'string', enum: ['create', 'update', 'delete'], description: 'What happened to the record' })
const Operation = Text('The operation id of the route, for example set_pay_key; the command, for example admin add; or the setting')
const RecordKind = Text('api_key, member, pay_key, shop, shop_config or user')

/** A row of the audit trail. */
export const AuditEntry = Type.Object({
  id: Uuid('Set by the server'),
  at: Type.String({ format: 'date-time' }),
  shop_id: Nullable(Uuid('The shop, which may have been deleted; null if the change is not about a shop')),
  actor_kind: ActorKind,
  actor_id: Nullable(Type.String({ description: 'The id of the person or API key, the client id of the machine, or the user name that a command ran under; null if unknown' })),
  actor_name: Nullable(Type.String({ description: 'The name that the person signs in with; null for others' })),
  operation: Operation,
  action: Action,
  record_kind: RecordKind,
  record_id: Type.String({ description: 'The id of the record; of a member, the person\'s' }),
  changes: Type.Unsafe<Record<string, { before: unknown, after: unknown }>>({
    type: 'object',
    description: 'Each changed field, before and after. Never contains secrets',
    additionalProperties: { type: 'object', additionalProperties: true }
  }),
  request_id: Nullable(Type.String({ description: 'The X-Request-Id of the response and of the log lines; null for commands and settings' }))
})

/** The list looks up the actor's name itself, as a column. */
export const list = listRules(AuditEntry, {
  sort: '-at',
  filters: { at_gte: bound('at', '>=', Instant('At this time or later')), at_lte: bound('at', '<=', Instant('At this time or before')) }
})
