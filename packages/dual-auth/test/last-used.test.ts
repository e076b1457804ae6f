import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import Fastify from 'fastify'
import { memoryStore, type ApiKeyStore } from '../src/index.ts'
import { createStoreCall } from '../src/keys/call-store.ts'
import { createLastUsed } from '../src/keys/last-used.ts'
import { at } from './build.ts'

const { log } = Fastify()

/** A store that notes what it was asked to touch, and answers when it is let. */
function recording () {
  const writes: string[][] = []
  let answer = () => {}
  let open = true
  const store: ApiKeyStore = {
    ...memoryStore(),
    async touch (uses) {
      writes.push(uses.map(({ id, networks }) => [id, ...networks].join(' ')))
      if (!open) {
        await new Promise<void>((resolve) => {
          answer = resolve
        })
      }
      return []
    }
  }
  return {
    writes,
    store,
    hold: () => {
      open = false
    },
    release: () => {
      open = true
      answer()
    }
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('all uses of one moment are one write, and those during it the next', async (t) => {
  const { writes, store, hold, release } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  hold()
  for (const id of ['a', 'b', 'a', 'c']) lastUsed.touch(id, undefined)
  while (writes.length === 0) await turn()
  lastUsed.touch('d', undefined)
  await turn()
  lastUsed.touch('e', undefined)
  release()
  await lastUsed.flush()
  t.strictSame(writes, [['a', 'b', 'c'], ['d', 'e']])
})

t.test('a key is written at most once in the interval, then again', async (t) => {
  const { writes, store } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  const start = Date.now()
  const useAt = (time: number, ...ids: string[]) =>
    at(start + time, async () => {
      for (const id of ids) lastUsed.touch(id, undefined)
      await lastUsed.flush()
    })
  await useAt(0, 'a')
  await useAt(1, 'a')
  await useAt(59_999, 'a')
  t.strictSame(writes, [['a']])
  await useAt(60_000, 'a', 'b')
  t.strictSame(writes, [['a'], ['a', 'b']])
  await useAt(119_999, 'a', 'b')
  t.equal(writes.length, 2)
})

t.test('a key is written again at once for a network that it was not used from lately', async (t) => {
  const { writes, store } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  const start = Date.now()
  const useAt = (time: number, ...addresses: Array<string | undefined>) =>
    at(start + time, async () => {
      for (const address of addresses) lastUsed.touch('a', address)
      await lastUsed.flush()
    })
  await useAt(0, '203.0.113.7', '203.0.113.8', '198.51.100.1', '203.0.113.7', undefined)
  t.strictSame(writes.splice(0), [['a 203.0.113.0/24 198.51.100.0/24']])
  await useAt(30_000, '198.51.100.2', '203.0.113.9', undefined)
  t.strictSame(writes.splice(0), [])
  await useAt(31_000, '198.51.100.2', '2001:db8::1')
  t.strictSame(writes.splice(0), [['a 2001:db8::/48']])
  await useAt(60_000, '2001:db8::1', '203.0.113.7')
  t.strictSame(writes.splice(0), [['a 203.0.113.0/24']])
  await useAt(100_000, '2001:db8::1', '203.0.113.7')
  t.strictSame(writes.splice(0), [['a 2001:db8::/48']])
})

t.test('who uses a key from ever more networks causes four writes in the interval', async (t) => {
  const { writes, store } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  const start = Date.now()
  const sweepAt = (time: number) =>
    at(start + time, async () => {
      for (let n = 0; n < 1000; n++) {
        lastUsed.touch('a', `10.${n % 4}.${n % 256}.7`)
        lastUsed.touch('b', '203.0.113.7')
        await lastUsed.flush()
      }
    })
  await sweepAt(0)
  t.strictSame(writes.splice(0), [
    ['a 10.0.0.0/24', 'b 203.0.113.0/24'],
    ['a 10.1.1.0/24'],
    ['a 10.2.2.0/24'],
    ['a 10.3.3.0/24']
  ])
  await sweepAt(59_999)
  t.strictSame(writes.splice(0), [])
  await sweepAt(120_000)
  t.equal(writes.length, 4)
})

t.test('a key that is no longer used takes no memory', async (t) => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapUsed = () => {
    collectGarbage()
    return process.memoryUsage().heapUsed
  }
  const start = Date.now()
  const lastUsed = await at(
    start,
    async () => createLastUsed({ ...memoryStore(), touch: async () => [] }, createStoreCall(60_000, log), log, 60_000)
  )
  const before = heapUsed()
  await at(start, async () => {
    for (let i = 0; i < 100_000; i++) lastUsed.touch(`key ${i}`, '203.0.113.7')
    await lastUsed.flush()
  })
  const noted = heapUsed() - before
  await at(start + 60_000, async () => {
    lastUsed.touch('another', '203.0.113.7')
    await lastUsed.flush()
  })
  const left = heapUsed() - before
  t.ok(left < noted / 2, `${noted} bytes while their use is recent, ${left} afterwards`)
  // Used once more: it has to be reachable when the memory is measured.
  await lastUsed.flush()
})
