import { accessTokenFor, startIdentityProvider } from 'identity-provider'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose'
import t, { type Test } from 'tap'
import { doctor, report } from '../src/doctor/index.ts'
import { freePort } from '../../../shared/free-port.ts'
import { fencesOf, quotes } from '../../../test/docs/fences.ts'
import { ada } from './mcp-app.ts'

const read = (path: string) => readFile(new URL(path, import.meta.url), 'utf8')

/** Starts the program, which ends with the test, and returns its URL. */
async function quickstart (t: Test, issuer: string, clientId: string, given?: number): Promise<string> {
  const port = given ?? await freePort()
  const program = fileURLToPath(new URL('../../../examples/quickstart/oauth-discovery-shim.ts', import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, program], {
    env: { ...process.env, PORT: String(port), IDP_ISSUER: issuer, IDP_MCP_CLIENT_ID: clientId },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  let log = ''
  for await (const chunk of child.stdout) {
    log += chunk
    if (log.includes('Server listening')) break
  }
  return `http://localhost:${port}`
}

t.test('the quickstart runs, the doctor finds it healthy as the README shows, and a token opens it', async (t) => {
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const clientId = 'public-client-1'
  const idp = await startIdentityProvider({
    port: 0,
    users: [ada],
    resource: baseUrl,
    clientId,
    m2m: { clientId: 'machine', clientSecret: 'of no use here' }
  })
  t.teardown(idp.close)
  const { issuer } = idp

  await quickstart(t, issuer, clientId, port)

  // Codex's callback depends on the URL.
  const found = report(await doctor(baseUrl)).replace(/(?<=7777\/callback\/)[\w-]{12}/, '2RVLDtro8eoJ')
  const [quoted] = fencesOf(await read('../README.md')).filter(({ info }) => info === 'text')
  t.ok(quotes(quoted?.text ?? '', found), found)

  const ping = (token: string) =>
    fetch(`${baseUrl}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
    })
  const refused = await ping('x')
  t.equal(refused.status, 401)
  t.equal(
    refused.headers.get('www-authenticate'),
    `Bearer resource_metadata="${baseUrl}/.well-known/oauth-protected-resource/mcp", scope="openid email profile"`
  )
  const token = await accessTokenFor({ issuer, clientId, resource: `${baseUrl}/mcp`, ...ada })
  t.strictSame(await (await ping(token)).json(), { jsonrpc: '2.0', id: 7, result: {} })
})

t.test('the quickstart takes an issuer with a slash at its end, and the client in azp', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const server = createServer((request, response) => {
    const keys = request.url === '/keys'
    if (!keys && request.url !== '/.well-known/openid-configuration') return response.writeHead(404).end('no such page')
    const endpoints = { authorization_endpoint: `${issuer}authorize`, token_endpoint: `${issuer}token` }
    const document = { issuer, jwks_uri: `${issuer}keys`, ...endpoints }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(keys ? { keys: [jwk] } : document))
  }).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const jwk = await exportJWK(publicKey)
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const baseUrl = await quickstart(t, issuer, 'public-client-1')
  const ping = async (claims: JWTPayload) => {
    const jwt = new SignJWT({ iss: issuer, sub: 'ada', ...claims }).setProtectedHeader({ alg: 'RS256' })
    const token = await jwt.sign(privateKey)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' })
    return (await fetch(`${baseUrl}/mcp`, { method: 'POST', headers, body })).status
  }
  for (const name of ['client_id', 'azp', 'cid', 'appid']) t.equal(await ping({ [name]: 'public-client-1' }), 200, name)
  t.equal(await ping({ azp: 'another' }), 401)
  t.equal(await ping({}), 401)
})

t.test('every option is in the README, and every reason in the page about the doctor', async (t) => {
  const readme = await read('../README.md')
  const page = await read('../docs/doctor.md')
  const options = [...(await read('../src/options.ts')).matchAll(/^ {2}readonly (\w+)\??: .+$/gm)].map(([, name]) =>
    name
  )
  t.ok(options.length >= 12)
  for (const name of options) t.match(readme, `| \`${name}\` |`)
  const reasons = [
    ...(/type Reason =\s+([^]*?)\n\n/.exec(await read('../src/doctor/step.ts'))?.[1] ?? '').matchAll(/'(\w+)'/g)
  ].map(([, name]) => name)
  t.ok(reasons.length >= 11)
  for (const name of reasons) t.match(page, `| \`${name}\` |`)
})
