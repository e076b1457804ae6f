import { ERROR, Fault, type Line, lineOfFault, MAX_LINE } from './line.ts'
import type { ParseJson } from '../http/json-bodies.ts'
import { lineReader } from './lines-of-text.ts'
import { toEnd } from './text.ts'

/** Reads JSON lines: one product a line, as an object. Blank lines are left out. */
export async function* linesFromJsonLines (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  const read = lineReader(MAX_LINE)
  try {
    for await (const piece of toEnd(text)) {
      for (const { line, text } of read(piece)) yield { line, size: text.length, ...productFrom(text, parseJson) }
    }
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    yield lineOfFault(error)
  }
}

function productFrom (written: string, parseJson: ParseJson): Pick<Line, 'product' | 'problem' | 'source'> {
  try {
    const parsed = parseJson(written)
    if (typeof parsed !== 'object' || parsed === null || !(ERROR in parsed)) return { product: parsed, source: written }
    const { [ERROR]: _, ...product } = parsed
    return { product, source: JSON.stringify(product) }
  } catch {
    return { problem: { field: '', message: 'The line is not a JSON object' }, source: written }
  }
}
