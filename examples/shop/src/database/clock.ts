import type { Database } from './index.ts'

/** How far clocks may differ, in seconds: by as much as tokens are accepted early or late. */
const TOLERANCE = 5

/**
 * Whether the clock of this host is wrong, by that of the database: tokens, keys and daily limits expire by the former,
 * records are dated by the latter.
 *
 * @returns what is wrong and what to do about it; undefined if the clocks agree
 */
export async function clockDiffers ({ engine, knex }: Pick<Database, 'engine' | 'knex'>): Promise<string | undefined> {
  // The embedded one has the clock of this process.
  if (engine === 'embedded') return undefined
  const before = Date.now()
  const { rows: [{ now }] } = await knex.raw<{ readonly rows: readonly [{ readonly now: string }] }>(
    'select extract(epoch from clock_timestamp()) as now'
  )
  return differenceFrom(before / 1000, Number(now), Date.now() / 1000)
}

/**
 * @param before - the time of this host, in seconds, before the database was asked
 * @param now - what the database answered, in seconds
 * @param after - the time of this host when the answer came
 */
export function differenceFrom (before: number, now: number, after: number): string | undefined {
  const behind = now - after
  const ahead = before - now
  const [difference, direction] = behind > ahead ? [behind, 'behind'] : [ahead, 'ahead of']
  if (difference <= TOLERANCE) return undefined
  return `The clock of this host is ${Math.round(difference)} s ${direction} that of the database: ` +
    `${direction === 'behind' ? 'it refuses new tokens' : 'tokens and keys end early here'}. Synchronize both, for ` +
    'example with systemd-timesyncd or chrony'
}
