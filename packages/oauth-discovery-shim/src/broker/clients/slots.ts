/** Places for work that runs at the same time. */
export interface Slots {
  /** Whether {@link Slots.run} would start at once. */
  isFree(): boolean
  /**
   * Runs the work when there is a place, in the order of the calls; `tooLate` throws if there is none in time.
   *
   * @param work - ends when its signal says so: it has had its share, and others wait
   */
  run<Value>(work: (hurry: AbortSignal) => Promise<Value>, tooLate: () => never): Promise<Value>
}

interface Running {
  /** Whether it has had its share. */
  isLong: boolean
  readonly hurry: AbortController
}

/**
 * @param patience - how long work waits for a place, in milliseconds
 * @param share - how long work keeps its place although others wait, in milliseconds
 */
export function createSlots (most: number, patience: number, share: number): Slots {
  const waiting = new Set<() => void>()
  /** The longest first. */
  const running = new Set<Running>()
  let free = most

  /** As many of those that have had their share are ended as others wait. */
  function hurry (): void {
    const ending = [...running].filter(({ hurry }) => hurry.signal.aborted).length
    const long = [...running].filter(({ isLong, hurry }) => isLong && !hurry.signal.aborted)
    for (const { hurry } of long.slice(0, Math.max(0, waiting.size - ending))) hurry.abort()
  }

  /** Resolves to whether there is a place. */
  async function place (): Promise<boolean> {
    if (free > 0) {
      free--
      return true
    }
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        waiting.delete(start)
        resolve(false)
      }, patience)
      function start (): void {
        clearTimeout(timer)
        resolve(true)
      }
      waiting.add(start)
      hurry()
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
      const one: Running = { isLong: false, hurry: new AbortController() }
      running.add(one)
      const timer = setTimeout(() => {
        one.isLong = true
        hurry()
      }, share)
      try {
        return await work(one.hurry.signal)
      } finally {
        clearTimeout(timer)
        running.delete(one)
        leave()
      }
    }
  }
}
