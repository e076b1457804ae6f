import t, { type Test } from 'tap'
import { exportOf } from '../src/users/personal-data.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

/*
 * What PostgreSQL would read for calls over a long history: only plans are compared, so a slow machine changes nothing.
 */

const database = await openTestDatabase(t)
const { knex } = database
const idp = await openIdentityProvider(t, ['admin', 'leaver'])
const app = await build(t, database, idp)
const admin = client(app, '', bearer(await idp.userToken('admin')))
const leaver = client(app, '', bearer(await idp.userToken('leaver')))
await admin('GET', '/me')
await knex('users').where({ name: 'admin' }).update({ roles: ['admin'] })
const { body: { id: person } } = await leaver('GET', '/me')

const shop = await createShop(database, 'busy')
for (const id of [shop, await createShop(database, 'other')]) {
  await knex.raw(
    `insert into history (shop_id, actor_kind, actor_id, actor_name, operation, action, record_kind, record_id, record_name)
    select ?, case when n % 2 = 0 then 'user' else 'api-key' end, gen_random_uuid(), 'Somebody', 'update_product',
      'update', case when n % 500 = 0 then 'member' else 'product' end, gen_random_uuid(), 'Somebody'
    from generate_series(1, 10000) n`,
    [id]
  )
  await knex.raw(
    `insert into imports (shop_id, actor, status, finished_at)
    select ?, jsonb_build_object('kind', 'user', 'id', gen_random_uuid()), 'done', now() from generate_series(1, 3000)`,
    [id]
  )
}
await knex.raw('analyze history, imports')

/** The plans of the statements on a table that work runs. */
async function plansOf (table: string, work: () => Promise<unknown>): Promise<readonly string[]> {
  const seen: Array<{ readonly sql: string, readonly bindings: readonly unknown[] }> = []
  const see = (query: typeof seen[number]): void => {
    if (new RegExp(`(from|update) "${table}"`).test(query.sql)) seen.push(query)
  }
  knex.on('query', see)
  await work()
  knex.removeListener('query', see)
  const plans = []
  for (const { sql, bindings = [] } of seen) {
    const { rows } = await knex.raw(`explain ${sql.replace(/\$\d+/g, '?')}`, bindings as never)
    plans.push(rows.map((row: Record<string, string>) => row['QUERY PLAN']).join('\n'))
  }
  return plans
}

/** @param indexes - of which the statements read the first, the second, ... */
function readsOnly (t: Test, plans: readonly string[], table: string, indexes: readonly RegExp[]): void {
  t.equal(plans.length, indexes.length, plans.join('\n\n'))
  for (const [n, index] of indexes.entries()) {
    t.match(plans[n], index)
    t.notMatch(plans[n], new RegExp(`Seq Scan on ${table}`))
  }
}

t.test('an audit trail reads entries about access only, however many there are about records', async (t) => {
  const get = async (path: string) => {
    t.equal((await admin('GET', path)).status, 200)
  }
  for (
    const [path, index] of [
      [`/shops/${shop}/audit`, /history_access\b/],
      ['/admin/audit', /history_access_of_all\b/]
    ] as const
  ) {
    const plans = await plansOf('history', async () => await get(path))
    readsOnly(t, plans, 'history', [index])
    t.notMatch(plans[0], /history_shop_id_at_id_idx|history_at_id_idx/, 'for its count, either')
  }
})

t.test('what is stored about a person is found, renamed and erased without reading the history of others', async (t) => {
  const exported = async (): Promise<void> => {
    for await (const line of exportOf(knex, { id: person, subject: 'leaver' })) {
      t.match(JSON.parse(line), { table: /./ })
    }
  }
  const erased = async (): Promise<void> => {
    t.equal((await admin('DELETE', `/admin/users/${person}`)).status, 204)
  }
  const [of, about] = [/history_of_person/, /history_about_person/]
  readsOnly(t, await plansOf('history', exported), 'history', [of, about])
  readsOnly(t, await plansOf('imports', exported), 'imports', [/imports_of_person/])
  const plans = await plansOf('history', erased)
  readsOnly(t, plans, 'history', [of, about, about])
})
