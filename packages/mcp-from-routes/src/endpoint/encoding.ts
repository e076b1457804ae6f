import { isUtf8 } from 'node:buffer'
import { EventEmitter } from 'node:events'
import type { FastifyRequest } from 'fastify'

/** Finds bodies that are not UTF-8, as JSON has to be: decoding replaces the bytes that it cannot read, and a route would store that. */
export interface Utf8Check {
  /** Watches the bytes of a body, before anything reads it. */
  readonly watch: (request: FastifyRequest) => void
  /** Whether the body, once it is read, was not UTF-8. */
  readonly isBroken: (request: FastifyRequest) => boolean
}

/** @see [RFC 8259 §8.1](https://www.rfc-editor.org/rfc/rfc8259#section-8.1) */
export function utf8Check (): Utf8Check {
  /** What may still become a character, of bodies that are not UTF-8 piece by piece; null if it cannot. */
  const unfinished = new WeakMap<object, Buffer | null>()

  function read (this: object, piece: unknown): void {
    // Fastify before 5.12.6 decodes piece by piece: what it could not read is this character, and so is the character itself.
    if (typeof piece === 'string' && piece.includes('\ufffd')) unfinished.set(this, null)
    if (!Buffer.isBuffer(piece)) return
    const before = unfinished.get(this)
    if (before === null || (before === undefined && isUtf8(piece))) return
    const bytes = before === undefined ? piece : Buffer.concat([before, piece])
    const start = lastStart(bytes)
    unfinished.set(this, isUtf8(bytes.subarray(0, start)) ? Buffer.from(bytes.subarray(start)) : null)
  }

  return {
    watch ({ raw }) {
      // What a host decompresses is checked by nobody. A Readable would start to flow with a listener that it sees.
      if ((raw.headers['content-encoding'] ?? 'identity').toLowerCase() === 'identity') EventEmitter.prototype.on.call(raw, 'data', read)
    },
    isBroken ({ raw }) {
      const rest = unfinished.get(raw)
      return rest === null || (rest !== undefined && rest.length > 0)
    }
  }
}

/** Where the last character of bytes starts if it is not complete; else their end. */
function lastStart (bytes: Buffer): number {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - 3); at -= 1) {
    const byte = bytes[at] as number
    if (byte < 0x80) break
    if (byte >= 0xc0) return at + (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) > bytes.length ? at : bytes.length
  }
  return bytes.length
}
