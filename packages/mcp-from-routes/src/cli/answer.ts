/** Where a command runs. */
export interface Surroundings {
  /** The folder that paths are relative to. */
  readonly cwd: string
  /** The environment variables, as in `process.env`; git gets them too. */
  readonly env: NodeJS.ProcessEnv
}

/** The outcome of a command: its exit code, and what to print on standard output and standard error. */
export interface Answer {
  /** 0 all is well, or written; 1 the check failed; 2 the command itself failed. */
  readonly code: number
  readonly out: string
  readonly err: string
}
