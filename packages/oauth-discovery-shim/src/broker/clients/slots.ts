/** Places for work that runs at the same time. */
export interface Slots {
  /** Whether {@link Slots.run} would start at once. */
  isFree (): boolean
  /** Runs the work when there is a place, in the order of the calls; `tooLate` throws if there is none in time. */
  run<Value> (work: () => Promise<Value>, tooLate: () => never): Promise<Value>
}

/** @param patience how long work waits for a place, in milliseconds */
export function createSlots (most: number, patience: number): Slots {
  const waiting = new Set<() => void>()
  let free = most

  /** Resolves to whether there is a place. */
  async function place (): Promise<boolean> {
    if (free > 0) {
      free--
      return true
    }
    return await new Promise(resolve => {
      const timer = setTimeout(() => {
        waiting.delete(start)
        resolve(false)
      }, patience)
      function start (): void {
        clearTimeout(timer)
        resolve(true)
      }
      waiting.add(start)
    })
  }

  /** The place goes to whoever has waited longest. */
  function leave (): void {
    const [next] = waiting
    if (next === undefined) {
      free++
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    isFree: () => free > 0,
    async run (work, tooLate) {
      if (!await place()) return tooLate()
      try {
        return await work()
      } finally {
        leave()
      }
    }
  }
}
