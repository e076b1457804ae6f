import { strict as assert } from 'node:assert'
import { freePort } from '../../../shared/free-port.ts'
import { run, type Server, serve } from './command.ts'
import { CLIENT_ID, tryPage, withDatabase, withPayProvider, withProvider } from './neighbours.ts'
import { entriesOf, packages, programFileOf } from './packages.ts'

/** What was installed, and what it runs on. */
interface Installed {
  /** The folder of each package, by its name. */
  readonly folders: ReadonlyMap<string, string>
  /** Path of a Node.js. */
  readonly node: string
  readonly databaseUrl: string
}

/** Where a program runs. */
interface Place {
  readonly directory: string
  readonly node: string
  readonly databaseUrl: string
}

/** What a program is started with and asked for. */
type Check = (
  start: (ready: RegExp | string, env: Readonly<Record<string, string>>) => Promise<Server>,
  place: Place
) => Promise<void>

/** Runs each program as its README says: by Node.js itself where that reads TypeScript, else by tsx. */
export async function checkPrograms ({ folders, node, databaseUrl }: Installed): Promise<void> {
  for (const one of packages) {
    const { name } = one
    const cwd = folders.get(name)!
    const version = (await run(node, ['--version'], { cwd })).trim()
    const [major = 0, minor = 0] = version.slice(1).split('.').map(Number)
    const readsTypes = major > 22 || (major === 22 && minor >= 18)
    for (const entry of entriesOf(one)) {
      await run(node, ['--input-type=module', '-e', `await import('${entry}')`], { cwd })
    }
    const servers: Server[] = []
    try {
      await checks[name]!(async (ready, env) => {
        const server = await serve(
          node,
          [...readsTypes ? [] : ['node_modules/tsx/dist/cli.mjs'], programFileOf(name)],
          { cwd, env },
          ready
        )
        servers.push(server)
        return server
      }, { directory: cwd, node, databaseUrl })
    } catch (error) {
      throw new Error(`${name}, Node.js ${version}`, { cause: error })
    } finally {
      for (const { stop } of servers) await stop()
    }
    console.log(`ran ${name} on Node.js ${version}`)
  }
}

const checks: Readonly<Record<string, Check>> = {
  'mcp-from-routes': async (start, { directory: cwd, node }) => {
    const { origin } = await start(/at (http:\/\/\S+)\/mcp$/, { PORT: '0' })
    const rpc = async (method: string, params: object) =>
      await json('POST', `${origin}/mcp`, {
        headers: { accept: 'application/json, text/event-stream' },
        body: { jsonrpc: '2.0', id: 1, method, params }
      })
    const { result: { tools } } = await rpc('tools/list', {})
    assert.deepEqual(tools.map(({ name }: { name: string }) => name), ['create_note', 'list_notes'])
    const { result } = await rpc('tools/call', { name: 'create_note', arguments: { text: 'Buy milk' } })
    assert.deepEqual(result.structuredContent, { id: '2', text: 'Buy milk' })
    assert.match(await run(node, ['node_modules/.bin/mcp-from-routes', '--help'], { cwd }), /contract write/)
  },

  'dual-auth': async (start) => {
    const port = await freePort()
    // It prints its key once it listens.
    const { origin: key } = await start(/^KEY=(acme_\S+)$/, { PORT: String(port) })
    const statuses = await Promise.all(
      ['/shops/blue/products', '/shops/red/products', '/orders', '/health'].map(async (path) =>
        (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'x-api-key': key } })).status
      )
    )
    assert.deepEqual(statuses, [200, 403, 401, 200])
  },

  'oauth-discovery-shim': async (start, { directory: cwd, node }) => {
    const port = await freePort()
    const baseUrl = `http://localhost:${port}`
    await withProvider(baseUrl, async ({ issuer, token }) => {
      await start(LISTENING, {
        PORT: String(port),
        PUBLIC_BASE_URL: baseUrl,
        IDP_ISSUER: issuer,
        IDP_MCP_CLIENT_ID: CLIENT_ID
      })
      const found = await run(node, ['node_modules/.bin/oauth-discovery-shim', 'doctor', baseUrl, 'sdk-1', 'sdk-2'], {
        cwd
      })
      assert.match(found, /^ok .* 1\.x .*\nok .* 2\.x /)
      const ping = { headers: { authorization: `Bearer ${token}` }, body: { jsonrpc: '2.0', id: 7, method: 'ping' } }
      assert.deepEqual(await json('POST', `${baseUrl}/mcp`, ping), { jsonrpc: '2.0', id: 7, result: {} })
    })
  },

  'pay-reconcile': async (start, { directory: cwd, node, databaseUrl }) => {
    await withPayProvider(async ({ payPort }) =>
      await withDatabase(databaseUrl, async ({ url, accountId }) => {
        const { origin, stop } = await start(LISTENING, {
          PORT: '0',
          DATABASE_URL: url,
          PAY_PORT: String(payPort),
          ADMIN_TOKEN: 'secret'
        })
        const { pay_customer_id: customerId } = await json('POST', `${origin}/accounts/${accountId}/checkout`)
        assert.match(customerId, /^cus_/)
        const [account] = await json('GET', `${origin}/admin/accounts?missing_pay=false`, {
          headers: { authorization: 'Bearer secret' }
        })
        assert.equal(account.pay_customer_id, customerId)
        const report = await run(node, [
          'node_modules/.bin/pay-reconcile',
          '--url',
          `${origin}/admin/accounts`,
          '--mode',
          'check'
        ], {
          cwd,
          env: { PAY_RECONCILE_TOKEN: 'secret' }
        })
        assert.ok(tryPage.includes(`\`\`\`text\n${report}\`\`\``), 'the page shows the report')
        await stop()
      })
    )
  }
}

/** What a server with a log says on loopback. */
const LISTENING = /"msg":"Server listening at (http:[^"]+)"/

async function json (method: string, url: string, { headers = {}, body }: {
  readonly headers?: Readonly<Record<string, string>>,
  readonly body?: object
} = {}): Promise<any> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) })
  })
  assert.ok(response.ok, `${method} ${url}: ${response.status}`)
  return await response.json()
}
