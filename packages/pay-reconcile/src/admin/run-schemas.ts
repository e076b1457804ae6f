import { Type } from '@sinclair/typebox'
import { Id, listParameters, NullableString, NullableTimestamp, pageParameters, Problem } from './schemas.ts'
import { drifts, modes, outcomes, statuses, type Counters } from '../reconcile/types.ts'

const oneOf = <Word extends string>(words: readonly Word[]) => Type.Union(words.map(word => Type.Literal(word)))
const Status = oneOf(statuses)
const Mode = oneOf(modes)
const Outcome = oneOf(outcomes)
const counters = <Key extends string>(keys: readonly Key[]) => Type.Unsafe<Counters<Key>>(
  Type.Object(Object.fromEntries(keys.map(key => [key, Type.Optional(Type.Integer())])))
)

/** A bulk run to start. A misspelt field is rejected, because it would silently mean the default. */
export const RunBody = Type.Object({
  mode: Mode,
  shop_id: Type.Optional(Id),
  dry_run: Type.Optional(Type.Boolean({ default: true }))
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
  started_at: Type.String(),
  finished_at: NullableTimestamp,
  total: Type.Integer({ description: 'Accounts in all shops of the run' }),
  processed: Type.Integer(),
  outcomes: counters(outcomes),
  drift: counters(drifts),
  shops: Type.Object({
    total: Type.Integer(),
    finished: Type.Integer(),
    stopped: Type.Array(Type.Object({ shop_id: Id, reason: Type.String() }), { description: 'Shops that stopped, with the error code' })
  })
})

const ItemSchema = Type.Object({
  account_id: Id,
  shop_id: Id,
  outcome: Outcome,
  before: NullableString,
  after: NullableString,
  reason: NullableString,
  drift: Type.Array(oneOf(drifts)),
  fields: Type.Array(Type.String()),
  candidates: Type.Array(Type.String()),
  error_code: NullableString,
  provider_request_id: NullableString
})

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

/** Names and documentation of the parameters; `list-query.ts` and `list-grammar.ts` read the values. */
export const RunsQuerystring = Type.Object({
  ...listParameters('any field of a run'),
  status: Type.Optional(Status)
})

export const ItemsQuerystring = Type.Object({
  ...pageParameters,
  outcome: Type.Optional(Outcome)
})
