import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { turns } from '../src/history/turns.ts'

t.test('works of a shop run one after another, those of several shops at once up to a limit', async (t) => {
  const inTurn = turns({ atOnce: 2 })
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const start = (shop: string, name: string) => inTurn([shop], async () => {
    log.push(`+${name}`)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    log.push(`-${name}`)
    return name
  })
  const end = async (name: string): Promise<void> => {
    ends.get(name)!()
    for (let n = 0; n < 5; n++) await tick()
  }
  const works = [start('a', 'a1'), start('a', 'a2'), start('b', 'b1'), start('c', 'c1'), start('a', 'a3')]
  for (let n = 0; n < 5; n++) await tick()
  t.strictSame(log, ['+a1', '+b1'])
  await end('a1')
  t.strictSame(log.slice(2), ['-a1', '+c1'], 'the other shop waited longer')
  await end('b1')
  await end('c1')
  await end('a2')
  await end('a3')
  t.strictSame(log.slice(4), ['-b1', '+a2', '-c1', '-a2', '+a3', '-a3'])
  t.strictSame(await Promise.all(works), ['a1', 'a2', 'b1', 'c1', 'a3'])
})

t.test('a work that fails lets the next one run, and too many are refused', async (t) => {
  const inTurn = turns({ atOnce: 1 })
  const failing = Array.from({ length: 9 }, async (_, n) => await inTurn(['a'], async () => { throw new Error(String(n)) }))
  await t.rejects(inTurn(['a'], async () => {}), { code: 'SHOP_TOO_MANY_CONCURRENT_CALLS', statusCode: 429 })
  for (const [n, work] of failing.entries()) await t.rejects(work, { message: String(n) })
  t.equal(await inTurn(['a'], async () => 'again'), 'again')
})

t.test('an owner of several shops has one place, and others run beside', async (t) => {
  const inTurn = turns({ atOnce: 3 })
  const ends: Array<() => void> = []
  const started: string[] = []
  const start = async (shop: string, caller: string): Promise<void> => await inTurn([`shop ${shop}`, `user ${caller}`], async () => {
    started.push(shop)
    await new Promise<void>((resolve) => ends.push(resolve))
  })
  const works = ['a', 'b', 'c', 'd'].map(async (shop) => await start(shop, 'owner'))
  works.push(start('e', 'other'))
  for (let n = 0; n < 5; n++) await tick()
  t.strictSame(started, ['a', 'e'])
  for (let n = 0; n < works.length; n++) {
    ends[n]!()
    for (let n = 0; n < 5; n++) await tick()
  }
  await Promise.all(works)
  t.strictSame(started, ['a', 'e', 'b', 'c', 'd'])
})

t.test('a share of several, and a work whose turn does not come', async (t) => {
  const inTurn = turns({ atOnce: 3, share: 2, maxWait: 20 })
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => { end = resolve })
  const works = [1, 2].map(async () => await inTurn(['a'], async () => await ended))
  await t.rejects(inTurn(['a'], async () => {}), { code: 'SHOP_TOO_MANY_CONCURRENT_CALLS', message: /2 running/ })
  t.equal(await inTurn(['b'], async () => 'b'), 'b')
  end()
  await Promise.all(works)
  t.equal(await inTurn(['a'], async () => 'a'), 'a')
})
