import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { Deadlines, signalOf, Stop, stopWithinMessage } from '../src/call/stop.ts'

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

t.test('one timer does for all calls that run', async (t) => {
  const { setTimeout: real } = globalThis
  t.teardown(() => { globalThis.setTimeout = real })
  let timers = 0
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof real>) => { timers += 1; return real(...args) }, real)
  const deadlines = new Deadlines(LIMIT)
  for (let call = 0; call < 3; call++) deadlines.start(new Stop())
  t.equal(timers, 1)
})

t.test('a call is stopped in the very moment in which it has to end', async (t) => {
  const { setTimeout: real } = globalThis
  const { now } = performance
  t.teardown(() => { Object.assign(globalThis, { setTimeout: real }); performance.now = now })
  let clock = 1000
  let timer: { readonly check: () => void, readonly delay: number } | undefined
  let kept = 0
  performance.now = () => clock
  Object.assign(globalThis, { setTimeout: (check: () => void, delay: number) => { timer = { check, delay }; kept += 1; return { unref () { kept -= 1 } } } })
  const deadlines = new Deadlines(LIMIT)
  const [first, second] = [new Stop(), new Stop()]
  deadlines.start(first)
  clock += 1
  deadlines.start(second)
  t.equal(timer?.delay, LIMIT)
  clock += LIMIT - 1
  timer?.check()
  t.strictSame([first.reason, second.reason, timer?.delay], ['timeout', undefined, 1])
  clock += 1
  const last = timer
  timer = undefined
  last?.check()
  t.strictSame([second.reason, timer], ['timeout', undefined], 'and nothing is waited for any longer')
  t.equal(kept, 0, 'no timer keeps the process')
})

t.test('what ends a message ends its call where the revision says so, and streams when the server closes', async (t) => {
  for (const [reason, era, isStream, ended] of [
    ['client gone', 'modern', false, true], ['client gone', 'modern', true, true], ['client gone', 'legacy', false, false], ['client gone', 'legacy', true, false],
    ['closing', 'modern', false, false], ['closing', 'modern', true, true], ['closing', 'legacy', false, false], ['closing', 'legacy', true, true]
  ] as const) {
    const message = new Stop()
    const call = stopWithinMessage(message, era, isStream)
    message.stop(reason)
    t.equal(call.reason, ended ? reason : undefined, `${reason} ${era} ${isStream}`)
  }
  for (const [reason, mayCall, aborted] of [['client gone', true, true], ['client gone', false, true], ['closing', true, false], ['closing', false, true]] as const) {
    const message = new Stop()
    const signal = signalOf(message, mayCall)
    t.notOk(signal.aborted)
    message.stop(reason)
    t.equal(signal.aborted, aborted, `${reason} ${mayCall}`)
  }
})

t.test('each listener hears of a stop once, unless it was forgotten', async (t) => {
  const heard: string[] = []
  const stop = new Stop()
  stop.onStop((reason) => heard.push(`first ${reason}`))
  const forget = stop.onStop((reason) => heard.push(`second ${reason}`))
  stop.onStop((reason) => heard.push(`third ${reason}`))
  forget()
  stop.stop('timeout')
  stop.stop('closing')
  t.strictSame(heard, ['first timeout', 'third timeout'])
  stop.onStop((reason) => heard.push(`late ${reason}`))()
  t.strictSame([heard.at(-1), stop.reason], ['late timeout', 'timeout'])
})
