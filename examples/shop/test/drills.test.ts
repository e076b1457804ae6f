import { readFileSync } from 'node:fs'
import t from 'tap'
import { HEALTHY, missed, NOTHING_LOST } from '../drills/drill.ts'
import { measuredIn, page, PAGE } from '../drills/page.ts'
import { drills } from '../drills/table.ts'

/** Times and shares depend on the machine, and a busy one is slow: `npm run lab drills` judges them. */
const PATIENT = { share: 1, pause: 120, recovers: 120 } as const

for (const drill of drills.filter(({ isShort }) => isShort)) {
  t.test(`${drill.title}: what must hold then holds`, { skip: drill.without() }, async (t) => {
    const outcome = await drill.run(t, {})
    if ('notRun' in outcome) return t.fail(outcome.notRun)
    t.comment(outcome.figures)
    t.strictSame(missed({ ...drill, may: { ...drill.may, ...PATIENT } }, outcome), [])
  })
}

t.test('the page of the drills says what they do, and has a result of each', (t) => {
  const text = readFileSync(PAGE, 'utf8')
  const measured = measuredIn(text)
  t.strictSame([...measured.keys()], drills.map(({ name }) => name))
  for (const [name, row] of measured) t.match(row[1], /^ok\b|^not run: ./, name)
  t.equal(page(drills, measured), text, 'or write it: npm run lab drills -- --write')
  t.end()
})

t.test('a drill misses what it exceeds, does not check, or checks and does not say', (t) => {
  const [drill] = drills
  const good = { calls: 100, failed: new Map(), pause: 0, slowest: 0, recovered: 0 }
  const held = new Map([...drill!.holds, NOTHING_LOST, HEALTHY].map((what) => [what, true]))
  t.strictSame(missed(drill!, { figures: good, held, output: '' }), [])
  t.strictSame(
    missed({ ...drill!, logs: ['a line'] }, {
      figures: { ...good, failed: new Map([['500', 6]]), pause: 99, recovered: 99 },
      held: new Map([...held, [drill!.holds[0]!, false], ['else', true]]),
      output: ''
    }),
    [
      '6 calls failed with 500',
      '6 of 100 calls failed, more than 5 %',
      'no call succeeded for 99.0 s, longer than 5 s',
      'it took 99.0 s to recover, longer than 5 s',
      `does not hold: ${drill!.holds[0]}`,
      'is not said of the drill: else',
      'no replica logged a line'
    ]
  )
  t.match(
    missed(drill!, { figures: good, held: new Map(), output: '' }),
    drill!.holds.map((what) => `was not checked: ${what}`)
  )
  t.end()
})
