// npm run event-loop: no request of one caller, however large, keeps all others waiting.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { RouteOptions } from 'fastify'
import t, { type Test } from 'tap'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase, TEST_DATABASE_URL } from '../test/build.ts'
import { notMeasured } from './shop.ts'

/**
 * For how long one request may keep all others waiting, in milliseconds. On a machine that does nothing else, the
 * longest take 65 to 95; what this looks for takes seconds.
 */
const LONGEST = 200

// Statements of the embedded database run in the process itself, and on its event loop.
if (TEST_DATABASE_URL === undefined) {
  notMeasured('how long one request keeps others waiting. Set TEST_DATABASE_URL to a PostgreSQL server')
  process.exit()
}

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, ['boss'])
t.setTimeout(600_000)
const routes: RouteOptions[] = []
const app = await build(t, database, idp, {
  settings: {
    RATE_LIMIT_MAX: 1_000_000,
    RATE_LIMIT_ANONYMOUS_MAX: 1_000_000,
    MAX_EVENT_LOOP_DELAY: 0,
    MCP_IMPORTS_ENABLED: true
  },
  onRoute: (route) => routes.push({ ...route })
})
const boss = bearer(await idp.userToken('boss'))
await app.inject({ url: '/me', headers: boss })
await database.knex('users').update({ roles: ['admin'] })
const shopId = await createShop(database, 'here')

/** Of this thread, where Node can tell (from 22.19 on), else of the process, in milliseconds. */
const cpuUsage: typeof process.cpuUsage = (process as { threadCpuUsage?: typeof process.cpuUsage }).threadCpuUsage ??
  process.cpuUsage
function cpuSince (start: NodeJS.CpuUsage): number {
  const { user, system } = cpuUsage.call(process, start)
  return (user + system) / 1000
}

/**
 * The longest time for which nothing else ran while the work did, in milliseconds: the processor time between two turns
 * of the event loop, or the time on the clock if that is less. So neither other processes nor other threads count.
 */
async function stretchOf (work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  const over = new AbortController()
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const [at, cpu] = [performance.now(), cpuUsage.call(process)]
      await sleep(1)
      longest = Math.max(longest, Math.min(performance.now() - at, cpuSince(cpu)))
    }
  }
  const watching = watch()
  await work().finally(() => {
    over.abort()
  })
  await watching
  return longest
}

const YARDSTICK = JSON.stringify(Array.from({ length: 15_000 }, (_, n) => ({ n, text: 'x'.repeat(20) })))
/** What parsing it takes on a processor that has nothing else to do, in milliseconds. */
const USUAL = 5
/** Slower than that, the measure is none. */
const SLOWEST = 4

/**
 * How much slower the processor is now than usual: another process may share its core, or the machine be a slow one.
 */
function slowness (): number {
  const times = Array.from({ length: 5 }, () => {
    const start = cpuUsage.call(process)
    JSON.parse(YARDSTICK)
    return cpuSince(start)
  })
  return Math.min(Math.max(1, times.sort((a, b) => a - b)[2]! / USUAL), SLOWEST)
}

/** The shortest of three: what else a process has to do, such as collecting garbage, is not of the request. */
async function steadyStretchOf (work: () => Promise<unknown>): Promise<number> {
  let shortest = Infinity
  for (let tries = 0; tries < 3 && shortest > LONGEST; tries++) {
    const stretch = await stretchOf(work)
    shortest = Math.min(shortest, stretch > LONGEST ? stretch / slowness() : stretch)
  }
  return shortest
}

t.test('the measure sees what keeps others waiting, and neither a wait nor short turns', async (t) => {
  const busy = (milliseconds: number): void => {
    for (const start = cpuUsage.call(process); cpuSince(start) < milliseconds;);
  }
  const turns = async (length: number): Promise<void> => {
    for (let n = 0; n < 8; n++) {
      busy(length)
      await sleep(1)
    }
  }
  t.ok(
    await steadyStretchOf(async () => {
      busy(LONGEST * SLOWEST + 50)
    }) > LONGEST
  )
  t.ok(await steadyStretchOf(async () => await turns(LONGEST / 4)) < LONGEST)
  t.ok(await steadyStretchOf(async () => await sleep(LONGEST * 2)) < LONGEST)
})

interface Schema {
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly items?: Schema
  readonly minItems?: number
  readonly minimum?: number
  readonly anyOf?: readonly Schema[]
  readonly default?: unknown
}

