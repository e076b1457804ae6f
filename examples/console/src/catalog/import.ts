import type { ImportPreview, ListedImport } from '../../../shop/src/imports/schemas.ts'

/** What an import would do. */
export type Preview = typeof ImportPreview['static']

/** A line of a file that cannot be imported. */
export type WrongLine = Preview['errors'][number]

/** An import, as the list has it. */
export type Import = typeof ListedImport['static']

export function isUnfinished ({ status }: Pick<Import, 'status'>): boolean {
  return status === 'pending' || status === 'running'
}

/** The media type of a file by its name, or undefined for one that is no list of products. */
export function typeOfFile (name: string): string | undefined {
  const [, ending = ''] = /\.(\w+)$/.exec(name.toLowerCase()) ?? []
  return {
    csv: 'text/csv',
    txt: 'text/csv',
    tsv: 'text/csv',
    jsonl: 'application/x-ndjson',
    ndjson: 'application/x-ndjson'
  }[ending]
}
