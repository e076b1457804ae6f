/** Letters that are written from the right, and characters that set or turn the direction of what follows them. */
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/

/** A name within a sentence whose direction ends with it. In elements, CSS does that: see `theme.ts`. */
export function isolated (name: string): string {
  return TURNS.test(name) ? `\u2068${name.replace(/[\u2066-\u2069]/g, '')}\u2069` : name
}
