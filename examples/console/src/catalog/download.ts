import { BYTE_ORDER_MARK } from '../../../../shared/csv-line.ts'

/** Offers CSV as a file to save. */
export function download (name: string, text: string): void {
  // What is read of a response has lost the mark.
  const url = URL.createObjectURL(new Blob([BYTE_ORDER_MARK, text], { type: 'text/csv;charset=utf-8' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
