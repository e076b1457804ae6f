import type { Call } from './http.ts'
import { type Clash, merge } from './merge.ts'
import { ApiError } from './problem.ts'

/** A record with its version. */
export type Versioned = Readonly<Record<string, unknown>> & { readonly updated_at: string }

/** What others changed since `before` was read. */
export interface Meanwhile {
  /** Where the record is. */
  readonly path: string
  readonly before: Versioned
  readonly clashes: readonly Clash[]
}

/** Asks what to keep of each clash. @returns the fields that are written regardless; undefined to write nothing */
export type Settle = (meanwhile: Meanwhile) => Promise<Readonly<Record<string, unknown>> | undefined>

/** How a list is read. The page says what could not be read, and stays. */
export const AS_LISTED = { onError: () => {} } as const

/** How a form reads its record: once, so that what it compares with is what somebody saw. */
export const AS_OPENED = { ...AS_LISTED, refetchOnWindowFocus: false, refetchOnReconnect: false } as const

/** The header that makes a write fail if the record has another version. */
export function ifMatch ({ updated_at: version }: { readonly updated_at: string }): Headers {
  return new Headers({ 'if-match': `"${version}"` })
}

/**
 * Writes changes of a record, unless others have changed the same meanwhile.
 *
 * @param before - the record as it was read
 * @returns the record as it is now
 * @throws {@link ApiError}, with status 412 if nothing was written
 */
export async function saveChanges (
  call: Call,
  path: string,
  before: Versioned,
  changes: Readonly<Record<string, unknown>>,
  settle: Settle
): Promise<Versioned> {
  for (let [known, mine] = [before, changes];;) {
    try {
      return (await call<Versioned>(path, { method: 'PATCH', data: mine, headers: ifMatch(known) })).json
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412) throw error
      const current = error.problem['current'] as Versioned
      const { changes, clashes } = merge(known, mine, current)
      const kept = clashes.length === 0 ? {} : await settle({ path, before: known, clashes })
      if (kept === undefined) throw error
      mine = { ...changes, ...kept }
      known = current
      if (Object.keys(mine).length === 0) return current
    }
  }
}
