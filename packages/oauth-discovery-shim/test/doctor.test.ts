import Fastify from 'fastify'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { clients, doctor, report, type Reason, type Verdict } from '../src/doctor/index.ts'
import { clientAt } from '../src/doctor/clients.ts'
import { httpClient } from '../src/doctor/http.ts'
import { isPublic, namesPrivateHost, publicLookup } from '../src/public-address.ts'
import { run } from '../src/doctor/run.ts'
import { walk } from '../src/doctor/walk.ts'
import { serve } from './build.ts'
import { freePort } from '../../../shared/free-port.ts'
import { signInWorld } from './mcp-app.ts'

type Redirect = NonNullable<NonNullable<Parameters<typeof signInWorld>[1]>['redirect']>
type Reasons = Readonly<Record<string, Reason | undefined>>

/** What stops each client, `undefined` for those who get there. */
async function reasons (url: string, ids = clients.map((client) => client.id)): Promise<Reasons> {
  const verdicts = await doctor(url, { only: clients.filter((client) => ids.includes(client.id)) })
  return Object.fromEntries(verdicts.map(({ client, obstacle }) => [client.id, obstacle?.reason]))
}

/** Its callback, as it computes it. */
const codexAt = (mcpUrl: string): string =>
  `http://127.0.0.1:7777/callback/${createHash('sha256').update(mcpUrl).digest('base64url').slice(0, 12)}`

const all = (reason: Reason): Reasons => ({
  ...Object.fromEntries(clients.map((client) => [client.id, reason])),
  chatgpt: 'unreachable',
  'claude-ai': 'unreachable'
})

/** A server with the contract's callbacks registered, as seen from a developer's machine. */
const healthy: Reasons = {
  ...Object.fromEntries(['sdk-1', 'sdk-2', 'mcp-remote', 'python', 'claude-code', 'zed'].map((id) => [id, undefined])),
  ...Object.fromEntries(['codex', 'vs-code', 'cursor', 'inspector'].map((id) => [id, 'callback'])),
  chatgpt: 'unreachable',
  'claude-ai': 'unreachable'
}

const checkIssuer: Reasons = {
  'sdk-2': 'issuer',
  'mcp-remote': 'issuer',
  python: 'issuer',
  codex: 'issuer',
  zed: 'issuer'
}

t.test('a healthy server, in both spellings', async (t) => {
  const { baseUrl } = await signInWorld(t)
  for (const url of [baseUrl, `${baseUrl}/`, `${baseUrl}/mcp`, `${baseUrl}/mcp/`]) {
    t.strictSame(await reasons(url), healthy, url)
  }
})

t.test('a server that switches protocols is reported, and one that closes without a word', async (t) => {
  const close = {
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n': /returns 101 instead of 401/,
    '': /does not answer/
  }
  for (const [head, detail] of Object.entries(close)) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write(head)
        if (head === '') socket.end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const [verdict] = await doctor(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { timeout: 2000 })
    t.match(verdict?.obstacle?.detail, detail)
  }
})

t.test('a callback registered at the identity provider lets its client in', async (t) => {
  const { baseUrl } = await signInWorld(t, {
    idpOptions: { redirectUris: ['http://localhost:7777/callback', 'http://127.0.0.1:33418/'] }
  })
  t.strictSame(await reasons(baseUrl), { ...healthy, 'vs-code': undefined })
  const [verdict] = await doctor(baseUrl, { only: clients.filter(({ id }) => id === 'codex') })
  t.equal(verdict?.obstacle?.detail, `the identity provider does not know the callback ${codexAt(`${baseUrl}/mcp`)}`)
})

t.test('the id in the callback of Codex, as its version 0.169.0 makes it', async (t) => {
  t.equal(
    clientAt('http://localhost:8080/mcp', clients.find(({ id }) => id === 'codex')!).callback,
    'http://127.0.0.1:7777/callback/2RVLDtro8eoJ'
  )
})

for (
  const [what, world, expected] of [
    ["only the contract's own documents, whose issuer is the identity provider", {
      shimOptions: { strictDiscovery: 'off' }
    }, { ...healthy, ...checkIssuer }],
    ['S256 is not promised', { shimOptions: { advertisePkce: false } }, {
      ...healthy,
      'claude-code': 'pkce',
      zed: 'pkce',
      cursor: 'pkce'
    }],
    ['a scope the client is not allowed', { shimOptions: { scopes: ['openid', 'phone'] } }, {
      ...all('scope'),
      codex: 'callback',
      'vs-code': 'callback',
      cursor: 'callback',
      inspector: 'callback'
    }]
  ] as const
) t.test(`broken: ${what}`, async (t) => t.strictSame(await reasons((await signInWorld(t, world)).baseUrl), expected))

t.test('broken: the server is public under another name', async (t) => {
  const { baseUrl } = await signInWorld(t)
  const reached = baseUrl.replace('localhost', '127.0.0.1')
  t.strictSame(
    await reasons(reached),
    { ...all('resource'), 'vs-code': 'callback' },
    'VS Code ignores the resource document'
  )
})

t.test('broken: the identity provider names itself on the callback', async (t) => {
  const { baseUrl, issuer } = await signInWorld(t, { idpOptions: { sendIss: true } })
  t.strictSame(await reasons(baseUrl), { ...healthy, ...checkIssuer, codex: 'callback' })
  const [verdict] = await doctor(baseUrl, { only: clients.filter(({ id }) => id === 'sdk-2') })
  t.equal(
    verdict?.obstacle?.detail,
    `the identity provider sends iss=${issuer} to the callback instead of ${baseUrl}/oauth`
  )
})

t.test('broken: nothing listens', async (t) => {
  t.strictSame(await reasons('http://127.0.0.1:9'), all('unreachable'))
})

