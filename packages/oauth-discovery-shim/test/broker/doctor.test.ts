import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { clients, doctor } from '../../src/doctor/index.ts'
import { clientsFromDocument } from '../../src/doctor/document.ts'
import { run } from '../../src/doctor/run.ts'
import { signInWorld } from './mcp-app.ts'
import { selfSigned } from './certificate.ts'
import { secrets } from './world.ts'

const { key, cert } = selfSigned()
const broker = { secrets, documents: { ca: cert } }
const cli = fileURLToPath(new URL('../../src/doctor/cli.ts', import.meta.url))

/** Serves metadata documents, by path: a status, or a change of a good one. @returns the origin */
async function site (t: Test, documents: Readonly<Record<string, object | number>>): Promise<string> {
  const server = createServer({ key, cert }, ({ url = '' }, response) => {
    const page = documents[url] ?? 404
    response.writeHead(typeof page === 'number' ? page : 200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        client_id: origin + url,
        client_name: 'Agent',
        redirect_uris: ['http://localhost/callback'],
        ...typeof page === 'object' && page
      })
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  return origin
}

const described = (url: string, callback = 'http://localhost:7777/callback') => ({
  ...clients.find(({ id }) => id === 'claude-code')!,
  document: { url, callback }
})

t.test('a broker without documents lets every client register that can reach it', async (t) => {
  const { baseUrl, requests } = await signInWorld(t, { shimOptions: { broker: { secrets, documents: false } } })
  const reachable = clients.filter(({ hosted }) => !hosted)
  t.strictSame(
    (await doctor(baseUrl, { only: reachable })).map(({ obstacle }) => obstacle),
    reachable.map(() => undefined)
  )
  t.equal(requests.filter((request) => request === 'POST /oauth/clients').length, reachable.length)
})

t.test('a server that issues tokens for assertions is named as their issuer', async (t) => {
  const keys = [{ id: 'a', secret: 'k'.repeat(32) }]
  const assertions = {
    issuers: [{ issuer: 'https://acme.example' }],
    keys,
    clients: [{ id: 'agent', secrets: ['s'.repeat(32)] }]
  }
  const said = async (url: string) => {
    let out = ''
    await run(['doctor', url, 'sdk-1'], {
      stdout: {
        write: (text) => {
          out += text
        }
      },
      stderr: { write: () => {} }
    })
    return out
  }
  const { baseUrl } = await signInWorld(t, { shimOptions: { broker: { secrets, documents: false, assertions } } })
  t.equal(
    await said(baseUrl),
    'ok    MCP TypeScript SDK 1.x  reaches the sign-in page\nnote  For assertions of organizations, the server ' +
      `issues tokens itself: issuer ${baseUrl}/oauth, keys at ${baseUrl}/oauth/jwks\n`
  )
  const plain = await signInWorld(t, { shimOptions: { broker: { secrets, documents: false } } })
  t.notMatch(await said(plain.baseUrl), 'note')
  // What could not be read is not taken for "none".
  const broken = http.createServer((_request, response) => {
    response.writeHead(503).end()
  }).listen(0, '127.0.0.1')
  await once(broken, 'listening')
  const url = `http://127.0.0.1:${(broken.address() as AddressInfo).port}`
  t.match(
    await said(url),
    '\nwarn  Whether the server issues tokens itself is not known: ' +
      `${url}/.well-known/oauth-authorization-server/oauth returns 503\n`
  )
  broken.closeAllConnections()
  broken.close()
  t.match(await said(url), 'is not known: ' + url + '/.well-known/oauth-authorization-server/oauth does not answer')
})

t.test('a client with a document uses it where the server reads documents, and only there', async (t) => {
  const origin = await site(t, { '/client.json': {} })
  for (const [documents, reads] of [[{ ca: cert }, true], [false, false]] as const) {
    const { baseUrl, requests } = await signInWorld(t, { shimOptions: { broker: { secrets, documents } } })
    const [verdict] = await doctor(baseUrl, { only: [described(`${origin}/client.json`)] })
    t.equal(verdict?.obstacle, undefined)
    t.equal(requests.includes('POST /oauth/clients'), !reads)
  }
})

t.test("the doctor says why a server cannot use a client's document", async (t) => {
  const origin = await site(t, {
    '/closed.json': 403,
    '/down.json': 503,
    '/other.json': { client_id: 'https://other.example.com/' },
    '/fixed.json': { redirect_uris: ['http://localhost:1/elsewhere'] },
    '/good.json': {}
  })
  const { baseUrl } = await signInWorld(t, { shimOptions: { broker } })
  for (
    const [path, detail] of [
      ['/closed.json', 'its server returns the status 403'],
      ['/down.json', 'its server returns the status 503'],
      ['/other.json', 'its client_id is not the address that it was read from'],
      [
        '/fixed.json',
        'The callback http://localhost:7777/callback of Agent is not in its metadata document, where its maker lists it'
      ]
    ] as const
  ) {
    const [verdict] = await doctor(baseUrl, { only: [described(origin + path)] })
    t.strictSame(verdict?.obstacle, {
      reason: 'document',
      detail: `the server cannot use its metadata document ${origin}${path}: ${detail}`
    })
  }
  const scoped = await signInWorld(t, { shimOptions: { broker, scopes: ['phone'] } })
  t.match((await doctor(scoped.baseUrl, { only: [described(`${origin}/good.json`)] }))[0]?.obstacle, {
    reason: 'scope'
  }, 'what the identity provider says is not about the document')
  const long = { ...broker, upstream: { authorize: { acr_values: 'x'.repeat(2000) } } }
  const paged = await signInWorld(t, { shimOptions: { broker: long, scopes: ['phone'] } })
  const [refused] = await doctor(paged.baseUrl, { only: [described(`${origin}/good.json`)] })
  t.match(refused?.obstacle, { reason: 'scope' }, 'also if a page leads there, since the URL is too long for a header')
})

t.test('a document in a private network is read only if the server is in one', async (t) => {
  const read = async (host: string, isPrivate: boolean) =>
    (await clientsFromDocument(`https://${host}/client.json`, 200, isPrivate)).obstacle?.detail
  for (const host of ['localhost:9', '10.0.0.1']) {
    t.equal(
      await read(host, false),
      `no server can use the metadata document https://${host}/client.json: its address leads into a private network`
    )
    t.match(
      await read(host, true),
      `the metadata document https://${host}/client.json cannot be read from here: its server `
    )
  }
})

t.test('--document checks a client of your own, callback by callback', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'ca.pem'), cert)
  const command = async (...args: string[]) => {
    const child = spawn(process.execPath, [...process.execArgv, cli, 'doctor', ...args], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') }
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const [code] = await once(child, 'close')
    return { code: code as number, out }
  }
  const origin = await site(t, {
    '/client.json': { redirect_uris: ['https://agent.example.com/cb', 'agent-app://cb'] },
    '/plain.json': {},
    '/secret.json': { client_secret: 'x' },
    '/gone.json': 410,
    '/down.json': 503,
    '/http.json': { redirect_uris: ['http://agent.example.com/cb'] }
  })
  const { baseUrl } = await signInWorld(t, { shimOptions: { broker: { ...broker, appSchemes: ['agent-app'] } } })
  t.strictSame(await command('--document', `${origin}/client.json`, baseUrl), {
    code: 0,
    out: 'ok    Agent, https://agent.example.com/cb  reaches the sign-in page\nok    Agent, ' +
      'agent-app://cb                reaches the sign-in page\n'
  })
  t.strictSame(await command('--document', `${origin}/secret.json`, baseUrl, 'sdk-1'), {
    code: 1,
    out: `fail  ${origin}/secret.json  document: no server can use the metadata document ${origin}/secret.json: it ` +
      'contains a client_secret, which anybody could read\n' +
      'ok    MCP TypeScript SDK ' +
      `1.x${' '.repeat(`${origin}/secret.json`.length - 'MCP TypeScript SDK 1.x'.length)}  reaches the sign-in ` +
      'page\n'
  })
  t.match(await command('--document', `${origin}/gone.json`, baseUrl), {
    code: 1,
    out: 'its server returns the status 410'
  })
  t.match(await command('--document', `${origin}/down.json`, baseUrl), {
    code: 1,
    out: 'cannot be read from here: its server returns the status 503'
  })
  t.match(await command('--document', 'http://agent.example.com/client.json', baseUrl), {
    code: 1,
    out: 'its address does not start with https'
  })
  t.match(await command('--document', `${origin}/http.json`, baseUrl), {
    code: 1,
    out: 'its redirect_uris contains http://agent.example.com/cb, which is not allowed here'
  })
  const [faulty] = await doctor(baseUrl, { document: 'http://agent.example.com/' })
  t.match(faulty?.client, { id: 'http://agent.example.com/', callback: '' })

  const strict = await signInWorld(t, { shimOptions: { broker } })
  t.match(await command('--document', `${origin}/client.json`, strict.baseUrl), {
    code: 1,
    out: /ok {4}Agent, https[^]*The callback agent-app:\/\/cb of Agent is not allowed here/
  })
  const closed = await signInWorld(t, { shimOptions: { broker: { secrets, documents: false } } })
  t.match(
    await command('--document', `${origin}/plain.json`, closed.baseUrl),
    { code: 0 },
    'a server that reads none: the client registers'
  )
})
