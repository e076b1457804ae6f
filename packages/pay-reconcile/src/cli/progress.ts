import { printable } from '../printable.ts'
import { progressLine, type RunBody } from './tables.ts'

/** `process.stderr`, for example. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number
}

/** Output while a run is watched. */
export interface Progress {
  /** Shows the progress: updates one line in a terminal, adds a line in a log. */
  show(run: RunBody): void
  /** Adds a line. */
  note(text: string): void
  /** Ends the line that is being updated. */
  end(): void
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
