import t from 'tap'
import type { AccountQuery, AccountSort } from '../src/types.ts'
import { createAccountIndexes } from '../src/knex/index.ts'
import { hostTables } from '../src/knex/account-table.ts'
import { accountPage } from '../src/knex/account-page.ts'
import { engines } from './database.ts'

const fields: ReadonlyArray<AccountSort['field']> = [
  'id',
  'shop_id',
  'shop_name',
  'name',
  'hash_name',
  'pay_customer_id',
  'pay_synced_at'
]

for (const engine of engines) {
  t.test(
    `a sorted page reads an index instead of every account, on ${engine.name}`,
    { skip: engine.skip },
    async (t) => {
      const knex = await engine.connect(t)
      await knex.raw("insert into shops select gen_random_uuid(), 'Shop ' || n from generate_series(1, 20) n")
      await knex.raw(`insert into accounts (id, shop_id, name, hash_name, details)
      select gen_random_uuid(), s.id, 'Account ' || md5(n::text), nullif(md5((n / 2)::text), md5('7')),
        case when n % 2 = 0 then '{}'::jsonb else jsonb_build_object(
          'pay_customer_id', 'cus_' || n, 'pay_synced_at', '2026-01-01T00:00:00.000Z', 'note', repeat('x', 500)
        ) end
      from generate_series(1, 5000) n join lateral (select id from shops order by id offset n % 20 limit 1) s on true`)
      await createAccountIndexes(knex)
      await knex.raw('analyze')
      const seen: Array<{ sql: string, bindings: unknown[] }> = []
      knex.on('query', (query) => {
        seen.push(query)
      })

      for (const field of fields) {
        for (const descending of [false, true]) {
          const title = `${descending ? '-' : ''}${field}`
          const sort = field === 'id'
            ? [{ field, descending }]
            : [{ field, descending }, { field: 'id' as const, descending }]
          const query: AccountQuery = { skip: 0, limit: 10, filter: {}, sort }
          seen.length = 0
          const { accounts, count } = await accountPage(knex, hostTables(knex, {}), 'a.name', query)
          t.equal(count, 5000)
          t.strictSame(accounts.map((account) => account.id), await sortedIds(query), `${title} is in order`)
          const { sql, bindings } = seen.find(({ sql }) => sql.includes('order by')) ?? { sql: '', bindings: [] }
          const { rows } = await knex.raw(`explain ${sql.replace(/\$\d+/g, '?')}`, bindings as never)
          const plan = rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n')
          t.notMatch(plan, /Seq Scan on accounts/, title)
          t.match(plan, /Index (Only )?Scan/)
        }
      }

      /** The ids of a page, sorted plainly. */
      async function sortedIds ({ sort: [first], limit }: AccountQuery): Promise<string[]> {
        const keys = {
          id: 'a.id',
          shop_id: 'a.shop_id',
          shop_name: 's.name',
          name: 'a.name',
          hash_name: 'a.hash_name',
          pay_customer_id: "a.details->>'pay_customer_id'",
          pay_synced_at: "a.details->>'pay_synced_at'"
        }
        const direction = first?.descending ? 'desc' : 'asc'
        const { rows } = await knex.raw(`select id from (
        select a.id, row_number() over (order by ${
          keys[first?.field ?? 'id']
        } ${direction} nulls last, a.id ${direction}) as n
        from accounts a join shops s on s.id = a.shop_id) p where n <= ${limit} order by n`)
        return rows.map(({ id }: { id: string }) => id)
      }
    }
  )
}
