/** Why a call is ended before its route has answered. */
export type StopReason = 'client gone' | 'timeout' | 'too large' | 'closing'

/** Ends one call: what an AbortController does, with a reason and for a tenth of its cost. */
export class Stop {
  reason: StopReason | undefined
  #listeners: Array<(reason: StopReason) => void> = []

  /** Runs `listener` when the call is ended, at once if it has been. */
  onStop (listener: (reason: StopReason) => void): void {
    if (this.reason === undefined) this.#listeners.push(listener)
    else listener(this.reason)
  }

  /** Ends the call. Only the first reason counts. */
  stop (reason: StopReason): void {
    if (this.reason !== undefined) return
    this.reason = reason
    for (const listener of this.#listeners) listener(reason)
  }
}
