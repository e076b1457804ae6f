// `npm run lab drills`: see docs/shop/drills.md
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Drill, missed } from './drill.ts'
import { COLUMNS, measuredIn, page, PAGE, rowFrom } from './page.ts'
import { inScope, Interrupted } from './scope.ts'
import { drills } from './table.ts'

/** How long a drill may take, in seconds. */
const LIMIT = 600

/** How many lines of the log are shown of a drill that missed something. */
const LINES = 20

/** Of the longest name. */
const WIDTH = Math.max(...drills.map(({ name }) => name.length))

const { values: options } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true },
    previous: { type: 'string' },
    write: { type: 'boolean', default: false }
  }
})
const isChosen = ({ name }: Drill, number: number): boolean =>
  options.only?.some((only) => only === name || only === String(number)) ?? true
const chosen = drills.filter((drill, index) => isChosen(drill, index + 1))
if (chosen.length < (options.only?.length ?? 1)) {
  throw new Error(`--only must name some of ${drills.map(({ name }, index) => `${index + 1} ${name}`).join(', ')}`)
}

const rows = new Map(measuredIn(readFileSync(PAGE, 'utf8')))
print(['drill', ...COLUMNS.slice(1), 'took'])
const queue = [...chosen]
await Promise.all(Array.from({ length: Number(options.jobs) }, async () => {
  for (let drill = queue.shift(); drill !== undefined; drill = queue.shift()) {
    const start = performance.now()
    const row = await resultOf(drill)
    rows.set(drill.name, row)
    print([drill.name, ...row.slice(1), `${((performance.now() - start) / 1000).toFixed(0)} s`])
  }
}))
if (options.write) writeFileSync(PAGE, page(drills, rows))
// Callers of a drill that was given up may still wait.
process.exit()

function print (cells: readonly string[]): void {
  console.log(cells.map((cell, index) => index === 0 ? cell.padEnd(WIDTH) : cell).join(' | '))
}

/** Does it, and prints what does not hold. @returns its row of the table */
async function resultOf (drill: Drill): Promise<readonly string[]> {
  const without = drill.without()
  if (without) return notRun(drill, without)
  try {
    const outcome = await inScope(LIMIT, async (t) => await drill.run(t, options))
    if ('notRun' in outcome) return notRun(drill, outcome.notRun)
    const wrong = missed(drill, outcome)
    if (wrong.length > 0) process.exitCode = 1
    for (const what of wrong) console.log(`  ${what}`)
    if (wrong.length > 0) {
      console.log(outcome.output.split('\n').filter((line) => line.includes('"level":50')).slice(-LINES).join('\n'))
    }
    return rowFrom(
      drill,
      outcome.figures,
      [wrong.length === 0 ? 'ok' : 'missed', outcome.remark].filter(Boolean).join(', ')
    )
  } catch (error) {
    if (error instanceof Interrupted) process.exit(1)
    process.exitCode = 1
    console.log(error)
    return rowFrom(drill, undefined, 'failed')
  }
}

function notRun (drill: Drill, why: string): readonly string[] {
  return rowFrom(drill, undefined, `not run: ${why}`)
}
