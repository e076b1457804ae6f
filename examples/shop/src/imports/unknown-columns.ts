import { COLUMNS } from '../catalog/product-file.ts'
import type { LineProblem } from './line.ts'
import { SYSTEMS } from './presets.ts'
import { counted, listed } from './words.ts'

/** @returns what is wrong with the first line of a file; all names are told at once */
export function problemOfColumns (names: readonly string[]): LineProblem {
  const which = names.length === 1
    ? `${names[0]!} is not a known column`
    : `${names.length} columns are not known: ${listed(names)}`
  return {
    field: names.length === 1 ? names[0]! : '',
    message:
      `${which}. Known: ${[...COLUMNS.keys()].join(', ')}; and the headings of ${listed(SYSTEMS)}. Rename what ` +
      'you need, and leave out the others'
  }
}

/** @returns a sentence about the columns that were left out of an import */
export function leftOutColumns (names: readonly string[]): string {
  const shown = listed(names.slice(0, 3))
  return `${counted(names.length, 'column is not known and is', 'columns are not known and are')} left out` +
    `${names.length > 3 ? ', such as' : ':'} ${shown}`
}
