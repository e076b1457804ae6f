import { verify, type KeyObject } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { DUAL_AUTH_REPORT_INVALID, DUAL_AUTH_REPORT_REFUSED, DUAL_AUTH_REPORT_TOO_LONG } from '../errors.ts'
import { keyPattern } from '../keys/format.ts'
import type { Leak } from '../keys/store.ts'
import { isRecord } from '../tokens/providers.ts'

/*
 * A report of GitHub's:
 * https://docs.github.com/en/code-security/secret-scanning/secret-scanning-partnership-program/secret-scanning-partner-program
 */

/** A string that looks like a key, and where it was found. */
export interface Match {
  readonly token: string
  /** The name that the pattern is registered under. */
  readonly type: string
  readonly leak: Leak
}

/** Names a key and signs a body. */
export interface Signature {
  readonly keyId: string
  readonly value: Buffer
}

const KEY_ID = /^[\w-]{1,128}$/
/** DER of two 256-bit numbers, in base64. */
const SIGNATURE = /^[A-Za-z0-9+/]{8,120}={0,2}$/
const SOURCE = /^[a-z_]{1,40}$/i

/** In characters. */
const TYPE_LIMIT = 200
const URL_LIMIT = 1000

/** @throws {@link DUAL_AUTH_REPORT_REFUSED} if the headers have no signature */
export function signatureFromHeaders (headers: IncomingHttpHeaders): Signature {
  const { 'github-public-key-identifier': keyId, 'github-public-key-signature': signature } = headers
  if (typeof keyId !== 'string' || !KEY_ID.test(keyId) || typeof signature !== 'string' || !SIGNATURE.test(signature)) {
    throw new DUAL_AUTH_REPORT_REFUSED({ cause: 'the signature is missing or malformed' })
  }
  return { keyId, value: Buffer.from(signature, 'base64') }
}

/**
 * Checks the signature, ECDSA with P-256 and SHA-256, over the bytes as they came.
 *
 * @throws {@link DUAL_AUTH_REPORT_REFUSED}
 */
export function demandSigned (body: Buffer, { value }: Signature, key: KeyObject): void {
  if (!verify('sha256', body, key, value)) throw new DUAL_AUTH_REPORT_REFUSED({ cause: 'the signature does not match' })
}

/**
 * The matches of a report whose signature is good.
 *
 * @param marker - what keys start with
 * @throws {@link DUAL_AUTH_REPORT_INVALID}, {@link DUAL_AUTH_REPORT_TOO_LONG}
 */
export function matchesFromBody (body: Buffer, marker: string, maxTokens: number): readonly Match[] {
  const items = listFrom(body)
  if (items.length > maxTokens) throw new DUAL_AUTH_REPORT_TOO_LONG(maxTokens)
  return items.map((item) => {
    if (!isRecord(item) || typeof item.token !== 'string') throw new DUAL_AUTH_REPORT_INVALID()
    const { token, type, url, source } = item
    return {
      token,
      type: typeof type === 'string' ? type.slice(0, TYPE_LIMIT) : '',
      leak: {
        url: typeof url === 'string' ? publicUrl(url, marker) : null,
        source: typeof source === 'string' && SOURCE.test(source) ? source.toLowerCase() : null
      }
    }
  })
}

function listFrom (body: Buffer): readonly unknown[] {
  let value: unknown
  try {
    value = JSON.parse(body.toString())
  } catch {}
  if (!Array.isArray(value)) throw new DUAL_AUTH_REPORT_INVALID()
  return value
}

/** Letters, digits, `-`, `.`, `_` and `~` are the same with and without it, RFC 3986 §6.2.2.2. */
const NEEDLESSLY_ENCODED = /%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/gi

/** Anybody can choose the name of a repository and of a file: such an address may even contain a key. */
function publicUrl (text: string, marker: string): string | null {
  if (!URL.canParse(text)) return null
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return null
  url.username = url.password = ''
  const shown = url.href.replace(NEEDLESSLY_ENCODED, decodeURIComponent).replace(
    new RegExp(keyPattern(marker), 'g'),
    `${marker}_…`
  )
  return shown.length <= URL_LIMIT ? shown : `${shown.slice(0, URL_LIMIT - 1)}…`
}