/** A value that the schema takes, more or less: what is checked before a large value must pass. */
function small (schema: Schema): unknown {
  const { type, properties = {}, required = [], enum: values, format, anyOf, default: usual } = schema
  if (usual !== undefined) return usual
  if (values !== undefined) return values[0]
  if (anyOf !== undefined) return small(anyOf[0]!)
  switch (Array.isArray(type) ? type[0] : type) {
    case 'object':
      return Object.fromEntries(required.map((name) => [name, small(properties[name] ?? {})]))
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => small(schema.items ?? {}))
    case 'integer':
    case 'number':
      return schema.minimum ?? 1
    case 'boolean':
      return true
    case 'null':
      return null
    default:
      return format === 'uuid' ? randomUUID() : OF_FORMAT[format ?? ''] ?? 'EUR'
  }
}

const OF_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  uri: 'https://example.com/',
  email: 'a@example.com'
}

/** As many bytes of a text over and over. */
const filled = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))

const BODY = 1_048_000
const QUERY = 12_000
const FILE = 16 * 1_048_576

/** Nearly as many values as a body may have. */
const VALUES = 19_000

/** Values that take long to read, by their type, as JSON: of as many bytes, or values. */
const LARGE: Readonly<Record<string, readonly string[]>> = {
  string: [',\\n', 'a-', '\\"', '\\u0000', '\\u0316\\u0301'].map((text) => `"${filled(text, BODY - 2000)}"`),
  array: [
    `[${filled('{},', VALUES * 3)}{}]`,
    `["__proto__"${filled(',{"a":0}', VALUES * 4)}]`,
    `[${filled(`"${'a-'.repeat(15)}",`, VALUES * 33)}0]`
  ],
  object: [
    `{${Array.from({ length: VALUES }, (_, n) => `"k${String(n).padStart(6, '0')}":"${'a'.repeat(20)}"`).join(',')}}`,
    `${'{"a":'.repeat(VALUES)}0${'}'.repeat(VALUES)}`
  ]
}
const TYPES = Object.keys(LARGE)
/** Bodies that no route takes: they are refused before any route looks at them, or by its schema at once. */
const WRONG = [
  ...LARGE['array']!,
  ...LARGE['object']!,
  `${'['.repeat(BODY / 2)}${']'.repeat(BODY / 2)}`,
  `[${filled('0,', BODY)}0]`,
  LARGE['string']![2]!
]

const typesOf = ({ type, anyOf = [] }: Schema): readonly string[] =>
  type === undefined && anyOf.length === 0
    ? TYPES
    : [type ?? [], anyOf.flatMap(typesOf)].flat(2).filter((name) => TYPES.includes(name))
const largeOf = (schema: Schema): readonly string[] => typesOf(schema).flatMap((type) => LARGE[type]!)

/** The required fields of a schema but one, with small values. */
const others = ({ properties = {}, required = [] }: Schema, name: string): string =>
  required.filter((other) => other !== name).map((other) =>
    `${JSON.stringify(other)}:${JSON.stringify(small(properties[other] ?? {}))},`
  ).join('')

/** Bodies that take long to read: right ones with one large value, and an object of other fields only. */
function* bodiesOf (schema: Schema): Generator<string> {
  yield LARGE['object']![0]!
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const start = `{${others(schema, name)}${JSON.stringify(name)}:`
    for (const value of largeOf(property)) yield `${start}${value}}`
    const { items } = property
    // What is in the items of a list.
    for (const [inner, part] of Object.entries(items?.properties ?? {})) {
      yield* largeOf(part).slice(0, 1).map((value) =>
        `${start}[{${others(items!, inner)}${JSON.stringify(inner)}:${value}}]}`
      )
    }
  }
}

/** Queries that take long to read. */
function* queriesOf ({ properties = {} }: Schema): Generator<string> {
  for (const name of Object.keys(properties)) {
    for (const text of ['a', ',', '-name,', '[', '{"q":', '0', '%']) {
      yield `${name}=${encodeURIComponent(filled(text, text === 'a' || text === '0' ? QUERY : QUERY / 3))}`
    }
    if (name === 'filter') {
      for (
        const value of [
          `{"q":"${'a '.repeat(QUERY / 4)}"}`,
          `{"q":"${'%_'.repeat(QUERY / 6)}"}`,
          `{"id":[${'0,'.repeat(QUERY / 4)}0]}`,
          `{"id":["${Array.from({ length: 200 }, () => randomUUID()).join('","')}"]}`,
          `{${Array.from({ length: QUERY / 24 }, (_, n) => `"k${n}":0`).join(',')}}`
        ]
      ) yield `filter=${encodeURIComponent(value)}`
    }
  }
  yield filled('a=&', QUERY)
  yield Array.from({ length: QUERY / 8 }, (_, n) => `k${n}=`).join('&')
}

