// npm run scale:memory [-- keys | server | tools]: what a server holds in memory for each key, shop, idle connection
// and tool, in bytes; on a PostgreSQL server (TEST_DATABASE_URL). Memory is read after garbage collections, so a busy
// machine changes the times and not the bytes. Exits with 1 if the start or the list of tools grows faster than the
// tools.
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import knex from 'knex'
import { Pool } from 'undici'
import { createLastUsed } from '../../../packages/dual-auth/src/keys/last-used.ts'
import { acceptedKeys } from '../src/operations/accepted-keys.ts'
import { launch, onDatabase, type Shop, stop, toolCall, type Usage, usage } from './shop.ts'
import type { ToolServer } from './scale-tools.ts'

const KEYS = 1_000_000
const SHOPS = 1000
const CONNECTIONS = 1000
const TOOLS = [1000, 5000] as const
/**
 * How many times as much five times the tools may take: a start ends with collections of garbage, whose number varies.
 */
const LINEAR = 6.5
/** Of each list. */
const ROUNDS = 9

const parts = { keys: measureKeys, server: measureServer, tools: measureTools }
const wanted = process.argv.slice(2)
for (const [name, measure] of Object.entries(parts)) if (wanted.length === 0 || wanted.includes(name)) await measure()

async function measureKeys (): Promise<void> {
  if (globalThis.gc !== undefined) return await countKeys()
  await finished(fork(fileURLToPath(import.meta.url), ['keys'], { execArgv: [...process.execArgv, '--expose-gc'] }))
}

async function measureServer (): Promise<void> {
  await onDatabase('shops and connections', callServer)
}

/** What the process keeps of keys between calls. It keeps no key, and nothing of what the database says of it. */
async function countKeys (): Promise<void> {
  const held = (): number => {
    globalThis.gc!()
    return process.memoryUsage().heapUsed
  }
  const callStore = async <T>(call: () => Promise<T>): Promise<T> => await call()
  const store = { touch: async () => [] } as unknown as Parameters<typeof createLastUsed>[0]
  const log = { warn: console.warn } as unknown as Parameters<typeof createLastUsed>[2]
  const ids = Array.from({ length: KEYS }, () => randomUUID())
  const before = held()
  const lastUsed = createLastUsed(store, callStore, log, 60_000)
  for (const [n, id] of ids.entries()) lastUsed.touch(id, `10.${n >> 16}.${n >> 8 & 255}.${n & 255}`)
  const queued = held()
  await lastUsed.flush()
  const written = held()
  const accepted = acceptedKeys()
  for (const id of ids) accepted.remember(id, { keyId: 'key', shopId: 'shop' })
  const all = held()
  console.log(`${KEYS} keys that were all used within a minute, from one address each:`)
  print('when each was last used, until the next minute', written - before, KEYS)
  print('the same while it waits to be written', queued - before, KEYS)
  print('that it was accepted lately: the last 20,000 are kept', all - written, 20_000)
  // Both are reachable until here.
  lastUsed.touch(ids[0]!, undefined)
  await accepted.find(ids[0]!)
}

async function callServer (url: string): Promise<void> {
  const shop = await launch(url)
  const tables = knex({ client: 'pg', connection: url, pool: { min: 0, max: 2 } })
  try {
    const { pathname, hostname, port } = new URL(shop.address)
    const authorization = `Bearer ${await shop.token()}`
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const send = async (
      agent: Agent,
      method: string,
      path: string,
      headers: object,
      body?: string | object
    ): Promise<string> => {
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      return await new Promise((resolve, reject) => {
        const sent = request({
          agent,
          hostname,
          port,
          method,
          path: `${pathname.slice(1)}${path}`,
          headers: {
            ...headers,
            ...text !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
          }
        }, (answer) => {
          let received = ''
          answer.setEncoding('utf8').on('data', (data) => {
            received += data
          }).on('end', () => {
            if (answer.statusCode! > 299 || received.includes('"isError":true')) {
              reject(new RangeError(`${path} answered ${answer.statusCode}: ${received.slice(0, 200)}`))
            } else resolve(received)
          })
        })
        sent.on('error', reject).end(text)
      })
    }
    const use = async (agent: Agent, shopId: string, key: string): Promise<void> => {
      await send(agent, 'GET', `/shops/${shopId}/products?filter=${encodeURIComponent('{"status":["draft"]}')}`, {
        'x-api-key': key
      })
      const { path, headers, body } = toolCall({ 'x-api-key': key }, 'list_tags', { shop_id: shopId })
      await send(agent, 'POST', path!, headers!, body as string)
    }
    const open = async (number: number): Promise<Array<{ readonly id: string, readonly key: string }>> =>
      await Promise.all(Array.from({ length: number }, async () => {
        const [{ id }] = await tables('shops').insert({
          name: 'One of many',
          slug: `many-${randomUUID()}`,
          currency: 'EUR'
        }).returning('id')
        const { plaintext: key } = JSON.parse(
          await send(agent, 'POST', `/shops/${id}/api-keys/`, { authorization }, { name: 'memory' })
        )
        return { id, key }
      }))

    // Until it has compiled what the calls need, and filled its pool.
    for (const { id, key } of await open(100)) await use(agent, id, key)
    const shops = await open(SHOPS)
    const before = await settled(shop)
    for (const { id, key } of shops) await use(agent, id, key)
    const called = await settled(shop)
    console.log(`${SHOPS} shops, each called over REST and MCP with a key of its own, and a filtered list of each:`)
    print('on the heap', called.memory.heapUsed - before.memory.heapUsed, SHOPS)

    for (const kind of ['HTTP', 'MCP'] as const) {
      const idle = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, maxFreeSockets: CONNECTIONS })
      const held: Socket[] = []
      const start = await settled(shop)
      for (let n = 0; n < CONNECTIONS; n += 50) {
        await Promise.all(Array.from({ length: 50 }, async () => {
          if (kind === 'HTTP') {
            return await send(idle, 'GET', `/shops/${shop.shopId}/products/${shop.productId}`, {
              'x-api-key': shop.key
            })
          }
          const { path, headers, body } = toolCall({ 'x-api-key': shop.key }, 'get_product', {
            shop_id: shop.shopId,
            product_id: shop.productId
          })
          return await send(idle, 'POST', path!, headers!, body as string)
        }))
        // Busy, so that the next ones open connections of their own.
        for (const sockets of Object.values(idle.freeSockets)) held.push(...sockets!.splice(0))
      }
      const end = await settled(shop)
      console.log(`${CONNECTIONS} connections of ${kind} that have made a call and stay open:`)
      print('on the heap', end.memory.heapUsed - start.memory.heapUsed, CONNECTIONS)
      print('resident', end.memory.rss - start.memory.rss, CONNECTIONS)
      if (end.handles - start.handles < CONNECTIONS * 0.99) {
        throw new RangeError(`only ${end.handles - start.handles} connections stayed open`)
      }
      for (const socket of held.splice(0)) socket.destroy()
      idle.destroy()
    }
    agent.destroy()
  } finally {
    await tables.destroy()
    await stop(shop)
  }
}

