import { setImmediate as nextTurn } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type ApiKeyStore, type KeyChange, type KeyEvent } from '../src/index.ts'
import { createStoreCall } from '../src/keys/call-store.ts'
import { createEvents } from '../src/keys/events.ts'
import { fingerprint } from '../src/keys/format.ts'
import { createLastUsed } from '../src/keys/last-used.ts'
import { createNotices } from '../src/keys/notices.ts'
import { createQueue } from '../src/keys/queue.ts'
import { createRefusals } from '../src/keys/refusals.ts'
import { at, bearer, build, OTHER_OWNER, PEPPER, products, OWNER, type Harness } from './build.ts'
import { newKey } from './sample-key.ts'

// Two owners, two moments, and something that waits meanwhile.
const { log } = Fastify()

/** Work that goes on until it is let go, and the order in which it began. */
function held () {
  const begun: string[] = []
  const going = new Map<string, PromiseWithResolvers>()
  return {
    begun,
    work: (name: string) => async (): Promise<string> => {
      begun.push(name)
      await new Promise<void>((resolve, reject) => going.set(name, { resolve, reject }))
      return name
    },
    /** @param error - it fails with this */
    end: (name: string, error?: Error): void => {
      const { resolve, reject } = going.get(name)!
      if (error === undefined) resolve()
      else reject(error)
    }
  }
}

interface PromiseWithResolvers {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

async function until (isMet: () => boolean): Promise<void> {
  while (!isMet()) await nextTurn()
}

/** Lets everything go on that waits for nothing outside. */
async function settled (): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await nextTurn()
}

