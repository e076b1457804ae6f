import type { ItemBody } from '../admin/run-schemas.ts'
import { itemTable } from '../csv/tables.ts'
import { printableJson } from '../printable.ts'
import { itemHead, itemLines } from './listings.ts'
import type { Output } from './progress.ts'
import { pagesBySkip, printJson, recordsTable, type CsvFile, type Listing } from './records.ts'
import { reportText, type RunBody } from './tables.ts'

/** How to report a run, and where its items come from. */
export interface Report {
  readonly json: boolean
  readonly show?: readonly string[]
  readonly since?: string | undefined
  readonly csv: CsvFile | undefined
  readonly read: (query: Readonly<Record<string, string>>) => Promise<RunBody>
  readonly stdout: Output
  readonly note: (text: string) => void
}

/** Prints what a run found: the chosen items as JSON, or counters with a table or a file of them. */
export async function reportRun (run: RunBody, { json, show, since, csv, read, stdout, note }: Report): Promise<void> {
  const listing = (outcomes: readonly string[] | undefined): Listing<ItemBody> => ({
    pages: (size) => pagesBySkip(size, async (page) => {
      const filter = outcomes && { filter: JSON.stringify({ outcome: outcomes }) }
      const { items, items_count: count } = await read({ ...filter, ...(since !== undefined && { since }), ...page })
      return { records: items, count }
    }),
    head: itemHead(run.shop_id !== null),
    lines: (item) => itemLines(item, run.shop_id !== null),
    csv: itemTable
  })
  if (json) {
    const { items: _, items_count: __, ...counters } = run
    stdout.write(`${printableJson(counters).slice(0, -2)},\n  "items": `)
    await printJson(listing(show), stdout)
    stdout.write('\n}\n')
    return
  }
  stdout.write(reportText(run, csv ? '' : await recordsTable(listing(show ?? ['failed']), stdout)))
  if (csv) note(`${await csv.fill(listing(show))} items written`)
}
