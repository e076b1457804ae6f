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
export async function saturate ({ child, address }: Pick<Shop, 'child' | 'address'>, make: MakeRequest, seconds: number): Promise<Saturated> {
  const before = await processorTime(child)
  const result = await autocannon({ url: address, connections: CONNECTIONS, requests: [different(make)], duration: seconds })
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

/** What the shop's get is compared with, see {@link besideBare}. */
export interface Beside {
  readonly shop: Saturated
  /** A route on Fastify alone. */
  readonly bare: Saturated
  /** The same, with a named statement. */
  readonly named: Saturated
  /** The calls a second of the shop, as a part of those of the bare route and of the named one. */
  readonly ratios: { readonly bare: number, readonly named: number }
}

/**
 * The shop's get with an API key, beside routes on Fastify alone that read the same product with one statement. In turn, so
 * that whatever else the machine does befalls them alike.
 *
 * @param url - of the shop's database
 * @param options - rounds, and the seconds of each call in a round
 * @returns medians of the rounds
 */
export async function besideBare (url: string, shop: Shop, { rounds, seconds }: { readonly rounds: number, readonly seconds: number }): Promise<Beside> {
  const child = fork(fileURLToPath(new URL('bare.ts', import.meta.url)), [url])
  const [{ address }] = await once(child, 'message') as [{ address: string }]
  const bare = { child, address }
  const path = `/shops/${shop.shopId}/products/${shop.productId}`
  const sides = {
    shop: [shop, () => ({ method: 'GET', path, headers: { 'x-api-key': shop.key } })],
    bare: [bare, () => ({ method: 'GET', path })],
    named: [bare, () => ({ method: 'GET', path: `/named${path}` })]
  } satisfies Record<string, [Pick<Shop, 'child' | 'address'>, MakeRequest]>
  try {
    for (const [server, make] of Object.values(sides)) await warmUp(server, make)
    const all: Array<Record<keyof typeof sides, Saturated>> = []
    for (let round = 0; round < rounds; round++) {
      all.push({ shop: await saturate(...sides.shop, seconds), bare: await saturate(...sides.bare, seconds), named: await saturate(...sides.named, seconds) })
    }
    const of = (side: keyof typeof sides): Saturated => medians(all.map((round) => round[side]))
    const ratio = (to: 'bare' | 'named'): number => median(all.map((round) => round.shop.rate / round[to].rate))
    return { shop: of('shop'), bare: of('bare'), named: of('named'), ratios: { bare: ratio('bare'), named: ratio('named') } }
  } finally {
    const gone = once(child, 'exit')
    child.disconnect()
    await gone
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