const userOf = ({ app, issuer }: Harness) => (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
  app.inject({ method, url, headers: bearer(issuer.user()), ...(payload && { payload }) })

const pathOf = (owner: string): string => `/owners/${owner}/api-keys/`

const useOf = ({ app }: Harness) => async (key: string, owner = OWNER): Promise<number> =>
  (await app.inject({ url: products(owner), headers: bearer(key) })).statusCode

t.test('hashes that wait come in their order, and who is turned away takes no place', async (t) => {
  const { begun, work, end } = held()
  const queue = createQueue(1, 2)
  const results = ['ada', 'kim', 'lee', 'one too many'].map((name) =>
    queue(work(name)).then(() => `${name} is served`, ({ code, message }) => code ?? message)
  )
  await settled()
  t.strictSame(begun, ['ada'])
  end('ada', new Error('ada fails'))
  await until(() => begun.length > 1)
  const late = queue(work('late'))
  await settled()
  t.strictSame(begun, ['ada', 'kim'], 'a newcomer overtakes nobody')
  for (const name of ['kim', 'lee', 'late']) {
    await until(() => begun.includes(name))
    end(name)
  }
  t.equal(await late, 'late')
  t.strictSame(await Promise.all(results), ['ada fails', 'kim is served', 'lee is served', 'DUAL_AUTH_BUSY'])
  t.strictSame(begun, ['ada', 'kim', 'lee', 'late'])
  const again = queue(work('again'))
  await until(() => begun.includes('again'))
  end('again')
  t.equal(await again, 'again', 'and every place is free again')
})

t.test('an answer of the store that came while the process was busy counts, however late it is read', async (t) => {
  const call = createStoreCall(100, log)
  // From here on, Node.js looks at timers before it reads.
  await nextTurn()
  const answer = call(async () => {
    await nextTurn()
    return 'found'
  })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
  t.equal(await answer, 'found')
})

t.test('while one key moves to the newest pepper, another does too, each to the hash of its own', async (t) => {
  const inner = memoryStore()
  const { begun, work, end } = held()
  const first = await build(t, { store: inner })
  const keys = [await first.mint(OWNER), await first.mint(OTHER_OWNER)] as const
  const newest = { id: 'p2', secret: 'another pepper of thirty-two bytes or more' }
  const store: ApiKeyStore = {
    ...inner,
    rehash: async (id, previous, next) => {
      await work(id)()
      await inner.rehash(id, previous, next)
    }
  }
  const harness = await build(t, { store, apiKeys: { peppers: [newest, PEPPER], concurrency: 1 } })
  const use = useOf(harness)
  const both = async () => [await use(keys[0].plaintext), await use(keys[1].plaintext, OTHER_OWNER)]
  t.strictSame(await both(), [200, 200])
  await until(() => begun.length === 2)
  t.strictSame(await both(), [200, 200], 'meanwhile')
  // Its hash is behind all others.
  await harness.mint()
  await settled()
  t.strictSame(begun.toSorted(), keys.map(({ id }) => id).toSorted(), 'each once')
  for (const id of begun) end(id)
  await harness.app.close()
  for (const [index, { id, plaintext }] of keys.entries()) {
    t.match(await inner.find([fingerprint(plaintext, newest)]), {
      id,
      ownerId: [OWNER, OTHER_OWNER][index],
      pepperId: 'p2'
    })
  }
})

t.test('uses while a write fails are written after it, and those that failed with their next use', async (t) => {
  const { begun, work, end } = held()
  const touched: string[][] = []
  const store: ApiKeyStore = {
    ...memoryStore(),
    touch: async (uses) => {
      const name = `write ${touched.length}`
      touched.push(uses.map(({ id, networks }) => [id, ...networks].join(' ')))
      await work(name)()
      return []
    }
  }
  const lastUsed = createLastUsed(store, createStoreCall(60_000, log), log, 3_600_000)
  lastUsed.touch('of ada', '192.0.2.1')
  lastUsed.touch('of kim', '192.0.2.1')
  await until(() => begun.length === 1)
  lastUsed.touch('of kim', '198.51.100.1')
  lastUsed.touch('of lee', '192.0.2.1')
  end('write 0', new Error('away'))
  await until(() => begun.length === 2)
  lastUsed.touch('of ada', '192.0.2.1')
  lastUsed.touch('of lee', '192.0.2.1')
  end('write 1')
  await until(() => begun.length === 3)
  end('write 2')
  await lastUsed.flush()
  t.strictSame(touched, [
    ['of ada 192.0.2.0/24', 'of kim 192.0.2.0/24'],
    ['of kim 198.51.100.0/24', 'of lee 192.0.2.0/24'],
    ['of ada 192.0.2.0/24']
  ])
})

t.test('refusals are counted for each key by itself, and those of a new interval from nothing', (t) => {
  const told: string[] = []
  const refusals = createRefusals((event) => {
    if (event.type === 'refused') told.push(`${event.reason} ${event.key?.id ?? 'none'} ${event.count}`)
  })
  const [ada, kim] = [{ id: 'ada', ownerId: OWNER }, { id: 'kim', ownerId: OTHER_OWNER }].map((key) => newKey(key))
  for (const key of [ada, kim, ada, ada] as never[]) refusals.report('revoked', key, undefined)
  refusals.report('expired', kim as never, undefined)
  refusals.flush()
  for (const key of [ada, kim] as never[]) refusals.report('revoked', key, undefined)
  refusals.flush()
  t.strictSame(told, [
    'revoked ada 1',
    'revoked kim 1',
    'expired kim 1',
    'revoked ada 2',
    // Who was quiet is told of at once.
    'revoked kim 1',
    'revoked ada 1'
  ])
  t.end()
})

t.test('the host is told of one key while it still deals with another, and the end waits for both', async (t) => {
  const { begun, work, end } = held()
  const events = createEvents(async ({ key }) => {
    await work(key!.id)()
  }, log)
  const eventOf = (id: string) => ({ type: 'unused', key: { id } }) as unknown as KeyEvent
  events.emit(eventOf('ada'))
  events.emit(eventOf('kim'))
  await until(() => begun.length === 2)
  let isOver = false
  const over = events.settled(60_000).then(() => {
    isOver = true
  })
  end('ada', new Error('the host fails'))
  events.emit(eventOf('late'))
  await until(() => begun.length === 3)
  end('kim')
  await settled()
  t.equal(isOver, false)
  end('late')
  await over
})

t.test('a look at what expires ends before the server does, and starts no other', async (t) => {
  const { begun, work, end } = held()
  const store: ApiKeyStore = {
    ...memoryStore(),
    takeNotices: async () => {
      await work(`look ${begun.length}`)()
      return []
    }
  }
  const notices = createNotices(store, createStoreCall(60_000, log), () => {}, 1)
  notices.start()
  await until(() => begun.length === 1)
  let isOver = false
  const over = notices.stop().then(() => {
    isOver = true
  })
  await settled()
  t.equal(isOver, false)
  end('look 0')
  await over
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.strictSame(begun, ['look 0'])
})

/** Two owners, and a host that writes down changes of keys until it is let go. */
async function hosts (t: Test, maxPerOwner: number) {
  const waiting: Array<{ readonly change: KeyChange, readonly go: () => void, readonly refuse: () => void }> = []
  const inner = memoryStore()
  const asked = { creations: 0 }
  let isHeld = false
  const harness = await build(t, {
    store: {
      ...inner,
      insert: async (...creation) => {
        asked.creations++
        return await inner.insert(...creation)
      }
    },
    apiKeys: { maxPerOwner },
    auth: {
      management: {
        canManage: () => true,
        onKeyChange: async (change) => {
          if (!isHeld) return
          await new Promise<void>((resolve, reject) => {
            waiting.push({ change, go: resolve, refuse: () => reject(new Error('the host refuses')) })
          })
        }
      }
    }
  })
  return {
    harness,
    asked,
    call: userOf(harness),
    use: useOf(harness),
    waiting,
    hold: () => {
      isHeld = true
    },
    letGo: () => {
      isHeld = false
      for (const { go } of waiting.splice(0)) go()
    }
  }
}

t.test('creations at once keep the limit of each owner, whoever waits', async (t) => {
  const { call, waiting, hold, letGo } = await hosts(t, 2)
  hold()
  const make = async (owner: string) => (await call('POST', pathOf(owner), { name: 'x' })).statusCode
  const made = [OWNER, OTHER_OWNER, OWNER, OTHER_OWNER, OWNER, OTHER_OWNER].map(make)
  await until(() => waiting.length > 0)
  letGo()
  t.strictSame((await Promise.all(made)).toSorted(), [201, 201, 201, 201, 409, 409])
  for (const owner of [OWNER, OTHER_OWNER]) t.equal((await call('GET', pathOf(owner))).json().length, 2)
})

t.test('a creation that the host refuses has taken the place of nobody who waited', async (t) => {
  const { call, asked, waiting, hold, letGo } = await hosts(t, 1)
  hold()
  const make = async (name: string) => (await call('POST', pathOf(OWNER), { name })).statusCode
  const refused = make('refused')
  await until(() => waiting.length > 0)
  const behind = make('behind')
  await until(() => asked.creations === 2)
  await settled()
  const [first] = waiting.splice(0, 1)
  // The second one comes to its turn, or has been turned away by now.
  first!.refuse()
  t.equal(await refused, 503)
  letGo()
  t.equal(await behind, 201)
  t.match((await call('GET', pathOf(OWNER))).json(), [{ name: 'behind' }])
})

t.test('a key that is revoked while its rotation waits leaves no one with an open successor by surprise', async (t) => {
  const { call, use, harness, waiting, hold, letGo } = await hosts(t, 10)
  const [key, other] = [await harness.mint(OWNER), await harness.mint(OWNER)]
  hold()
  const rotating = call('POST', `${pathOf(OWNER)}${key.id}/rotate`, { grace: 3600 })
  await until(() => waiting.length > 0)
  const revoking = call('DELETE', pathOf(OWNER) + key.id)
  await settled()
  letGo()
  const { plaintext: successor } = (await rotating).json()
  t.equal((await revoking).statusCode, 204)
  t.strictSame([await use(key.plaintext), await use(successor), await use(other.plaintext)], [401, 200, 200])
})

t.test('at each moment of a rotation, each key works as long as was said of it', async (t) => {
  // The token of the person who manages them lives for an hour.
  const MINUTE = 60_000
  const start = Date.now()
  const end = start + 30 * MINUTE
  const { call, use, harness } = await hosts(t, 10)
  const until = { expires_at: new Date(end).toISOString() }
  const [old, beside] = [
    await harness.mint(OWNER, { name: 'x', ...until }),
    await harness.mint(OWNER, { name: 'x', ...until })
  ]
  const stranger = await harness.mint(OTHER_OWNER)
  const rotate = async (id: string, time: number) =>
    (await at(time, async () => await call('POST', `${pathOf(OWNER)}${id}/rotate`, { grace: 300 }))).json()
  // The grace of the first one is longer than it lives.
  const second = await rotate(old.id, end - MINUTE)
  const third = await rotate(second.id, start + 40 * MINUTE)
  const statuses = async (time: number) =>
    await at(time, async () => [
      await use(old.plaintext),
      await use(second.plaintext),
      await use(third.plaintext),
      await use(beside.plaintext),
      await use(stranger.plaintext, OTHER_OWNER)
    ])
  for (
    const [what, time, expected] of [
      ['a moment before the first one ends', end - 1000, [200, 200, 200, 200, 200]],
      ['with it ends what lives as long, and not its successor', end, [401, 200, 200, 401, 200]],
      ['in the grace of the second', start + 45 * MINUTE - 1, [401, 200, 200, 401, 200]],
      ['behind it', start + 45 * MINUTE, [401, 401, 200, 401, 200]],
      ['when the third has lived as long as the first was to', start + 71 * MINUTE, [401, 401, 401, 401, 200]]
    ] as const
  ) t.strictSame(await statuses(time), expected, what)
})
