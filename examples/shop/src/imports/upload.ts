import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { invalid, SHOP_ENCODING_UNSUPPORTED, SHOP_FILE_TOO_LARGE, SHOP_UPLOAD_ABORTED } from '../errors.ts'
import { linesFromCsv } from './csv.ts'
import { linesFromJsonLines } from './json-lines.ts'
import type { Line, ParseJson } from './line.ts'
import { MAX_FILE } from './schemas.ts'

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
      request.upload = { format, bytes: payload as unknown as Readable }
      // It is no body that could be validated.
      done(null, undefined)
    })
  }
}

/**
 * @returns the lines of the file that a request brings
 * @throws {@link SHOP_INVALID} | {@link SHOP_FILE_TOO_LARGE}
 */
export function linesOf (request: FastifyRequest, body: { readonly format: Format, readonly content: string } | undefined, parseJson: ParseJson): AsyncGenerator<Line> {
  const { upload } = request
  if (upload === null && body === undefined) throw invalid('content', 'content is required: send a file as text/csv or application/x-ndjson, or JSON with format and content')
  const read = (upload?.format ?? body!.format) === 'csv' ? linesFromCsv : linesFromJsonLines
  return read(upload === null ? pieces(body!.content) : textFrom(upload.bytes), parseJson)
}

async function * pieces (content: string): AsyncGenerator<string> {
  yield content.replace(/^\ufeff/, '')
}

/** @throws {@link SHOP_INVALID} if the bytes are not UTF-8; {@link SHOP_FILE_TOO_LARGE} if there are too many; {@link SHOP_UPLOAD_ABORTED} */
async function * textFrom (bytes: Readable): AsyncGenerator<string> {
  // It leaves out the byte order mark.
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true })
    } catch {
      throw invalid('content', 'content is not UTF-8')
    }
  }
  let length = 0
  for await (const chunk of arriving(bytes)) {
    length += chunk.length
    if (length > MAX_FILE) throw new SHOP_FILE_TOO_LARGE(MAX_FILE / 1_048_576)
    yield decode(chunk)
  }
  yield decode()
}

/** @throws {@link SHOP_UPLOAD_ABORTED} */
async function * arriving (bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield * bytes as AsyncIterable<Buffer>
  } catch (error) {
    throw (error as { code?: string }).code === 'ECONNRESET' ? new SHOP_UPLOAD_ABORTED() : error
  }
}

/** JSON that has no key which would change the prototype of an object, as for bodies. */
export function jsonParser (app: FastifyInstance): ParseJson {
  const parse = app.getDefaultJsonParser('error', 'error')
  return (text) => {
    const outcome: { error?: Error | null, value?: unknown } = {}
    parse(undefined as never, text, (error, value) => { Object.assign(outcome, { error, value }) })
    if (outcome.error instanceof Error) throw outcome.error
    return outcome.value
  }
}
