import { groupBy } from '../group-by.ts'

/** One day of the chart: how much was changed by whom. */
export interface Day {
  /** `2026-11-23`, in the zone of the shop. */
  readonly day: string
  readonly agents: number
  readonly people: number
  readonly others: number
}

interface Change { readonly at: string, readonly actor_kind: string }

const DAY = 86_400_000

/** Counts changes by day and kind of actor, for each of the last days, also those without any. */
export function changesByDay (changes: readonly Change[], days: number, timeZone: string, now: number): readonly Day[] {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
  const names = [...new Set(Array.from({ length: days }, (_, n) => format.format(now - (days - 1 - n) * DAY)))]
  const groups = groupBy(changes, ({ at }) => format.format(new Date(at)))
  return names.map((day) => {
    const of = groups.get(day) ?? []
    const agents = of.filter(({ actor_kind: kind }) => kind === 'api-key').length
    const people = of.filter(({ actor_kind: kind }) => kind === 'user').length
    return { day, agents, people, others: of.length - agents - people }
  })
}
