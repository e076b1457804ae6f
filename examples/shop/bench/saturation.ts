import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import type { Shop } from './shop.ts'

const CONNECTIONS = 10
/** Calls of each side: until then much of the time goes into compiling. */
const WARM_UP = 2000

/** A call, another one each time where it matters. */
export type MakeRequest = () => autocannon.Request

/** What a server does that has always another call to answer. */
export interface Saturated {
  /** Answers a second. */
  readonly rate: number
  /** Of the server's process, an answer, in microseconds. */
  readonly cpu: number
  /** From a call to its answer, in milliseconds. */
  readonly p50: number
  readonly p99: number
}

/**
 * Sends as many calls as it takes, each connection one after another.
 *
 * @throws RangeError if an answer is no 2xx
 */
export async function saturate (
  { child, address }: Pick<Shop, 'child' | 'address'>,
  make: MakeRequest,
  seconds: number
): Promise<Saturated> {
  const before = await processorTime(child)
  const result = await autocannon({
    url: address,
    connections: CONNECTIONS,
    requests: [different(make)],
    duration: seconds
  })
  const after = await processorTime(child)
  const answers = result['2xx']
  if (answers === 0 || result.non2xx > 0 || result.errors > 0) {
    throw new RangeError(
      `${result.non2xx} answers were no 2xx, ${result.errors} requests failed: ` +
        `${JSON.stringify(result.statusCodeStats)}`
    )
  }
  return {
    rate: answers / result.duration,
    cpu: (after - before) / answers,
    p50: result.latency.p50,
    p99: result.latency.p99
  }
}

async function processorTime (child: ChildProcess): Promise<number> {
  const answer = once(child, 'message')
  child.send('usage')
  const [{ cpu: { user, system } }] = await answer as [{ cpu: NodeJS.CpuUsage }]
  return user + system
}

/** A call of the shop, and the same of a route on Fastify alone. */
export interface Comparison {
  readonly shop: MakeRequest
  readonly bare: MakeRequest
}

/** Medians of the rounds. */
export interface Compared {
  readonly shop: Saturated
  readonly bare: Saturated
  /** The calls a second of the shop, as a part of those of the bare route. */
  readonly ratio: number
}

/**
 * Calls of the shop, beside routes on Fastify alone that do the same with one statement. In turn, so that whatever else
 * the machine does befalls them alike.
 *
 * @param url - of the shop's database
 * @param options - rounds, the seconds of each call in a round, and what is done before each round
 */
export async function besideBare<Kind extends string> (
  url: string,
  shop: Shop,
  comparisons: Readonly<Record<Kind, Comparison>>,
  { rounds, seconds, before = async () => {} }: {
    readonly rounds: number,
    readonly seconds: number,
    readonly before?: () => Promise<void>
  }
): Promise<Record<Kind, Compared>> {
  const child = fork(fileURLToPath(new URL('bare.ts', import.meta.url)), [url])
  const [{ address }] = await once(child, 'message') as [{ address: string }]
  const bare = { child, address }
  const kinds = Object.entries(comparisons) as Array<[Kind, Comparison]>
  try {
    for (const [, sides] of kinds) {
      for (const [server, make] of [[shop, sides.shop], [bare, sides.bare]] as const) await warmUp(server, make)
    }
    const all = new Map<Kind, Array<{ shop: Saturated, bare: Saturated }>>(kinds.map(([kind]) => [kind, []]))
    for (let round = 0; round < rounds; round++) {
      await before()
      for (const [kind, sides] of kinds) {
        all.get(kind)!.push({
          shop: await saturate(shop, sides.shop, seconds),
          bare: await saturate(bare, sides.bare, seconds)
        })
      }
    }
    return Object.fromEntries(kinds.map(([kind]) => {
      const found = all.get(kind)!
      return [kind, {
        shop: medians(found.map(({ shop }) => shop)),
        bare: medians(found.map(({ bare }) => bare)),
        ratio: median(found.map(({ shop, bare }) => shop.rate / bare.rate))
      }]
    })) as Record<Kind, Compared>
  } finally {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  }
}

/** A product's get, beside a bare route and one whose statement has a name. */
export function comparisonsOfGet (
  { shopId, productId, key }: Shop
): Readonly<Record<'get' | 'get, named', Comparison>> {
  const path = `/shops/${shopId}/products/${productId}`
  const shop = (): autocannon.Request => ({ method: 'GET', path, headers: { 'x-api-key': key } })
  return {
    get: { shop, bare: () => ({ method: 'GET', path }) },
    'get, named': { shop, bare: () => ({ method: 'GET', path: `/named${path}` }) }
  }
}

/** Sends calls until the server has compiled what they need. */
export async function warmUp ({ address }: Pick<Shop, 'address'>, make: MakeRequest): Promise<void> {
  await autocannon({ url: address, connections: CONNECTIONS, requests: [different(make)], amount: WARM_UP })
}

function different (make: MakeRequest): autocannon.Request {
  return { ...make(), setupRequest: (prepared: autocannon.Request) => ({ ...prepared, ...make() }) }
}

export function medians (all: readonly Saturated[]): Saturated {
  const of = (name: keyof Saturated): number => median(all.map((one) => one[name]))
  return { rate: of('rate'), cpu: of('cpu'), p50: of('p50'), p99: of('p99') }
}

export function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
