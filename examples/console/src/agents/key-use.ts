import type { KeyCallsReport } from '../../../shop/src/tool-calls/schemas.ts'
import { byDay } from '../activity/entry.ts'
import { isolated } from '../isolated.ts'

/** What a key was used for in the last 14 days, as the server reports it. */
export type KeyUse = typeof KeyCallsReport['static']

/** A client, as it calls itself: anybody can choose that name. */
export type KeyClient = KeyUse['clients'][number]

/** A tool call that failed, cut and without secrets. */
export type FailedCall = KeyUse['failed'][number]

type Counted = Pick<KeyUse, 'calls' | 'errors'>

/** How many days are shown, today included. */
export const DAYS = 14

/** In milliseconds. */
const DAY = 86_400_000

export interface DayOfCalls extends Counted {
  /** `2026-11-23`, in the zone of the shop. */
  readonly day: string
}

/** The calls of each of the last days, the oldest first. An hour belongs to the day in which it starts. */
export function callsByDay (hours: KeyUse['hours'], timeZone: string, now = Date.now()): readonly DayOfCalls[] {
  const found = new Map(byDay(hours.map(({ hour, ...counts }) => ({ at: hour, ...counts })), timeZone))
  const days = byDay(
    Array.from({ length: DAYS }, (_, n) => ({ at: new Date(now - (DAYS - 1 - n) * DAY).toISOString() })),
    timeZone
  )
  const sum = (day: string, name: keyof Counted) =>
    (found.get(day) ?? []).reduce((sum, counts) => sum + counts[name], 0)
  return days.map(([day]) => ({ day, calls: sum(day, 'calls'), errors: sum(day, 'errors') }))
}

/** `Claude Code 2.1.330`. Neither turns what follows. */
export function clientText ({ name, version }: Pick<KeyClient, 'name' | 'version'>): string {
  return version === '' ? isolated(name) : `${isolated(name)} ${isolated(version)}`
}

/** JSON with a line for each value; as it is, if it is none. */
export function indented (json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