/** Documents written by hand, as servers without the plugin have them. */
async function byHand (
  t: Test,
  change: (url: string) => {
    challenge?: string,
    resource?: object,
    server?: object,
    client?: object
  }
): Promise<string> {
  const issuer = await serve(t, (_, response) => response.end('<h1>Sign in</h1>'))
  const app = Fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const { challenge, resource, server, client } = change(url)
  for (const path of ['/mcp', '/mcp/']) {
    app.post(
      path,
      async (_, reply) => reply.code(401).headers(challenge ? { 'www-authenticate': challenge } : {}).send()
    )
  }
  app.get(
    '/.well-known/oauth-protected-resource/mcp',
    async () => ({ resource: `${url}/mcp`, authorization_servers: [url], ...resource })
  )
  app.get('/.well-known/oauth-authorization-server', async () => ({
    issuer: url,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    registration_endpoint: `${url}/register`,
    ...server
  }))
  app.post('/register', async () => ({ client_id: 'c', redirect_uris: [], ...client }))
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(String(body))))
  })
  for (const [path, error] of [['/token', 'invalid_client'], ['/grant', 'invalid_grant']] as const) {
    app.post<{ Body: Record<string, string> }>(
      path,
      async ({ body }, reply) =>
        reply.code(400).send({
          error: body['client_id'] === 'c' && body['grant_type'] === 'authorization_code' ? error : 'invalid_request'
        })
    )
  }
  await app.listen({ port, host: '127.0.0.1' })
  return url
}

const few = ['sdk-1', 'sdk-2', 'python', 'claude-code']
const every = (reason: Reason | undefined): Reasons => Object.fromEntries(few.map((id) => [id, reason]))

t.test('documents written by hand', async (t) => {
  for (
    const [what, change, expected, detail] of [
      ['good ones', () => ({}), every(undefined)],
      [
        'a resource with a slash at its end',
        (url) => ({ resource: { resource: `${url}/mcp/` } }),
        every('resource'),
        (url) =>
          `${url}/.well-known/oauth-protected-resource/mcp documents the resource ${url}/mcp/, but ${url}/mcp ` +
          'does not start with it'
      ],
      [
        'the resource of a longer path',
        (url) => ({ resource: { resource: `${url}/mcp/v1` } }),
        every('resource'),
        (url) =>
          `${url}/.well-known/oauth-protected-resource/mcp documents the resource ${url}/mcp/v1, but ${url}/mcp ` +
          'does not start with it'
      ],
      [
        'the resource of a path that begins alike',
        (url) => ({ resource: { resource: `${url}/m` } }),
        every('resource'),
        (url) =>
          `${url}/.well-known/oauth-protected-resource/mcp documents the resource ${url}/m, but ${url}/mcp does ` +
          'not start with it'
      ],
      ['the whole server as the resource', (url) => ({ resource: { resource: url } }), every(undefined)],
      ['a resource that is no URL', () => ({ resource: { resource: 'mcp' } }), every(undefined)],
      ['a bare client_id', () => ({ client: { redirect_uris: undefined } }), {
        ...every('registration'),
        python: undefined
      }, (url) => `POST ${url}/register returns no redirect_uris`],
      [
        'no client_id',
        () => ({ client: { client_id: undefined } }),
        every('registration'),
        (url) => `POST ${url}/register returns no client_id`
      ],
      [
        'an empty client_id',
        () => ({ client: { client_id: '' } }),
        every('registration'),
        (url) => `POST ${url}/register returns no client_id`
      ],
      [
        'a registration that is refused',
        (url) => ({ server: { registration_endpoint: `${url}/nowhere` } }),
        every('registration'),
        (url) => `POST ${url}/nowhere returns 404`
      ],
      [
        'no registration',
        () => ({ server: { registration_endpoint: undefined } }),
        every('registration'),
        () => 'the metadata has no registration_endpoint'
      ],
      [
        'a registration that is down',
        () => ({ server: { registration_endpoint: 'http://127.0.0.1:9/register' } }),
        every('registration'),
        () => 'POST http://127.0.0.1:9/register does not answer'
      ],
      [
        'a secret method without a secret',
        () => ({ client: { token_endpoint_auth_method: 'client_secret_basic' } }),
        every('registration'),
        (url) => `POST ${url}/register returns token_endpoint_auth_method client_secret_basic without a client_secret`
      ],
      [
        'a secret method with a secret',
        () => ({ client: { token_endpoint_auth_method: 'client_secret_basic', client_secret: 's' } }),
        every(undefined)
      ],
      ['no secret method', () => ({ client: { token_endpoint_auth_method: 'none' } }), every(undefined)],
      [
        'a client that has a secret at the provider',
        (url) => ({ server: { token_endpoint: `${url}/token` } }),
        every('client'),
        () =>
          'the identity provider gives the client c no tokens without a secret: invalid_client. Register a ' +
          'public client there, or use the broker'
      ],
      [
        'one that has a secret and got it',
        (url) => ({ server: { token_endpoint: `${url}/token` }, client: { client_secret: 's' } }),
        every(undefined)
      ],
      [
        'one without, whose code is refused',
        (url) => ({ server: { token_endpoint: `${url}/grant` } }),
        every(undefined)
      ],
      [
        'only plain challenges',
        () => ({ server: { code_challenge_methods_supported: ['plain'] } }),
        every('pkce'),
        (url) => `code_challenge_methods_supported of ${url}/.well-known/oauth-authorization-server does not list S256`
      ],
      ['no word about challenges', () => ({ server: { code_challenge_methods_supported: undefined } }), {
        ...every(undefined),
        'claude-code': 'pkce'
      }],
      [
        'a hostile sign-in page',
        () => ({ server: { authorization_endpoint: 'javascript:alert(1)' } }),
        every('metadata'),
        (url) => `authorization_endpoint of ${url}/.well-known/oauth-authorization-server is not an https URL`
      ],
      [
        'a token endpoint without encryption',
        () => ({ server: { token_endpoint: 'http://idp.example.com/token' } }),
        every('metadata'),
        (url) => `token_endpoint of ${url}/.well-known/oauth-authorization-server is not an https URL`
      ],
      [
        'a sign-in page that is down',
        () => ({ server: { authorization_endpoint: 'http://127.0.0.1:9/authorize' } }),
        every('provider'),
        () => 'http://127.0.0.1:9 does not answer'
      ],
      [
        'no response types',
        () => ({ server: { response_types_supported: undefined } }),
        every('metadata'),
        (url) => `${url}/.well-known/oauth-authorization-server does not list the response type code`
      ],
      [
        'an issuer with a slash less',
        (url) => ({ resource: { authorization_servers: [`${url}/`] }, server: { issuer: url } }),
        every(undefined)
      ],
      [
        'an authorization server that is down',
        () => ({ resource: { authorization_servers: ['http://127.0.0.1:9'] } }),
        every('metadata'),
        () => 'http://127.0.0.1:9/.well-known/oauth-authorization-server does not answer'
      ],
      [
        'an authorization server without metadata',
        (url) => ({ resource: { authorization_servers: [`${url}/nowhere`] } }),
        every('metadata'),
        (url) =>
          `no document at ${url}/.well-known/oauth-authorization-server/nowhere, ` +
          `${url}/.well-known/openid-configuration/nowhere, ${url}/nowhere/.well-known/openid-configuration`
      ],
      [
        'an authorization server that is no URL',
        () => ({ resource: { authorization_servers: ['nowhere'] } }),
        every('metadata'),
        () => 'the authorization server nowhere is not a URL'
      ],
      ['no authorization server', () => ({ resource: { authorization_servers: undefined } }), every(undefined)],
      [
        'a challenge to nowhere',
        (url) => ({
          challenge: `Bearer resource_metadata="${url}/nowhere"`,
          server: { issuer: 'https://idp.example.com' }
        }),
        { 'sdk-1': undefined, 'sdk-2': 'challenge', python: 'challenge', 'claude-code': undefined },
        (url) => `the 401 names the document ${url}/nowhere, which returns 404`
      ],
      [
        'a challenge to nowhere, and a document that leads nowhere',
        (url) => ({
          challenge: `Bearer resource_metadata="${url}/nowhere"`,
          resource: { authorization_servers: ['http://127.0.0.1:9'] }
        }),
        { ...every(undefined), python: 'challenge' }
      ],
      [
        'another challenge before Bearer',
        (url) => ({ challenge: `ApiKey, Bearer resource_metadata="${url}/nowhere"` }),
        every(undefined)
      ]
    ] as ReadonlyArray<readonly [string, Parameters<typeof byHand>[1], Reasons, ((url: string) => string)?]>
  ) {
    const url = await byHand(t, change)
    const verdicts = await doctor(url, { only: clients.filter(({ id }) => few.includes(id)) })
    t.strictSame(
      Object.fromEntries(verdicts.map(({ client, obstacle }) => [client.id, obstacle?.reason])),
      expected,
      what
    )
    if (detail) t.equal(verdicts.find(({ obstacle }) => obstacle)?.obstacle?.detail, detail(url), what)
  }
})

