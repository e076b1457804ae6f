import { Fault } from './line.ts'

/** A line of a file that has more than blanks. */
interface TextLine {
  /** Of the file, from 1. */
  readonly line: number
  readonly text: string
}

const [LF, CR] = [10, 13]

/**
 * Divides text into lines piece by piece, in time in proportion to the piece. Each ends with LF, CRLF or CR. Blank
 * lines are left out.
 *
 * @param longest - in characters
 * @returns reads the next piece, or the end of the text if it is null, and gives the lines that end there
 * @throws {@link Fault} about a line that is too long
 */
export function lineReader (longest: number): (piece: string | null) => readonly TextLine[] {
  let [rest, line, afterCr] = ['', 1, false]

  function refuseBeyond (length: number): void {
    if (length > longest) throw new Fault(line, `The line is longer than ${longest} characters`)
  }

  return (piece) => {
    const [read, found] = [piece ?? '\n', [] as TextLine[]]
    let from = 0
    for (let at = 0; at < read.length; at++) {
      const code = read.charCodeAt(at)
      const endsCrLf = afterCr && code === LF
      afterCr = code === CR
      if (endsCrLf) from = at + 1
      else if (code === LF || code === CR) {
        const text = rest + read.slice(from, at)
        refuseBeyond(text.length)
        if (text.trim() !== '') found.push({ line, text })
        rest = ''
        line += 1
        from = at + 1
      }
    }
    rest += read.slice(from)
    refuseBeyond(rest.length)
    return found
  }
}
