/** How often a handler, or what it calls, may decode a value once more. */
const DECODINGS = 5

/** What is wrong with a rest that is not plain, after the name of its argument. */
export const NOT_PLAIN =
  'must be a relative path such as a/b.txt: without empty segments, "." and "..", backslashes and control ' +
  'characters, percent-encoded or not'

/**
 * Whether the rest of a path names something below the route, for every reader: also for a handler that decodes it once
 * more, hands it to a file system or takes a backslash for a slash.
 *
 * @param text - not empty
 * @see [RFC 3986 §5.2.4](https://www.rfc-editor.org/rfc/rfc3986#section-5.2.4)
 */
export function isPlainRest (text: string): boolean {
  let read = text
  for (let times = 0; times <= DECODINGS; times++) {
    if (Array.from(read).some(isOdd) || read.split('/').some(isOddSegment)) return false
    const decoded = read.replace(/%[\da-f]{2}/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
    if (decoded === read) return true
    read = decoded
  }
  return false
}

function isOdd (character: string): boolean {
  return character === '\\' || character < ' ' || character === '\u007f'
}

function isOddSegment (segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..'
}
