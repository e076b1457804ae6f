import { statusOfKey, type ApiKeyRecord, type KeyNotice } from './store.ts'

const DAY = 86_400_000
const STEPS = [1, 7, 30]
const UNUSED = 90

/** Which notices of a key were given. */
export interface NoticeState {
  /** The `days` of the last one that it expires. */
  readonly expiryNotice: number | null
  readonly unusedNoticeAt: Date | null
}

/** The notices of a key that are due, each with the state once it is given. */
export function noticesFor (key: ApiKeyRecord, { expiryNotice, unusedNoticeAt }: NoticeState, at: Date): ReadonlyArray<Pick<KeyNotice, 'type' | 'days'> & { readonly given: Partial<NoticeState> }> {
  if (statusOfKey(key, at) !== 'active' || key.replacedBy !== null) return []
  const { createdAt, expiresAt, lastUsedAt } = key
  const days = expiresAt === null ? undefined : STEPS.find(days => +expiresAt - +at <= days * DAY && +expiresAt - +createdAt > days * DAY)
  const isExpiring = days !== undefined && (expiryNotice === null || days < expiryNotice)
  const isUnused = +at - +(lastUsedAt ?? createdAt) >= UNUSED * DAY && (unusedNoticeAt === null || (lastUsedAt !== null && unusedNoticeAt < lastUsedAt))
  return [
    ...(isExpiring ? [{ type: 'expiring' as const, days, given: { expiryNotice: days } }] : []),
    ...(isUnused ? [{ type: 'unused' as const, days: UNUSED, given: { unusedNoticeAt: at } }] : [])
  ]
}
