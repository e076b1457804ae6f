import { Cron } from 'croner'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
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

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} for a pattern, a time zone or a name that is not known. */
export function scheduledFrom (schedule: Schedule | undefined): readonly ScheduledTimes[] {
  if (schedule === undefined) return []
  const { timezone = 'UTC', ...patterns } = schedule
  const unknown = Object.keys(patterns).find((name) => !(MODES as readonly string[]).includes(name))
  if (unknown !== undefined) throw invalid(`schedule.${unknown} is not one of ${MODES.join(', ')}, timezone`)
  assertTimezone(timezone)
  return MODES.flatMap((mode) => {
    const pattern = patterns[mode]
    return pattern === undefined ? [] : [timesOf(mode, pattern, timezone)]
  })
}

function timesOf (mode: Mode, pattern: unknown, timezone: string): ScheduledTimes {
  if (typeof pattern !== 'string') throw invalid(`schedule.${mode} must be a cron pattern such as 0 3 * * *`)
  try {
    const cron = new Cron(pattern, { mode: '5-part', timezone, paused: true })
    // A pattern such as February 30 never comes.
    if (!cron.nextRun()) throw new RangeError('it never matches')
    return { mode, pattern, timezone, latest: (now) => cron.previousRuns(1, new Date(now.getTime() + 1))[0] }
  } catch (error) {
    throw invalid(
      `schedule.${mode} must be a cron pattern such as 0 3 * * *: ` +
        `${error instanceof Error ? error.message : String(error)}`
    )
  }
}

function assertTimezone (timezone: unknown): void {
  try {
    if (typeof timezone !== 'string' || timezone === '') throw new RangeError('not a name')
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    throw invalid('schedule.timezone must be the name of a time zone such as Europe/Oslo')
  }
}

function invalid (message: string): Error {
  return new PAY_RECONCILE_INVALID_OPTION(message)
}