t.test('clients that keep the slash at the end of the URL look for the document there', async (t) => {
  const url = await byHand(t, () => ({ resource: { authorization_servers: ['http://127.0.0.1:9'] } }))
  t.strictSame(await reasons(`${url}/mcp/`, few), { ...every('metadata'), python: undefined })
})

t.test('redirects within the origin are followed as SDKs do, and what stops a client is said', async (t) => {
  const other = (baseUrl: string) => baseUrl.replace('localhost', '127.0.0.1')
  const isDocument = (url: string) => url.startsWith('/.well-known/') || url.startsWith('/oauth/.')
  for (
    const [what, redirect, expected] of [
      ...([301, 302, 303, 307] as const).map((status) =>
        [
          `documents by ${status}`,
          (url: string) => isDocument(url) && !url.endsWith('/') ? [status, `${url}/`] as const : undefined,
          () => undefined
        ] as const
      ),
      ['five of them', (url) => hops(url, 5), () => undefined],
      [
        'six of them',
        (url) => hops(url, 6),
        (baseUrl) => ({ reason: 'endpoint', detail: `POST ${baseUrl}/mcp returns 307 instead of 401` })
      ],
      [
        'with a password',
        (url, baseUrl) => url === '/mcp' ? [307, `${baseUrl.replace('//', '//:secret@')}/mcp/`] : undefined,
        (baseUrl) => ({ reason: 'endpoint', detail: `POST ${baseUrl}/mcp returns 307 instead of 401` })
      ],
      [
        'to another origin',
        (url, baseUrl) =>
          url === '/mcp' ? [307, `${other(baseUrl).replace('//', '//user:secret@')}/mcp/?token=secret`] : undefined,
        (baseUrl) => ({
          reason: 'endpoint',
          detail: `POST ${baseUrl}/mcp redirects to ${other(baseUrl)}/mcp/, and clients do not follow redirects to ` +
            'another origin'
        })
      ],
      [
        'to another origin, at the second step',
        (url, baseUrl) => {
          if (url === '/mcp') return [307, '/mcp/']
          return url === '/mcp/' ? [307, `${other(baseUrl)}/mcp`] : undefined
        },
        (baseUrl) => ({
          reason: 'endpoint',
          detail: `POST ${baseUrl}/mcp redirects to ${other(baseUrl)}/mcp, and clients do not follow redirects to ` +
            'another origin'
        })
      ],
      [
        '304, which is no redirect',
        (url) => isDocument(url) && !url.endsWith('/') ? [304, `${url}/`] : undefined,
        (baseUrl) => ({
          reason: 'challenge',
          detail: `the 401 names the document ${baseUrl}/.well-known/oauth-protected-resource/mcp, which returns 304`
        })
      ],
      [
        'metadata to another origin',
        (url, baseUrl) => {
          if (url.includes('/oauth-authorization-server/')) return [302, `${other(baseUrl)}${url}`]
          return isDocument(url) && !url.includes('resource') ? [302, '/nowhere'] : undefined
        },
        (baseUrl) => ({
          reason: 'metadata',
          detail: `${baseUrl}/.well-known/oauth-authorization-server/oauth redirects to ` +
            `${other(baseUrl)}/.well-known/oauth-authorization-server/oauth, and clients do not follow redirects ` +
            'to another origin'
        })
      ],
      ['registration', (url) => url === '/oauth/register' ? [308, '/oauth/register/'] : undefined, () => undefined],
      [
        'registration to another origin',
        (url, baseUrl) => url === '/oauth/register' ? [307, `${other(baseUrl)}${url}`] : undefined,
        (baseUrl) => ({
          reason: 'registration',
          detail: `POST ${baseUrl}/oauth/register redirects to ${other(baseUrl)}/oauth/register, and clients do not ` +
            'follow redirects to another origin'
        })
      ]
    ] as const satisfies ReadonlyArray<readonly [string, Redirect, (baseUrl: string) => Verdict['obstacle']]>
  ) {
    const { baseUrl } = await signInWorld(t, { redirect })
    const [verdict] = await doctor(baseUrl, { only: clients.slice(0, 1) })
    t.strictSame(verdict?.obstacle, expected(baseUrl), what)
  }
})

/** `/mcp`, then `/mcp?1`, until there were so many redirects. */
function hops (url: string, count: number): readonly [number, string] | undefined {
  if (!url.startsWith('/mcp')) return undefined
  const passed = Number(url.split('?')[1] ?? 0)
  return passed < count ? [307, `/mcp?${passed + 1}`] : undefined
}

