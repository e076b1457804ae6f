import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Shares the event loop between long works: in each of its turns, one of them goes on, and everybody else comes first.
 *
 * @returns waits until the caller may go on for a few milliseconds
 */
export function slices (): () => Promise<void> {
  let last = Promise.resolve()
  return async () => {
    last = last.then(async () => { await nextTurn() })
    await last
  }
}
