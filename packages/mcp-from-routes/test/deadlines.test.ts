import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Deadlines, Stop } from '../src/call/stop.ts'

/** Long enough that a busy machine still starts all calls in time. */
const LIMIT = 300

t.test('each call that runs too long is stopped in its own time, and no other', async (t) => {
  const deadlines = new Deadlines(LIMIT)
  const stopped: Array<[name: string, after: number]> = []
  const start = (name: string): (() => void) => {
    const stop = new Stop()
    const began = performance.now()
    stop.onStop((reason) => stopped.push([`${name} ${reason}`, performance.now() - began]))
    const timed = deadlines.start(stop)
    return () => deadlines.finish(timed)
  }
  const finishFirst = start('first')
  const finishSecond = start('second')
  start('third')
  finishFirst()
  await delay(LIMIT / 3)
  start('fourth')
  const finishFifth = start('fifth')
  finishSecond()
  await delay(3 * LIMIT)
  t.strictSame(stopped.map(([name]) => name).sort(), ['fifth timeout', 'fourth timeout', 'third timeout'])
  for (const [name, after] of stopped) t.ok(after >= LIMIT - 2, `${name} after ${after} ms`)
  finishFifth()
  // After a while without calls.
  start('sixth')
  await delay(2 * LIMIT)
  t.strictSame(stopped.slice(3).map(([name]) => name), ['sixth timeout'])
})
