// What the days of the month took and left, and whether that is too much.
import { loadavg } from 'node:os'
import type { Client, Timed } from './client.ts'
import { NIGHT } from './length.ts'
import type { Usage } from '../shop.ts'

/** Of a part of the month whose p99 is compared, in milliseconds, and how many times that of the first it may be. */
const WINDOW = 300_000
const SLOWER = 2
/**
 * How much may be held more after the last day than after the second, in bytes: the first ones fill caches and compile.
 * Freed pages return to the system late, so the process may keep more than its heap.
 */
const HEAP_GROWTH = 10_000_000
const RESIDENT_GROWTH = 60_000_000
/** As many connections as the pool of the server has: it opens them when it needs them. */
const HANDLES_GROWTH = 10
/** How many times the rows of the first days that are all kept: the server may delete before or after it is counted. */
const ROWS_GROWTH = 1.5

/** What the server holds after a day. */
export interface Day extends Usage {
  /** Of the tables whose old rows it deletes. */
  readonly rows: number
}

export function print (
  day: number,
  { memory, handles, rows }: Day,
  { times, failures, metrics }: {
    readonly times: readonly Timed[],
    readonly failures: Client['failures'],
    readonly metrics: ReadonlyMap<string, number>
  }
): void {
  const failed = [...failures.values()].reduce((sum, often) => sum + often, 0)
  const lag = (name: string): string => (metrics.get(`nodejs_eventloop_lag_${name}_seconds`)! * 1000).toFixed(0)
  const connections = ['used', 'free'].reduce(
    (sum, state) => sum + (metrics.get(`shop_database_connections{state="${state}"}`) ?? 0),
    0
  )
  const [p50, p99, slowest] = [0.5, 0.99, 1].map((part) => percentile(times, part))
  console.log([
    `day ${day}: ${times.length} calls, ${failed} failures so far`,
    `p50 ${p50} ms, p99 ${p99} ms, slowest ${slowest} ms`,
    `event loop p99 ${lag('p99')} ms, at most ${lag('max')} ms`,
    `heap ${megabytes(memory.heapUsed)}, external ${megabytes(memory.external)}, resident ${megabytes(memory.rss)}`,
    `${handles} handles, ${connections} connections`,
    `${rows} dated rows`,
    `load ${loadavg()[0]!.toFixed(1)}`
  ].join('; '))
}

/**
 * @param kept - what the server held after each day
 * @param start - of the month
 * @param historyDays - for how many days old rows are kept
 * @returns what broke
 */
export function broken (
  kept: readonly Day[],
  { times, failures }: Pick<Client, 'times' | 'failures'>,
  start: number,
  historyDays: number
): readonly string[] {
  const last = kept.at(-1)!
  const growth = (of: (day: Day) => number): number => of(last) - of(kept[1]!)
  const heap = growth(({ memory }) => memory.heapUsed)
  const resident = growth(({ memory }) => memory.rss)
  const handles = growth((day) => day.handles)
  console.log(
    `from the second day to the last: heap ${megabytes(heap)}, resident ${megabytes(resident)}, handles ${handles}`
  )
  // The first day on which as much is deleted as is written.
  const full = kept[historyDays + 1]
  return [
    ...[...failures].map(([what, often]) => `${often} times ${what}`),
    ...slower(times, start, kept.length * NIGHT),
    ...heap > HEAP_GROWTH ? [`the heap grew by ${megabytes(heap)}`] : [],
    ...resident > RESIDENT_GROWTH ? [`the process grew by ${megabytes(resident)}`] : [],
    ...handles > HANDLES_GROWTH ? [`${handles} handles more`] : [],
    ...full !== undefined && last.rows > ROWS_GROWTH * full.rows
      ? [`${last.rows} dated rows, after ${full.rows} on day ${historyDays + 2}`]
      : []
  ]
}

function slower (times: readonly Timed[], start: number, month: number): readonly string[] {
  const length = Math.min(WINDOW, month / 2)
  const windows = Array.from(
    { length: Math.floor(month / length) },
    (_, n) => times.filter(({ at }) => Math.floor((at - start) / length) === n)
  )
  const [first, ...later] = windows.map((window) => percentile(window, 0.99))
  console.log('p99 of each kind of call, ms:', percentiles(times))
  console.log(`p99 of each ${length / 60_000} minutes, ms: ${[first, ...later].join(', ')}`)
  const worst = Math.max(...later)
  return worst > SLOWER * first! ? [`p99 of ${worst} ms is ${(worst / first!).toFixed(1)} times the first`] : []
}

/** @returns the p99 of each kind of call */
function percentiles (times: readonly Timed[]): Readonly<Record<string, number>> {
  const names = [...new Set(times.map(({ name }) => name))].sort()
  return Object.fromEntries(names.map((name) => [name, percentile(times.filter((call) => call.name === name), 0.99)]))
}

/** @returns milliseconds, with one decimal */
function percentile (times: readonly Timed[], part: number): number {
  const sorted = times.map(({ ms }) => ms).sort((a, b) => a - b)
  return Number((sorted[Math.ceil(sorted.length * part) - 1] ?? 0).toFixed(1))
}

function megabytes (bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
