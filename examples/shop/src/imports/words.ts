import { excerpt } from '#shared/excerpt'

/** `1 price has`, `2 prices have`. */
export function counted (count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** A cell, for a message. */
export function quoted (cell: string): string {
  return JSON.stringify(excerpt(cell, 60))
}

/** `a, b and c`. */
export function listed (names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)!}`
}
