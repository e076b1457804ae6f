import type { Knex } from 'knex'
import { DAY, dayOf } from './daily-usage.ts'
import { type Limited, limitsOf } from './limits.ts'
import type { Usage, UsageByKey } from './schemas.ts'
import { COUNTED, LIMITS } from './store.ts'

/** How many days are reported unless the caller says so, today included. */
const DAYS = 14

/**
 * How much a shop or an API key was used, and how much it may be.
 *
 * @param since - the first day, in UTC
 * @throws {@link SHOP_NOT_FOUND}
 */
export async function usageSince (knex: Knex, limited: Limited, since?: string): Promise<Usage> {
  const limits = await limitsOf(knex, limited)
  const now = Date.now()
  const first = since ?? dayOf(now - (DAYS - 1) * DAY)
  const today = dayOf(now)
  const days = await knex('daily_usage').where({ shop_id: limited.shopId, meter_id: limited.keyId ?? limited.shopId })
    .where('day', '>=', first)
    .orderBy('daily_usage.day').select(knex.raw("to_char(day, 'YYYY-MM-DD') as day"), ...COUNTED)
  const { calls, writes, imports } = days.find(({ day }) => day === today) ?? { calls: 0, writes: 0, imports: 0 }
  return {
    since: first,
    resets_at: new Date(Date.parse(today) + DAY).toISOString(),
    limits,
    today: { calls, writes, imports },
    days
  }
}

/** The API keys of a shop that were used today or have limits. */
export async function usageByKey (knex: Knex, shopId: string): Promise<UsageByKey> {
  const rows = await knex('api_keys').where({ 'api_keys.shop_id': shopId })
    .leftJoin(
      knex('daily_usage').where({ shop_id: shopId, day: dayOf(Date.now()) }).as('used'),
      'used.meter_id',
      'api_keys.id'
    )
    .leftJoin(knex('daily_limits').where({ shop_id: shopId }).as('limits'), 'limits.meter_id', 'api_keys.id')
    .whereRaw(`(used.meter_id is not null or num_nonnulls(${LIMITS.join(', ')}) > 0)`)
    .orderByRaw('coalesce(calls, 0) desc, api_keys.id')
    .select(
      'api_keys.id',
      'api_keys.name',
      ...LIMITS,
      ...COUNTED.map((name) => knex.raw('coalesce(??, 0) as ??', [name, name]))
    )
  return rows.map(({ id, name, calls, writes, imports, ...limits }) => ({
    key_id: id,
    name,
    limits,
    today: { calls, writes, imports }
  }))
}
