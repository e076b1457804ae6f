/** One of the values that {@link Recurring} holds. */
export interface Timed<Value> {
  readonly value: Value
  /** When its time comes next. */
  end: number
  /** Its index in the list. */
  index: number
}

/**
 * Acts on each value some time after its start, and again each time that this has passed, until it is finished. One
 * timer does for all: a timer for each costs more than the routing of its request.
 */
export class Recurring<Value> {
  readonly #interval: number
  readonly #act: (value: Value) => void
  /** Unordered. A Set or Map would keep ended values in memory, in the tables that it outgrows. */
  readonly #running: Array<Timed<Value>> = []
  #isWaiting = false

  /** @param interval - in milliseconds */
  constructor (interval: number, act: (value: Value) => void) {
    this.#interval = interval
    this.#act = act
  }

  start (value: Value): Timed<Value> {
    const timed = { value, end: performance.now() + this.#interval, index: this.#running.length }
    this.#running.push(timed)
    if (!this.#isWaiting) this.#wait(this.#interval)
    return timed
  }

  /** Is called once for each value that was started. */
  finish ({ index }: Timed<Value>): void {
    const last = this.#running.pop()
    if (last === undefined || last.index === index) return
    last.index = index
    this.#running[index] = last
  }

  #wait (duration: number): void {
    this.#isWaiting = true
    // Not a reason to keep the process: a call that runs has a client with a connection.
    setTimeout(() => this.#check(), duration).unref()
  }

  #check (): void {
    this.#isWaiting = false
    const now = performance.now()
    let next = Infinity
    for (const timed of [...this.#running]) {
      if (timed.end <= now) {
        timed.end = now + this.#interval
        this.#act(timed.value)
      }
      next = Math.min(next, timed.end)
    }
    if (next < Infinity && !this.#isWaiting) this.#wait(next - now)
  }
}
