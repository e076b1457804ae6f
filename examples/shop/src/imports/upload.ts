import { createHash, type Hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid, SHOP_ENCODING_UNSUPPORTED, SHOP_FILE_TOO_LARGE, SHOP_UPLOAD_ABORTED } from '../errors.ts'
import { linesFromCsv } from './csv.ts'
import { linesFromJsonLines } from './json-lines.ts'
import type { ParseJson } from '../http/json-bodies.ts'
import type { Line } from './line.ts'
import { MAX_FILE } from './schemas.ts'
import { piecesOf, textOf, type Turn } from './text.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A file that was sent as the body, not yet read. */
    upload: Upload | null
  }
}

type Format = 'csv' | 'jsonl'

interface Upload {
  readonly format: Format
  readonly bytes: Readable
  /** Of its format, and what has been read of it. */
  readonly hash: Hash
}

const FORMATS: Readonly<Record<string, Format>> = {
  'text/csv': 'csv',
  'application/x-ndjson': 'jsonl',
  'application/ndjson': 'jsonl',
  'application/jsonl': 'jsonl',
  'application/x-jsonlines': 'jsonl'
}

/** Lets the routes of the app take files as bodies, which they read piece by piece. */
export function takeUploads (app: FastifyInstance): void {
  app.decorateRequest('upload', null)
  for (const [type, format] of Object.entries(FORMATS)) {
    app.addContentTypeParser(type, (request, payload, done) => {
      const { 'content-encoding': encoding = 'identity', 'content-length': length = '0' } = request.headers
      if (encoding.toLowerCase() !== 'identity') return done(new SHOP_ENCODING_UNSUPPORTED())
      if (Number(length) > MAX_FILE) return done(new SHOP_FILE_TOO_LARGE(MAX_FILE / 1_048_576))
      request.upload = { format, bytes: payload as unknown as Readable, hash: createHash('sha256').update(format) }
      // It is no body that could be validated.
      done(null, undefined)
    })
  }
}

/**
 * @param turn - waited for before each piece of the file
 * @returns the lines of the file that a request brings
 * @throws {@link SHOP_INVALID} | {@link SHOP_FILE_TOO_LARGE} | {@link SHOP_UPLOAD_ABORTED}
 */
export function linesOf (
  request: FastifyRequest,
  body: { readonly format: Format, readonly content: string } | undefined,
  parseJson: ParseJson,
  turn: Turn
): AsyncGenerator<Line> {
  const { upload } = request
  if (upload === null && body === undefined) {
    throw invalid(
      'content',
      'content is required: send a file as text/csv or application/x-ndjson, or JSON with format and content'
    )
  }
  const read = (upload?.format ?? body!.format) === 'csv' ? linesFromCsv : linesFromJsonLines
  return read(
    upload === null ? piecesOf(body!.content, turn) : textOf(bytesOf(upload), turn),
    parseJson
  )
}

/**
 * A digest of the file that a request brings, once it has been read; '' if it brings JSON.
 *
 * @param rest - whether to read what nobody has read of it
 * @throws {@link SHOP_FILE_TOO_LARGE} | {@link SHOP_UPLOAD_ABORTED}
 */
export async function digestOf ({ upload }: FastifyRequest, { rest = false } = {}): Promise<string> {
  if (upload === null) return ''
  if (rest) {
    const reading = bytesOf(upload)
    while ((await reading.next()).done !== true);
  }
  return upload.hash.copy().digest('base64url')
}

/** @throws {@link SHOP_FILE_TOO_LARGE} | {@link SHOP_UPLOAD_ABORTED} */
async function* bytesOf ({ bytes, hash }: Upload): AsyncGenerator<Buffer> {
  let length = 0
  for await (const chunk of arriving(bytes)) {
    length += chunk.length
    if (length > MAX_FILE) throw new SHOP_FILE_TOO_LARGE(MAX_FILE / 1_048_576)
    hash.update(chunk)
    yield chunk
  }
}

/** @throws {@link SHOP_UPLOAD_ABORTED} */
async function* arriving (bytes: Readable): AsyncGenerator<Buffer> {
  try {
    // Whoever stops to read it still has to answer, on the same connection.
    yield* bytes.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>
  } catch (error) {
    throw (error as { code?: string }).code === 'ECONNRESET' ? new SHOP_UPLOAD_ABORTED() : error
  }
}

/** JSON that has no key which would change the prototype of an object, as for bodies. */
export function jsonParser (app: FastifyInstance): ParseJson {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (text) => {
    const outcome: { error?: Error | null, value?: unknown } = {}
    parse(undefined as never, text, (error, value) => {
      Object.assign(outcome, { error, value })
    })
    if (outcome.error instanceof Error) throw outcome.error
    return outcome.value
  }
}
