import type { Knex } from 'knex'
import type { World } from './world.ts'

export const fast = { perSecond: 100_000, accountsAtOnce: 8, shopsAtOnce: 3, inFlight: 16, leaseDuration: 600 }
const keys = { big: 'sk_test_big', small: 'sk_test_small', wrong: 'sk_test_wrong' }

/** Three shops of linked accounts; the key of the third is wrong. */
export async function fill ({ knex, standIn, addShop }: World, size: number): Promise<void> {
  const shops: ReadonlyArray<readonly [string, number]> = [
    [keys.big, size * 0.6],
    [keys.small, size * 0.3],
    [keys.wrong, size * 0.1]
  ]
  for (const [key, accounts] of shops) {
    const shopId = await addShop({ key })
    await knex.raw(
      `insert into accounts (id, shop_id, name, details)
      select gen_random_uuid(), ?, 'Account ' || n, jsonb_build_object('pay_customer_id', 'cus_' || n, 'tier', n)
        from generate_series(1, ?::int) n`,
      [shopId, accounts]
    )
    if (key !== keys.wrong) {
      standIn.addAccount(key, {
        customers: Array.from({ length: accounts }, (_, n) => ({ id: `cus_${n + 1}`, name: `Customer ${n + 1}` }))
      })
    }
  }
}

export async function start (world: World, body: object): Promise<string> {
  return (await world.call('POST', '/admin/accounts/reconcile', body)).json().id
}

/** The run once it is over. */
export async function finished (world: World, runId: string) {
  await untilOver(world, runId)
  return (await world.call('GET', `/admin/accounts/reconcile/${runId}?limit=1`)).json()
}

/** Looks at the row of the run: reading it over the route takes ten times as long. */
export async function untilOver ({ knex }: World, runId: string): Promise<void> {
  while (await knex('pay_reconcile_runs').where({ id: runId, finished_at: null }).first('id')) await pause(50)
}

export function pause (ms = 20): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** All bytes of all accounts. */
export async function fingerprint (knex: Knex): Promise<string> {
  const { rows } = await knex.raw(
    "select md5(string_agg(id::text || details::text, '' order by id)) as hash from accounts"
  )
  return rows[0].hash
}

/** Writes so far, of one run or all. */
export async function writes (knex: Knex, runId?: string): Promise<number> {
  const [row] = await knex('pay_reconcile_audit').modify((query) => {
    if (runId !== undefined) query.where('run_id', runId)
  })
    .select<Array<{ count: number }>>(knex.raw('count(*)::int as count'))
  return row?.count ?? 0
}
