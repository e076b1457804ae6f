/** One of the values that {@link Recurring} holds. */
export interface Timed<Value> {
  readonly value: Value
  /** At which step its time comes next. */
  end: number
  /** Its index in the list. */
  index: number
}

/** Into how many steps an interval is divided. */
const STEPS = 10

/**
 * Acts on each value some time after its start, and again each time that this has passed, until it is finished: never
 * earlier, and at most a tenth later. One timer does for all, and counts steps: a timer for each costs more than the
 * routing of its request, and reading the clock as much as all else here.
 */
export class Recurring<Value> {
  readonly #interval: number
  readonly #act: (value: Value) => void
  /** Unordered. A Set or Map would keep ended values in memory, in the tables that it outgrows. */
  readonly #running: Array<Timed<Value>> = []
  #step = 0
  #isWaiting = false

  /** @param interval - in milliseconds */
  constructor (interval: number, act: (value: Value) => void) {
    this.#interval = interval
    this.#act = act
  }

  start (value: Value): Timed<Value> {
    // The step under way is not a whole one.
    const timed = { value, end: this.#step + 1 + STEPS, index: this.#running.length }
    this.#running.push(timed)
    if (!this.#isWaiting) this.#wait()
    return timed
  }

  /** Is called once for each value that was started. */
  finish ({ index }: Timed<Value>): void {
    const last = this.#running.pop()
    if (last === undefined || last.index === index) return
    last.index = index
    this.#running[index] = last
  }

  #wait (): void {
    this.#isWaiting = true
    // Not a reason to keep the process: a call that runs has a client with a connection.
    setTimeout(() => this.#check(), this.#interval / STEPS).unref()
  }

  #check (): void {
    this.#isWaiting = false
    this.#step += 1
    for (const timed of [...this.#running]) {
      if (timed.end > this.#step) continue
      timed.end = this.#step + STEPS
      this.#act(timed.value)
    }
    if (this.#running.length > 0 && !this.#isWaiting) this.#wait()
  }
}
