import t from 'tap'
import { memoryStore } from '../src/index.ts'
import { createApiKeysTable, knexStore } from '../src/keys/knex.ts'
import { embeddedDatabase, serverDatabase, SERVER_URL } from './databases.ts'
import { lifeContract } from './life-contract.ts'

// Its clocks change, which no time may depend on.
const embedded = await embeddedDatabase({}, { TimeZone: 'Europe/Zurich' })
t.teardown(() => embedded.close())
await createApiKeysTable(embedded.knex)
const server = SERVER_URL === undefined ? null : await serverDatabase()
t.teardown(() => server?.close())
if (server !== null) await createApiKeysTable(server.knex)

lifeContract(t, 'memory', memoryStore())
lifeContract(t, 'PGlite', knexStore(embedded.knex))
if (server === null) t.test('PostgreSQL', { skip: 'TEST_DATABASE_URL is not set: the store was tested on PGlite only' }, async () => {})
else lifeContract(t, 'PostgreSQL', knexStore(server.knex))
