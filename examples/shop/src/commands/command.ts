import type { ParseArgsConfig } from 'node:util'
import type { Actor } from '../access/caller.ts'
import type { Database, openDatabase } from '../database/index.ts'
import { refusePending } from '../migrations/migrate.ts'

/** The result of a command. */
export interface Outcome {
  /** Exit code: 0, or 1 if something is wrong. */
  readonly code: number
  /** The result alone, for programs. */
  readonly stdout: string
  /** Everything else, for people. */
  readonly stderr: string
}

/** One of the commands of `shop`. */
export interface Command {
  /** Its words and arguments, such as `admin add <subject>`. */
  readonly usage: string
  /** What it does, in a line. */
  readonly summary: string
  /** Options for `parseArgs`. Default: none. */
  readonly options?: ParseArgsConfig['options']
  /** How many arguments it takes beside the options. Default: none. */
  readonly positionals?: number
  /** @throws for unusable input; an error without a code is a bug */
  readonly run: (call: Call) => Promise<Outcome>
}

/** What a command is called with. */
export interface Call {
  readonly values: Readonly<Record<string, unknown>>
  readonly positionals: readonly string[]
  /** The settings, as in `process.env`. */
  readonly environment: NodeJS.ProcessEnv
  /** Opens the database that the settings name. */
  readonly open: typeof openDatabase
}

/** The operator who runs a command: the shell's user name, which is not verified. */
export function operatorOf ({ SUDO_USER, USER }: NodeJS.ProcessEnv, operation: string): Actor {
  return { kind: 'command', id: SUDO_USER || USER || null, operation, requestId: null }
}

/**
 * Runs `work` on the database that the settings name, and closes it.
 *
 * @throws {@link SHOP_MIGRATIONS_PENDING}
 */
export async function withDatabase<T> (
  open: typeof openDatabase,
  settings: Parameters<typeof openDatabase>[0],
  work: (database: Database) => Promise<T>
): Promise<T> {
  const database = await open(settings)
  try {
    await refusePending(database)
    return await work(database)
  } finally {
    await database.close()
  }
}
