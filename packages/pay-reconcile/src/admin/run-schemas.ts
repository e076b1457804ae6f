import { Type, type Static, type TProperties, type TSchema } from '@sinclair/typebox'
import {
  filterParameter,
  Id,
  listParameters,
  MAX_LIMIT,
  NullableString,
  NullableTimestamp,
  oneOf,
  pageParameters,
  Problem,
  ShownMetadata,
  Timestamp
} from './schemas.ts'
import { DIFFERENCES, MATCH_REASONS, MODES, OUTCOMES, STATUSES, type Counters } from '../reconcile/types.ts'

const Status = oneOf(STATUSES)
const Mode = oneOf(MODES)
const Outcome = oneOf(OUTCOMES)
const counters = <Key extends string>(keys: readonly Key[]) =>
  Type.Unsafe<Counters<Key>>(
    Type.Object(Object.fromEntries(keys.map((key) => [key, Type.Optional(Type.Integer())])))
  )

const ids = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1, maxItems: MAX_LIMIT, description })

const Selection = Type.Object({
  accounts: Type.Optional(Type.Integer({ description: 'How many accounts were named' })),
  accept: Type.Optional(Type.Integer({ description: 'How many items were accepted' })),
  failed_in: Type.Optional(Type.String()),
  synced_before: Type.Optional(Type.String())
}, { description: 'What the run is limited to; empty: nothing' })

/** A bulk run to start. A misspelt field is rejected, because it would silently mean the default. */
export const RunBody = Type.Object({
  mode: Mode,
  shop_id: Type.Optional(Id),
  dry_run: Type.Optional(Type.Boolean({ default: true })),
  accounts: Type.Optional(ids('Only these accounts')),
  accept: Type.Optional(ids('The ids of items: link what they suggest, or unlink the customers that they show')),
  failed_in: Type.Optional(
    Type.String({
      description:
        'The id of a run: only accounts that failed there, and those that its stopped or cancelled shops did not reach'
    })
  ),
  synced_before: Type.Optional(
    Type.String({ description: 'Only linked accounts without a snapshot from this time or later, RFC 3339' })
  )
}, { additionalProperties: false })

const RunId = Type.String({ description: 'UUID' })

export const RunSchema = Type.Object({
  id: RunId,
  mode: Mode,
  dry_run: Type.Boolean(),
  shop_id: NullableString,
  status: Status,
  cancel_requested: Type.Boolean(),
  actor: Type.String(),
  scheduled_for: Type.Union([Timestamp, Type.Null()], {
    description: 'The scheduled time that the run was started for; null if a request started it'
  }),
  started_at: Type.String(),
  finished_at: NullableTimestamp,
  total: Type.Integer({ description: 'Accounts in all shops of the run' }),
  processed: Type.Integer(),
  outcomes: counters(OUTCOMES),
  differences: counters(DIFFERENCES),
  selection: Selection,
  shops: Type.Object({
    total: Type.Integer(),
    finished: Type.Integer(),
    stopped: Type.Array(
      Type.Object({
        shop_id: Id,
        reason: Type.String(),
        missing_permission: Type.Optional(
          Type.String({ description: 'The permission that the restricted key of the shop lacks' })
        )
      }),
      { description: 'Shops that stopped, with the error code' }
    )
  })
})

const FieldDifference = Type.Object({
  field: Type.String({ description: 'A path: email, address.city' }),
  stored: Type.Optional(
    Type.Unknown({
      description: 'In the snapshot; absent if it has no such field. Long values are cut, as JSON that ends with …'
    })
  ),
  live: Type.Optional(Type.Unknown({ description: 'At the payment provider; absent if there is no such field' }))
})

const Candidate = Type.Object({
  pay_customer_id: Type.String(),
  match: Type.Union(MATCH_REASONS.map((reason) => Type.Literal(reason)), {
    description: 'metadata: names the account; email: has the same address'
  }),
  name: NullableString,
  email: NullableString,
  metadata: ShownMetadata,
  linked: Type.Boolean({ description: 'Whether another account of the shop has this customer' })
})

const ItemSchema = Type.Object({
  id: Type.String({ description: 'Unique over all runs' }),
  account_id: Id,
  account_name: Type.String(),
  shop_id: Id,
  shop_name: Type.String(),
  outcome: Outcome,
  before: NullableString,
  after: NullableString,
  reason: NullableString,
  differences: Type.Array(oneOf(DIFFERENCES)),
  fields: Type.Array(FieldDifference, { description: 'Where the snapshot and the live customer differ' }),
  candidates: Type.Array(Candidate, { description: 'Customers that may belong to the account' }),
  error_code: NullableString,
  provider_request_id: NullableString
})

/** An item in a response. */
export type ItemBody = Static<typeof ItemSchema>

export const RunWithItemsSchema = Type.Object({
  ...RunSchema.properties,
  items: Type.Array(ItemSchema),
  items_count: Type.Integer()
})

/** The body of a 409: which other run holds a shop. */
export const RunActiveProblem = Type.Object({
  ...Problem.properties,
  run_id: Type.Optional(RunId),
  shop_id: Type.Optional(Id)
}, { description: 'run_id is the other run, shop_id the first shop it holds' })

/** Names and documentation of the parameters; `list-query.ts` reads the values. */
export const RunsQuerystring = Type.Object({
  ...listParameters('any field of a run'),
  status: Type.Optional(Status)
})

export function itemsQuerystring (more: TProperties = {}): TSchema {
  return Type.Object({
    ...pageParameters,
    filter: filterParameter('account_id, shop_id, outcome, differences'),
    outcome: Type.Optional(Outcome),
    differences: Type.Optional(oneOf(DIFFERENCES)),
    shop_id: Type.Optional(Id),
    ...more,
    since: Type.Optional(
      Type.String({
        description: 'The id of an earlier run of the same mode: only what it did not find in the same way'
      })
    )
  })
}
