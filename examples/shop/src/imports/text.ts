import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalid } from '../errors.ts'
import { Fault } from './line.ts'

/** How much is read before others have their turn, in bytes or characters. */
const PIECE = 16_384

/** Waits until it may go on: others come first. */
export type Turn = () => Promise<void>

/** @returns the text piece by piece, each in a turn */
export async function* piecesOf (text: string, turn: Turn): AsyncGenerator<string> {
  for (let from = text.startsWith(MARK) ? 1 : 0; from < text.length; from += PIECE) {
    await turn()
    yield text.slice(from, from + PIECE)
  }
}

/** The byte order mark. */
const MARK = '\ufeff'

/** How files begin that are no text, or in another encoding; and what they are. */
const OTHERS: ReadonlyArray<readonly [start: readonly number[], what: string]> = [
  [[0xff, 0xfe], 'UTF-16'],
  [[0xfe, 0xff], 'UTF-16'],
  [[0x1f, 0x8b], 'compressed with gzip'],
  [[0x50, 0x4b, 0x03, 0x04], 'a ZIP archive or a workbook'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'a workbook']
]

/** @throws {@link SHOP_INVALID} if it is not UTF-8 from the start */
function refuseOthers (start: Buffer): void {
  const [, what] = OTHERS.find(([bytes]) => bytes.every((byte, at) => start[at] === byte)) ?? []
  // Without a mark, UTF-16 has NUL beside every letter.
  const said = what ?? (start.subarray(0, 2).includes(0) ? 'UTF-16' : undefined)
  if (said !== undefined) throw invalid('content', `content is ${said}: save the file as CSV UTF-8`)
}

/**
 * Decodes UTF-8, with or without a byte order mark.
 *
 * @returns the text piece by piece, each in a turn
 * @throws {@link Fault} about the line that is not UTF-8; {@link SHOP_INVALID} if the whole file is something else
 */
export async function* textOf (bytes: AsyncIterable<Buffer>, turn: Turn): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  let [line, isStart, afterCr] = [1, true, false]

  function decode (piece: Buffer): string {
    if (isStart) refuseOthers(piece)
    if (!isUtf8(piece)) {
      throw new Fault(
        line + breaksIn(piece.subarray(0, startOfFault(piece)), afterCr),
        'The line is not UTF-8: save the file as CSV UTF-8'
      )
    }
    const text = piece.toString()
    line += breaksIn(piece, afterCr)
    afterCr = piece.at(-1) === CR
    const read = isStart && text.startsWith(MARK) ? text.slice(1) : text
    isStart = false
    return read
  }

  for await (const chunk of bytes) {
    for (let from = 0; from < chunk.length; from += PIECE) {
      const found = Buffer.concat([rest, chunk.subarray(from, from + PIECE)])
      // A file may arrive byte by byte.
      const end = isStart && found.length < 4 ? 0 : wholeEnd(found)
      rest = found.subarray(end)
      if (end === 0) continue
      await turn()
      yield decode(found.subarray(0, end))
    }
  }
  if (rest.length > 0) yield decode(rest)
}

const [LF, CR] = [10, 13]

/** @returns where the last character ends that is whole, or is wrong */
function wholeEnd (bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte >= 0x80 && byte < 0xc0) continue
    return lengthOf(byte) > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}

/** @returns how many bytes a character has, by its first one */
function lengthOf (byte: number): number {
  if (byte < 0x80) return 1
  if (byte < 0xe0) return 2
  return byte < 0xf0 ? 3 : 4
}

/** @param afterCr - whether CR precedes */
function breaksIn (bytes: Buffer, afterCr: boolean): number {
  let count = 0
  for (let at = 0, before = afterCr; at < bytes.length; before = bytes[at++] === CR) {
    if (bytes[at] === CR || (bytes[at] === LF && !before)) count += 1
  }
  return count
}

/** @returns where the line begins that is not UTF-8 */
function startOfFault (bytes: Buffer): number {
  let start = 0
  for (let end = 0; end < bytes.length; end++) {
    if (bytes[end] !== LF && bytes[end] !== CR) continue
    if (!isUtf8(bytes.subarray(start, end))) break
    start = end + 1
  }
  return start
}

/** Marks the end of a text with null. */
export async function* toEnd (text: AsyncIterable<string>): AsyncGenerator<string | null> {
  yield* text
  yield null
}

/**
 * Shares the event loop between long works: in each of its turns, one of them goes on, and everybody else comes first.
 *
 * @returns waits until the caller may go on for a few milliseconds
 */
export function slices (): () => Promise<void> {
  let last = Promise.resolve()
  return async () => {
    last = last.then(async () => {
      await nextTurn()
    })
    await last
  }
}
