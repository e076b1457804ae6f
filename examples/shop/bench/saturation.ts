import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import type { Shop } from './shop.ts'

const CONNECTIONS = 10
/** Calls of each side: until then much of the time goes into compiling. */
const WARM_UP = 5000

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
export async function saturate ({ child, address }: Pick<Shop, 'child' | 'address'>, make: MakeRequest, seconds: number): Promise<Saturated> {
  const before = await processorTime(child)
  const requests = [{ ...make(), setupRequest: (prepared: autocannon.Request) => ({ ...prepared, ...make() }) }]
  const result = await autocannon({ url: address, connections: CONNECTIONS, requests, duration: seconds })
  const after = await processorTime(child)
  const answers = result['2xx']
  if (answers === 0 || result.non2xx > 0 || result.errors > 0) throw new RangeError(`${result.non2xx} answers were no 2xx, ${result.errors} requests failed: ${JSON.stringify(result.statusCodeStats)}`)
  return { rate: answers / result.duration, cpu: (after - before) / answers, p50: result.latency.p50, p99: result.latency.p99 }
}

async function processorTime (child: ChildProcess): Promise<number> {
  const answer = once(child, 'message')
  child.send('usage')
  const [{ cpu: { user, system } }] = await answer as [{ cpu: NodeJS.CpuUsage }]
  return user + system
}

/**
 * The shop's get with an API key, beside a route on Fastify alone that reads the same product with one statement. Both in turn,
 * so that whatever else the machine does befalls them alike.
 *
 * @param url - of the shop's database
 * @returns medians of the rounds. `rate` is calls a second of the shop as a part of those of the bare route, and `cpu` the
 *   same of calls for a second of the processors' time of Node.js
 */
export async function besideBare (url: string, shop: Shop, { rounds, seconds }: { readonly rounds: number, readonly seconds: number }): Promise<{ readonly shop: Saturated, readonly bare: Saturated, readonly rate: number, readonly cpu: number }> {
  const child = fork(fileURLToPath(new URL('bare.ts', import.meta.url)), [url])
  const [{ address }] = await once(child, 'message') as [{ address: string }]
  const bare = { child, address }
  try {
    const get = (): autocannon.Request => ({ method: 'GET', path: `/shops/${shop.shopId}/products/${shop.productId}`, headers: { 'x-api-key': shop.key } })
    for (const { address } of [shop, bare]) await autocannon({ url: address, connections: CONNECTIONS, requests: [get()], amount: WARM_UP })
    const pairs: Array<{ readonly shop: Saturated, readonly bare: Saturated }> = []
    for (let round = 0; round < rounds; round++) pairs.push({ shop: await saturate(shop, get, seconds), bare: await saturate(bare, get, seconds) })
    const side = (name: 'shop' | 'bare'): Saturated => medians(pairs.map((pair) => pair[name]))
    return {
      shop: side('shop'),
      bare: side('bare'),
      rate: median(pairs.map((pair) => pair.shop.rate / pair.bare.rate)),
      cpu: median(pairs.map((pair) => pair.bare.cpu / pair.shop.cpu))
    }
  } finally {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
  }
}

export function medians (all: readonly Saturated[]): Saturated {
  const of = (name: keyof Saturated): number => median(all.map((one) => one[name]))
  return { rate: of('rate'), cpu: of('cpu'), p50: of('p50'), p99: of('p99') }
}

export function median (values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
