/** A fenced block of a page. */
export interface Fence {
  /** What stands behind the opening fence: `sh`, `text`, `ts source="…"`. */
  readonly info: string
  /** Without the indentation of the fence. */
  readonly text: string
  /** Line of the opening fence, from 1. */
  readonly line: number
}

/** @returns the fences of a page in their order */
export function fencesOf (markdown: string): readonly Fence[] {
  const fences: Fence[] = []
  let open: { indent: string, ticks: string, info: string, line: number, lines: string[] } | undefined
  for (const [index, text] of markdown.split('\n').entries()) {
    const [, indent = '', ticks = '', info] = /^( *)(`{3,})(.*)$/.exec(text) ?? []
    if (open === undefined) {
      if (info !== undefined) open = { indent, ticks, info, line: index + 1, lines: [] }
    } else if (info === '' && ticks.length >= open.ticks.length) {
      fences.push({ info: open.info, line: open.line, text: open.lines.map((line) => `${line}\n`).join('') })
      open = undefined
    } else {
      open.lines.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text)
    }
  }
  if (open !== undefined) throw new Error(`the fence of line ${open.line} is not closed`)
  return fences
}

/**
 * Whether a program printed what a page quotes. In the quotation `…` stands for anything within a line, and a line
 * that is `…` alone for any number of lines. Blank lines at the end do not count.
 */
export function quotes (quotation: string, printed: string): boolean {
  const pattern = quotation.trimEnd().split('\n').map((line) =>
    line === '…'
      ? '(?:.*\\n)*?'
      : line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^\\n]*') + '\\n'
  ).join('')
  return new RegExp(`^${pattern}$`).test(`${printed.trimEnd()}\n`)
}
