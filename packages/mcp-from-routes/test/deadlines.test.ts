import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Deadlines, signalOf, Stop, stopWithinMessage } from '../src/call/stop.ts'

/** Long enough that a busy machine still starts all calls in time. */
const LIMIT = 300

t.test('each call that runs too long is stopped in its own time, and no other', async (t) => {
  const deadlines = new Deadlines(LIMIT)
  const stopped: Array<[name: string, after: number]> = []
  const start = (name: string): () => void => {
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

t.test('what ends a message ends its call where the revision says so, and streams when the server closes', async (t) => {
  for (
    const [reason, era, isStream, ended] of [
      ['client gone', 'modern', false, true],
      ['client gone', 'modern', true, true],
      ['client gone', 'legacy', false, false],
      ['client gone', 'legacy', true, false],
      ['closing', 'modern', false, false],
      ['closing', 'modern', true, true],
      ['closing', 'legacy', false, false],
      ['closing', 'legacy', true, true]
    ] as const
  ) {
    const message = new Stop()
    const call = stopWithinMessage(message, era, isStream)
    message.stop(reason)
    t.equal(call.reason, ended ? reason : undefined, `${reason} ${era} ${isStream}`)
  }
  for (
    const [reason, mayCall, aborted] of [['client gone', true, true], ['client gone', false, true], [
      'closing',
      true,
      false
    ], ['closing', false, true]] as const
  ) {
    const message = new Stop()
    const signal = signalOf(message, mayCall)
    t.notOk(signal.aborted)
    message.stop(reason)
    t.equal(signal.aborted, aborted, `${reason} ${mayCall}`)
  }
})
