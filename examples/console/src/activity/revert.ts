/** A change that an undo touches. */
export interface Reverted {
  readonly change_id: string
  readonly action: 'update' | 'create' | 'delete'
  readonly record_kind: string
  readonly record_id: string
  readonly record_name: string | null
}

export interface Conflict {
  readonly record_kind: string
  readonly record_id: string
  readonly record_name: string | null
  readonly field?: string
  readonly later_change_id: string | null
  readonly reason: string
}

/** What an undo did, or in a dry run would do. */
export interface Revert {
  readonly dry_run: boolean
  readonly reverted: number
  readonly changes: readonly Reverted[]
  readonly conflict_count: number
  readonly conflicts: readonly Conflict[]
  readonly left_out_count: number
}

/** Whether something can be undone; of many changes, those that nothing stands in the way of. */
export function canRevert (preview: Revert | undefined): boolean {
  return preview !== undefined && preview.reverted > 0
}
