import t from 'tap'
import { createApiKeysTable } from '../src/keys/knex.ts'
import { serverDatabase, SERVER_URL } from '../../../test/databases.ts'

t.test('a table that is there is not created again, and nobody waits for it', {
  skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: two connections need a real PostgreSQL'
}, async (t) => {
  const { knex, close } = await serverDatabase()
  t.teardown(close)
  await createApiKeysTable(knex)
  const dump = await knex.transaction()
  await dump.raw('lock table api_keys in access share mode')
  await createApiKeysTable(knex)
  await knex.raw('select from api_keys')
  await dump.commit()
})
