import { hasEnded, type KeyNotice } from './store.ts'
import type { KeyRow } from './key-row.ts'

const DAY = 86_400_000
/** A key is told to expire when it has so many days left. */
export const STEPS: readonly number[] = [1, 7, 30]
/** A key is told to be unused after so many days. */
export const UNUSED = 90

type NoticeColumns = Pick<
  KeyRow,
  'createdAt' | 'expiresAt' | 'revokedAt' | 'replacedBy' | 'lastUsedAt' | 'expiryNotice' | 'unusedNoticeAt'
>

/** A notice of a key, when it is due, and what its row has once it was given. */
type Due = Pick<KeyNotice, 'type' | 'days'> & { readonly at: number, readonly given: Partial<KeyRow> }

/** The notices that a key was not given yet: of each type the latest that is due, or else the first that will be. */
function pending (
  { createdAt, expiresAt, revokedAt, replacedBy, lastUsedAt, expiryNotice, unusedNoticeAt }: NoticeColumns,
  now: number
): Due[] {
  if (revokedAt !== null || replacedBy !== null || hasEnded(expiresAt, now)) return []
  const due: Due[] = []
  if (expiresAt !== null) {
    const steps = STEPS.filter((days) =>
      expiresAt - createdAt > days * DAY && (expiryNotice === null || days < expiryNotice)
    )
    const days = steps.find((days) => expiresAt - now <= days * DAY) ?? steps.at(-1)
    if (days !== undefined) {
      due.push({ type: 'expiring', days, at: expiresAt - days * DAY, given: { expiryNotice: days } })
    }
  }
  if (unusedNoticeAt === null || (lastUsedAt !== null && unusedNoticeAt < lastUsedAt)) {
    due.push({
      type: 'unused',
      days: UNUSED,
      at: (lastUsedAt ?? createdAt) + UNUSED * DAY,
      given: { unusedNoticeAt: now }
    })
  }
  return due
}

/** The notices of a key that are due. */
export function noticesDue (row: NoticeColumns, now: number): readonly Due[] {
  return pending(row, now).filter(({ at }) => at <= now)
}

/** The row, with the time at which its next notice is due if nothing happens to the key until then; null: never. */
export function noticed (row: KeyRow, now: number): KeyRow {
  const times = pending(row, now).map(({ at }) => at)
  return { ...row, noticeAt: times.length === 0 ? null : Math.min(...times) }
}
