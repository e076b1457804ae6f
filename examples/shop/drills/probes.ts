import { setTimeout as sleep } from 'node:timers/promises'
import type { Scope } from '../../../test/scope.ts'

/** Between two looks at a replica, in milliseconds. */
const EVERY = 100

/** How long a probe waits, in milliseconds: as Kubernetes and others are told to. */
const LIMIT = 5000

/** What load balancers and supervisors see. */
export interface Probes {
  /** What `/healthz` returned but 200; 0 is no answer. */
  readonly unhealthy: readonly number[]
  /** When a replica was last not ready. */
  readonly unready: number
  /** What replicas said while they were not. */
  readonly reasons: ReadonlySet<string>
  /** The last answer of `/readyz` of a replica: `ready`, or what is wrong. */
  latest(baseUrl: string): string
  /** Looks at another replica too. */
  watch(baseUrl: string): void
  /** Looks no longer at a replica that ends. */
  leave(baseUrl: string): void
}

/** Asks replicas all the time. */
export function probe (t: Scope): Probes {
  const ended = new AbortController()
  t.teardown(() => {
    ended.abort()
  })
  const watched = new Map<string, string>()
  const unhealthy: number[] = []
  const reasons = new Set<string>()
  let unready = 0
  const look = async (baseUrl: string): Promise<void> => {
    const [health, readiness] = await Promise.all([ask(`${baseUrl}/healthz`), ask(`${baseUrl}/readyz`)])
    if (!watched.has(baseUrl)) return
    if (health.status !== 200) unhealthy.push(health.status)
    const wrong = Object.entries(readiness.body?.checks ?? {}).filter(([, answer]) => answer !== 'ok').map((
      [check, answer]
    ) => `${check}: ${String(answer)}`).join('; ')
    if (readiness.status !== 200) {
      unready = performance.now()
      reasons.add(wrong)
    }
    watched.set(baseUrl, readiness.status === 200 && wrong === '' ? 'ready' : wrong)
  }
  const watch = async (baseUrl: string): Promise<void> => {
    while (!ended.signal.aborted && watched.has(baseUrl)) {
      await look(baseUrl)
      await sleep(EVERY)
    }
  }
  return {
    unhealthy,
    get unready () {
      return unready
    },
    reasons,
    latest: (baseUrl) => watched.get(baseUrl) ?? 'not watched',
    watch (baseUrl) {
      watched.set(baseUrl, 'not seen yet')
      watch(baseUrl)
    },
    leave: (baseUrl) => {
      watched.delete(baseUrl)
    }
  }
}

async function ask (url: string): Promise<{ status: number, body?: any }> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(LIMIT) })
    return { status: response.status, body: await response.json() }
  } catch {
    return { status: 0 }
  }
}
