import t from 'tap'
import { createApiKeysTable } from '../src/keys/knex.ts'
import { serverDatabase, SERVER_URL } from './databases.ts'

t.test('creating the table does not wait for a transaction that reads, unless something is missing, and then calls go on', {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: two connections need a real PostgreSQL'
}, async t => {
  const { knex, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  const dump = await knex.transaction()
  await dump.raw('lock table api_keys in access share mode')
  await createApiKeysTable(knex)
  await knex.raw('select from api_keys')
  await dump.commit()

  await knex.raw('alter table api_keys drop column unused_notice_at')
  const again = await knex.transaction()
  await again.raw('lock table api_keys in access share mode')
  const created = createApiKeysTable(knex)
  while (await waits() === 0) await new Promise(resolve => setTimeout(resolve, 10))
  await knex.raw('select from api_keys')
  await again.commit()
  await created
  t.ok(await knex.schema.hasColumn('api_keys', 'unused_notice_at'))

  async function waits (): Promise<number> {
    const { rows } = await knex.raw("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
    return rows.length
  }
})