t.test('no redirect of the sign-in page is followed', async (t) => {
  const opened: Array<string | undefined> = []
  const idp = await serve(t, (request, response) => {
    opened.push(request.url?.split('?')[0])
    response.writeHead(302, { location: '/callback?code=secret' }).end()
  })
  const url = await byHand(t, () => ({ server: { authorization_endpoint: `${idp}/authorize` } }))
  t.strictSame(await reasons(url, ['sdk-1']), { 'sdk-1': undefined })
  t.strictSame(opened, ['/authorize'])
})

t.test("a client with an unknown callback comes with the first registered one, or the contract's", async (t) => {
  const callbacks: Array<string | null> = []
  const idp = await serve(t, (request, response) => {
    callbacks.push(new URL(request.url!, 'http://localhost').searchParams.get('redirect_uri'))
    response.end()
  })
  for (const uris of [['http://localhost:1/first', 'http://localhost:1/second'], []]) {
    const url = await byHand(
      t,
      () => ({
        server: { authorization_endpoint: `${idp}/authorize`, code_challenge_methods_supported: ['S256'] },
        client: { redirect_uris: uris }
      })
    )
    t.strictSame(await reasons(url, ['zed']), { zed: undefined })
  }
  t.strictSame(callbacks, ['http://localhost:1/first', 'http://localhost:7777/callback'])
})

/** An authorization server that notes what clients send to it. */
async function noting (t: Test, answer: RequestListener = (_, response) => response.end('<h1>Sign in</h1>')) {
  const noted: Array<
    {
      readonly method: string | undefined,
      readonly query: URLSearchParams,
      readonly headers: IncomingHttpHeaders,
      readonly body: string
    }
  > = []
  const origin = await serve(t, async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    noted.push({
      method: request.method,
      query: new URL(request.url!, origin).searchParams,
      headers: request.headers,
      body
    })
    if (request.url === '/register') response.end('{"client_id":"c","redirect_uris":["http://localhost:1/first"]}')
    else answer(request, response)
  })
  return { origin, noted }
}

t.test('what each client asks for, with a registration and with its metadata document', async (t) => {
  const { origin, noted } = await noting(t)
  const endpoints = { authorization_endpoint: `${origin}/authorize`, registration_endpoint: `${origin}/register` }
  const here = clients.map((client) => ({ ...client, hosted: false }))
  const asked: unknown[] = []
  let first = ''
  for (const documents of [false, true]) {
    const url = await byHand(t, () => ({ server: { ...endpoints, client_id_metadata_document_supported: documents } }))
    first ||= url
    for (const client of here) {
      noted.length = 0
      t.strictSame((await doctor(url, { only: [client] }))[0]?.obstacle, undefined, client.id)
      const registered = noted.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body))
      const { query } = noted.at(-1)!
      asked.push([
        client.id,
        registered[0]?.client_name,
        registered[0]?.redirect_uris?.join(),
        query.get('client_id'),
        query.get('redirect_uri')
      ])
    }
  }
  const contract = 'http://localhost:7777/callback'
  const registers = (id: string, name: string, callback = contract, used = callback) => [id, name, callback, 'c', used]
  const documented = (id: string, url: string, callback: string) => [id, undefined, undefined, url, callback]
  const [cursor, inspector, chatgpt, claude] = [
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'http://localhost:6274/oauth/callback',
    'https://chatgpt.com/connector_platform_oauth_redirect',
    'https://claude.ai/api/mcp/auth_callback'
  ]
  const always = [
    registers('sdk-1', 'MCP TypeScript SDK 1.x'),
    registers('sdk-2', 'MCP TypeScript SDK 2.x'),
    registers('mcp-remote', 'mcp-remote'),
    registers('python', 'MCP Python SDK 2.x')
  ]
  t.strictSame(asked, [
    ...always,
    registers('claude-code', 'Claude Code'),
    registers('codex', 'Codex', codexAt(`${first}/mcp`)),
    registers('zed', 'Zed', contract, 'http://localhost:1/first'),
    registers('vs-code', 'VS Code', 'http://127.0.0.1:33418/'),
    registers('cursor', 'Cursor', cursor),
    registers('inspector', 'MCP Inspector', inspector),
    registers('chatgpt', 'ChatGPT', chatgpt),
    registers('claude-ai', 'claude.ai', claude),
    ...always,
    documented('claude-code', 'https://claude.ai/oauth/claude-code-client-metadata', contract),
    documented('codex', 'https://chatgpt.com/oauth/codex/client.json', 'http://127.0.0.1:7777/callback'),
    documented('zed', 'https://zed.dev/oauth/client-metadata.json', 'http://127.0.0.1:7777/callback'),
    documented('vs-code', 'https://vscode.dev/oauth/client-metadata.json', 'http://127.0.0.1:33418/'),
    registers('cursor', 'Cursor', cursor),
    registers('inspector', 'MCP Inspector', inspector),
    documented('chatgpt', 'https://chatgpt.com/oauth/client.json', chatgpt),
    documented('claude-ai', 'https://claude.ai/oauth/mcp-oauth-client-metadata', claude)
  ])
})

t.test('which clients stop at what', async (t) => {
  const here = clients.map((client) => ({ ...client, hosted: false }))
  for (
    const [reason, stopped, change] of [
      [
        'pkce',
        'claude-code zed cursor chatgpt claude-ai',
        () => ({ server: { code_challenge_methods_supported: undefined } })
      ],
      [
        'registration',
        'sdk-1 sdk-2 mcp-remote claude-code codex zed cursor inspector chatgpt claude-ai',
        () => ({ client: { redirect_uris: undefined } })
      ],
      ['issuer', 'sdk-2 mcp-remote python codex zed', () => ({ server: { issuer: 'https://idp.example.com' } })],
      [
        'resource',
        'sdk-1 sdk-2 mcp-remote python claude-code codex zed cursor inspector chatgpt claude-ai',
        (url) => ({ resource: { resource: `${url}/other` } })
      ]
    ] as ReadonlyArray<readonly [Reason, string, Parameters<typeof byHand>[1]]>
  ) {
    const verdicts = await doctor(await byHand(t, change), { only: here })
    t.equal(
      verdicts.filter(({ obstacle }) => obstacle?.reason === reason).map(({ client }) => client.id).join(' '),
      stopped,
      reason
    )
    t.equal(verdicts.filter(({ obstacle }) => obstacle).length, stopped.split(' ').length, reason)
  }
})

