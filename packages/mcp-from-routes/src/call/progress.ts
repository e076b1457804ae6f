import { StringDecoder } from 'node:string_decoder'
import { attempt } from '../attempt.ts'
import { isObject } from '../schema/json-schema.ts'
import { isStreamed } from '../tool/output.ts'
import type { InnerResponse, OnChunk } from '../types.ts'

/** The progress that one piece of a streamed response reports. */
export interface Progress {
  /** Rises with every piece. */
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

const MAX_MESSAGE = 1000
/**
 * Reads server-sent events and NDJSON as a route writes them.
 * A piece may be an object with a number `progress`, and `total` and `message`. Any other piece is the message itself,
 * and the count of pieces is the progress.
 */
export function progressReader (report: (progress: Progress) => void): OnChunk {
  const decoder = new StringDecoder()
  let text = ''
  let last = 0
  return (chunk, { headers, statusCode }: InnerResponse) => {
    if (statusCode >= 300 || !isStreamed(headers['content-type'])) return
    const lines = (text + decoder.write(chunk)).split(/\r?\n/)
    text = lines.pop() ?? ''
    for (const line of lines) {
      const data = /text\/event-stream/i.test(String(headers['content-type'])) ? /^data: ?(.*)$/.exec(line)?.[1] : line
      if (data === undefined || data.trim() === '') continue
      const progress = progressOf(data, last)
      last = progress.progress
      report(progress)
    }
  }
}

function progressOf (data: string, last: number): Progress {
  const value: unknown = attempt(() => JSON.parse(data))
  const message = isObject(value) && typeof value.message === 'string' ? value.message : data
  // The protocol requires it to rise every time.
  const progress = isObject(value) && typeof value.progress === 'number' && value.progress > last
    ? value.progress
    : last + 1
  return {
    progress,
    ...isObject(value) && typeof value.total === 'number' && { total: value.total },
    message: message.slice(0, MAX_MESSAGE)
  }
}
