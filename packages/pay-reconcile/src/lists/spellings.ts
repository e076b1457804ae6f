import { whereAny } from './listed.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The ways in which an id of the host may be stored, in columns of text: a UUID in lower case, as the type uuid writes
 * it, or as it is, if the host keeps its ids as text.
 */
export function spellingsOf (id: string): readonly string[] {
  return UUID.test(id) ? [...new Set([id, id.toLowerCase()])] : [id]
}

/** Keeps the records with any of these ids of the host. */
export const whereId: typeof whereAny = (query, ids, key) => {
  const spellings = ids.map((id) => typeof id === 'string' ? spellingsOf(id) : [id])
  whereAny(query, spellings.flat(), key)
}
