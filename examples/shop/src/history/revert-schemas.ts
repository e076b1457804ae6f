import { type Static, Type } from '@sinclair/typebox'
import { invalid } from '../errors.ts'
import { AnyId, Instant, Nullable, Problem, Uuid } from '../http/schemas.ts'
import { Action, ActorKind, RecordKindName, RecordName } from './schemas.ts'

/** How many of each a response lists. */
export const LISTED = 200

/** How many changes can be chosen one by one. */
const MOST_CHOSEN = 100

const DryRun = Type.Optional(
  Type.Boolean({ description: 'Only say what would be reverted, and what stands in the way. Default: false' })
)

export const RevertInput = Type.Object({ dry_run: DryRun }, { additionalProperties: false })

export const RevertAllInput = Type.Object({
  ids: Type.Optional(
    Type.Array(Uuid(), {
      minItems: 1,
      maxItems: MOST_CHOSEN,
      uniqueItems: true,
      description: 'These changes, in any order. Not combined with import_id or an actor'
    })
  ),
  import_id: Type.Optional(
    Uuid('All changes of this import. Without it and ids, actor_kind, actor_id and since are required')
  ),
  actor_kind: Type.Optional(ActorKind),
  actor_id: Type.Optional(AnyId('As in the history', { minLength: 1, maxLength: 200 })),
  since: Type.Optional(Instant('Changes at this time or later')),
  until: Type.Optional(Instant('Changes at this time or before; only with since')),
  operation: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only changes by this operation, for example import_products; only with since'
    })
  ),
  skip_conflicts: Type.Optional(
    Type.Boolean({
      description: 'Revert the rest if later changes stand in the way of some, and list those in conflicts. Default: ' +
        'false, then nothing is reverted'
    })
  ),
  dry_run: DryRun
}, { additionalProperties: false })

/** Which changes are reverted together. */
export type Changes = { readonly ids: readonly string[] } | { readonly import_id: string } | Acted

/** The changes of an actor. */
export interface Acted {
  readonly actor_kind: string
  readonly actor_id: string
  readonly since: string
  readonly until?: string | undefined
  readonly operation?: string | undefined
}

/**
 * @throws {@link SHOP_INVALID} if the input names more than one of ids, an import and an actor, or only a part of an
 *   actor's changes
 */
export function changesFrom (
  { ids, import_id: importId, actor_kind: kind, actor_id: id, since, until, operation }: Static<typeof RevertAllInput>
): Changes {
  const actor = { actor_kind: kind, actor_id: id, since }
  if (ids !== undefined) {
    const [other] = Object.entries({ import_id: importId, ...actor, until, operation }).find(([, value]) =>
      value !== undefined
    ) ?? []
    if (other !== undefined) throw invalid('ids', `ids cannot be combined with ${other}`)
    return { ids }
  }
  if (importId !== undefined) {
    const [extra] = Object.entries({ ...actor, until, operation }).find(([, value]) => value !== undefined) ?? []
    if (extra !== undefined) throw invalid(extra, `${extra} cannot be combined with import_id`)
    return { import_id: importId }
  }
  const [missing] = Object.entries(actor).find(([, value]) => value === undefined) ?? []
  if (missing !== undefined) throw invalid(missing, `${missing} is required`)
  return { ...actor, until, operation } as Changes
}

const about = {
  change_id: Uuid('The change'),
  record_kind: RecordKindName,
  record_id: Type.String(),
  record_name: RecordName
}
const Count = (what: string) => Type.Integer({ description: `How many ${what}` })
const first = `The first ${LISTED}`

export const Conflict = Type.Object({
  ...about,
  field: Type.Optional(
    Type.String({ description: 'The field that cannot be reverted; absent if it is the record as a whole' })
  ),
  later_change_id: Nullable(Uuid('The change that stands in the way; null if unknown')),
  reason: Type.String({ description: 'For people' })
})

export const Reverted = Type.Object({
  dry_run: Type.Boolean(),
  reverted: Count('changes were reverted, or would be'),
  changes: Type.Array(
    Type.Object({
      change_id: about.change_id,
      revert_id: Nullable(Uuid('The change that reverts it; null in a dry run')),
      action: Type.Unsafe<'create' | 'update' | 'delete'>({
        ...Action,
        enum: ['create', 'update', 'delete'],
        description: 'What happened to the record: create brought it back'
      }),
      record_kind: RecordKindName,
      record_id: about.record_id,
      record_name: RecordName
    }),
    { description: first }
  ),
  conflict_count: Count('changes cannot be reverted because of later ones; only in a dry run, and with skip_conflicts'),
  conflicts: Type.Array(Conflict, { description: first }),
  left_out_count: Count('changes are of a kind that cannot be reverted, or were reverted already'),
  left_out: Type.Array(Type.Object({ ...about, reason: Type.String({ description: 'For people' }) }), {
    description: first
  })
})

/** The body of a 409 when later changes stand in the way. */
const RevertProblem = Type.Object({
  ...Problem.properties,
  later_change_id: Type.Optional(Conflict.properties.later_change_id),
  conflict_count: Type.Optional(Reverted.properties.conflict_count),
  conflicts: Type.Optional(Reverted.properties.conflicts)
}, { description: 'Nothing was reverted; the first conflict is in field and later_change_id' })

export const revertProblems = { 409: RevertProblem }
