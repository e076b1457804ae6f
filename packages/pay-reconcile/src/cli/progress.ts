import { printable } from './printable.ts'
import { progressLine, type WireRun } from './tables.ts'

/** Where text goes: `process.stderr`, say. */
export interface Output {
  write (text: string): unknown
  readonly isTTY?: boolean
}

/** What is said while a run is watched. */
export interface Progress {
  /** One line that renews itself in a terminal; a log gets a line each time. */
  show (run: WireRun): void
  /** A line of its own. */
  note (text: string): void
  /** Ends the line that renews itself. */
  end (): void
}

export function progressOn (output: Output): Progress {
  let open = false
  function end (): void {
    if (open) output.write('\n')
    open = false
  }
  return {
    show (run) {
      open = output.isTTY ?? false
      output.write(open ? `\r${progressLine(run)}` : `${progressLine(run)}\n`)
    },
    note (text) {
      end()
      output.write(`${printable(text)}\n`)
    },
    end
  }
}
