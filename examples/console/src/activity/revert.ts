import type { Reverted } from '../../../shop/src/history/revert-schemas.ts'

/** What an undo did, or in a dry run would do. */
export type Revert = typeof Reverted['static']

export type Conflict = Revert['conflicts'][number]

/** Whether something can be undone; of many changes, those that nothing stands in the way of. */
export function canRevert (preview: Revert | undefined): boolean {
  return preview !== undefined && preview.reverted > 0
}
