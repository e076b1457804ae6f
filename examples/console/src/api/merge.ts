import { same } from './changes.ts'

type Fields = Readonly<Record<string, unknown>>

/** What two changed differently: fields that mean something together only, such as an amount and its currency. */
export interface Clash {
  readonly fields: readonly string[]
  readonly mine: Fields
  readonly theirs: Fields
}

/** An amount in another currency is another price. */
const MONEY = ['price_amount', 'amount', 'currency']

/** The list whose order says something: the first picture is the main one. */
const ORDERED = 'image_urls'

/**
 * Merges what somebody typed with what others have changed meanwhile.
 *
 * @param before - the record as the form was opened
 * @param mine - the fields that were changed in the form
 * @param current - the record now
 * @returns what is still to be written, and what both changed
 */
export function merge (
  before: Fields,
  mine: Fields,
  current: Fields
): { readonly changes: Record<string, unknown>, readonly clashes: readonly Clash[] } {
  const changes: Record<string, unknown> = {}
  const clashes: Clash[] = []
  const moved = (name: string): boolean => !same(before[name], current[name])
  const money = MONEY.filter((name) => name in before)
  const isMoneyTouched = money.some((name) => name in mine) && money.some(moved)
  if (isMoneyTouched && money.some((name) => !same({ ...before, ...mine }[name], current[name]))) {
    clashes.push({ fields: money, ...sides(money, { ...before, ...mine }, current) })
  }
  for (const [name, value] of Object.entries(mine)) {
    if ((isMoneyTouched && money.includes(name)) || same(value, current[name])) continue
    const [was, is] = [before[name], current[name]]
    if (!moved(name)) changes[name] = value
    else if (name !== ORDERED && isIds(value) && isIds(was) && isIds(is)) {
      const merged = [
        ...is.filter((id) => value.includes(id) || !was.includes(id)),
        ...value.filter((id) => !was.includes(id) && !is.includes(id))
      ]
      if (!same(merged, is)) changes[name] = merged
    } else clashes.push({ fields: [name], ...sides([name], mine, current) })
  }
  return { changes, clashes }
}

function sides (fields: readonly string[], mine: Fields, theirs: Fields): Pick<Clash, 'mine' | 'theirs'> {
  const of = (record: Fields): Fields => Object.fromEntries(fields.map((name) => [name, record[name]]))
  return { mine: of(mine), theirs: of(theirs) }
}

/** A list of ids is a set: what each added or took out does not disturb the other. */
function isIds (value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
