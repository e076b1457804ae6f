import type { Readable, Writable } from 'node:stream'
import type { Knex } from 'knex'
import { BYTE_ORDER_MARK, csvLine, unescaped } from '#shared/csv-line'
import { enterAgain } from '../access/shops-reached.ts'
import type { ShopScope } from '../access/scope.ts'
import type { Cell } from '../catalog/product-file.ts'
import { notFound } from '../errors.ts'
import { type FileFormat, sentFiles } from '../http/sent-files.ts'
import { ERROR } from './line.ts'

/** How many lines are read at a time. Each is as long as a line of a file may be. */
const PAGE = 50

interface FailedLine {
  readonly position: number
  /** As JSON: the cells of CSV, or the line itself. Imports of earlier versions have none. */
  readonly source: string | null
  readonly message: string
}

/** A file of the lines of an import that failed. */
interface FailedLinesFile {
  readonly format: FileFormat
  /** In ASCII, for a header. */
  readonly name: string
  readonly file: Readable
}

/**
 * Writes the lines of imports that failed, as files that can be corrected and imported again: as they were, each with
 * its error, which imports pass over.
 */
export function failedLines (knex: Knex) {
  const sent = sentFiles()

  async function* pages (shop: ShopScope, id: string): AsyncGenerator<readonly FailedLine[]> {
    for (let last = 0;;) {
      // A file may take hours.
      if (last > 0) await enterAgain(knex, shop.caller, shop.id)
      const page: readonly FailedLine[] = await knex('import_lines')
        .where({ shop_id: shop.id, import_id: id, status: 'failed' }).where('position', '>', last)
        .orderBy('position').limit(PAGE).select('position', 'source', 'message')
      if (page.length === 0) return
      yield page
      last = page.at(-1)!.position
    }
  }

  async function* written (shop: ShopScope, id: string, headings: readonly Cell[] | null): AsyncGenerator<string> {
    if (headings !== null) yield `${BYTE_ORDER_MARK}${lineOf(ERROR, headings)}`
    for await (const page of pages(shop, id)) yield page.map(headings === null ? jsonFrom : csvFrom).join('')
  }

  return {
    /**
     * @param client - the response; when it closes, no more is read
     * @throws {@link SHOP_NOT_FOUND}
     * @throws {@link SHOP_TOO_MANY_CONCURRENT_CALLS} if too many such files of the shop are on their way
     */
    async open (shop: ShopScope, id: string, client: Writable): Promise<FailedLinesFile> {
      const found: { readonly headings: string | null } | undefined = await knex('imports')
        .where({ shop_id: shop.id, id }).whereNot({ status: 'receiving' }).first('headings')
      if (found === undefined) throw notFound('import', id)
      const headings = found.headings === null ? null : JSON.parse(found.headings) as readonly Cell[]
      const format = headings === null ? 'jsonl' : 'csv'
      return { format, name: `failed-lines.${format}`, file: sent.open(shop, written(shop, id, headings), client) }
    }
  }
}

function csvFrom ({ source, message }: FailedLine): string {
  return lineOf(message, source === null ? [] : JSON.parse(source) as readonly Cell[])
}

/** The error comes first: a line may have more cells than there are columns, or fewer, which can be what is wrong. */
function lineOf (error: string, cells: readonly Cell[]): string {
  // A cell of a file that this server wrote has its apostrophe already.
  return csvLine([error, ...cells.map((cell) => cell === null ? null : unescaped(cell))])
}

/** Into the text: a line that is wrong may be no JSON. One that is no object is left out, but for its error. */
function jsonFrom ({ source, message }: FailedLine): string {
  const error = `{${JSON.stringify(ERROR)}:${JSON.stringify(message)}`
  const [, rest] = /^\s*\{\s*([^]*)$/.exec(source ?? '') ?? []
  if (rest === undefined) return `${error}}\n`
  return `${error}${rest.startsWith('}') ? '' : ','}${rest}\n`
}
