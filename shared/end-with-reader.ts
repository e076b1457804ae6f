/** What shells report of a command that the signal SIGPIPE ended. */
const BROKEN_PIPE = 141

/**
 * From now on, ends the process without a word once the reader of its output has left, as `head` does after its lines.
 * The exit code is the one that is set by then, or 141, as of other commands.
 */
export function endWithReader (): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(process.exitCode ?? BROKEN_PIPE)
    })
  }
}