t.test('a page that refuses a metadata document says why, in its own words', async (t) => {
  const document = { url: 'https://agent.example.com/client.json', callback: 'http://localhost:7777/callback' }
  const client = { ...clients[0]!, document }
  const unusable = (why: string) => ({
    reason: 'document',
    detail: `the server cannot use its metadata document ${document.url}: ${why}`
  })
  const words = 'x'.repeat(400)
  for (
    const [status, location, body, obstacle] of [
      [
        400,
        undefined,
        '<p>The metadata document of this app cannot be used: it is not JSON.</p>',
        unusable('it is not JSON')
      ],
      [400, undefined, '<p>It&#39;s this &amp; that, isn&#39;t it.</p>', unusable("It's this & that, isn't it")],
      [400, undefined, `<p>${words}.</p>`, unusable(words).detail],
      [400, undefined, `<p>${words}x.</p> invalid_client`, unusable('invalid_client')],
      [500, undefined, '', unusable('status 500')],
      [302, `${document.callback}?error=invalid_scope`, '', {
        reason: 'scope',
        detail: 'the identity provider rejects the scope (none)'
      }],
      [302, '/sign-in', '<p>Go on.</p>', undefined]
    ] as const
  ) {
    const { origin } = await noting(t, (_, response) => {
      response.writeHead(status, location === undefined ? {} : { location }).end(body)
    })
    const url = await byHand(
      t,
      () => ({ server: { authorization_endpoint: `${origin}/authorize`, client_id_metadata_document_supported: true } })
    )
    const [verdict] = await doctor(url, { only: [client] })
    if (typeof obstacle === 'string') {
      t.equal(verdict?.obstacle?.detail, obstacle.length > 500 ? `${obstacle.slice(0, 499)}…` : obstacle)
    } else t.strictSame(verdict?.obstacle, obstacle, body)
  }
})

t.test('what a provider says of a request that it refuses is reported on one line, with the callback', async (t) => {
  const rejects = (why: string) => ({
    reason: 'provider',
    detail: `the identity provider rejects the request with the callback http://localhost:7777/callback: ${why}`
  })
  const json = (body: object) => JSON.stringify(body)
  for (
    const [status, location, body, obstacle] of [
      [
        400,
        undefined,
        json({ error: 'invalid_request', error_description: 'The client is\n\u001b[31m disabled' }),
        rejects('invalid_request: The client is [31m disabled')
      ],
      [
        400,
        undefined,
        json({ error: 'access_denied', error_description: `${'x'.repeat(300)}` }),
        rejects(`access_denied: ${'x'.repeat(199)}…`)
      ],
      [403, undefined, json({ error: 'Forbidden', message: 'No' }), rejects('Forbidden')],
      [
        400,
        undefined,
        json({ error: 'Bad Request', message: 'unauthorized, invalid_client' }),
        rejects('invalid_client')
      ],
      [400, undefined, json({ error: 'invalid_request', error_description: 5 }), rejects('invalid_request')],
      [400, undefined, json({ error: 'invalid_request', error_description: 'redirect_uri is not registered' }), {
        reason: 'callback',
        detail: 'the identity provider does not know the callback http://localhost:7777/callback'
      }],
      [400, undefined, 'oh no', rejects('status 400')],
      [302, '/cb?error=access_denied&error_description=Not%0Ayou', '', rejects('access_denied: Not you')]
    ] as const
  ) {
    const { origin } = await noting(t, (_, response) => {
      response.writeHead(status, location === undefined ? {} : { location }).end(body)
    })
    const url = await byHand(t, () => ({ server: { authorization_endpoint: `${origin}/authorize` } }))
    t.strictSame((await doctor(url, { only: clients.slice(0, 1) }))[0]?.obstacle, obstacle, body)
  }
})

t.test('the doctor agrees on a consent page, as a browser does, and looks at what follows', async (t) => {
  const form = '<input type="hidden" name="request" value="the+request=">'
  for (
    const [what, page, follow, obstacle] of [
      ['a redirect', 200, { status: 303, location: '/idp?redirect_uri=https%3A%2F%2Fshop.example.com%2Fcb' }, {
        reason: 'callback',
        detail: 'the identity provider does not know the callback https://shop.example.com/cb'
      }],
      ['an error in place of it', 200, { status: 500 }, {
        reason: 'provider',
        detail: 'the identity provider rejects the request with the callback http://localhost:7777/callback: status 500'
      }],
      ['an address that is none', 200, { status: 303, location: 'http://' }, undefined],
      ['no page', 403, { status: 303 }, {
        reason: 'provider',
        detail: 'the identity provider rejects the request with the callback http://localhost:7777/callback: status 403'
      }]
    ] as const
  ) {
    const { origin, noted } = await noting(t, ({ method, url = '' }, response) => {
      if (method === 'POST') {
        response.writeHead(
          follow.status,
          'location' in follow
            ? { location: follow.location.startsWith('/') ? origin + follow.location : follow.location }
            : {}
        ).end()
      } else if (url.startsWith('/idp')) response.writeHead(400).end('redirect_mismatch')
      else response.writeHead(page, { 'set-cookie': ['a=1; Path=/; HttpOnly', 'b=2; Secure'] }).end(form)
    })
    const url = await byHand(t, () => ({ server: { authorization_endpoint: `${origin}/authorize?x=1` } }))
    const [verdict] = await doctor(url, { only: clients.slice(0, 1) })
    t.strictSame(verdict?.obstacle, obstacle, what)
    const sent = noted.filter(({ method }) => method === 'POST')
    t.equal(sent.length, page === 200 ? 1 : 0, what)
    for (const { query, headers, body } of sent) {
      t.strictSame([query.size, body], [0, 'request=the%2Brequest%3D&decision=allow'])
      t.match(headers, {
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
        cookie: 'a=1; b=2',
        'user-agent': 'oauth-discovery-shim doctor'
      })
    }
  }
})

t.test('an authorization server on a path, on a server without one at its root', async (t) => {
  const asked: string[] = []
  const url = await serve(t, (request, response) => {
    const { pathname } = new URL(request.url!, url)
    asked.push(`${request.method} ${pathname}`)
    if (pathname === '/mcp') response.writeHead(401).end()
    else if (pathname === '/.well-known/oauth-protected-resource') {
      response.end(JSON.stringify({ resource: `${url}/mcp`, authorization_servers: [`${url}/as`] }))
    } else if (pathname === '/as/.well-known/openid-configuration') {
      response.end(
        JSON.stringify({
          issuer: `${url}/as`,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          response_types_supported: ['code'],
          code_challenge_methods_supported: ['S256'],
          registration_endpoint: `${url}/register`
        })
      )
    } else if (pathname === '/register') response.writeHead(201).end('{"client_id":"c","redirect_uris":[]}')
    else response.writeHead(pathname === '/authorize' ? 200 : 404).end()
  })
  t.strictSame(await reasons(url, few), every(undefined))
  t.equal(
    asked.length,
    new Set(asked).size + 2 * (few.length - 1),
    'documents are read once for all; each client registers and opens the page'
  )
})

