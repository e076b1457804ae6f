import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { csvLine } from '#shared/csv-line'
import type { RawQuery } from '#shared/list-grammar'
import { commonRules, wordFrom } from '../admin/list-query.ts'
import { PAY_RECONCILE_RUN_FORBIDDEN } from '../errors.ts'
import type { AllRecords } from '../extension.ts'
import { csvText, type CsvTable } from './csv.ts'

/**
 * Whether a request wants CSV.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION} if it also requests a page: a file that ends early would look complete.
 */
export function wantsCsv (query: RawQuery): boolean {
  if (wordFrom('format', query.format, ['json', 'csv']) !== 'csv') return false
  const page = ['skip', 'limit', 'range'].find((name) => query[name] !== undefined)
  if (page !== undefined) throw commonRules.refuse([page], 'cannot be combined with format=csv, which has all records')
  return true
}

/** In records. */
const PAGE_SIZE = 1000

/**
 * Sends all records as a CSV file, page by page, as fast as the client reads. The first page is read before, so that
 * its failure has a status; a later one breaks the connection, and the client sees that the file is not whole.
 */
export async function sendCsv<Body> (
  reply: FastifyReply,
  table: CsvTable<Body>,
  { name, read, mayContinue }: AllRecords<Body>
): Promise<FastifyReply> {
  const first = await read({ skip: 0, limit: PAGE_SIZE })
  async function* text (): AsyncGenerator<string> {
    yield csvLine(table.head)
    let skip = 0
    for (let page = first; page.records.length > 0; page = await read({ skip, limit: PAGE_SIZE })) {
      yield csvText(table, page.records)
      skip += page.records.length
      if (skip >= page.count) return
      if (!await mayContinue()) throw new PAY_RECONCILE_RUN_FORBIDDEN()
    }
  }
  return await reply
    .header('content-type', 'text/csv; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}.csv"`)
    .send(Readable.from(text(), { objectMode: false }))
}
