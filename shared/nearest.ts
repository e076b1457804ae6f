/** How long a name can be, and how long one that is meant for one. */
const LONGEST = 64 + 8
/** How many edits a name may be away, whatever its length. */
const MOST_EDITS = 3
/** One edit for so many characters: a short name is soon like any other. */
const CHARACTERS = 4

/**
 * Those whose names are like this one, the nearest first: `creat_note`, `createNote` or `create-note` for
 * `create_note`. They depend on nothing but the names.
 */
export function nearestBy<One> (all: Iterable<One>, name: string, nameOf: (one: One) => string): readonly One[] {
  if (name.length > LONGEST) return []
  const wanted = plain(name)
  const most = Math.min(MOST_EDITS, Math.floor(wanted.length / CHARACTERS))
  const near: Array<{ readonly one: One, readonly edits: number }> = []
  for (const one of all) {
    const edits = editsBetween(wanted, plain(nameOf(one)), most)
    if (edits <= most) near.push({ one, edits })
  }
  return near.sort((a, b) => a.edits - b.edits).map(({ one }) => one)
}

/** Names that differ only in how their words are joined are the same. */
function plain (name: string): string {
  return name.replace(/[^A-Za-z0-9]/g, '').toLowerCase()
}

/**
 * How many characters to add, remove or replace, or neighbours to exchange.
 * @param most - above it, the answer is only that it is more
 */
export function editsBetween (one: string, other: string, most: number): number {
  const beyond = most + 1
  if (Math.abs(one.length - other.length) > most) return beyond
  // Most of what is alike is where the names begin and end.
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one.charCodeAt(start) === other.charCodeAt(start)) start++
  let end = 0
  while (end < shorter - start && one.charCodeAt(one.length - 1 - end) === other.charCodeAt(other.length - 1 - end)) {
    end++
  }
  const [a, b] = [one.slice(start, one.length - end), other.slice(start, other.length - end)]
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let line = 1; line <= a.length; line++) {
    const next = new Array<number>(b.length + 1).fill(beyond)
    next[0] = line
    let least = line
    // Farther from the diagonal, there are more edits than matter.
    for (let column = Math.max(1, line - most); column <= Math.min(b.length, line + most); column++) {
      const isSame = a[line - 1] === b[column - 1]
      let edits = Math.min(row[column]! + 1, next[column - 1]! + 1, row[column - 1]! + (isSame ? 0 : 1))
      if (line > 1 && column > 1 && a[line - 1] === b[column - 2] && a[line - 2] === b[column - 1]) {
        edits = Math.min(edits, before[column - 2]! + 1)
      }
      next[column] = edits
      least = Math.min(least, edits)
    }
    if (least > most) return beyond
    before = row
    row = next
  }
  return Math.min(row[b.length]!, beyond)
}
