import type { Scope } from '../../../test/scope.ts'
import type { Figures } from './figures.ts'

/** Something that an operator has to expect, done on purpose, and what must hold. */
export interface Drill {
  /** Its name on the command line. */
  readonly name: string
  readonly title: string
  /** What is done, in sentences. */
  readonly done: string
  readonly may: Bounds
  /** What else must hold, then and afterwards. The drill checks each. */
  readonly holds: readonly string[]
  /** Parts of lines that a replica must have logged. */
  readonly logs?: readonly string[]
  /** What an operator makes of it. */
  readonly note?: string
  /** Whether acknowledged writes may be lost, which the drill then judges itself. Default: none may. */
  readonly losesWrites?: boolean
  /** Whether it is over soon enough for each run of the tests. Default: only for the weekly run. */
  readonly isShort?: boolean
  /** Why it cannot run here, else false. */
  without(): string | false
  /** @throws if it could not be done */
  run(t: Scope, options: DrillOptions): Promise<Outcome>
}

/** What callers may see meanwhile. */
export interface Bounds {
  /** The statuses that calls may fail with; 0 is a broken connection. */
  readonly statuses: readonly number[]
  /** How many of all calls may fail, as a share; default: any. */
  readonly share?: number
  /** The longest time in which no call may succeed, in seconds. */
  readonly pause: number
  /** In how many seconds all replicas are ready and no call fails any more, once the cause is over. */
  readonly recovers: number
}

export interface DrillOptions {
  /** The other version, as a name that git knows; default: the last release. */
  readonly previous?: string | undefined
}

/** What a drill found. */
export interface Found {
  readonly figures: Figures
  /** What was checked, and whether it holds. */
  readonly held: ReadonlyMap<string, boolean>
  /** What replicas printed. */
  readonly output: string
  /** What the result depends on. Default: nothing but the machine. */
  readonly remark?: string
}

/** The same, or why it was not done. */
export type Outcome = Found | { readonly notRun: string }

export const NOTHING_LOST = 'No acknowledged write is lost'
export const HEALTHY = '`/healthz` of every running replica returns 200 all the time'

/** @returns what does not hold, in sentences */
export function missed (
  { may, holds, logs = [], losesWrites = false }: Drill,
  { figures, held, output }: Found
): readonly string[] {
  const { calls, failed, pause, recovered } = figures
  const failures = [...failed].filter(([kind]) => !may.statuses.includes(Number.parseInt(kind)))
  const count = [...failed.values()].reduce((sum, more) => sum + more, 0)
  const expected = [...holds, ...losesWrites ? [] : [NOTHING_LOST], HEALTHY]
  return [
    ...failures.map(([kind, times]) => `${times} calls failed with ${kind}`),
    ...count > calls * (may.share ?? 1) ? [`${count} of ${calls} calls failed, more than ${may.share! * 100} %`] : [],
    ...pause > may.pause ? [`no call succeeded for ${pause.toFixed(1)} s, longer than ${may.pause} s`] : [],
    ...recovered > may.recovers ? [`it took ${recovered.toFixed(1)} s to recover, longer than ${may.recovers} s`] : [],
    ...expected.filter((what) => held.get(what) !== true).map((what) =>
      `${held.has(what) ? 'does not hold' : 'was not checked'}: ${what}`
    ),
    ...[...held.keys()].filter((what) => !expected.includes(what)).map((what) => `is not said of the drill: ${what}`),
    ...logs.filter((part) => !output.includes(part)).map((part) => `no replica logged ${part}`)
  ]
}
