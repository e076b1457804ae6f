import { SHOP_TOO_MANY_CONCURRENT_CALLS } from '../errors.ts'

/** How many works of a shop may wait for their turn. */
const MAX_WAITING = 8

/**
 * Lets works of the same shop run one after another, and at most `atOnce` of all shops at a time. Work that waits here holds
 * no connection to the database, which it would if it waited for a lock there.
 *
 * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} if too many works of the shop wait already
 */
export function turns (atOnce: number) {
  const shops = new Map<string, { last: Promise<void>, works: number }>()
  const waiting: Array<() => void> = []
  let running = 0

  async function enter (): Promise<void> {
    if (running === atOnce) return await new Promise((resolve) => waiting.push(resolve))
    running += 1
  }

  function leave (): void {
    const next = waiting.shift()
    if (next !== undefined) return next()
    running -= 1
  }

  return async <Result>(shopId: string, work: () => Promise<Result>): Promise<Result> => {
    const shop = shops.get(shopId) ?? { last: Promise.resolve(), works: 0 }
    if (shop.works > MAX_WAITING) throw new SHOP_TOO_MANY_CONCURRENT_CALLS(1, MAX_WAITING)
    shops.set(shopId, shop)
    shop.works += 1
    const result = shop.last.then(enter).then(async () => await work().finally(leave))
    shop.last = result.then(() => {}, () => {})
    return await result.finally(() => {
      shop.works -= 1
      if (shop.works === 0) shops.delete(shopId)
    })
  }
}