async function settled (shop: Shop): Promise<Usage> {
  // Whatever the calls left behind for a moment is done.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await usage(shop, { collect: true })
  return await usage(shop, { collect: true })
}

/** The list of a server: its bytes, and the milliseconds of the processor that an answer takes, a median. */
async function listed (
  child: ChildProcess,
  address: string
): Promise<{ readonly time: number, readonly bytes: number }> {
  const client = new Pool(address, { connections: 1 })
  const used = async (): Promise<number> => {
    child.send('usage')
    const [{ user, system }] = await once(child, 'message') as [NodeJS.CpuUsage]
    return (user + system) / 1000
  }
  const times: number[] = []
  let bytes = 0
  for (let round = 0; round <= ROUNDS; round++) {
    const start = await used()
    const { statusCode, body } = await client.request({
      method: 'POST',
      path: '/mcp',
      headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    })
    bytes = (await body.bytes()).length
    if (statusCode !== 200 || bytes < 100_000) throw new RangeError(`the list answered ${statusCode}, ${bytes} bytes`)
    if (round > 0) times.push(await used() - start)
  }
  await client.close()
  return { time: times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!, bytes }
}

async function measureTools (): Promise<void> {
  const rows: Array<
    {
      readonly start: number,
      readonly heap: number,
      readonly list: number,
      readonly checked: number,
      readonly bytes: number
    }
  > = []
  for (const count of TOOLS) {
    const child = fork(fileURLToPath(new URL('scale-tools.ts', import.meta.url)), [String(count)], {
      execArgv: [...process.execArgv, '--expose-gc']
    })
    const [{ start, heap, open, checking }] = await once(child, 'message') as [ToolServer]
    const { time: list, bytes } = await listed(child, open)
    const { time: checked } = await listed(child, checking)
    rows.push({ start, heap, list, checked, bytes })
    child.disconnect()
    await finished(child)
  }
  const [few, many] = rows as [typeof rows[number], typeof rows[number]]
  console.log(`tools, of ${TOOLS.join(' and ')} routes with the schemas of update_product; times are of the processor:`)
  const growth = (['start', 'list', 'checked', 'heap'] as const).map((what) => [what, many[what] / few[what]] as const)
  for (const [n, { start, heap, list, checked, bytes }] of rows.entries()) {
    console.log(
      `  ${TOOLS[n]!}: start ${start.toFixed(0)} ms, list ${list.toFixed(1)} ms, of a client that is checked ` +
        `${checked.toFixed(1)} ms, ${bytes} bytes; ${Math.round(heap / TOOLS[n]!)} bytes of heap each`
    )
  }
  console.log(`  growth: ${growth.map(([what, times]) => `${what} ${times.toFixed(1)}`).join(', ')}; at most ${LINEAR}`)
  const missed = growth.filter(([, times]) => times > LINEAR).map(([what, times]) =>
    `${what} grows ${times.toFixed(1)} times`
  )
  console.log(missed.length === 0 ? 'every figure is reached' : `MISSED: ${missed.join('; ')}`)
  if (missed.length > 0) process.exitCode = 1
}

function print (what: string, bytes: number, number: number): void {
  console.log(`  ${what}: ${Math.round(bytes / number)} bytes each, ${(bytes / 1e6).toFixed(1)} MB`)
}

async function finished (child: ReturnType<typeof fork>): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new RangeError(`a part ended with ${String(code)}`)
}
