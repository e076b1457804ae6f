import { setTimeout as sleep } from 'node:timers/promises'
import { visible } from '#shared/visible'
import { attempt } from '../../attempt.ts'
import { excerpt } from '../../call/excerpt.ts'
import { statusText } from '../../call/status.ts'
import { isObject } from '../../schema/json-schema.ts'
import { MCP_FROM_ROUTES_CASES_MODEL } from '../errors.ts'
import type { Conversation, Turn } from './dialect.ts'
import type { ModelEndpoint } from './endpoint.ts'

/** How often a request is sent, and the longest wait between two, in milliseconds. */
const TRIES = 4
const LONGEST_WAIT = 60_000

/**
 * Asks a model once. If the endpoint limits requests, it is asked again when it says.
 *
 * @throws {@link MCP_FROM_ROUTES_CASES_MODEL}
 */
export async function ask (endpoint: ModelEndpoint, conversation: Conversation): Promise<Turn> {
  const { url, dialect } = endpoint
  const place = `${url.origin}${url.pathname}`
  const fail = (what: string): Error => new MCP_FROM_ROUTES_CASES_MODEL(`${place} ${what}`)
  const body = JSON.stringify(dialect.body(conversation))
  for (let tries = 1;; tries += 1) {
    const response = await send(endpoint, body).catch((error: unknown) => {
      throw fail(whyUnreached(error, endpoint))
    })
    if (response.ok) {
      const turn = dialect.turn(response.json)
      if (turn !== undefined) return turn
      throw fail(
        `answered ${statusText(response.status)} with what is no answer of the ${dialect.name}: ${response.said}`
      )
    }
    const wait = waitFrom(response.status, response.retryAfter, tries)
    if (wait === undefined) throw fail(whyRefused(response))
    if (tries === TRIES) throw fail(`limits requests: ${TRIES} tries in a row were answered ${said(response)}`)
    if (wait > LONGEST_WAIT) {
      const [asked, most] = [wait, LONGEST_WAIT].map((ms) => `${Math.ceil(ms / 1000)} s`)
      throw fail(
        `limits requests, and says to wait ${asked}, more than the ${most} that are waited for: ${said(response)}`
      )
    }
    await sleep(wait)
  }
}

/**
 * How long to wait before a request is sent again, in milliseconds.
 *
 * @param retryAfter - the header: seconds, or a date
 * @param tries - how often it was sent, from 1
 * @returns undefined if it is not to be sent again
 * @see [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
 */
export function waitFrom (
  status: number,
  retryAfter: string | null,
  tries: number,
  now = Date.now()
): number | undefined {
  const seconds = retryAfter === null || retryAfter.trim() === '' ? NaN : Number(retryAfter)
  const until = Number.isNaN(seconds) ? Date.parse(retryAfter ?? '') - now : seconds * 1000
  if (status !== 429 && !(status >= 500 && until >= 0)) return undefined
  return Number.isNaN(until) ? 1000 * 2 ** (tries - 1) : Math.max(0, until)
}

interface Received {
  readonly ok: boolean
  readonly status: number
  readonly retryAfter: string | null
  /** Undefined if it is none. */
  readonly json: unknown
  /** What it says, for people. */
  readonly said: string
}

async function send ({ url, dialect, key, timeout }: ModelEndpoint, body: string): Promise<Received> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...dialect.headers(key), 'content-type': 'application/json' },
    body,
    // Another server would get the key.
    redirect: 'manual',
    signal: AbortSignal.timeout(timeout)
  })
  const text = await response.text()
  const json: unknown = attempt(() => JSON.parse(text))
  const { message } = isObject(json) && isObject(json.error) ? json.error : { message: text }
  return {
    ok: response.ok,
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    json,
    // Some endpoints repeat the key that they refuse.
    said: excerpt(visible((typeof message === 'string' ? message : text).replaceAll(key, '[key]')))
  }
}

function said ({ status, said }: Received): string {
  return said === '' ? statusText(status) : `${statusText(status)}: ${said}`
}

function whyRefused (response: Received): string {
  const { status } = response
  if (status === 401 || status === 403) return `does not accept CASES_KEY: ${said(response)}`
  if (status >= 300 && status < 400) return `answered ${statusText(status)}, which is not followed`
  return status >= 500 ? `failed: ${said(response)}` : `refused the request: ${said(response)}`
}

function whyUnreached (error: unknown, { timeout }: ModelEndpoint): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return `did not answer within ${timeout / 1000} s`
  const { code, message: why = message } = Object(cause) as { readonly code?: unknown, readonly message?: string }
  return `cannot be reached: ${typeof code === 'string' ? code : why}`
}
