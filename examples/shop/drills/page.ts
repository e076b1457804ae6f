import { fileURLToPath } from 'node:url'
import { type Bounds, type Drill, HEALTHY, NOTHING_LOST } from './drill.ts'
import type { Figures } from './figures.ts'

/** The page that `--write` writes. */
export const PAGE = fileURLToPath(new URL('../../../docs/shop/drills.md', import.meta.url))

/** What was measured: rows of a table, by the name of the drill. */
export type Measured = ReadonlyMap<string, readonly string[]>

export const COLUMNS = ['drill', 'result', 'calls', 'failed', 'how', 'longest pause; slowest call', 'recovered after']

/** The last column of the page: what a drill must keep to. */
const LIMITS = 'limits: failed; pause; recovery'

/** @returns the row of a drill */
export function rowFrom ({ name }: Drill, figures: Figures | undefined, result: string): readonly string[] {
  const link = `[${name}](#${name})`
  if (figures === undefined) return [link, result, ...COLUMNS.slice(2).map(() => '')]
  const { calls, failed, pause, slowest, recovered } = figures
  const count = [...failed.values()].reduce((sum, more) => sum + more, 0)
  const kinds = [...failed].map(([kind, times]) => `${times} × ${kind.replace(/^0\b/, 'broken connection')}`).join(', ')
  return [
    link,
    result,
    calls.toLocaleString('en'),
    `${count}${count > 0 ? ` (${(100 * count / calls).toFixed(1)} %)` : ''}`,
    kinds,
    `${seconds(pause)}; ${seconds(slowest)}`,
    seconds(recovered)
  ]
}

function seconds (value: number): string {
  return `${value.toFixed(1)} s`
}

/** @returns the rows of a page */
export function measuredIn (text: string): Measured {
  const rows = text.split('\n').map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()))
  return new Map(rows.flatMap((row) => {
    const name = /^\[.*\]\(#(.*)\)$/.exec(row[0] ?? '')?.[1]
    return name === undefined ? [] : [[name, row.slice(0, COLUMNS.length)]]
  }))
}

/** All drills as a page: what each does and must keep to, and what was measured. */
export function page (drills: readonly Drill[], measured: Measured): string {
  return `# Drills

What callers see when something that the shop needs fails. \`npm run lab drills\` runs each drill, and fails if one \
misses what this page says ([options](../../CONTRIBUTING.md)).

Two replicas run behind nginx with the [shipped configuration](../../examples/shop/nginx.conf). Agents create records \
by a tool, programs by REST, with API keys and tokens.

## Measured

In the longest pause no call succeeded. Recovered is how long after the end of the cause a call failed, or a replica \
was not ready. The last column is what a drill may reach at most.

${lineOf([...COLUMNS, LIMITS])}
|${[...COLUMNS, LIMITS].map(() => '---|').join('')}
${
    drills.map((drill) =>
      lineOf([...measured.get(drill.name) ?? rowFrom(drill, undefined, 'not run yet'), limitsOf(drill.may)])
    ).join('\n')
  }

Every drill checks these too:

- ${NOTHING_LOST}${namesOf(drills.filter(({ losesWrites }) => losesWrites))}.
- ${HEALTHY}.
${drills.map(section).join('')}`
}

function section ({ name, title, done, holds, note }: Drill): string {
  return `
## ${title}

<a id="${name}"></a>${done}

${holds.map((what) => `- ${what}.\n`).join('')}${note === undefined ? '' : `\n${note}\n`}`
}

function namesOf (exceptions: readonly Drill[]): string {
  return exceptions.map(({ title, name }) => `, except where [${title}](#${name})`).join('')
}

function lineOf (cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function limitsOf ({ statuses, share, pause, recovers }: Bounds): string {
  const failed = statuses.length === 0
    ? 'none'
    : `${share === undefined ? 'all' : `${share * 100} %`}, ` +
      statuses.map((status) => status === 0 ? 'broken connection' : status).join(' or ')
  return `${failed}; ${pause} s; ${recovers} s`
}
