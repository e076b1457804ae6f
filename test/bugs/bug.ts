/** A mistake that a maintainer could make, and what its users would suffer from. */
export interface Bug {
  /** What a user would notice, as they would report it. */
  readonly suffered: string
  /** In the folder of the area, as `src/keys/verify.ts`. */
  readonly file: string
  /** A part of the file that occurs once, and what the mistake makes of it. */
  readonly before: string
  readonly after: string
  /** What alone can show it: a server where two connections can meet, or a browser. */
  readonly on?: 'postgres' | 'redis' | 'browser'
  /** The test file that should notice, in the folder of the area: it runs first. */
  readonly noticedBy?: string
}

/** A bug in three lines: what it is, and what it makes of what. */
export type Row = readonly [suffered: string, file: string, noticedBy: string | undefined, before: string, after: string, on?: Bug['on']]

export function bugFrom ([suffered, file, noticedBy, before, after, on]: Row): Bug {
  return { suffered, file, before, after, ...on && { on }, ...noticedBy !== undefined && { noticedBy } }
}

/**
 * The source with the bug in it.
 *
 * @throws if what the bug replaces does not occur exactly once: the source has changed, so the bug must
 */
export function insert ({ suffered, file, before, after }: Bug, source: string): string {
  const [start, end, ...more] = source.split(before)
  if (start === undefined || end === undefined || more.length > 0) throw new Error(`${file} does not hold exactly once: ${before} (${suffered})`)
  return start + after + end
}
