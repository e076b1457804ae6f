import { visible } from '#shared/visible'
import { excerpt } from '../../call/excerpt.ts'
import type { WholeCase } from './case.ts'
import type { Tokens, Turn } from './dialect.ts'
import { shown } from './judge.ts'
import type { Run } from './run.ts'

/** A run, and what is wrong with it: nothing if it passed. */
export interface JudgedRun extends Run {
  readonly faults: readonly string[]
}

/** A case, and its runs so far. */
export interface JudgedCase {
  readonly one: WholeCase
  readonly runs: readonly JudgedRun[]
}

/** What the cases came to, as `--json` prints it. */
export interface Report {
  readonly ok: boolean
  readonly model: string
  /** How often the model was asked. */
  readonly requests: number
  /** As the endpoint reports them; null if it does not. */
  readonly tokens: Tokens | null
  readonly cases: readonly CaseReport[]
}

interface CaseReport {
  readonly says: string
  readonly ok: boolean
  /** False if the endpoint failed before all runs were made. */
  readonly isDone: boolean
  readonly passed: number
  /** How many of the runs must pass. */
  readonly needed: number
  readonly runs: number
  /** What was wrong with the runs that failed, and what they did instead. */
  readonly failures: ReadonlyArray<{
    readonly times: number,
    readonly faults: readonly string[],
    readonly did: string
  }>
}

export function reportFrom (cases: readonly JudgedCase[], model: string): Report {
  const turns = cases.flatMap(({ runs }) => runs.flatMap((run) => run.turns))
  const reports = cases.map(caseReport)
  return {
    ok: reports.every(({ ok }) => ok),
    model,
    requests: turns.length,
    tokens: tokensOf(turns),
    cases: reports
  }
}

function tokensOf (turns: readonly Turn[]): Tokens | null {
  const tokens = turns.flatMap((turn) => turn.tokens ?? [])
  if (tokens.length < turns.length) return null
  return {
    input: tokens.reduce((sum, one) => sum + one.input, 0),
    output: tokens.reduce((sum, one) => sum + one.output, 0)
  }
}

function caseReport ({ one: { says, repeats, share }, runs }: JudgedCase): CaseReport {
  const passed = runs.filter(({ faults }) => faults.length === 0).length
  // 0.1 * 30 is a little more than 3.
  const needed = Math.ceil(share * repeats - 1e-9)
  const failures = new Map<string, CaseReport['failures'][number]>()
  for (const run of runs) {
    if (run.faults.length === 0) continue
    const did = didOf(run)
    const key = JSON.stringify([run.faults, did])
    failures.set(key, { times: (failures.get(key)?.times ?? 0) + 1, faults: run.faults, did })
  }
  const isDone = runs.length === repeats
  return {
    says,
    ok: isDone && passed >= needed,
    isDone,
    passed,
    needed,
    runs: runs.length,
    failures: [...failures.values()]
  }
}

/** What a run did: its calls, or else what the model said. */
function didOf ({ turns }: Run): string {
  const calls = turns.flatMap((turn) => turn.calls).map(shown)
  const last = turns.at(-1)
  const cut = last?.isCut === true ? ', and the answer was cut at its longest' : ''
  if (calls.length > 0) return `called ${calls.join(', ')}${cut}`
  return `called nothing${last?.said ? ` and said ${JSON.stringify(last.said)}` : ''}${cut}`
}

/** A table of the cases, and what they cost. */
export function textFromReport ({ model, requests, tokens, cases }: Report): string {
  const counts = cases.map(({ passed, runs }) => `${passed}/${runs}`)
  const width = Math.max(...counts.map(({ length }) => length))
  const lines = cases.flatMap((one, index) => [
    `${verdictOf(one)}  ${counts[index]?.padStart(width)}  ${inLine(one.says)}`,
    ...one.failures.flatMap(({ times, faults, did }) =>
      [...faults, did].map((text, index) =>
        `      ${(index === 0 && one.runs > 1 ? `${times} ×` : '').padStart(width)}  ${inLine(text)}`
      )
    )
  ])
  const passed = cases.filter(({ ok }) => ok).length
  const cost = tokens === null
    ? 'the endpoint reports no tokens'
    : `${inThousands(tokens.input)} tokens in, ${inThousands(tokens.output)} out`
  return `${lines.join('\n')}\n\n${passed} of ${cases.length} cases passed. ${model}: ${requests} ${
    requests === 1 ? 'request' : 'requests'
  }, ${cost}.\n`
}

function verdictOf ({ ok, isDone }: CaseReport): string {
  if (!isDone) return '?   '
  return ok ? 'pass' : 'FAIL'
}

/** What a model or a file says, on one line, without characters that a terminal would act on. */
function inLine (text: string): string {
  return excerpt(visible(text.replace(/\s+/g, ' ').trim()))
}

function inThousands (count: number): string {
  return count.toLocaleString('en-US')
}
