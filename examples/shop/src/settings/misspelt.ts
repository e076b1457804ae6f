import { SECRET_SETTINGS } from './files.ts'
import { settings } from './settings.ts'

/** A name of one word, such as HOST or PGPASSWORD, or a short one is near to names of other programs. */
const SHORTEST = 8
const isOurs = (name: string): boolean => name.length >= SHORTEST && name.includes('_')

/** How many letters may be wrong, missing, added or in another order. */
const NEAR = 2

const KNOWN: readonly string[] = [...Object.keys(settings), ...SECRET_SETTINGS.map((name) => `${name}_FILE`)]

/** A variable that no program may read, and the setting that is probably meant. */
export interface Misspelt {
  readonly name: string
  readonly meant: string
}

/**
 * Variables that are near to a setting that is not set. They are no mistakes: another program may read them.
 *
 * @param environment - names and strings, as in `process.env`
 */
export function misspeltIn (environment: NodeJS.ProcessEnv): readonly Misspelt[] {
  const unset = KNOWN.filter((name) => isOurs(name) && (environment[name] ?? '') === '')
  return Object.keys(environment).filter((name) => !KNOWN.includes(name)).flatMap((name) => {
    const [nearest] = unset.map((meant) => ({ name, meant, distance: distance(name.toUpperCase(), meant) }))
      .filter(({ distance }) => distance <= NEAR).toSorted((a, b) => a.distance - b.distance)
    return nearest === undefined ? [] : [{ name, meant: nearest.meant }]
  })
}

export function sentenceOf ({ name, meant }: Misspelt): string {
  return `${name} is no setting: ${meant} is probably meant`
}

/** How many letters have to be changed, added, removed or swapped with the next one. */
function distance (from: string, to: string): number {
  if (Math.abs(from.length - to.length) > NEAR) return NEAR + 1
  let [beforeLast, last]: readonly number[][] = [[], Array.from({ length: to.length + 1 }, (_, n) => n)]
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1]
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      current[column] = Math.min(
        last![column]! + 1,
        current[column - 1]! + 1,
        last![column - 1]! + (isSame ? 0 : 1),
        isSwapped ? beforeLast![column - 2]! + 1 : Infinity
      )
    }
    ;[beforeLast, last] = [last, current]
  }
  return last![to.length]!
}
