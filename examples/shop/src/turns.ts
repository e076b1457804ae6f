import { SHOP_TOO_MANY_CONCURRENT_CALLS } from './errors.ts'

/** How many works of the same shop or caller may wait for their turn, and for how long, in milliseconds. */
const MAX_WAITING = 8
const MAX_WAIT = 30_000

interface Waiting {
  readonly keys: readonly string[]
  readonly start: () => void
}

/**
 * Lets at most `atOnce` works run at a time, and at most `share` of the same shop or caller, so that none of them has
 * all places. Work that waits here holds no connection to the database, which it would if it waited for a lock there.
 *
 * @param share - default: 1
 * @param maxWait - in milliseconds. Default: 30 seconds
 * @returns runs a work when it is its turn. `keys` name those that it takes the place of. Its `state` is how many works
 *   run and wait
 * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} if too many works of one of them wait already, or its turn does not
 *   come
 */
export function turns (
  { atOnce, share = 1, maxWait = MAX_WAIT }: {
    readonly atOnce: number,
    readonly share?: number,
    readonly maxWait?: number
  }
) {
  /** How many works run, by key. */
  const running = new Map<string, number>()
  let count = 0
  let waiting: readonly Waiting[] = []

  const sharing = (keys: readonly string[]) => (other: Waiting): boolean => other.keys.some((key) => keys.includes(key))
  const mayRun = ({ keys }: Pick<Waiting, 'keys'>): boolean =>
    count < atOnce && keys.every((key) => (running.get(key) ?? 0) < share)

  function take (keys: readonly string[], places: 1 | -1): void {
    count += places
    for (const key of keys) {
      const now = (running.get(key) ?? 0) + places
      if (now === 0) running.delete(key)
      else running.set(key, now)
    }
  }

  function leave (keys: readonly string[]): void {
    take(keys, -1)
    // Others have waited longer.
    const isSharing = sharing(keys)
    waiting = [...waiting.filter((one) => !isSharing(one)), ...waiting.filter(isSharing)]
    for (const one of waiting) {
      if (!mayRun(one)) continue
      waiting = waiting.filter((other) => other !== one)
      take(one.keys, 1)
      one.start()
    }
  }

  async function enter (keys: readonly string[]): Promise<void> {
    if (mayRun({ keys })) return take(keys, 1)
    const refusal = new SHOP_TOO_MANY_CONCURRENT_CALLS(share, MAX_WAITING)
    if (keys.some((key) => waiting.filter(sharing([key])).length >= MAX_WAITING)) throw refusal
    await new Promise<void>((resolve, reject) => {
      const one = {
        keys,
        start: () => {
          clearTimeout(timer)
          resolve()
        }
      }
      const timer = setTimeout(() => {
        waiting = waiting.filter((other) => other !== one)
        reject(refusal)
      }, maxWait)
      waiting = [...waiting, one]
    })
  }

  const inTurn = async <Result>(keys: readonly string[], work: () => Promise<Result>): Promise<Result> => {
    await enter(keys)
    return await work().finally(() => {
      leave(keys)
    })
  }
  return Object.assign(inTurn, { state: () => ({ running: count, waiting: waiting.length }) })
}
