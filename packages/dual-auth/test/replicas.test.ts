import t from 'tap'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { serverDatabase, SERVER_URL } from './databases.ts'
import { bearer, SHOP } from './build.ts'
import { startIssuer } from './issuer.ts'

const options = { skip: SERVER_URL === undefined && 'TEST_DATABASE_URL is not set: two processes need a real PostgreSQL' }

t.test('two server processes on one PostgreSQL: revoke on one, the very next call on the other is 401', options, async t => {
  const database = await serverDatabase()
  t.teardown(() => database.close())
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const startReplica = async () => {
    const child = fork(fileURLToPath(new URL('fixtures/replica.ts', import.meta.url)), [database.url, issuer.url], { execArgv: process.execArgv })
    t.teardown(async () => {
      child.disconnect()
      await once(child, 'exit')
    })
    const [url] = await once(child, 'message')
    return String(url)
  }
  // Both create the table, at the same time.
  const [one, two] = await Promise.all([startReplica(), startReplica()])
  const headers = { ...bearer(issuer.user()), 'content-type': 'application/json' }

  for (let round = 0; round < 20; round++) {
    const response = await fetch(`${one}/shops/${SHOP}/api-keys/`, { method: 'POST', headers, body: '{"name":"round"}' })
    t.equal(response.status, 201)
    const { id, plaintext } = await response.json() as { id: string, plaintext: string }
    const call = async (replica: string) => (await fetch(`${replica}/shops/${SHOP}/products`, { headers: { 'x-api-key': plaintext } })).status
    t.strictSame([await call(two), await call(one), await call(two)], [200, 200, 200])
    t.equal((await fetch(`${one}/shops/${SHOP}/api-keys/${id}`, { method: 'DELETE', headers })).status, 204)
    t.strictSame([await call(two), await call(one)], [401, 401])
  }
})
