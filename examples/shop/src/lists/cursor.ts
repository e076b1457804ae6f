import { createHash } from 'node:crypto'
import { invalid } from '../errors.ts'

/** Where a page ended: after the record with this id, which has this value in the field that the list is sorted by. */
export interface Place {
  /** As PostgreSQL writes it. */
  readonly value: string | null
  readonly id: string
  /** How many records there were on the pages up to it. */
  readonly position: number
}

/** The list that a cursor belongs to: it is rejected elsewhere. */
export interface CursorScope {
  /** Of the list's URL. */
  readonly path: string
  readonly sort: string
  readonly filter?: Readonly<Record<string, unknown>>
}

/** Longer ones, of long values, would not fit into every URL. */
export const MAX_CURSOR = 1500

const SCOPE_LENGTH = 11

/** @returns the cursor; undefined if it would be too long */
export function cursorFromPlace (scope: CursorScope, { value, id, position }: Place): string | undefined {
  const cursor = scopeMark(scope) + Buffer.from(JSON.stringify([position, id, value])).toString('base64url')
  return cursor.length > MAX_CURSOR ? undefined : cursor
}

/** @throws {@link SHOP_INVALID} about `after` */
export function placeFromCursor (scope: CursorScope, cursor: string): Place {
  const [position, id, value] = cursor.startsWith(scopeMark(scope)) ? fromText(cursor.slice(SCOPE_LENGTH)) : []
  if (!Number.isSafeInteger(position) || typeof id !== 'string' || !(typeof value === 'string' || value === null)) {
    throw wrongCursor()
  }
  return { position: position as number, id, value }
}

/** A cursor that somebody has made up, or that is from another list. */
export function wrongCursor (): Error {
  return invalid('after', 'after must be from the Link of a page of this list, with the same filter and sort')
}

/** The parts of a request that are the same for all pages of a walk. Fields of a filter may come in any order. */
function scopeMark ({ path, sort, filter = {} }: CursorScope): string {
  const fields = Object.entries(filter).toSorted(([a], [b]) => a < b ? -1 : 1)
  return createHash('sha256').update(JSON.stringify([path, sort, fields])).digest('base64url').slice(0, SCOPE_LENGTH)
}

function fromText (text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) && parts.length === 3 ? parts : []
  } catch {
    return []
  }
}
