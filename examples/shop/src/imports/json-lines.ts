import { type Line, MAX_LINE, type ParseJson } from './line.ts'

/** Reads JSON lines: one product a line, as an object. Empty lines are left out. */
export async function * linesFromJsonLines (text: AsyncIterable<string>, parseJson: ParseJson): AsyncGenerator<Line> {
  let line = 0
  for await (const written of splitLines(text)) {
    line += 1
    if (written.trim() === '') continue
    if (written.length > MAX_LINE) {
      yield { line, problem: { field: '', message: `The line is longer than ${MAX_LINE} characters`, isFatal: true } }
      return
    }
    yield { line, ...productFrom(written, parseJson) }
  }
}

function productFrom (written: string, parseJson: ParseJson): Omit<Line, 'line'> {
  try {
    return { product: parseJson(written) }
  } catch {
    return { problem: { field: '', message: 'The line is not a JSON object' } }
  }
}

/** A line that is too long ends the file. */
async function * splitLines (text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield * lines
    if (rest.length > MAX_LINE) break
  }
  if (rest !== '') yield rest
}
