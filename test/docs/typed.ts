import type { Test } from 'tap'
import { type Fence, quotes } from './fences.ts'
import type { Shell } from './shell.ts'

/** What is where in the pages, and where it is here. */
export type Places = ReadonlyArray<readonly [written: string, here: string]>

/** The text of a page with the places of this machine. */
export function asHere (text: string, places: Places): string {
  return places.reduce((result, [written, here]) => result.replaceAll(written, here), text)
}

function asWritten (text: string, places: Places): string {
  return places.reduce((result, [written, here]) => result.replaceAll(here, written), text)
}

/**
 * Types the commands of a fence, which must succeed, and compares what they print with the fence behind, if it is
 * `text`.
 *
 * @param run - runs the commands
 */
export async function typed (
  t: Test,
  { text, line }: Fence,
  next: Fence | undefined,
  run: Shell['run'],
  places: Places
): Promise<void> {
  const { code, output } = await run(asHere(text, places))
  t.equal(code, 0, `line ${line} succeeds`)
  if (next?.info !== 'text') return
  const printed = asWritten(output, places)
  t.ok(quotes(next.text, printed), `line ${next.line} is what line ${line} prints`, { quoted: next.text, printed })
}
