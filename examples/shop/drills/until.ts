import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until something is so.
 *
 * @param limit - in seconds
 * @throws if it is not so by then
 */
export async function until (what: string, limit: number, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + limit * 1000
  while (!await isSo()) {
    if (performance.now() > end) throw new Error(`not within ${limit} s: ${what}`)
    await sleep(20)
  }
}
