import { Cron } from 'croner'
import { type Complete, isFilled, type Rule, type Table } from '#shared/option-table'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { settingsBy } from '../option-checks.ts'
import type { Mode } from '../reconcile/types.ts'

/** When runs start by themselves: cron patterns of five fields, such as `0 3 * * *` for three o'clock. */
export interface Schedule {
  readonly check?: string
  /** Writes. */
  readonly sync?: string
  /** Writes. */
  readonly changes?: string
  /** IANA name of the time zone of the patterns, such as `Europe/Oslo`. Default `UTC`. */
  readonly timezone?: string
}

/** The scheduled times of a mode. */
export interface ScheduledTimes {
  readonly mode: Mode
  readonly pattern: string
  readonly timezone: string
  /** The last one at or before a time; undefined: there was none. */
  readonly latest: (now: Date) => Date | undefined
}

const MODES = ['check', 'sync', 'changes'] as const

const PATTERN: Rule = {
  holds: (pattern) => typeof pattern === 'string',
  rule: 'must be a cron pattern such as 0 3 * * *'
}

const TABLE: Table<Complete<Schedule, 'check' | 'sync' | 'changes'>> = {
  check: PATTERN,
  sync: PATTERN,
  changes: PATTERN,
  timezone: {
    holds: isTimezone,
    rule: 'must be the name of a time zone such as Europe/Oslo',
    default: 'UTC'
  }
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for a pattern, a time zone or a name that is not known. */
export function scheduledFrom (schedule: Schedule): readonly ScheduledTimes[] {
  const { timezone, ...patterns } = settingsBy(TABLE, schedule, 'schedule')
  return MODES.flatMap((mode) => {
    const pattern = patterns[mode]
    return pattern === undefined ? [] : [timesOf(mode, pattern, timezone)]
  })
}

function timesOf (mode: Mode, pattern: string, timezone: string): ScheduledTimes {
  try {
    const cron = new Cron(pattern, { mode: '5-part', timezone, paused: true })
    // A pattern such as February 30 never comes.
    if (!cron.nextRun()) throw new RangeError('it never matches')
    return { mode, pattern, timezone, latest: (now) => cron.previousRuns(1, new Date(now.getTime() + 1))[0] }
  } catch (error) {
    throw new PAY_RECONCILE_INVALID_OPTION(
      `schedule.${mode} ${PATTERN.rule}: ${error instanceof Error ? error.message : String(error)}`
    )
  }
}

function isTimezone (timezone: unknown): boolean {
  try {
    return isFilled(timezone) && Intl.DateTimeFormat('en', { timeZone: timezone }) !== undefined
  } catch {
    return false
  }
}