t.test("an error page of the identity provider's is recognised", async (t) => {
  const callback = 'http://localhost:7777/callback'
  const rejects = (what: string): string => `the identity provider rejects the ${what}`
  for (
    const [what, answer, reason, detail] of [
      ['the sign-in page', { status: 200, body: 'invalid_client' }, undefined],
      ['a redirect to the sign-in page', { status: 302, location: '/login?client_id=c' }, undefined],
      [
        'Cognito, callback',
        { status: 302, location: '/error?error=redirect_mismatch&client_id=c' },
        'callback',
        () => `the identity provider does not know the callback ${callback}`
      ],
      [
        'Cognito, scope',
        { status: 302, location: `${callback}?error_description=invalid_scope&state=doctor&error=invalid_request` },
        'scope',
        () => rejects('scope (none)')
      ],
      [
        'RFC 8707',
        { status: 302, location: `${callback}?error=invalid_target` },
        'resource',
        (url: string) => rejects(`resource ${url}/mcp`)
      ],
      [
        'a resource',
        { status: 302, location: `${callback}?error=invalid_request&error_description=unknown+resource` },
        'resource',
        (url: string) => rejects(`resource ${url}/mcp`)
      ],
      [
        'an error without a description',
        { status: 302, location: `${callback}?error=access_denied` },
        'provider',
        () => rejects(`request with the callback ${callback}: access_denied`)
      ],
      [
        'an unknown client',
        { status: 400, body: 'error: invalid_client' },
        'provider',
        () => rejects(`request with the callback ${callback}: invalid_client`)
      ],
      [
        'a mismatch on the page',
        { status: 400, body: '<p>redirect_mismatch' },
        'callback',
        () => `the identity provider does not know the callback ${callback}`
      ],
      ['a redirect to nowhere', { status: 302, location: 'http://' }, undefined],
      [
        'a failure',
        { status: 500, body: 'oops' },
        'provider',
        () => rejects(`request with the callback ${callback}: status 500`)
      ]
    ] as const
  ) {
    const idp = await serve(t, (_, response) =>
      response
        .writeHead(answer.status, 'location' in answer ? { location: answer.location } : {})
        .end('body' in answer ? answer.body : ''))
    const url = await byHand(t, () => ({ server: { authorization_endpoint: `${idp}/authorize` } }))
    const [verdict] = await doctor(url, { only: clients.slice(0, 1) })
    t.strictSame(verdict?.obstacle, reason && { reason, detail: detail(url) }, what)
  }
})

t.test('a registration succeeds with any 2xx, and the reason of a refusal is quoted', async (t) => {
  for (
    const [status, body, expected] of [
      [201, {}, undefined],
      [299, {}, undefined],
      [300, {}, 'returns 300'],
      [400, { error: 'invalid_redirect_uri' }, 'returns 400'],
      [400, { error_description: 'only loopback' }, 'returns 400: only loopback']
    ] as const
  ) {
    const server = await serve(
      t,
      (_, response) => response.writeHead(status).end(JSON.stringify({ client_id: 'c', redirect_uris: [], ...body }))
    )
    const url = await byHand(t, () => ({ server: { registration_endpoint: `${server}/` } }))
    const [verdict] = await doctor(url, { only: clients.slice(0, 1) })
    t.strictSame(
      verdict?.obstacle,
      expected && { reason: 'registration', detail: `POST ${server}/ ${expected}` },
      String(status)
    )
  }
})

t.test('a failing authorization server stops a client, unless a proxy lacks a document at that URL', async (t) => {
  for (
    const [status, expected] of [
      [401, 'no document at'],
      [404, 'no document at'],
      [500, 'returns 500'],
      [502, 'no document at'],
      [503, 'returns 503']
    ] as const
  ) {
    const server = await serve(t, (_, response) => response.writeHead(status).end())
    const url = await byHand(t, () => ({ resource: { authorization_servers: [server] } }))
    const [verdict] = await doctor(url, { only: clients.slice(0, 1) })
    const known = status === 404 ? '' : ` (status ${status})`
    const [one, other] = ['oauth-authorization-server', 'openid-configuration'].map((name) =>
      `${server}/.well-known/${name}`
    )
    t.strictSame(verdict?.obstacle, {
      reason: 'metadata',
      detail: expected === 'no document at' ? `${expected} ${one}${known}, ${other}${known}` : `${one} ${expected}`
    })
  }
})

t.test("each client requests the scopes of the challenge, else the resource, else the server's or none", async (t) => {
  for (
    const [what, change, expected] of [
      ['challenge', { challenge: 'Bearer scope="a b"', resource: { scopes_supported: ['c'] } }, ['a b', 'a b']],
      ['resource', { resource: { scopes_supported: ['c', 'd'] }, server: { scopes_supported: ['e'] } }, ['c d', 'c d']],
      ['server', { server: { scopes_supported: ['e', 'f'] } }, [null, 'e f']],
      ['nothing', {}, [null, null]]
    ] as const
  ) {
    const requested: Array<string | null> = []
    const idp = await serve(t, (request, response) => {
      requested.push(new URL(request.url!, 'http://localhost').searchParams.get('scope'))
      response.end()
    })
    const url = await byHand(
      t,
      () => ({
        ...change,
        server: { ...'server' in change && change.server, authorization_endpoint: `${idp}/authorize` }
      })
    )
    await reasons(url, ['sdk-1', 'python'])
    t.strictSame(requested, expected, what)
  }
})

