import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { StandInAnswer } from './answer.ts'

/** Something to go wrong. */
export interface Fault {
  /**
   * `hang`: no answer. `slow`: the answer after `ms`. `drip`: its body one byte each `ms`. `reset`: the
   * connection breaks at once. `truncate`: it breaks in the middle of the body. `html`: a proxy's 502 page.
   * `answer`: the given status, body and headers; 500 and more is stored under the idempotency key of a POST,
   * and does not come between a known key and its answer.
   */
  readonly kind: 'hang' | 'slow' | 'drip' | 'reset' | 'truncate' | 'html' | 'answer'
  /** Only under this secret key. */
  readonly secretKey?: string
  /** Only requests of this method. */
  readonly method?: string
  /** Only for requests whose path holds this text, a customer's id for instance. */
  readonly path?: string
  /** How often; default: until removed. */
  readonly times?: number
  /** Milliseconds, for slow and drip. Default 50. */
  readonly ms?: number
  /** For `answer`. Default 500. */
  readonly status?: number
  /** For `answer`; what to send instead of an error in the provider's shape. */
  readonly body?: unknown
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The faults in force. */
export interface Faults {
  /** @returns a function that removes the fault. */
  add (fault: Fault): () => void
  /**
   * The first that applies; counts as one of its times.
   * @param replays the answer is stored already: what fails in executing a request does not apply.
   */
  next (request: { readonly method: string, readonly secretKey: string, readonly url: string }, replays: boolean): Fault | undefined
}

export function faults (): Faults {
  const known = new Map<Fault, number>()
  return {
    add (fault) {
      known.set(fault, fault.times ?? Infinity)
      return () => { known.delete(fault) }
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

/** The answer of a fault in executing a request, and not on the way to it. */
export function executed ({ kind, status = 500, body = failure }: Fault): StandInAnswer | undefined {
  return kind === 'answer' && status >= 500 ? { status, body } : undefined
}

const failure = { error: { type: 'api_error', message: 'Something went wrong' } }

/** Sends `answer` the way the fault has it. */
export async function sendFaulty (response: ServerResponse, fault: Fault, answer: () => StandInAnswer, requestId: string): Promise<void> {
  const { kind, ms = 50, status = 500, headers = {} } = fault
  const common = { 'content-type': 'application/json', 'request-id': requestId, ...headers }
  if (kind === 'hang') return
  if (kind === 'reset') {
    response.socket?.resetAndDestroy()
    return
  }
  if (kind === 'html') {
    response.writeHead(502, { ...common, 'content-type': 'text/html' }).end('<html><body><h1>502 Bad Gateway</h1></body></html>')
    return
  }
  if (kind === 'answer') {
    response.writeHead(status, common).end(JSON.stringify(fault.body ?? failure))
    return
  }
  if (kind === 'slow') await sleep(ms)
  const { status: given, body, headers: own } = answer()
  const text = JSON.stringify(body)
  response.writeHead(given, { ...common, ...own, 'content-length': Buffer.byteLength(text) })
  if (kind === 'slow') response.end(text)
  else if (kind === 'truncate') response.write(text.slice(0, text.length / 2), () => response.destroy())
  else await drip(response, text, ms)
}

async function drip (response: ServerResponse, text: string, ms: number): Promise<void> {
  for (const byte of Buffer.from(text)) {
    if (response.destroyed) return
    response.write(Buffer.of(byte))
    await sleep(ms)
  }
  response.end()
}
