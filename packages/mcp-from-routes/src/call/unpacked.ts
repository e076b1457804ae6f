import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib'
import type { InnerResponse } from '../types.ts'

type Unpack = (body: Buffer, options: ZlibOptions) => Buffer

/** By the names of `Content-Encoding`. @see [RFC 9110 §8.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1) */
const ENCODINGS: Readonly<Record<string, Unpack | undefined>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  gzip: gunzipSync,
  'x-gzip': gunzipSync
}

/**
 * The response of a route that compresses what nobody asked it to compress. One that cannot be read stays as it is.
 * @param maxBytes - one that is larger is cut off
 */
export function unpacked (response: InnerResponse, maxBytes: number): InnerResponse {
  if (response.headers['content-encoding'] === undefined) return response
  const unpack = ENCODINGS[String(response.headers['content-encoding']).trim().toLowerCase()]
  if (unpack === undefined || response.cut || typeof response.body === 'string') return response
  try {
    return { ...response, body: unpack(response.body, { maxOutputLength: maxBytes }) }
  } catch (error) {
    if (Reflect.get(Object(error), 'code') !== 'ERR_BUFFER_TOO_LARGE') return response
    // Nobody reads it: its size is the error.
    return { ...response, body: Buffer.alloc(maxBytes + 1), cut: true }
  }
}
