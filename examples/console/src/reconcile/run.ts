import { texts } from '../texts.ts'

/** A bulk run, as the server lists it. */
export interface Run {
  readonly id: string
  readonly mode: 'link' | 'sync' | 'check' | 'unlink'
  readonly dry_run: boolean
  readonly shop_id: string | null
  readonly status: string
  readonly cancel_requested: boolean
  /** A person by id, or what started it by itself. */
  readonly actor: string
  readonly started_at: string
  readonly finished_at: string | null
  readonly total: number
  readonly processed: number
  readonly outcomes: Readonly<Record<string, number>>
  readonly differences: Readonly<Record<string, number>>
  /** What it was limited to, as the request for it said. */
  readonly selection: Readonly<Record<string, unknown>>
  readonly shops: {
    readonly total: number,
    readonly finished: number,
    readonly stopped: ReadonlyArray<{ readonly shop_id: string, readonly reason: string }>
  }
}

export interface Candidate {
  readonly pay_customer_id: string
  readonly match: string
  readonly name: string | null
  readonly email: string | null
  readonly linked: boolean
}
export interface FieldDifference {
  readonly field: string
  readonly stored?: unknown
  readonly live?: unknown
}

/** An account that a run found something about. */
export interface Item {
  readonly id: string
  readonly account_id: string
  readonly account_name: string
  readonly shop_id: string
  readonly shop_name: string
  readonly outcome: string
  readonly before: string | null
  readonly after: string | null
  readonly reason: string | null
  readonly differences: readonly string[]
  readonly fields: readonly FieldDifference[]
  readonly candidates: readonly Candidate[]
  readonly error_code: string | null
}

export interface RunWithItems extends Run {
  readonly items: readonly Item[]
  readonly items_count: number
}

export const ACCOUNTS = '/admin/accounts'
export const RUNS = `${ACCOUNTS}/reconcile`

/** `12 linked, 1 no customer found`: what a run did to accounts, or found about them. */
export function outcomesText ({ outcomes }: Run): string {
  return Object.entries(outcomes).filter(([name]) => name !== 'unchanged').map(([name, count]) =>
    `${count} ${texts.reconcile.outcomes[name] ?? name}`
  ).join(', ')
}

/** How many accounts a run changed, or would have; and whether it found nothing at all. */
export function resultOf (
  { processed, total, outcomes, differences, shops }: Run
): { readonly changes: number, readonly isInOrder: boolean } {
  const { linked = 0, synced = 0, unlinked = 0 } = outcomes
  const others = Object.keys({ ...outcomes, ...differences }).filter((name) => name !== 'unchanged')
  return {
    changes: linked + synced + unlinked,
    isInOrder: processed === total && others.length === 0 && shops.stopped.length === 0
  }
}

/** What can be done about an account of which a run found this. */
export function remediesFor (
  { differences, outcome, after, candidates }: Pick<Item, 'differences' | 'outcome' | 'after' | 'candidates'>
): ReadonlyArray<'sync' | 'unlink' | 'link' | 'find'> {
  const isLinked = after !== null
  return [
    ...differences.includes('missing') ? ['find'] as const : [],
    ...candidates.some(({ linked }) => !linked) && !['linked'].includes(outcome) ? ['link'] as const : [],
    ...isLinked && differences.some((kind) => ['differs', 'never_synced', 'deleted'].includes(kind)) &&
        !differences.includes('not_found')
      ? ['sync'] as const
      : [],
    ...isLinked && differences.some((kind) => ['not_found', 'deleted', 'duplicate'].includes(kind))
      ? ['unlink'] as const
      : []
  ]
}

/** @param people - the names of people by their ids, once they are known */
export function whoOf (actor: string, people: ReadonlyMap<string, string | null> = new Map()): string {
  return people.get(actor) ?? texts.reconcile.actors[actor] ?? actor
}
