import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import Fastify from 'fastify'
import { memoryStore, type ApiKeyStore } from '../src/index.ts'
import { createStoreCall } from '../src/keys/call-store.ts'
import { createLastUsed } from '../src/keys/last-used.ts'
import { createQueue } from '../src/keys/queue.ts'
import { at } from './build.ts'

const { log } = Fastify()

/** A store that notes what it was asked to touch, and answers when it is let. */
function recording () {
  const writes: string[][] = []
  let answer = () => {}
  let open = true
  const store: ApiKeyStore = {
    ...memoryStore(),
    async touch (ids) {
      writes.push([...ids])
      if (!open) await new Promise<void>(resolve => { answer = resolve })
    }
  }
  return { writes, store, hold: () => { open = false }, release: () => { open = true; answer() } }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

t.test('all uses of one moment are one write, and those during it the next', async t => {
  const { writes, store, hold, release } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  hold()
  for (const id of ['a', 'b', 'a', 'c']) lastUsed.touch(id)
  while (writes.length === 0) await turn()
  lastUsed.touch('d')
  await turn()
  lastUsed.touch('e')
  release()
  await lastUsed.flush()
  t.strictSame(writes, [['a', 'b', 'c'], ['d', 'e']])
})

t.test('a key is written at most once in the interval, then again', async t => {
  const { writes, store } = recording()
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 60_000)
  const start = Date.now()
  const useAt = (time: number, ...ids: string[]) => at(start + time, async () => {
    for (const id of ids) lastUsed.touch(id)
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

t.test('a key that is no longer used takes no memory', async t => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const heapUsed = () => { collectGarbage(); return process.memoryUsage().heapUsed }
  const lastUsed = createLastUsed({ ...memoryStore(), touch: async () => {} }, createStoreCall(60_000, log), log, 60_000)
  const start = Date.now()
  const before = heapUsed()
  await at(start, async () => {
    for (let i = 0; i < 100_000; i++) lastUsed.touch(`key ${i}`)
    await lastUsed.flush()
  })
  const noted = heapUsed() - before
  await at(start + 60_000, async () => {
    lastUsed.touch('another')
    await lastUsed.flush()
  })
  const left = heapUsed() - before
  t.ok(left < noted / 2, `${noted} bytes while their use is recent, ${left} afterwards`)
  // Used once more: it has to be reachable when the memory is measured.
  await lastUsed.flush()
})

t.test('nothing to write is nothing to wait for', async t => {
  const { writes, store } = recording()
  await createLastUsed(store, createStoreCall(1000, log), log, 50).flush()
  t.strictSame(writes, [])
})

t.test('the queue runs so many at once, in order, and goes on after a failure', async t => {
  const queue = createQueue(2, 10)
  const order: string[] = []
  let running = 0
  let most = 0
  const work = (name: string) => queue(async () => {
    most = Math.max(most, ++running)
    await new Promise(resolve => setImmediate(resolve))
    running--
    order.push(name)
    if (name === 'b') throw new TypeError('b failed')
    return name
  }).catch(error => error.message)
  t.strictSame(await Promise.all(['a', 'b', 'c', 'd', 'e'].map(work)), ['a', 'b failed', 'c', 'd', 'e'])
  t.strictSame(order, ['a', 'b', 'c', 'd', 'e'])
  t.equal(most, 2)
  t.equal(await work('f'), 'f')
})
