/** A logger, and what it has logged of a level and above. */
export function logs (
  level: string
): {
  readonly lines: Array<Record<string, unknown>>,
  readonly logger: { level: string, stream: { write: (line: string) => void } }
} {
  const lines: Array<Record<string, unknown>> = []
  return {
    lines,
    logger: {
      level,
      stream: {
        write: (line) => {
          lines.push(JSON.parse(line))
        }
      }
    }
  }
}
