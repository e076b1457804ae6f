/** Rows that wait in memory to be written, since a write for each call would cost as much as the call. */
export interface Unwritten<Row> {
  /**
   * Adds a row to the one of that name. A new name is left out while there are too many.
   *
   * @param row - which nobody else changes: others are added to it
   */
  readonly add: (name: string, row: Row) => void
  /** What is being written under that name, and what waits. */
  readonly get: (name: string) => readonly Row[]
  /**
   * Writes rows, if there are any. If that fails, they wait together with those that came meanwhile. Flushes must not
   * overlap.
   *
   * @param isWanted - which rows. Default: all
   * @param onWritten - runs at the moment from which `get` has them no longer
   * @throws what `write` throws
   */
  readonly flush: <Result>(
    write: (rows: readonly Row[]) => Promise<Result>,
    isWanted?: (row: Row) => boolean,
    onWritten?: (result: Result) => void
  ) => Promise<void>
}

/**
 * @param most - names that wait
 * @param together - makes one row of two, which may be the earlier one: it runs on every call
 */
export function unwritten<Row> (most: number, together: (earlier: Row, later: Row) => Row): Unwritten<Row> {
  const waiting = new Map<string, Row>()
  let writing: ReadonlyMap<string, Row> = new Map()

  function add (name: string, row: Row): void {
    const known = waiting.get(name)
    if (known !== undefined) waiting.set(name, together(known, row))
    else if (waiting.size < most) waiting.set(name, row)
  }

  function addAgain (name: string, row: Row): void {
    const later = waiting.get(name)
    if (later !== undefined) waiting.set(name, together(row, later))
    else add(name, row)
  }

  return {
    add,
    get (name) {
      return [writing.get(name), waiting.get(name)].filter((row) => row !== undefined)
    },
    async flush (write, isWanted = () => true, onWritten = () => {}) {
      const rows = new Map([...waiting].filter(([, row]) => isWanted(row)))
      if (rows.size === 0) return
      for (const name of rows.keys()) waiting.delete(name)
      writing = rows
      try {
        const result = await write([...rows.values()])
        writing = new Map()
        onWritten(result)
      } catch (error) {
        writing = new Map()
        for (const [name, row] of rows) addAgain(name, row)
        throw error
      }
    }
  }
}
