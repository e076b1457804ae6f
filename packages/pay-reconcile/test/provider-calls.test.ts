import t from 'tap'
import { providerError, type ProviderFault, type ProviderFaultFacts } from '../src/errors.ts'
import { type CallLimits, providerCalls, withTimeLimit } from '../src/provider/calls.ts'
import { keyGates } from '../src/provider/gate.ts'
import { standingTime } from './time.ts'

const limits: CallLimits = {
  callTimeout: 1000,
  attemptTimeout: 1000,
  attempts: 2,
  inFlight: 2,
  breakAfter: 2,
  breakDuration: 1000
}
const signal = new AbortController().signal
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** A gate, and what the requests of one key get: `ok` or the fault. */
function gate (options: Partial<CallLimits> = {}) {
  const gateOf = keyGates({ ...limits, ...options })
  const enter = (fault?: ProviderFault, facts?: ProviderFaultFacts) =>
    gateOf('key').enter(signal, async () => {
      if (fault) throw providerError(fault, facts)
    }).then(() => 'ok', (error) => error.fault)
  return { gateOf, enter }
}

/** A request that lasts until it is told to end. */
function request () {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const seen = { entered: false }
  return {
    seen,
    end,
    call: async () => {
      seen.entered = true
      await ended
    }
  }
}

t.test('after faults in a row a gate is closed, then one request tries', async (t) => {
  const time = standingTime(t, 0)
  const { gateOf, enter } = gate()
  t.strictSame([await enter('error'), await enter('timeout'), await enter()], ['error', 'timeout', 'unavailable'])
  time.now = 999
  t.match(await gateOf('key').enter(signal, async () => {}).catch((error) => error), {
    fault: 'unavailable',
    retryAfter: 1
  }, 'it says for how long')
  time.now = 1000
  const first = request()
  const trying = gateOf('key').enter(signal, first.call)
  await turn()
  t.ok(first.seen.entered, 'it opens at the end of the time')
  t.equal(await enter(), 'unavailable', 'for one alone')
  first.end()
  await trying
  t.strictSame(
    [await enter(), await enter('error'), await enter()],
    ['ok', 'error', 'ok'],
    'whose success opens it for all, and is the start of a new count'
  )

  await enter('error')
  await enter('unreachable')
  time.now = 2000
  t.strictSame([await enter('error'), await enter()], ['error', 'unavailable'], 'whose fault closes it again')
  time.now = 2999
  t.equal(await enter(), 'unavailable')
})

t.test('what says nothing of an outage closes no gate', async (t) => {
  const time = standingTime(t, 0)
  for (
    const [title, faults] of [
      ['another fault is an answer', ['error', 'customer_not_found', 'error']],
      ['so is a limit of the rate', ['timeout', 'rate_limited', 'timeout']],
      ['a caller who leaves is neither', ['error', 'aborted', 'aborted']],
      ['a success ends the row', ['error', undefined, 'error']]
    ] as const
  ) {
    const { enter } = gate()
    for (const fault of faults) await enter(fault)
    t.equal(await enter(), 'ok', title)
  }
  const { enter } = gate()
  t.strictSame([await enter('error'), await enter('aborted'), await enter('error'), await enter()], [
    'error',
    'aborted',
    'error',
    'unavailable'
  ], 'a caller who leaves ends no row')
  time.now = 1000
  t.strictSame([await enter('error', { replayed: true }), await enter('error', { replayed: true }), await enter()], [
    'error',
    'error',
    'ok'
  ], 'after a stored failure the next one may try')
})

t.test('so many requests of a key go at once, the others wait in line', async (t) => {
  const { gateOf } = gate()
  const requests = Array.from({ length: 5 }, request)
  const ends = requests.map(({ call }) => gateOf('key').enter(signal, call))
  const entered = async () => {
    await turn()
    return requests.map(({ seen }) => seen.entered)
  }
  t.strictSame(await entered(), [true, true, false, false, false])
  const other = request()
  const otherEnd = gateOf('other').enter(signal, other.call)
  await turn()
  t.ok(other.seen.entered, 'another key has a gate of its own')
  other.end()
  await otherEnd
  requests[1]!.end()
  t.strictSame(await entered(), [true, true, true, false, false])
  for (const { end } of requests) end()
  await Promise.all(ends)
  t.strictSame(await entered(), [true, true, true, true, true])
})