/** Files that take long to read, by their media type: those that anybody may send. */
const FILES: Readonly<Record<string, () => Generator<string>>> = {
  'text/csv': function* () {
    // Without a heading, the first line with anything in it is taken for one.
    for (const text of [',\n', '\n', ',', '"', '\r', ' ']) yield filled(text, FILE - 100)
    for (const text of [',\n', '\n', ',', '"', '""', 'a\n', '"\n', '\r', '\r\n', ' ', '"",\n']) {
      yield `name,sku\n${filled(text, FILE - 100)}`
    }
    yield `name,sku,metadata\n${filled(`A,,"{${'""k"":[0,0,0],'.repeat(10)}""x"":1}"\n`, FILE - 100)}`
    yield `name,description\n${Array.from({ length: 9999 }, (_, n) => `P ${n},${'x'.repeat(1500)}\n`).join('')}`
    yield `name,status\n${Array.from({ length: 9999 }, (_, n) => `P ${n},${'x'.repeat(1500)}\n`).join('')}`
    yield `name,metadata\n${
      Array.from({ length: 250 }, (_, n) => `P ${n},"{""k"":[${'0,'.repeat(30_000)}0]}"\n`).join('')
    }`
  },
  'application/x-ndjson': function* () {
    for (const text of ['\n', '{}\n', '[', ' ', '0\n', '\r', '{"name":""}\n', '{"a":{"b":[0,0]}}\n']) {
      yield filled(text, FILE - 100)
    }
    yield filled(`{"name":"A","metadata":{"k":[${'0,'.repeat(30_000)}0]}}\n`, FILE - 100)
    yield filled(`{"name":"A","metadata":${'{"a":'.repeat(40_000)}0${'}'.repeat(40_000)}}\n`, FILE - 100)
    yield Array.from({ length: 9999 }, (_, n) => `{"name":"P ${n}","description":"${'x'.repeat(1500)}"}\n`).join('')
  },
  'application/x-www-form-urlencoded': function* () {
    for (const text of ['a=&', 'a[0][0]=&', '%41', '&', '=']) yield filled(text, BODY)
    yield Array.from({ length: BODY / 10 }, (_, n) => `k${n}=`).join('&')
  },
  'text/plain': function* () {
    yield filled('a', BODY)
  },
  'multipart/form-data; boundary=b': function* () {
    yield filled('--b\r\n', BODY)
  }
}

/** Of records that there are, where that makes a difference. */
const pathOf = (method: string, url: string): string =>
  (method === 'DELETE' && url === '/shops/:shop_id' ? url : url.replace(':shop_id', shopId)).replaceAll(
    /:\w+/g,
    randomUUID()
  ).replace('*', 'x')
const isDouble = (url: string): boolean =>
  url !== '/' && url.endsWith('/') && routes.some((other) => other.url === url.slice(0, -1))
const tested = routes.flatMap((route) => [route.method].flat().map((method) => ({ ...route, method }))).filter((
  { method, url }
) => !['HEAD', 'OPTIONS'].includes(method) && !isDouble(url))

/** Sends it as somebody who may call everything, and says how long others had to wait. */
async function probe (
  t: Test,
  what: string,
  request: { readonly method: string, readonly url: string, readonly type?: string, readonly payload?: string }
): Promise<number> {
  const { method, url, type, payload } = request
  const bytes = payload === undefined ? undefined : Buffer.from(payload)
  let status = 0
  const stretch = await steadyStretchOf(async () => {
    const response = await app.inject({
      method: method as 'POST',
      url,
      headers: {
        ...boss,
        accept: 'application/json, text/event-stream',
        ...type !== undefined && { 'content-type': type }
      },
      ...bytes !== undefined && { payload: bytes }
    })
    status = response.statusCode
  })
  if (stretch > LONGEST) t.fail(`${what}: others waited for ${stretch.toFixed(0)} ms`)
  if (status >= 500 && status !== 502) t.fail(`${what}: ${status}`)
  return stretch
}

t.test('no body keeps others waiting', async (t) => {
  let [worst, count] = [0, 0]
  /** The parts of the server, which may have parsers and limits of their own. */
  const parts = new Set<string>()
  for (const { method, url, schema, bodyLimit } of tested.filter(({ method }) => method !== 'GET')) {
    const body =
      (schema?.body as { content?: Record<string, { schema: Schema }> } | undefined)?.content?.['application/json']
        ?.schema ?? schema?.body ?? {}
    const part = `${url.split('/')[1]} ${bodyLimit}`
    for (const payload of [...parts.has(part) ? [] : WRONG, ...bodiesOf(body as Schema)]) {
      parts.add(part)
      count++
      worst = Math.max(
        worst,
        await probe(t, `${method} ${url} ${payload.slice(0, 80)}`, {
          method,
          url: pathOf(method, url),
          type: 'application/json',
          payload
        })
      )
    }
  }
  t.ok(count > 400, `${count} bodies, and nobody waited for more than ${worst.toFixed(0)} ms`)
})

