/**
 * Characters that show nothing, and are in a name by accident: soft hyphens, marks of direction, spaces without width.
 */
const UNSEEN = /[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g

/**
 * Spaces, what joins letters and parts of emoji, and letters that are blank, such as the fillers of Hangul, are nothing
 * to see at an end.
 */
const SEEN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u

/** The same for all spellings that look the same: one Unicode form, one kind of space. */
function oneSpelling (text: string): string {
  return text.normalize('NFC').replace(/\p{Z}/gu, ' ').replace(UNSEEN, '')
}

/** The name of a key as it is stored: without what nobody sees at its ends. Every name passes here once. */
export function keyName (text: string): string {
  const characters = [...oneSpelling(text)]
  const isSeen = (character: string): boolean => SEEN.test(character)
  return characters.slice(characters.findIndex(isSeen), characters.findLastIndex(isSeen) + 1).join('')
}

/** What a search for a text looks for: names of older keys may be stored in the spelling that is given. */
export function spellingsOf (text: string): readonly string[] {
  return [...new Set([text, oneSpelling(text) || text])]
}

/** For a comparison in either case. The Turkish letters \u0130 and \u0131 count as i. */
export function inLowerCase (text: string): string {
  return text.replace(/[\u0130\u0131]/g, 'i').toLowerCase()
}
