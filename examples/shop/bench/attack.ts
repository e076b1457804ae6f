// npm run attack [-- seconds]: what one shop can cost the others, on a PostgreSQL server (TEST_DATABASE_URL). A shop
// fills its catalog with the largest products that the server takes, and then asks for the largest pages of them, over
// REST and MCP, with 24 calls at once that are sent again as soon as they are answered. Meanwhile another shop makes
// small calls. To reach: 99 of 100 of those take at most twice as long as without the attack, none fails, and the
// memory stays flat.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import knex from 'knex'
import { Pool } from 'undici'
import { launch, onDatabase, type Shop, stop, toolCall } from './shop.ts'

const CONNECTIONS = 24
const PRODUCTS = 200
/** Calls of the other shop a second: what the default limit of calls in a window lets it make. */
const RATE = 10
/** How much resident memory the attack may add, in bytes. */
const GROWTH = 100_000_000
/** Of the server, in MB. */
const HEAP = 384

const [argument = '20', ...target] = process.argv.slice(2)
if (argument === 'attacker') await attack(...target as [string, string, string])
else {
  await onDatabase('an attack', async (url) => {
    await measure(url, Number(argument))
  })
}

async function measure (url: string, seconds: number): Promise<void> {
  // Without the limit of calls in a window, so that the attack does not end by itself.
  const shop = await launch(url, {
    nodeOptions: [`--max-old-space-size=${HEAP}`],
    settings: { RATE_LIMIT_MAX: 1_000_000_000 }
  })
  const gone = once(shop.child, 'exit').then(() => 'gone' as const)
  const attacker = await prepareAttack(url, shop)
  await observe(shop, seconds)
  const before = await observe(shop, seconds)
  const child = fork(fileURLToPath(import.meta.url), ['attacker', shop.address, attacker.id, attacker.key])
  let counts = {}
  child.on('message', (message: object) => {
    counts = message
  })
  // Starting it is work for the machine, too, which is no part of the attack.
  await once(child, 'message')
  const during = await Promise.race([observe(shop, seconds), gone])
  child.disconnect()
  if (during === 'gone') {
    console.log('THE SERVER ENDED')
    process.exit(1)
  }
  console.log('answers to the attacker by status:', counts)
  console.table({ before, during })
  const reached = during.p99 <= 2 * before.p99 && during.failed === 0 &&
    during.resident - before.resident <= GROWTH / 1_000_000
  if (!reached) process.exitCode = 1
  await stop(shop)
}

/** Another shop with as much as it can have in the largest page. */
async function prepareAttack (url: string, shop: Shop): Promise<{ id: string, key: string }> {
  const database = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } })
  const [{ id }] = await database('shops').insert({ slug: 'attacker', name: 'Attacker', currency: 'EUR' }).returning(
    'id'
  )
  const attributes = Array.from(
    { length: 100 },
    (_, n) => ({ shop_id: id, name: `a${n}`, code: `a${n}`, type: 'text' })
  )
  const ids: Array<{ id: string }> = await database('attributes').insert(attributes).returning('id')
  await database.destroy()
  const pool = new Pool(shop.address)
  const post = async (
    path: string,
    headers: Record<string, string>,
    body: object
  ): Promise<{ status: number, json: any }> => {
    const { statusCode, body: answer } = await pool.request({
      method: 'POST',
      path,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    return { status: statusCode, json: await answer.json() }
  }
  const { json: { plaintext: key } } = await post(`/shops/${id}/api-keys/`, {
    authorization: `Bearer ${await shop.token()}`
  }, { name: 'attacker' })
  let values = ids.length
  for (let made = 0; made < PRODUCTS;) {
    const { status } = await post(`/shops/${id}/products`, { 'x-api-key': key }, {
      name: `Product ${made}`,
      attributes: ids.slice(0, values).map(({ id: attribute }) => ({
        attribute_id: attribute,
        value: '好'.repeat(2000)
      }))
    })
    if (status === 201) made += 1
    else if (values-- === 0) throw new RangeError(`no product is small enough: ${status}`)
  }
  console.log(`${PRODUCTS} products of ${Math.round(values * 6.1)} KB each`)
  await pool.close()
  return { id, key }
}

interface Observed {
  /** In milliseconds. */
  readonly p50: number
  readonly p99: number
  /** Calls that were not answered with a 2xx. */
  readonly failed: number
  /** Resident memory at its peak, in MB. */
  readonly resident: number
}

/** Small calls at random times, and what they were like. */
async function observe ({ address, shopId, productId, key, child }: Shop, seconds: number): Promise<Observed> {
  const pool = new Pool(address, { connections: 64 })
  const headers = { 'x-api-key': key }
  const calls = [
    { method: 'GET' as const, path: `/shops/${shopId}/products/${productId}`, headers },
    { method: 'GET' as const, path: `/shops/${shopId}/products?limit=5`, headers },
    toolCall(headers, 'get_product', { shop_id: shopId, product_id: productId }) as {
      method: 'POST',
      path: string,
      headers: Record<string, string>,
      body: string
    }
  ]
  const answers: Array<Promise<number | undefined>> = []
  let resident = 0
  const start = performance.now()
  for (let due = start; due < start + seconds * 1000; due += -Math.log(1 - Math.random()) * 1000 / RATE) {
    if (due > performance.now()) await delay(due - performance.now())
    resident = Math.max(resident, residentOf(child))
    answers.push(
      pool.request(calls[answers.length % calls.length]!).then(async ({ statusCode, body }) => {
        await body.dump()
        return statusCode < 300 ? performance.now() - due : undefined
      }).catch(() => undefined)
    )
  }
  const times = (await Promise.all(answers)).filter((time) => time !== undefined).sort((a, b) => a - b)
  await pool.close()
  const quantile = (part: number): number => Number((times[Math.floor(times.length * part)] ?? Infinity).toFixed(1))
  return { p50: quantile(0.5), p99: quantile(0.99), failed: answers.length - times.length, resident }
}

/** In MB, as Linux has it; 0 elsewhere and of a process that has ended. */
function residentOf ({ pid }: ChildProcess): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid!}/status`, 'utf8'))?.[1]) * 1.024 / 1000)
  } catch {
    return 0
  }
}

/** In a process of its own, until the other one has had enough. */
async function attack (address: string, shopId: string, key: string): Promise<void> {
  const pool = new Pool(address, { connections: CONNECTIONS, bodyTimeout: 0, headersTimeout: 0 })
  const counts: Record<string, number> = {}
  process.once('disconnect', () => {
    process.exit()
  })
  const one = async (_: unknown, index: number): Promise<void> => {
    for (;;) {
      const request = index % 2 === 0
        ? { method: 'GET' as const, path: `/shops/${shopId}/products?limit=200`, headers: { 'x-api-key': key } }
        : toolCall({ 'x-api-key': key }, 'list_products', { shop_id: shopId, limit: 200 }) as {
          method: 'POST',
          path: string,
          headers: Record<string, string>,
          body: string
        }
      const status = await pool.request(request).then(async ({ statusCode, body }) => {
        await body.dump({ limit: Infinity })
        return String(statusCode)
      }).catch((error: { code?: string }) => error.code ?? 'failed')
      counts[status] = (counts[status] ?? 0) + 1
      if (process.connected) process.send?.(counts)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, one))
}
