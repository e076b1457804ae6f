import { finished, Readable, type Writable } from 'node:stream'
import { SHOP_TOO_MANY_CONCURRENT_CALLS } from '../errors.ts'

/** What a file of products is written as. */
export type FileFormat = 'csv' | 'jsonl'

export const MEDIA_TYPES: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  jsonl: 'application/x-ndjson'
}

/** How many files of a shop a process sends at a time: each keeps its client's place for as long as it takes. */
const AT_ONCE = 2

/** Files of shops that are written while they are sent, as fast as their clients take them. */
export function sentFiles () {
  /** How many are on their way, by shop. */
  const open = new Map<string, number>()

  return {
    /**
     * @param client - the response; when it closes, no more is read
     * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} if too many of the shop's files are on their way
     */
    open (shop: { readonly id: string }, written: AsyncIterable<string>, client: Writable): Readable {
      const running = open.get(shop.id) ?? 0
      if (running >= AT_ONCE) throw new SHOP_TOO_MANY_CONCURRENT_CALLS(AT_ONCE, 0)
      open.set(shop.id, running + 1)
      const file = Readable.from(written, { objectMode: false, highWaterMark: 65_536 })
      finished(file, () => {
        const left = open.get(shop.id)! - 1
        if (left === 0) open.delete(shop.id)
        else open.set(shop.id, left)
      })
      // Also if the client has gone before anything was sent.
      client.once('close', () => {
        file.destroy()
      })
      return file
    }
  }
}
