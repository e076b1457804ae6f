import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StandInResponse } from './response.ts'

/** A way for requests to fail. */
export interface Fault {
  /**
   * `hang`: no response. `slow`: the response after `delay`. `drip`: its body, one byte per `delay`. `reset`: the
   * connection breaks immediately. `truncate`: it breaks in the middle of the body. `html`: the 502 page of a proxy.
   * `answer`: this status, body and headers; a status of 500 or more is stored under the idempotency key of a POST, and
   * does not affect a key that has a stored response.
   */
  readonly kind: 'hang' | 'slow' | 'drip' | 'reset' | 'truncate' | 'html' | 'answer'
  /** Only under this secret key. */
  readonly secretKey?: string
  /** Only requests of this method. */
  readonly method?: string
  /** Only requests whose path contains this string, for example a customer's id. */
  readonly path?: string
  /** How many requests. Default: all until the fault is removed. */
  readonly times?: number
  /** For `slow` and `drip`, in milliseconds. Default 50. */
  readonly delay?: number
  /** For `answer`. Default 500. */
  readonly status?: number
  /** For `answer`. Default: an error in the provider's format. */
  readonly body?: unknown
  /** Additional response headers. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A fault, until it is removed. */
export interface ActiveFault extends Fault {
  readonly removed: AbortSignal
}

/** The active faults. */
export interface Faults {
  /** @returns a function that removes the fault. Responses that it delays are sent then. */
  add(fault: Fault): () => void
  /**
   * The first fault that applies; counts as one of its times.
   * @param replays - the response is stored: faults that happen while a request is executed do not apply.
   */
  next(
    request: { readonly method: string, readonly secretKey: string, readonly url: string },
    replays: boolean
  ): ActiveFault | undefined
}

export function faults (): Faults {
  const known = new Map<ActiveFault, number>()
  return {
    add (fault) {
      const removal = new AbortController()
      const active = { ...fault, removed: removal.signal }
      known.set(active, fault.times ?? Infinity)
      return () => {
        known.delete(active)
        removal.abort()
      }
    },
    next ({ method, secretKey, url }, replays) {
      for (const [fault, left] of known) {
        if (fault.secretKey !== undefined && fault.secretKey !== secretKey) continue
        if (fault.method !== undefined && fault.method !== method) continue
        if (fault.path !== undefined && !url.includes(fault.path)) continue
        if (replays && executed(fault)) continue
        if (left <= 1) known.delete(fault)
        else known.set(fault, left - 1)
        return fault
      }
      return undefined
    }
  }
}

/** The response of a fault that happens while a request is executed, not during transport. */
export function executed ({ kind, status = 500, body = FAILURE }: Fault): StandInResponse | undefined {
  return kind === 'answer' && status >= 500 ? { status, body } : undefined
}

const FAILURE = { error: { type: 'api_error', message: 'Something went wrong' } }

/** Sends the response in the way of the fault. */
export async function sendFaulty (
  response: ServerResponse,
  fault: ActiveFault,
  answer: () => StandInResponse,
  requestId: string
): Promise<void> {
  const { kind, delay = 50, status = 500, headers = {}, removed } = fault
  const common = { 'content-type': 'application/json', 'request-id': requestId, ...headers }
  if (kind === 'hang') return
  if (kind === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  if (kind === 'html') {
    response.writeHead(502, { ...common, 'content-type': 'text/html' }).end(
      '<html><body><h1>502 Bad Gateway</h1></body></html>'
    )
    return
  }
  if (kind === 'answer') {
    response.writeHead(status, common).end(JSON.stringify(fault.body ?? FAILURE))
    return
  }
  if (kind === 'slow') await pause(delay, removed)
  const { status: given, body, headers: own } = answer()
  const text = JSON.stringify(body)
  response.writeHead(given, { ...common, ...own, 'content-length': Buffer.byteLength(text) })
  if (kind === 'slow') response.end(text)
  else if (kind === 'truncate') response.write(text.slice(0, text.length / 2), () => response.destroy())
  else await drip(response, text, (): Promise<void> => pause(delay, removed))
}

/** Waits until the time is over, or the fault removed. */
async function pause (milliseconds: number, removed: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal: removed }).catch(() => {})
}

async function drip (response: ServerResponse, text: string, wait: () => Promise<void>): Promise<void> {
  for (const byte of Buffer.from(text)) {
    if (response.destroyed) return
    response.write(Buffer.of(byte))
    await wait()
  }
  response.end()
}