t.test('each request has a connection of its own: a kept one may lead to where the name pointed before', async (t) => {
  let [requests, connections] = [0, 0]
  const server = createServer((request, response) => {
    requests++
    if (request.url === '/mcp') return response.writeHead(401).end()
    response.end(JSON.stringify({
      resource: `${url}/mcp`,
      authorization_servers: [url],
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      registration_endpoint: `${url}/register`,
      client_id: 'c',
      redirect_uris: []
    }))
  }).on('connection', () => {
    connections++
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.strictSame(await reasons(url, ['sdk-1']), { 'sdk-1': undefined })
  t.strictSame([requests, connections], [6, 6])
})

t.test('no more of an answer is read than 1 MiB', async (t) => {
  const limit = 1024 * 1024
  for (const [length, isRead] of [[limit, false], [limit + 1, true]] as const) {
    // It does not end, so only the limit can.
    const url = await serve(t, (_, response) => {
      response.writeHead(401).write('x'.repeat(length))
    })
    t.equal((await httpClient(1500, false).open(url))?.text.length, isRead ? length : undefined)
  }
})

t.test('a public server is tried for a client that runs in the cloud', async (t) => {
  const [local] = await doctor(await byHand(t, () => ({})), { only: clients.filter((client) => client.hosted) })
  t.equal(local?.obstacle?.detail, 'it runs in the cloud and reaches only https servers')
  const verdicts = await doctor('https://127.0.0.1:9/mcp', { only: clients.filter((client) => client.hosted) })
  t.equal(verdicts.length, 2)
  for (const { obstacle } of verdicts) {
    t.strictSame(obstacle, { reason: 'unreachable', detail: 'https://127.0.0.1:9/mcp does not answer' })
  }
})

/** Moves the cursor, sets the title, makes a line of its own, and turns text around. */
const hostile = '\u001b[2J\u001b]0;title\u0007\u009b31m\rok  \n\u2028\u202eevil\u{e0041}'
const harmless = '\\u001b[2J\\u001b]0;title\\u0007\\u009b31m\\u000dok  \\u000a\\u2028\\u202eevil\\udb40\\udc41'

t.test('what a server says is not obeyed by the terminal, nor longer than a few lines', async (t) => {
  const url = await byHand(t, () => ({ server: { issuer: hostile } }))
  t.equal(
    report(await doctor(url, { only: clients.filter(({ id }) => id === 'sdk-2') })),
    `fail  MCP TypeScript SDK 2.x  issuer: ${url}/.well-known/oauth-authorization-server has the issuer ` +
      `${harmless} instead of ${url}`
  )
  const long = report(
    await doctor(await byHand(t, () => ({ server: { issuer: 'x'.repeat(100_000) } })), {
      only: clients.filter(({ id }) => id === 'sdk-2')
    })
  )
  t.equal(long.length, 'fail  MCP TypeScript SDK 2.x  issuer: '.length + 500)
})

t.test('an address is public only if it is one of the internet', async (t) => {
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1', '::ffff:8.8.8.8']) {
    t.equal(isPublic(address), true, address)
  }
  for (
    const address of [
      '127.0.0.1',
      '127.255.255.254',
      '0.0.0.0',
      '10.0.0.1',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '100.64.0.1',
      '169.254.169.254',
      '192.0.0.192',
      '192.0.2.1',
      '198.18.0.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::127.0.0.1',
      '::ffff:127.0.0.1',
      '::ffff:169.254.169.254',
      '::ffff:0:7f00:1',
      '64:ff9b::7f00:1',
      '64:ff9b:1::1',
      '2002:7f00:1::',
      '2001:0:1::1',
      '100::1',
      '2001:db8::1',
      'fc00::1',
      'fd00:ec2::254',
      'fe80::1',
      'fe80::1%eth0',
      'fec0::1',
      'ff02::1'
    ]
  ) t.equal(isPublic(address), false, address)
})

t.test('what a name leads to is passed on as it was resolved', (t) => {
  const refuse = (host: string, address: string) => new Error(`${host} is at ${address}`)
  const away = new Error('away')
  for (
    const [resolved, expected] of [
      [[null, '1.1.1.1', 4], [null, '1.1.1.1', 4]],
      [[away], [away]],
      [[null, '10.0.0.1', 4], [new Error('shop is at 10.0.0.1'), '10.0.0.1', 4]],
      [[null, [{ address: '1.1.1.1', family: 4 }, { address: '::1', family: 6 }]], [new Error('shop is at ::1')]]
    ] as const
  ) {
    const lookup = ((_host: string, _options: object, done: (...args: readonly unknown[]) => void) => {
      done(...resolved)
    }) as never
    publicLookup(refuse, { lookup })('shop', {}, (...args) => {
      t.match(args, expected)
    })
  }
  t.end()
})

t.test('the body of a redirect is not read', async (t) => {
  const closed: string[] = []
  const url = await serve(t, (request, response) => {
    if (request.url === '/mcp') {
      response.on('close', () => {
        closed.push('closed')
      }).writeHead(307, { location: '/mcp/' }).write('x')
    } else response.writeHead(401).end()
  })
  t.equal((await httpClient(60_000, false).post(`${url}/mcp`, {}))?.status, 401)
  while (closed.length === 0) await sleep(20)
  t.strictSame(closed, ['closed'])
})

t.test('a public server cannot send the doctor to an address that is not public, by whatever name', async (t) => {
  const requests: Array<string | undefined> = []
  const { port } = new URL(
    await serve(t, (request, response) => {
      requests.push(request.url)
      response.end('{}')
    })
  )
  const client = clients[0]!
  const mcpUrl = 'https://shop.example.com/mcp'
  const closed = httpClient(1000, true)
  const leads = async (url: string) => {
    const headers = new Headers({ 'www-authenticate': `Bearer resource_metadata="${url}"` })
    return await walk(
      client,
      mcpUrl,
      { url: mcpUrl, status: 401, headers, elsewhere: undefined, text: '', json: {} },
      closed
    )
  }
  for (
    const [host, name, address] of [
      ['127.0.0.1', '127.0.0.1', '127.0.0.1'],
      ['2130706433', '127.0.0.1', '127.0.0.1'],
      ['0x7f.1', '127.0.0.1', '127.0.0.1'],
      ['[::1]', '[::1]', '::1'],
      ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '::ffff:7f00:1'],
      ['169.254.169.254', '169.254.169.254', '169.254.169.254'],
      ['10.0.0.1', '10.0.0.1', '10.0.0.1']
    ] as const
  ) {
    t.strictSame(await leads(`http://${host}:${port}/document`), {
      reason: 'private',
      detail: `the server leads to a host that is not on the internet: ${name} is at ${address}, which is not a ` +
        'public address'
    }, host)
  }
  t.match(await leads(`http://localhost:${port}/document`), {
    reason: 'private',
    detail: /: localhost is at (127\.0\.0\.1|::1), which is not a public address$/
  }, 'a name is resolved')
  for (
    const ask of [() => closed.post(`http://localhost:${port}/`, {}), () => closed.open(`http://localhost:${port}/`)]
  ) {
    await t.rejects(ask(), { code: 'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE' })
  }
  t.strictSame(requests, [])
})

