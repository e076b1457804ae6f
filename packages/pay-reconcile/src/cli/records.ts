import { open } from 'node:fs/promises'
import { csvLine } from '#shared/csv-line'
import { csvText, type CsvTable } from '../csv/csv.ts'
import { printableJson } from '../printable.ts'
import type { Output } from './progress.ts'
import { table } from './tables.ts'

/** One page of records, and how many there are in all, if that is known. */
export interface RecordPage<Body> {
  readonly records: readonly Body[]
  readonly count?: number
}

/** Records of a server, and how each is shown. */
export interface Listing<Body> {
  /** Reads page after page. @param size - of a page. */
  readonly pages: (size: number) => AsyncIterable<RecordPage<Body>>
  readonly head: readonly string[]
  readonly lines: (record: Body) => string[][]
  readonly csv: CsvTable<Body>
}

const PAGE_SIZE = 1000
/** Records in a table on the screen. */
const SHOWN_RECORDS = 100

/** Pages that are read by how many records to skip. */
export async function* pagesBySkip<Body> (
  size: number,
  read: (page: { readonly skip: string, readonly limit: string }) => Promise<Required<RecordPage<Body>>>
): AsyncGenerator<RecordPage<Body>> {
  for (let skip = 0, count = 1; skip < count;) {
    const page = await read({ skip: String(skip), limit: String(size) })
    if (page.records.length === 0) return
    yield page
    skip += page.records.length
    count = page.count
  }
}

/** The first 100 records as a table as wide as the terminal; '' if there are none. */
export async function recordsTable<Body> (
  { pages, head, lines }: Listing<Body>,
  { isTTY, columns }: Output
): Promise<string> {
  const records: Body[] = []
  let count
  for await (const page of pages(SHOWN_RECORDS)) {
    records.push(...page.records)
    count = page.count
    if (records.length >= SHOWN_RECORDS) break
  }
  const text = table(head, records.slice(0, SHOWN_RECORDS).flatMap(lines), isTTY ? columns : undefined)
  if (count === undefined) {
    return records.length < SHOWN_RECORDS
      ? text
      : `${text}\n\nthere may be more; --csv FILE or --json has all`
  }
  return count > SHOWN_RECORDS ? `${text}\n\nand ${count - SHOWN_RECORDS} more; --csv FILE or --json has all` : text
}

/** Prints all records as a JSON array. */
export async function printJson<Body> ({ pages }: Listing<Body>, output: Output): Promise<void> {
  let separator = ''
  output.write('[')
  for await (const { records } of pages(PAGE_SIZE)) {
    for (const record of records) {
      output.write(`${separator}\n${printableJson(record)}`)
      separator = ','
    }
  }
  output.write(separator === '' ? ']' : '\n]')
}

/** A CSV file that only its owner can read: it holds names and e-mail addresses. */
export interface CsvFile {
  /** @returns the number of records */
  fill<Body>(listing: Listing<Body>): Promise<number>
  close(): Promise<void>
}

/** Creates the file first, so that a wrong path fails before anything is started. */
export async function csvFile (path: string): Promise<CsvFile> {
  const file = await open(path, 'w', 0o600)
  // A file that was there before keeps its mode.
  if ((await file.stat()).isFile()) await file.chmod(0o600)
  return {
    async fill ({ pages, csv }) {
      let count = 0
      await file.appendFile(csvLine(csv.head))
      for await (const { records } of pages(PAGE_SIZE)) {
        await file.appendFile(csvText(csv, records))
        count += records.length
      }
      return count
    },
    close: () => file.close()
  }
}