t.test('no file keeps others waiting', async (t) => {
  let [worst, count] = [0, 0]
  for (const { method, url } of tested.filter(({ method }) => method !== 'GET')) {
    for (const [type, files] of Object.entries(FILES)) {
      const { statusCode } = await app.inject({
        method: method as 'POST',
        url: pathOf(method, url),
        headers: { ...boss, 'content-type': type },
        payload: 'a'
      })
      if (statusCode === 415) continue
      for (const payload of files()) {
        count++
        // A dry run reads the same way: it differs where there are products.
        for (
          const query of url.endsWith('/imports')
            ? ['?skip_invalid=true', ...payload.includes('P 1') ? ['?dry_run=true'] : []]
            : ['']
        ) {
          worst = Math.max(
            worst,
            await probe(t, `${method} ${url}${query} ${type} ${JSON.stringify(payload.slice(0, 80))}`, {
              method,
              url: pathOf(method, url) + query,
              type,
              payload
            })
          )
        }
      }
    }
  }
  t.ok(count > 10, `${count} files, and nobody waited for more than ${worst.toFixed(0)} ms`)
})

t.test('no query keeps others waiting', async (t) => {
  let [worst, count] = [0, 0]
  for (const { method, url, schema } of tested) {
    for (const query of queriesOf((schema?.querystring ?? {}) as Schema)) {
      count++
      worst = Math.max(
        worst,
        await probe(t, `${method} ${url} ${query.slice(0, 80)}`, { method, url: `${pathOf(method, url)}?${query}` })
      )
    }
  }
  t.ok(count > 100, `${count} queries, and nobody waited for more than ${worst.toFixed(0)} ms`)
})

t.test(
  'eight uploads at once, slow ones, and such that end in the middle keep nobody waiting, and take little memory',
  async (t) => {
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const other = await createShop(database, 'neighbour')
    const [{ id: product }] = await database.knex('products').insert({
      shop_id: other,
      name: 'Tea',
      slug: 'tea',
      currency: 'EUR'
    }).returning('id')
    const neighbour = bearer(await idp.machineToken())
    const urls = ['/healthz', `/shops/${other}/products/${product as string}`].map((path) =>
      `http://127.0.0.1:${port}${path}`
    )
    /** What the process did until the answer came. */
    const delay = async (url: string): Promise<number> => {
      const [at, cpu] = [performance.now(), cpuUsage.call(process)]
      t.equal((await fetch(url, { headers: neighbour })).status, 200)
      return Math.min(performance.now() - at, cpuSince(cpu))
    }
    for (const url of urls) await delay(url)
    const before = process.memoryUsage.rss()
    let [said, most] = ['', before]
    const delays: number[] = []
    // A shop of its own for each four of them: no shop may have more unfinished imports at once.
    const shops = await Promise.all(
      Array.from({ length: 6 }, async (_, n) => await createShop(database, `uploads-${n}`))
    )
    const uploader = spawn(process.execPath, [
      fileURLToPath(new URL('uploader.js', import.meta.url)),
      String(port),
      boss.authorization,
      ...shops
    ], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_OPTIONS: '' } })
    uploader.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString()
    })
    const exit = once(uploader, 'exit')
    const turn = await stretchOf(async () => {
      while (uploader.exitCode === null && uploader.signalCode === null) {
        for (const url of urls) delays.push(await delay(url))
        most = Math.max(most, process.memoryUsage.rss())
        await sleep(5)
      }
    })
    t.strictSame(await exit, [0, null])
    const answers: string[] = JSON.parse(said)
    t.equal(answers.length, 24)
    // A file that cannot be read on has its answer before its end, a dry run one of 200.
    t.strictSame(
      answers.filter((answer) =>
        !/^(?:whole|slow), .*: (?:200|202|422)$|^aborted, .*: (?:closed|200|422|429)$/.test(answer)
      ),
      []
    )
    // No turn is longer. A request takes several, for its connection, its token and its rows, and the eight have theirs
    // in between: on a busy machine, the slowest waited for 245 ms in turns of 97 (garbage was collected), 81 and 21
    // ms.
    const [worst, typical] = [0, 0.01].map((part) =>
      delays.toSorted((a, b) => b - a)[Math.floor(delays.length * part)]!
    ) as [number, number]
    const [megabytes, slow] = [(most - before) / 1_048_576, slowness()]
    t.ok(
      turn / slow < LONGEST && typical / slow < LONGEST && megabytes < 256,
      `${delays.length} requests, and nothing else ran for ${turn.toFixed(0)} ms; 99 % waited for less than ` +
        `${typical.toFixed(0)} ms, the slowest for ${worst.toFixed(0)} ms; ${megabytes.toFixed(0)} MiB more`
    )
  }
)
