import type { Static } from '@sinclair/typebox'
import { validationError } from '../errors.ts'
import type { RunRequest } from '../reconcile/runner.ts'
import type { RunBody } from './run-schemas.ts'

const LIMITS = ['accounts', 'accept', 'failed_in', 'synced_before'] as const
/** The modes that each limit makes sense for. */
const MODES_OF = {
  accounts: ['link', 'sync', 'check', 'unlink'],
  accept: ['link', 'unlink'],
  failed_in: ['link', 'sync', 'check'],
  synced_before: ['sync', 'check']
} as const satisfies Record<typeof LIMITS[number], ReadonlyArray<RunRequest['mode']>>
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/** Reads the body of a run to start. @throws {@link PAY_RECONCILE_VALIDATION} for limits that contradict each other or the mode. */
export function runRequestFrom (body: Static<typeof RunBody>): Omit<RunRequest, 'id' | 'actor' | 'requestId'> {
  const { mode, dry_run: dryRun = true, shop_id: shopId = null, accounts, accept, failed_in: failedIn, synced_before: syncedBefore } = body
  const [limit, other] = LIMITS.filter((name) => body[name] !== undefined)
  if (limit && other) throw validationError(other, `${other} cannot be combined with ${limit}`)
  if (limit && !(MODES_OF[limit] as readonly string[]).includes(mode)) throw validationError(limit, `${limit} has no meaning with the mode ${mode}`)
  // Nobody means to unlink every account.
  if (mode === 'unlink' && !limit) throw validationError('mode', 'unlink needs accounts or accept')
  const time = syncedBefore === undefined || INSTANT.test(syncedBefore) ? Date.parse(syncedBefore ?? '') : NaN
  if (syncedBefore !== undefined && Number.isNaN(time)) throw validationError('synced_before', 'synced_before must be a date and time such as 2026-01-31T12:00:00Z')
  return { mode, dryRun, shopId, accounts, accept, failedIn, ...(syncedBefore !== undefined && { syncedBefore: new Date(time).toISOString() }) }
}
