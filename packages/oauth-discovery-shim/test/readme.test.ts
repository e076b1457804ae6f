import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { accessTokenFor, startIdentityProvider } from '../../../examples/shop/src/demo/identity-provider.ts'
import { doctor, report } from '../src/doctor/index.ts'
import { freePort } from '../../../examples/shop/src/demo/ports.ts'
import { fencesOf, quotes } from '../../../test/docs/fences.ts'
import { ada } from './mcp-app.ts'

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')

t.test('the quickstart runs, the doctor finds it healthy as the README shows, and a token opens it', async (t) => {
  const port = await freePort(0)
  const baseUrl = `http://localhost:${port}`
  const clientId = 'public-client-1'
  const idp = await startIdentityProvider({
    port: 0, users: [ada], resource: baseUrl, clientId, m2m: { clientId: 'machine', clientSecret: 'of no use here' }
  })
  t.teardown(idp.close)
  const { issuer } = idp

  const program = fileURLToPath(new URL('../../../examples/quickstart/oauth-discovery-shim.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, program], {
    env: { ...process.env, PORT: String(port), IDP_ISSUER: issuer, IDP_MCP_CLIENT_ID: clientId },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(() => child.kill())
  let log = ''
  for await (const chunk of child.stdout) {
    log += chunk
    if (log.includes('Server listening')) break
  }

  // Codex's callback depends on the URL.
  const found = report(await doctor(baseUrl)).replace(/(?<=7777\/callback\/)[\w-]{12}/, '2RVLDtro8eoJ')
  const [quoted] = fencesOf(await read('../README.md')).filter(({ info }) => info === 'text')
  t.ok(quotes(quoted?.text ?? '', found), found)

  const ping = (token: string) => fetch(`${baseUrl}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
  })
  const refused = await ping('x')
  t.equal(refused.status, 401)
  t.equal(refused.headers.get('www-authenticate'),
    `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp", scope="openid email profile"`)
  const token = await accessTokenFor({ issuer, clientId, resource: `${baseUrl}/mcp`, ...ada })
  t.strictSame(await (await ping(token)).json(), { jsonrpc: '2.0', id: 7, result: {} })

  child.kill()
  await once(child, 'exit')
})

t.test('every option is in the README, and every reason in the page about the doctor', async (t) => {
  const readme = await read('../README.md')
  const page = await read('../docs/doctor.md')
  const options = [...(await read('../src/options.ts')).matchAll(/^ {2}readonly (\w+)\??: .+$/gm)].map(([, name]) => name)
  t.ok(options.length >= 12)
  for (const name of options) t.match(readme, `| \`${name}\` |`)
  const brokerPage = await read('../docs/broker.md')
  const brokerOptions = [...(/interface BrokerOptions \{([^]*?)\n\}/.exec(await read('../src/broker/options.ts'))?.[1] ?? '').matchAll(/^ {2}readonly (\w+)\??: .+$/gm)].map(([, name]) => name)
  t.ok(brokerOptions.length >= 11)
  for (const name of brokerOptions) t.match(brokerPage, `| \`${name}\` |`)
  const reasons = [...(/type Reason = ([^]*?)\n\n/.exec(await read('../src/doctor/step.ts'))?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name)
  t.ok(reasons.length >= 11)
  for (const name of reasons) t.match(page, `| \`${name}\` |`)
})