/** An attempt that ends with its signal, with an error of the library. */
const hanging = (calls: AbortSignal[]) => (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    calls.push(signal)
    const abort = () => reject(new RangeError('of the library'))
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })

t.test('a call that ends early is the fault of who ended it', async (t) => {
  const faultOf = (options: Partial<CallLimits>, caller?: AbortSignal) => {
    const calls: AbortSignal[] = []
    return providerCalls({ ...limits, ...options })('key', caller, hanging(calls)).catch((
      error
    ) => [error.fault, calls.length])
  }
  t.strictSame(await faultOf({ callTimeout: 20 }), ['timeout', 1], 'the time limit of the call')
  t.strictSame(await faultOf({ attemptTimeout: 10, attempts: 1 }), ['timeout', 1], 'that of the attempt')
  t.strictSame(await faultOf({}, AbortSignal.abort()), ['aborted', 0], 'the caller, before')
  const caller = new AbortController()
  const leaving = faultOf({}, caller.signal)
  await turn()
  caller.abort()
  t.strictSame(await leaving, ['aborted', 1], 'and while it lasts')

  const call = providerCalls({ ...limits, callTimeout: 20, inFlight: 1, breakAfter: 1 })
  const [first, second] = [new AbortController(), new AbortController()]
  const calls: AbortSignal[] = []
  const fault = (caller: AbortController) => call('key', caller.signal, hanging(calls)).catch((error) => error.fault)
  const both = [fault(first), fault(second)]
  await turn()
  second.abort()
  t.equal(await both[1], 'aborted', 'while it waits in the line')
  first.abort()
  t.equal(await both[0], 'aborted')
  t.equal(calls.length, 1)
  t.equal(await fault(new AbortController()), 'timeout', 'callers who leave do not close the gate')
  t.equal(await fault(new AbortController()), 'unavailable', 'a time limit does')
})

t.test('a retry that ends early is the fault of who ended it, whatever the library does after the abort', async (t) => {
  standingTime(t)
  const late = (signal: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        turn().then(turn).then(() => reject(new RangeError('of the library')))
      })
    })
  for (
    const [title, retry] of [
      ['it fails at once', hanging([])],
      ['it fails later', late],
      ['it does not heed the abort', () => new Promise<never>(() => {})]
    ] as const
  ) {
    const caller = new AbortController()
    const errorOf = (options: Partial<CallLimits>, started = () => {}) => {
      let made = 0
      return providerCalls({ ...limits, ...options })('key', caller.signal, async (signal) => {
        if (++made === 1) throw providerError('error')
        started()
        return retry(signal)
      }).catch((error) => [error.code, error.statusCode, made])
    }
    t.strictSame(
      await errorOf({ callTimeout: 300 }),
      ['PAY_RECONCILE_PROVIDER_TIMEOUT', 502, 2],
      `${title}: the time limit`
    )
    t.match(
      await errorOf({ callTimeout: 60_000, attemptTimeout: 60_000 }, () => {
        setImmediate(() => caller.abort())
      }),
      ['PAY_RECONCILE_ABORTED', Number, 2],
      `${title}: the caller`
    )
  }
})

t.test('nothing of a time limit is left once the work is done', async (t) => {
  const parent = new AbortController()
  const limited = await withTimeLimit(5, parent.signal, async (signal) => signal)
  parent.abort()
  await new Promise((resolve) => setTimeout(resolve, 15))
  t.equal(limited.aborted, false)
  t.equal(await withTimeLimit(5, undefined, async (signal) => signal.aborted), false)
  t.equal(
    await withTimeLimit(1000, parent.signal, async (signal) => signal.aborted),
    true,
    'a parent that was aborted before counts'
  )
  await t.rejects(
    withTimeLimit(
      5,
      undefined,
      async (signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new RangeError('late'))))
    ),
    { message: 'late' }
  )
})
