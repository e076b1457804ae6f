import { isDeepStrictEqual } from 'node:util'
import { call } from '../test/process.ts'
import type { Scope } from '../../../test/scope.ts'
import type { Exercise } from './exercise.ts'
import { until } from './until.ts'

/** Callers that write and list in turn. */
export interface Reading {
  /** Waits until each caller has gone through so many rounds more. */
  rounds(count: number): Promise<void>
  /** The names of all products that were ever listed. */
  seen(): readonly string[]
  /** Ends it. @returns what was not as it had to be, and how long a list took at most, in milliseconds */
  end(): Promise<{ readonly wrong: readonly unknown[], readonly slowest: number }>
}

const CALLERS = 3
const LIMIT = 120

/**
 * Starts callers, each of which creates, changes and deletes a category, and lists it after each at the other replica.
 * They also list products, which nobody changes.
 */
export async function startReading (t: Scope, { replicas, shop, machine: headers }: Exercise): Promise<Reading> {
  const [seen, wrong, rounds] = [new Set<string>(), [] as unknown[], Array.from({ length: CALLERS }, () => 0)]
  let slowest = 0
  const ended = new AbortController()
  const send = async (replica: number, method: string, path: string, body?: object) =>
    await call(method, `${replicas[replica % replicas.length]!.baseUrl}/shops/${shop}${path}`, {
      headers,
      ...body && { body }
    })
  const list = async (replica: number, path: string): Promise<readonly any[]> => {
    const from = performance.now()
    const { status, body } = await send(replica, 'GET', path)
    slowest = Math.max(slowest, performance.now() - from)
    if (status !== 200) wrong.push(body)
    return status === 200 ? body : []
  }
  const expect = (found: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(found, expected)) wrong.push({ found, expected })
  }
  const product = (await send(0, 'POST', '/products', { name: 'Tea' })).body
  t.teardown(() => {
    ended.abort()
  })

  async function round (caller: number): Promise<void> {
    const [here, there] = [rounds[caller]! + caller, rounds[caller]! + caller + 1]
    const made = (await send(here, 'POST', '/categories', { name: `Made by ${caller}` })).body
    const one = `/categories?filter=${encodeURIComponent(JSON.stringify({ id: [made.id] }))}`
    expect(await list(there, one), [made])
    const changed = (await send(there, 'PATCH', `/categories/${made.id}`, { description: 'Changed' })).body
    expect((await list(here, '/categories?limit=200')).find(({ id }) => id === made.id), changed)
    await send(here, 'DELETE', `/categories/${made.id}`)
    expect(await list(there, one), [])
    const products = await list(here, '/products')
    for (const { name } of products) seen.add(name)
    expect(products, [product])
    rounds[caller]! += 1
  }

  const all = Promise.all(rounds.map(async (_, caller) => {
    while (!ended.signal.aborted) await round(caller)
  }))
  // It is waited for at the end.
  all.catch(() => {})
  return {
    async rounds (count) {
      const wanted = rounds.map((done) => done + count)
      await Promise.race([
        until(`${count} rounds of reading`, LIMIT, () => rounds.every((done, caller) => done >= wanted[caller]!)),
        all
      ])
    },
    seen: () => [...seen],
    async end () {
      ended.abort()
      await all
      return { wrong, slowest }
    }
  }
}
