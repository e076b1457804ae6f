import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../../../test/scope.ts'
import { until } from './until.ts'

/** Callers that create one record after another, and repeat each call until it is answered. */
export interface Repeating {
  /** The names of all that they created, by their answers. */
  readonly made: ReadonlySet<string>
  /** How many calls were repeats, and how many of these had been done. */
  readonly repeats: { readonly sent: number, readonly replayed: number }
  /** Answers that no repeat may get. */
  readonly wrong: readonly string[]
  /** Waits until so many records more have been created. */
  creates(count: number): Promise<void>
  /** Ends it, with an answer to each call. */
  end(): Promise<void>
}

const CALLERS = 6
const LIMIT = 120

/** Between two calls with the same key, in milliseconds. */
const PAUSE = 50

/** The server was not there, or was busy. A connection that broke has no status. */
const AGAIN: readonly number[] = [0, 429, 502, 503, 504]
const UNDER_WAY = 'SHOP_IDEMPOTENCY_KEY_UNDER_WAY'

/** @param url - of a list, whose records have a name */
export function startRepeating (t: Scope, url: string, headers: Readonly<Record<string, string>>): Repeating {
  const made = new Set<string>()
  const wrong: string[] = []
  const repeats = { sent: 0, replayed: 0 }
  const ended = new AbortController()
  t.teardown(() => {
    ended.abort()
  })

  async function create (): Promise<void> {
    const name = randomUUID()
    const init = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: JSON.stringify({ name })
    }
    for (let tries = 0;; tries++) {
      if (tries > 0) repeats.sent += 1
      const answer = await fetch(url, init).then(async (response) => ({ response, text: await response.text() }))
        .catch(() => undefined)
      const status = answer?.response.status ?? 0
      if (!AGAIN.includes(status) && !answer?.text.includes(UNDER_WAY)) {
        if (answer?.response.headers.get('idempotent-replayed') === 'true') repeats.replayed += 1
        if (status === 201 && JSON.parse(answer!.text).name === name) made.add(name)
        else wrong.push(`${status} ${answer!.text}`)
        return
      }
      await sleep(PAUSE)
    }
  }

  const all = Promise.all(Array.from({ length: CALLERS }, async () => {
    while (!ended.signal.aborted) await create()
  }))
  return {
    made,
    repeats,
    wrong,
    async creates (count) {
      const wanted = made.size + count
      await until(`${count} more records created`, LIMIT, () => made.size >= wanted || wrong.length > 0)
    },
    async end () {
      ended.abort()
      await all
    }
  }
}
