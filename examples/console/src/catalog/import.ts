import type {
  Import as ImportSchema,
  ImportLine,
  ImportPreview,
  ListedImport
} from '../../../shop/src/imports/schemas.ts'
import { visible } from '../../../../shared/visible.ts'
import { texts } from '../texts.ts'

/** What an import would do. */
export type Preview = typeof ImportPreview['static']

/** A line of a file that cannot be imported. */
export type WrongLine = Preview['errors'][number]

/** An import, as the list has it. */
export type Import = typeof ListedImport['static']

/** An import with what its check said, and what was undone of it. */
export type WholeImport = typeof ImportSchema['static']

/** What became of a line. */
export type Line = typeof ImportLine['static']

/** The key of the query that reads an import. */
export function keyOf (shopId: string, id: string): readonly string[] {
  return ['imports', shopId, id]
}

/** How often an unfinished import is read again, in milliseconds. */
export const POLL = 1500

/** What its sender called its file, with what cannot be seen in it named. */
export function fileNameOf ({ file_name: name }: Pick<Import, 'file_name'>): string {
  return name === null ? texts.imports.one : visible(name)
}

/** What became of the lines of an import by their number: `2 created, 1 failed`. */
export function becameText ({ created, updated, unchanged, failed }: Import): string {
  return texts.imports.became({ created, updated, unchanged, failed })
}

/** How many lines have each outcome; of an unfinished import, so far. */
export function outcomesOf (item: Import): ReadonlyArray<readonly [Line['status'], number]> {
  const { created, updated, unchanged, failed, total } = item
  const rest = total - created - updated - unchanged - failed
  return ([
    ['created', created],
    ['updated', updated],
    ['unchanged', unchanged],
    ['failed', failed],
    [isUnfinished(item) ? 'pending' : 'skipped', rest]
  ] as const).filter(([, count]) => count > 0)
}

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
