/** Whether a number went up, or where it is and since when (milliseconds since 1970). */
export type Raised = { readonly raised: true } | {
  readonly raised: false,
  readonly value: number,
  readonly since: number
}

/**
 * What must happen once, on whichever replica: numbers that only rise. A code is raised to 1 when it is used, a chain
 * of refresh tokens to the number of the last one that was used.
 */
export interface BrokerStore {
  /**
   * Raises the number under `key` to `value` if it is lower or not there, in one atomic step.
   *
   * @param key - up to 100 characters of ASCII
   * @param seconds - how long the number has to be kept, from now
   */
  raise(key: string, value: number, seconds: number): Promise<Raised>
}

interface Entry {
  readonly value: number
  readonly since: number
  readonly expires: number
}

/** In milliseconds. */
const SWEEP_EVERY = 60_000

/**
 * Remembers in this process: enough for one replica. A restart forgets which codes and refresh tokens were used;
 * the identity provider, which accepts each of its codes once, does not.
 */
export function memoryBrokerStore (now = () => Date.now()): BrokerStore {
  const entries = new Map<string, Entry>()
  let sweepAt = 0

  return {
    async raise (key, value, seconds) {
      const since = now()
      if (since >= sweepAt) {
        for (const [name, { expires }] of entries) if (expires <= since) entries.delete(name)
        sweepAt = since + SWEEP_EVERY
      }
      const entry = entries.get(key)
      if (entry !== undefined && entry.expires > since && entry.value >= value) {
        return { raised: false, value: entry.value, since: entry.since }
      }
      entries.set(key, { value, since, expires: since + seconds * 1000 })
      return { raised: true }
    }
  }
}
