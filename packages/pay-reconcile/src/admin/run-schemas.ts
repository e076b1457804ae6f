import { Type } from '@sinclair/typebox'
import { Id, listParameters, nullableText, nullableTimestamp, pageParameters, Problem } from './schemas.ts'
import type { Counters, Drift, Mode, Outcome, Run } from '../reconcile/types.ts'

export const modes = ['link', 'sync', 'check'] as const satisfies readonly Mode[]
export const outcomes = [
  'unchanged', 'linked', 'synced', 'suggested', 'ambiguous', 'unmatched', 'skipped', 'drifted', 'failed'
] as const satisfies readonly Outcome[]
export const statuses = ['running', 'done', 'cancelled'] as const satisfies ReadonlyArray<Run['status']>
const drifts = ['missing', 'not_found', 'deleted', 'duplicate', 'never_synced', 'differs'] as const satisfies readonly Drift[]

const StatusSchema = Type.Union(statuses.map(status => Type.Literal(status)))
const ModeSchema = Type.Union(modes.map(mode => Type.Literal(mode)))
const counters = <Key extends string>(keys: readonly Key[]) => Type.Unsafe<Counters<Key>>(
  Type.Object(Object.fromEntries(keys.map(key => [key, Type.Optional(Type.Integer())])))
)

/** A bulk run to start. A misspelt field is refused, since it would silently mean its default. */
export const RunBody = Type.Object({
  mode: ModeSchema,
  shop_id: Type.Optional(Id),
  dry_run: Type.Optional(Type.Boolean({ default: true }))
}, { additionalProperties: false })

const RunId = Type.String({ description: 'UUID' })

export const RunSchema = Type.Object({
  id: RunId,
  mode: ModeSchema,
  dry_run: Type.Boolean(),
  shop_id: nullableText,
  status: StatusSchema,
  cancel_requested: Type.Boolean(),
  actor: Type.String(),
  started_at: Type.String(),
  finished_at: nullableTimestamp,
  total: Type.Integer({ description: 'Accounts in all shops of the run' }),
  processed: Type.Integer(),
  outcomes: counters(outcomes),
  drift: counters(drifts),
  shops: Type.Object({
    total: Type.Integer(),
    finished: Type.Integer(),
    stopped: Type.Array(Type.Object({ shop_id: Id, reason: Type.String() }), { description: 'Shops given up alone, with the error code' })
  })
})

const ItemSchema = Type.Object({
  account_id: Id,
  shop_id: Id,
  outcome: Type.Union(outcomes.map(outcome => Type.Literal(outcome))),
  before: nullableText,
  after: nullableText,
  reason: nullableText,
  drift: Type.Array(Type.Union(drifts.map(drift => Type.Literal(drift)))),
  fields: Type.Array(Type.String()),
  candidates: Type.Array(Type.String()),
  error_code: nullableText,
  provider_request_id: nullableText
})

export const RunWithItemsSchema = Type.Object({
  ...RunSchema.properties,
  items: Type.Array(ItemSchema),
  items_count: Type.Integer()
})

/** The body of a 409: which run is in the way. */
export const RunActiveProblem = Type.Object({
  ...Problem.properties,
  run_id: Type.Optional(RunId),
  shop_id: Type.Optional(Id)
}, { description: 'run_id is the run in the way, shop_id the first shop that it holds' })

/** The names that the query strings may have; `run-query.ts` and `list-grammar.ts` read the values. */
export const RunsQuerystring = Type.Object({
  ...listParameters('any field of a run'),
  status: Type.Optional(StatusSchema)
})

export const ItemsQuerystring = Type.Object({
  ...pageParameters,
  outcome: Type.Optional(Type.Union(outcomes.map(outcome => Type.Literal(outcome))))
})
