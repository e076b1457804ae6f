import type { Readable } from 'node:stream'
import { attempt } from '../attempt.ts'

/** How many bytes at either end of a message are searched for its id. */
const WINDOW = 1024
const AT_START = /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]{0,200}"\s*,\s*){0,2}"id"\s*:\s*(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")\s*[,}]/
const AT_END = /"id"\s*:\s*(-?\d{1,16}|"(?:[^"\\]|\\.){0,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

/**
 * Reads what is left of a message that is too large to be parsed, keeps only its ends, and finds its id there: clients
 * write it before or after `params`. Without the id no client can tell which request failed, and until all is read
 * some do not listen for an answer.
 * @param isWhole - whether nothing of the body was read before
 * @param maxBytes - a body that is longer is not read to its end
 * @returns undefined for a message without an id that can be found
 */
export async function idOfOversized (body: Readable, isWhole: boolean, maxBytes: number): Promise<string | number | undefined> {
  let start = Buffer.alloc(0)
  let end = Buffer.alloc(0)
  let size = 0
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) return undefined
      if (start.length < WINDOW) start = Buffer.concat([start, chunk.subarray(0, WINDOW - start.length)])
      end = Buffer.concat([end, chunk.subarray(-WINDOW)]).subarray(-WINDOW)
    }
  } catch {
    // The client has gone.
    return undefined
  }
  const id = (isWhole ? AT_START.exec(start.toString()) : null) ?? AT_END.exec(end.toString())
  return attempt(() => JSON.parse(id?.[1] ?? '') as string | number)
}