t.test('only a URL that names a private host opens the way to others', async (t) => {
  for (
    const url of [
      'http://localhost/',
      'http://a.localhost:1/',
      'http://localhost./',
      'http://127.0.0.1/',
      'http://[::1]/',
      'http://192.168.1.1/'
    ]
  ) t.equal(namesPrivateHost(new URL(url)), true, url)
  for (
    const url of [
      'http://localhost.example.com/',
      'http://notlocalhost/',
      'http://shop/',
      'http://1.1.1.1/',
      'http://[2606:4700::1]/'
    ]
  ) t.equal(namesPrivateHost(new URL(url)), false, url)
  const { baseUrl } = await signInWorld(t)
  await t.rejects(doctor(baseUrl, { allowPrivate: false }), { code: 'OAUTH_DISCOVERY_SHIM_DOCTOR_PRIVATE' })
})

t.test('an answer that does not end is none', async (t) => {
  const url = await serve(t, (_, response) => {
    response.writeHead(401).write('{')
  })
  t.strictSame((await doctor(url, { only: clients.slice(0, 1), timeout: 100 }))[0]?.obstacle, {
    reason: 'unreachable',
    detail: `${url}/mcp does not answer`
  })
})

t.test('an answer that breaks off in words that are not HTTP is none', async (t) => {
  const url = await serve(t, ({ socket }) => {
    socket.write('HTTP/1.1 401 Unauthorized\r\ntransfer-encoding: chunked\r\n\r\n')
    setTimeout(() => socket.write('no size\r\n'), 10)
  })
  t.strictSame((await doctor(url, { only: clients.slice(0, 1) }))[0]?.obstacle, {
    reason: 'unreachable',
    detail: `${url}/mcp does not answer`
  })
})

t.test('what is not an http(s) URL is refused', async (t) => {
  for (const url of ['', 'localhost:8080', 'file:///etc/passwd', 'http://']) {
    await t.rejects(
      doctor(url),
      { code: 'OAUTH_DISCOVERY_SHIM_DOCTOR_URL', message: `${url} is not an http(s) URL` },
      url
    )
  }
})

t.test('the command', async (t) => {
  const { baseUrl } = await signInWorld(t)
  const all = await command('doctor', baseUrl)
  t.strictSame(all.out.trimEnd().split('\n').length, clients.length, 'without names, all clients')
  const [good, bad, noUrl, plain, help, ...wrong] = await Promise.all([
    spawned('doctor', baseUrl, 'sdk-1', 'sdk-2'),
    command('doctor', baseUrl, 'sdk-1', 'vs-code'),
    command('doctor', `localhost${hostile}`),
    command('doctor', '--private', 'http://0.0.0.0:9', 'sdk-1'),
    command('--help'),
    command('doctor', '--privat', baseUrl),
    spawned(),
    command('doctor', baseUrl, `netscape${hostile}`)
  ])

  t.strictSame(good, {
    code: 0,
    out: 'ok    MCP TypeScript SDK 1.x  reaches the sign-in page\nok    MCP TypeScript SDK 2.x  reaches the ' +
      'sign-in page\n',
    err: ''
  })
  t.strictSame(bad, {
    code: 1,
    out: 'ok    MCP TypeScript SDK 1.x  reaches the sign-in page\n' +
      'fail  VS Code                 callback: the identity provider does not know the callback ' +
      'http://127.0.0.1:33418/\n',
    err: ''
  })
  t.strictSame(noUrl, { code: 2, out: '', err: `localhost${harmless} is not an http(s) URL\n` })
  t.strictSame(plain, {
    code: 1,
    out: 'fail  MCP TypeScript SDK 1.x  unreachable: http://0.0.0.0:9/mcp does not answer\n' +
      'warn  Whether the server issues tokens itself is not known: ' +
      'http://0.0.0.0:9/.well-known/oauth-authorization-server/oauth does not answer\n',
    err: 'warning: anybody between you and the server can read and change plain http; use https\n'
  }, 'another host than this one, without encryption')
  t.match(help, {
    code: 0,
    out: /^Usage: oauth-discovery-shim doctor \[--private\] \[--document <url>\] <url> \[client…\]/,
    err: ''
  })
  t.match(help.out, new RegExp(`^Clients: ${clients.map(({ id }) => id).join(', ')}\\. Default: all\\.$`, 'm'))
  const problems = ["Unknown option '--privat'", '', `There is no client netscape${harmless}\n\n`]
  for (const [index, { code, out, err }] of wrong.entries()) {
    const [problem = ''] = err.split(
      'Usage: oauth-discovery-shim doctor [--private] [--document <url>] <url> [client…]'
    )
    t.ok(problem.startsWith(problems[index]!) && problem.length < err.length, err)
    t.strictSame({ code, out }, { code: 2, out: '' })
  }
})

t.test('the command says how to try a server whose name leads to a private address', async (t) => {
  const resolver = `import dns from 'node:dns'
    import { syncBuiltinESMExports } from 'node:module'
    dns.lookup = (name, options, done) => done(null, [{ address: '10.0.0.1', family: 4 }], 4)
    syncBuiltinESMExports()`
  t.strictSame(
    await node(
      '--import',
      `data:text/javascript,${encodeURIComponent(resolver)}`,
      cli,
      'doctor',
      'https://shop.example.com'
    ),
    {
      code: 2,
      out: '',
      err: 'shop.example.com is at 10.0.0.1, which is not a public address; use --private for a server inside your ' +
        'network\n'
    }
  )
})

const cli = fileURLToPath(new URL('../bin/oauth-discovery-shim.js', import.meta.url))

/** Runs the command in this process. */
async function command (...args: string[]) {
  const said = { out: '', err: '' }
  const code = await run(args, {
    stdout: {
      write: (text) => {
        said.out += text
      }
    },
    stderr: {
      write: (text) => {
        said.err += text
      }
    }
  })
  return { code, ...said }
}

/** Runs it as users do, as it was built: in a process of its own. */
async function spawned (...args: string[]) {
  return await node(cli, ...args)
}

async function node (...args: string[]) {
  const child = spawn(process.execPath, args)
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  const [code] = await once(child, 'close')
  return { code: code as number, out, err }
}
