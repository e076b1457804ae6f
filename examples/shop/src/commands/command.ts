import type { Actor } from '../audit/caller.ts'
import type { openDatabase } from '../database/index.ts'

/** What a command did. */
export interface Outcome {
  /** Exit code: 0, or 1 if something is wrong. */
  readonly code: number
  /** The result alone, for programs. */
  readonly stdout: string
  /** All else, for people. */
  readonly stderr: string
}

/** One of the commands of `shop`. */
export interface Command {
  /** What is typed behind `shop`, such as `admin add <subject>`. */
  readonly usage: string
  /** What it does, in a line. */
  readonly summary: string
  /**
   * @param args - what is typed behind the words of the command
   * @param environment - the settings, as in `process.env`
   * @param open - opens the database that the settings name
   * @throws for input that cannot be used; an error without a code is a fault
   */
  readonly run: (args: readonly string[], environment: NodeJS.ProcessEnv, open: typeof openDatabase) => Promise<Outcome>
}

/** Who makes the changes of a command: the user name that the shell tells, which nobody has verified. */
export function operatorOf ({ SUDO_USER, USER }: NodeJS.ProcessEnv, operation: string): Actor {
  return { kind: 'command', id: SUDO_USER || USER || null, operation, requestId: null }
}
