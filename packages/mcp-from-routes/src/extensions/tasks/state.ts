import { attempt } from '../../attempt.ts'
import { statusText } from '../../call/status.ts'
import { isObject } from '../../schema/json-schema.ts'
import type { InnerResponse } from '../../types.ts'
import { inOneSpelling, type TaskConfig, type WorkStatus } from './config.ts'

/** The rest of a status response. */
export interface Said {
  /** In words, and how much is done. */
  readonly message?: string | undefined
  /** When to ask again, in milliseconds. */
  readonly poll?: number | undefined
  /** When the status was current, in milliseconds since 1970; undefined if the response does not say. */
  readonly at?: number | undefined
  /**
   * Whether the status route asked to retry later, so that it is unknown whether the work has ended. Default: false.
   */
  readonly isPutOff?: boolean
}

/** What the response of a status route says of the work. */
export type WorkState =
  | Said & { readonly status: 'working' | 'cancelled' }
  /** The response is the result, or `location` leads to it. */
  | Said & { readonly status: 'completed', readonly location?: string }
  /** The response says why. */
  | Said & { readonly status: 'failed', readonly location?: undefined }
  /** The work does not exist, or no longer. */
  | { readonly status: 'unknown' }
  /** The caller may not read the status. */
  | { readonly status: 'refused' }
  /** The response says nothing of the work. */
  | { readonly status: 'unreadable', readonly why: string }

/** The words that status routes use. */
const WORDS: ReadonlyMap<string, WorkStatus> = new Map(
  Object.entries(
    {
      working: [
        'accepted',
        'cancelling',
        'canceling',
        'in_progress',
        'initializing',
        'not_started',
        'pending',
        'processing',
        'queued',
        'retrying',
        'running',
        'scheduled',
        'started',
        'starting',
        'submitted',
        'waiting',
        'working'
      ],
      completed: ['complete', 'completed', 'done', 'finished', 'ok', 'ready', 'succeeded', 'success', 'successful'],
      failed: ['error', 'errored', 'failed', 'failure', 'timed_out'],
      cancelled: ['aborted', 'cancelled', 'canceled']
    } satisfies Record<WorkStatus, readonly string[]>
  ).flatMap(([meaning, words]) => words.map((word) => [word, meaning as WorkStatus]))
)
/** So many characters of a message are passed on. */
const MAX_MESSAGE = 1000
const FIRST_POLL = 100
const LAST_POLL = 3_600_000

/**
 * Reads the response of a status route.
 * @param now - milliseconds since 1970
 */
export function stateFromResponse (
  response: InnerResponse,
  { field, words }: Pick<TaskConfig, 'field' | 'words'>,
  now: number
): WorkState {
  const { statusCode, headers } = response
  const poll = pollFrom(headers['retry-after'], now)
  if (statusCode === 404 || statusCode === 410) return { status: 'unknown' }
  if (statusCode === 401 || statusCode === 403) return { status: 'refused' }
  // The status request was rate limited, which says nothing about the work.
  if (statusCode === 429 || (statusCode === 503 && poll !== undefined)) {
    return {
      status: 'working',
      message: `The status cannot be read now: ${statusText(statusCode)}`,
      poll,
      isPutOff: true
    }
  }
  // 302 is what `reply.redirect` sends.
  if ((statusCode === 303 || statusCode === 302) && typeof headers.location === 'string') {
    return { status: 'completed', location: headers.location }
  }
  if (statusCode < 200 || statusCode >= 300) {
    return { status: 'unreadable', why: `The status route answered ${statusText(statusCode)}.` }
  }
  const body = bodyOf(response)
  const said = { message: messageFrom(body), at: timeFrom(headers['last-modified']) }
  const word = wordIn(body, field)
  const status = word === undefined ? undefined : words.get(word) ?? WORDS.get(word)
  // With an unknown word, `Retry-After` means that the work is still running.
  if (status === 'working' || statusCode === 202 || (status === undefined && poll !== undefined)) {
    return { status: 'working', ...said, poll }
  }
  return { status: status ?? 'completed', ...said }
}

/** Whether a word says something without `config.mcp.task.words`. */
export function isKnownWord (word: string): boolean {
  return WORDS.has(inOneSpelling(word))
}

/**
 * What `Retry-After` says, in milliseconds between a tenth of a second and an hour.
 * @see [RFC 9110 §10.2.3](https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3)
 */
export function pollFrom (retryAfter: InnerResponse['headers'][string], now: number): number | undefined {
  const text = String(retryAfter)
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : (timeFrom(text) ?? NaN) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, FIRST_POLL), LAST_POLL)
}

/** A time in HTTP, in milliseconds since 1970. */
export function timeFrom (date: InnerResponse['headers'][string]): number | undefined {
  const time = typeof date === 'string' && /^[A-Z][a-z]{2}, \d{2} /.test(date) ? Date.parse(date) : NaN
  return Number.isNaN(time) ? undefined : time
}

/** What the JSON of a response says in words, and how much is done: `running: 120 of 1000`. */
export function messageFrom (body: Readonly<Record<string, unknown>>): string | undefined {
  const text = [body.statusMessage, body.status_message, body.message, body.detail].find((value) =>
    typeof value === 'string' && value.trim() !== ''
  ) as string | undefined
  const done = [body.progress, body.processed].find(isCount)
  const count = isCount(body.total) ? `${done} of ${body.total}` : String(done)
  const part = done === undefined ? undefined : count
  const said = [text?.trim(), part].filter((value) => value !== undefined).join(': ')
  return said === '' ? undefined : said.slice(0, MAX_MESSAGE).replace(/\p{Surrogate}$/u, '')
}

/** The JSON object of a response; empty if it has none. */
export function bodyOf ({ body }: Pick<InnerResponse, 'body'>): Readonly<Record<string, unknown>> {
  const json: unknown = body.length === 0 ? undefined : attempt(() => JSON.parse(String(body)))
  return isObject(json) ? json : {}
}

function wordIn (body: Readonly<Record<string, unknown>>, field: readonly string[]): string | undefined {
  let value: unknown = body
  for (const name of field) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
    ? inOneSpelling(String(value))
    : undefined
}

function isCount (value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
