import type { FastifyBaseLogger } from 'fastify'
import type { Client } from '../../client-document/client.ts'
import {
  clientFromDocument,
  DocumentFault,
  DocumentOutage,
  documentUrl,
  LARGEST_DOCUMENT,
  objectFrom
} from '../../client-document/document.ts'
import { fetchJson, type FetchOptions } from '../../client-document/fetch-json.ts'
import { refusal } from '../refusal.ts'
import { createSlots } from './slots.ts'

/** Clients that are described at the URL that is their id. */
export interface ClientDocuments {
  /**
   * @throws a {@link refusal}: `invalid_client` with the reason, or `temporarily_unavailable` when too many are being
   * read
   */
  read(id: string): Promise<Client>
  /** A client's public keys, read in the same way; `undefined` if it has none. */
  keysOf(client: Client): Promise<object | undefined>
}

/** In bytes. */
const LARGEST_KEYS = 32 * 1024

/** In seconds: how long a document is kept at least, at most, and if it says nothing. */
const SHORTEST = 60
const LONGEST = 86_400
const OTHERWISE = 300

/**
 * How many are kept, how many are read at the same time, how many wait for that, and how many of all these are of one
 * host.
 */
const MOST_KEPT = 500
const MOST_AT_ONCE = 16
const MOST_WAITING = 64
const MOST_OF_HOST = 3

/**
 * The part of the time for a document that it has although others wait: so the last of those that wait has its turn
 * within that time, whatever names a stranger has for servers that never answer.
 */
const SHARE = 1 / 6

export interface DocumentReader extends Omit<FetchOptions, 'largest' | 'hurry'> {
  /** Schemes of apps that callbacks may have. */
  readonly schemes: readonly string[]
  readonly log: FastifyBaseLogger
}

/** Reads metadata documents and keys of clients. */
export function clientDocuments ({ schemes, log, ...options }: DocumentReader): ClientDocuments {
  const documents = keeping(options, LARGEST_DOCUMENT, (text, url) => clientFromDocument(text, url, schemes))
  const keySets = keeping(options, LARGEST_KEYS, objectFrom)

  async function orRefused<Value> (id: string, read: () => Promise<Value>): Promise<Value> {
    try {
      return await read()
    } catch (error) {
      if (!(error instanceof DocumentFault)) throw error
      log.info(
        { client: id.slice(0, 200), reason: error.message, err: error.cause },
        "a client's metadata document was refused"
      )
      throw refusal('invalid_client', `The metadata document of this app cannot be used: ${error.message}`)
    }
  }

  return {
    read: async (id) => await orRefused(id, async () => await documents(documentUrl(id))),
    keysOf: async ({ id, keys }) =>
      keys === undefined || 'jwks' in keys
        ? keys?.jwks
        : await orRefused(id, async () => await keySets(new URL(keys.jwksUri)))
  }
}

/**
 * Reads each URL once however many want it, and keeps what it made of the text as long as its cache headers say, within
 * limits. Faults are not kept. While a server does not answer, or too many others are being read, what it said less
 * than a day ago still counts (RFC 5861 §4): otherwise nobody could sign in with a client whose maker has an outage.
 *
 * @see
 *   [draft-ietf-oauth-client-id-metadata-document §4.4](https://datatracker.ietf.org/doc/html/draft-ietf-oauth-client-id-metadata-document#section-4.4)
 */
function keeping<Value> (
  options: Omit<FetchOptions, 'largest' | 'hurry'>,
  largest: number,
  parse: (text: string, url: string) => Value
): (url: URL) => Promise<Value> {
  const kept = new Map<string, { readonly value: Value, readonly until: number, readonly readAt: number }>()
  /** Also those that wait. */
  const reading = new Map<string, { readonly host: string, readonly value: Promise<Value> }>()
  const slots = createSlots(MOST_AT_ONCE, options.timeout, options.timeout * SHARE)

  async function read (url: URL, hurry: AbortSignal): Promise<Value> {
    const { text, maxAge = OTHERWISE } = await fetchJson(url, { ...options, largest, hurry })
    const value = parse(text, url.href)
    kept.delete(url.href)
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
    const readAt = Date.now()
    kept.set(url.href, { value, readAt, until: readAt + Math.min(Math.max(maxAge, SHORTEST), LONGEST) * 1000 })
    return value
  }

  function busy (): never {
    throw refusal('temporarily_unavailable', 'Too many clients are being looked up. Try again in a moment', 503)
  }

  return async (url) => {
    const known = kept.get(url.href)
    if (known !== undefined && known.until > Date.now()) return known.value
    const started = reading.get(url.href)
    if (started) return await started.value
    const older = known !== undefined && known.readAt + LONGEST * 1000 > Date.now() ? known : undefined
    const host = hostOf(url)
    const ofHost = [...reading.values()].filter((other) => other.host === host)
    if (ofHost.length >= MOST_OF_HOST || reading.size >= MOST_AT_ONCE + MOST_WAITING) return older?.value ?? busy()
    if (older !== undefined && !slots.isFree()) return older.value
    const starting = slots.run(async (hurry) => await read(url, hurry), busy)
      .catch((error: unknown) => {
        if (older !== undefined && error instanceof DocumentOutage) return older.value
        kept.delete(url.href)
        throw error
      })
      .finally(() => reading.delete(url.href))
    reading.set(url.href, { host, value: starting })
    return await starting
  }
}

/**
 * With the port: a stranger who names a port where nobody answers does not take the places of the host's real
 * documents. And not the domain: under `co.uk` or `github.io`, everybody is somebody else.
 */
function hostOf ({ hostname, port }: URL): string {
  return `${hostname.replace(/\.$/, '')}:${port}`
}
