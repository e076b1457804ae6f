import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const published = createServer((_request, response) => {
  response.end(
    JSON.stringify({
      public_keys: [{ key_identifier: 'k1', key: publicKey.export({ type: 'spki', format: 'pem' }), is_current: true }]
    })
  )
})
published.listen(0, '127.0.0.1')
await once(published, 'listening')
t.teardown(() => {
  published.close()
})

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t, [])
const keysUrl = `http://127.0.0.1:${(published.address() as AddressInfo).port}/`
const lines: string[] = []
const app = await build(t, database, idp, {
  settings: { SECRET_SCANNING_ENABLED: true, SECRET_SCANNING_KEYS_URL: keysUrl },
  logger: {
    level: 'trace',
    stream: {
      write: (line: string) => {
        lines.push(line)
      }
    }
  }
})
const machine = client(app, '', bearer(await idp.machineToken()))

const report = async (body: string, signature = sign('sha256', Buffer.from(body), privateKey).toString('base64')) =>
  await app.inject({
    method: 'POST',
    url: '/secret-scanning',
    headers: {
      'content-type': 'application/json',
      'github-public-key-identifier': 'k1',
      'github-public-key-signature': signature
    },
    payload: body
  })

t.test('a key that GitHub found is refused from then on, and the audit trail says where it was found', async (t) => {
  const shop = await createShop(database, 'here')
  const { body: { id, plaintext } } = await machine('POST', `/shops/${shop}/api-keys/`, { name: 'leaked' })
  const call = async (): Promise<number> =>
    (await app.inject({ url: `/shops/${shop}/tags`, headers: { 'x-api-key': plaintext } })).statusCode
  t.equal(await call(), 200)
  const body = JSON.stringify([{
    token: plaintext,
    type: 'shop_api_key',
    url: 'https://github.com/a/b/blob/1/.env',
    source: 'content'
  }])
  t.equal((await report(body, sign('sha256', Buffer.from('[]'), privateKey).toString('base64'))).statusCode, 403)
  t.equal(await call(), 200)

  const response = await report(body)
  t.equal(response.statusCode, 200)
  t.match(response.json(), [{ token_type: 'shop_api_key', label: 'true_positive' }])
  t.equal(await call(), 401)
  t.match(await database.knex('api_keys').where({ id }).first(), {
    revoked_by: 'github-secret-scanning',
    revoked_at: /./
  })
  t.match(await database.knex('history').where({ record_id: id, operation: 'report_leaked_api_keys' }).first(), {
    shop_id: shop,
    actor_kind: 'scanner',
    actor_id: 'github',
    changes: { revoked_at: { before: null }, found_at: { before: null, after: 'https://github.com/a/b/blob/1/.env' } }
  })
  t.notMatch(lines.join(''), plaintext)
})

t.test('without the setting there is no such endpoint', async (t) => {
  const other = await build(t, database, idp)
  t.equal((await other.inject({ method: 'POST', url: '/secret-scanning' })).statusCode, 404)
})
