import { createPublicKey, type KeyObject } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { DUAL_AUTH_REPORT_REFUSED, DUAL_AUTH_SCANNER_UNAVAILABLE } from '../errors.ts'
import { jsonFrom } from '../json-from.ts'
import { isRecord } from '../tokens/providers.ts'
import type { ScanningSettings } from './options.ts'

/**
 * How long keys are trusted after they were read, in milliseconds: GitHub withdraws a key by no longer publishing it.
 */
const KEEP = 86_400_000

/** The keys that GitHub signs its reports with. */
export interface ScannerKeys {
  /**
   * The key with this id.
   *
   * @throws {@link DUAL_AUTH_REPORT_REFUSED} if none is published
   * @throws {@link DUAL_AUTH_SCANNER_UNAVAILABLE} if the keys could not be read, or were not since the report came
   */
  find(id: string): Promise<KeyObject>
}

/**
 * Reads the keys when the first report comes, once a day, and when a report names an unknown one: at most once in
 * `keysCooldown`, so that forged reports cannot use up what GitHub lets an address read.
 */
export function createScannerKeys (
  { keysUrl, keysTimeout, keysCooldown }: ScanningSettings,
  log: FastifyBaseLogger
): ScannerKeys {
  let keys: ReadonlyMap<string, KeyObject> = new Map()
  let readAt = -Infinity
  let askedAt = -Infinity
  let isReachable = false
  let reading: Promise<void> | null = null

  async function find (id: string): Promise<KeyObject> {
    const cameAt = performance.now()
    if (current().get(id) === undefined && (reading !== null || performance.now() - askedAt >= keysCooldown)) {
      await refresh()
    }
    const found = current().get(id)
    if (found !== undefined) return found
    // Then the report may be a true one, and GitHub is to send it again: a key may be newer than the last read, after
    // which anybody's invented id starts the cooldown.
    if (!isReachable || readAt < cameAt) throw new DUAL_AUTH_SCANNER_UNAVAILABLE()
    throw new DUAL_AUTH_REPORT_REFUSED({ cause: 'no such key is published' })
  }

  function current (): ReadonlyMap<string, KeyObject> {
    return performance.now() - readAt < KEEP ? keys : new Map()
  }

  function refresh (): Promise<void> {
    reading ??= read().finally(() => {
      reading = null
    })
    return reading
  }

  async function read (): Promise<void> {
    askedAt = performance.now()
    try {
      const next = keysFromDocument(
        await jsonFrom(keysUrl, 'the keys of the scanner', AbortSignal.timeout(keysTimeout))
      )
      if (next.size === 0) throw new Error('the keys of the scanner have no usable key')
      keys = next
      readAt = performance.now()
      isReachable = true
    } catch (err) {
      isReachable = false
      log.warn({ err, keysUrl }, 'the keys of the secret scanner could not be read')
    }
  }

  return { find }
}

/**
 * The keys of `{ public_keys: [{ key_identifier, key }] }`, by id: those on the curve P-256. Everything else is
 * ignored.
 */
function keysFromDocument (document: unknown): Map<string, KeyObject> {
  const published: unknown[] = isRecord(document) && Array.isArray(document.public_keys) ? document.public_keys : []
  const keys = new Map<string, KeyObject>()
  for (const entry of published) {
    if (!isRecord(entry) || typeof entry.key_identifier !== 'string' || typeof entry.key !== 'string') continue
    const key = keyFromPem(entry.key)
    if (key !== null) keys.set(entry.key_identifier, key)
  }
  return keys
}

function keyFromPem (pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null
  } catch {
    return null
  }
}
