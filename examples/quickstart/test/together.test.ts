import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import knexFrom from 'knex'
import { createApiKey } from 'dual-auth'
import { knexStore } from 'dual-auth/knex'
import { startIdentityProvider } from 'identity-provider'
import t from 'tap'
import { freePort } from '../../../shared/free-port.ts'
import { machineToken } from '../../shop/src/demo/keys.ts'
import { bearer, createDatabase, TEST_DATABASE_URL } from '../../shop/test/build.ts'
import { call } from '../../shop/test/process.ts'

t.test(
  'the program of docs/together.md lets a key call the tool, leads strangers to the sign-in page, and warns of nothing',
  { skip: TEST_DATABASE_URL === undefined && 'it is about PostgreSQL: set TEST_DATABASE_URL' },
  async (t) => {
    const port = await freePort()
    const base = `http://localhost:${port}`
    const m2m = { clientId: 'machine', clientSecret: 'not accepted here' }
    const idp = await startIdentityProvider({ port: 0, users: [], resource: base, clientId: 'mcp', m2m })
    t.teardown(idp.close)
    const url = await createDatabase(t, TEST_DATABASE_URL!)
    const knex = knexFrom({ client: 'pg', connection: url })
    // The table of the host's own, which pay-reconcile works on.
    await knex.raw(
      'create table shops (id text primary key, name text not null, pay_secret_key text); create table accounts ' +
        '(id text primary key, shop_id text not null references shops, name text not null, hash_name text, ' +
        "details jsonb not null default '{}', created_at timestamptz not null default now(), updated_at " +
        'timestamptz not null default now())'
    )
    const secret = 'a pepper of at least 32 characters'
    const program = fileURLToPath(new URL('../together.ts', import.meta.url))
    const child = spawn(process.execPath, [...process.execArgv, program], {
      env: {
        ...process.env,
        DATABASE_URL: url,
        IDP_ISSUER: idp.issuer,
        IDP_MCP_CLIENT_ID: 'mcp',
        PEPPER: secret,
        PORT: String(port)
      },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    t.teardown(async () => {
      await knex.destroy()
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    // Warnings would come first.
    t.strictSame(await once(createInterface(child.stdout), 'line'), [`listening at ${base}`])

    const { plaintext } = await createApiKey({
      marker: 'acme',
      peppers: [{ id: '2026-11', secret }],
      store: knexStore(knex)
    }, { ownerId: 'tea', name: 'x', scopes: ['read'], createdBy: 'test' })
    const headers = { accept: 'application/json, text/event-stream' }
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'list_products', arguments: { shop_id: 'tea' } }
    }
    t.match(await call('POST', `${base}/mcp`, { headers: { ...headers, 'x-api-key': plaintext }, body }), {
      status: 200,
      body: { result: { structuredContent: { result: [{ name: 'A teapot of tea' }] } } }
    })
    const unnamed = { ...body, params: { name: 'list_products', arguments: {} } }
    t.match(await call('POST', `${base}/mcp`, { headers: { ...headers, 'x-api-key': plaintext }, body: unnamed }), {
      status: 200,
      body: { result: { structuredContent: { result: [{ name: 'A teapot of tea' }] } } }
    }, 'the key implies its shop')
    t.match(await call('GET', `${base}/admin/accounts`, { headers: { 'x-api-key': plaintext } }), { status: 401 })
    const machine = await machineToken({
      issuer: idp.issuer,
      mcp_client_id: 'mcp',
      m2m: { client_id: m2m.clientId, client_secret: m2m.clientSecret, scope: `${base}/api` }
    })
    t.match(await call('GET', `${base}/shops/tea/products`, { headers: bearer(machine) }), { status: 401 })
    const anonymous = await call('POST', `${base}/mcp`, { headers, body })
    t.equal(
      anonymous.headers.get('www-authenticate'),
      `Bearer resource_metadata="${base}/.well-known/oauth-protected-resource/mcp", scope="openid email profile"`
    )
    t.equal((await call('GET', `${base}/.well-known/oauth-protected-resource/mcp`)).body.resource, `${base}/mcp`)
  }
)
