import t, { type Test } from 'tap'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { identityProvider } from '../src/provider.ts'
import { build, options, provider, serve, userPool } from './build.ts'

const document = '/.well-known/oauth-authorization-server'

const unavailable = {
  statusCode: 503,
  code: 'OAUTH_DISCOVERY_SHIM_PROVIDER_UNAVAILABLE',
  error: 'Service Unavailable',
  message: "The identity provider's metadata is not available yet"
}

/** Resolves as soon as `check` holds; the test's own timeout is the limit. */
async function until (check: () => Promise<boolean> | boolean): Promise<void> {
  while (!await check()) await sleep(20)
}

t.test('the document is read once at boot, not for every client', async (t) => {
  const { issuer, counter } = await provider(t)
  const app = await build(t, options(issuer))
  for (let i = 0; i < 20; i++) t.equal((await app.inject(document)).statusCode, 200)
  t.equal(counter.reads, 1)
})

t.test('Entra for several tenants: the document is that of all organizations, and names the placeholder', async (t) => {
  const base = await serve(t, (request, response) => {
    if (request.url !== '/organizations/v2.0/.well-known/openid-configuration') return response.writeHead(404).end()
    t.equal(request.headers['accept-encoding'], 'identity', 'a compressed document is not asked for')
    response.end(JSON.stringify(userPool(`${base}/{tenantid}/v2.0`)))
  })
  const app = await build(t, options(`${base}/{tenantid}/v2.0`))
  t.match((await app.inject(document)).json(), {
    issuer: `${base}/{tenantid}/v2.0`,
    token_endpoint: userPool(base)['token_endpoint']
  })
  t.equal((await app.inject(`${document}/oauth`)).json().issuer, 'https://shop.example.com/oauth')
})

t.test('a provider that is down at boot is asked again until it is up', async (t) => {
  const placeholder = createServer().listen(0, '127.0.0.1')
  await once(placeholder, 'listening')
  const { port } = placeholder.address() as AddressInfo
  placeholder.close()
  await once(placeholder, 'close')
  const issuer = `http://127.0.0.1:${port}`
  const app = await build(t, options(issuer))

  const response = await app.inject(document)
  t.equal(response.statusCode, 503)
  t.strictSame(response.json(), unavailable)
  t.match(response.headers['retry-after'], /^[1-4]$/, 'in whole seconds, when the next attempt is due')
  t.equal(response.headers['cache-control'], undefined, 'an outage is not cached')
  t.equal(response.headers['access-control-allow-origin'], '*', 'a browser can read the reason')
  t.equal(
    (await app.inject('/.well-known/oauth-protected-resource')).statusCode,
    200,
    'what needs no provider is served'
  )
  t.equal(
    (await app.inject({ method: 'POST', url: '/oauth/register' })).statusCode,
    201,
    'what needs no provider is served'
  )

  const server = createServer((_, response) => response.end(JSON.stringify(userPool(issuer)))).listen(port, '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(async () => (await app.inject(document)).statusCode === 200)
  t.equal((await app.inject(document)).json().issuer, issuer)
})

t.test('a change at the provider is seen after the refresh, and an outage keeps the last good document', async (t) => {
  let state: 'first' | 'second' | 'down' | 'garbage' | 'impostor' = 'first'
  let reads = 0
  const issuer = await serve(t, (_, response) => {
    reads += 1
    if (state === 'down') response.writeHead(500).end()
    else if (state === 'garbage') response.end('<html>')
    else if (state === 'impostor') response.end(JSON.stringify(userPool('https://elsewhere.example.com')))
    else response.end(JSON.stringify({ ...userPool(issuer), 'x-state': state }))
  })
  const app = await build(t, { ...options(issuer), refreshInterval: 30 })
  const served = async () => (await app.inject(document)).json()['x-state']

  t.equal(await served(), 'first')
  state = 'second'
  await until(async () => await served() === 'second')
  for (state of ['down', 'garbage', 'impostor'] as const) {
    const before = reads
    await until(() => reads > before + 1)
    t.equal(await served(), 'second', state)
  }
  state = 'first'
  await until(async () => await served() === 'first')
})

t.test('a document that must not be served is not served', async (t) => {
  for (
    const [what, listener] of [
      ['another issuer', (_, response) => response.end(JSON.stringify(userPool('https://elsewhere.example.com')))],
      ['not found', (_, response) => response.writeHead(404).end('{}')],
      ['an empty answer', (_, response) => response.writeHead(204).end()],
      ['HTML', (_, response) => response.end('<!doctype html>')],
      ['a hostile endpoint', (request, response) =>
        response.end(
          JSON.stringify({
            ...userPool(`http://${request.headers.host}`),
            authorization_endpoint: 'javascript:alert(1)'
          })
        )],
      [
        'a redirect to a link-local address',
        (_, response) => response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
      ],
      ['a redirect to a good document', (request, response) =>
        request.url === '/moved'
          ? response.end(JSON.stringify(userPool(`http://${request.headers.host}`)))
          : response.writeHead(302, { location: '/moved' }).end()],
      ['a redirect to itself', (_, response) => response.writeHead(302, { location: '/again' }).end()],
      ['half an answer', (_, response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('{')
        setTimeout(() => response.destroy(), 10)
      }],
      ['more than 256 KiB', (request, response) =>
        response.end(
          JSON.stringify({ ...userPool(`http://${request.headers.host}`), padding: 'x'.repeat(256 * 1024) })
        )],
      ['no answer', () => {}],
      ['an answer without end', (_, response) => response.write('{')]
    ] as const satisfies ReadonlyArray<readonly [string, Parameters<typeof serve>[1]]>
  ) {
    const app = await build(t, { ...options(await serve(t, listener)), timeout: 200 })
    const response = await app.inject(document)
    t.equal(response.statusCode, 503, what)
    t.strictSame(response.json(), unavailable, what)
  }
})

t.test('the log says how the provider answered, and what follows for clients', async (t) => {
  const lines: Array<{ level: number, url: string, msg: string, err: { message: string } }> = []
  const logger = {
    level: 'warn',
    stream: {
      write: (line: string) => {
        lines.push(JSON.parse(line))
      }
    }
  }
  let isUp = false
  const issuer = await serve(
    t,
    (_, response) => isUp ? response.end(JSON.stringify(userPool(issuer))) : response.writeHead(404).end('{}')
  )
  const app = await build(t, { ...options(issuer), refreshInterval: 20, server: { logger } })
  const url = `${issuer}/.well-known/openid-configuration`
  t.match(lines[0], {
    level: 50,
    url,
    msg: 'the identity provider could not be read: clients cannot sign in yet',
    err: { message: /returned 404$/ }
  })
  isUp = true
  await until(async () => (await app.inject(document)).statusCode === 200)
  isUp = false
  await until(() => lines.some(({ level }) => level === 40))
  t.match(lines.find(({ level }) => level === 40), {
    url,
    msg: 'the identity provider could not be read: its last good document stays in use',
    err: { message: /returned 404$/ }
  })
})

t.test('a provider that is slow at boot stops nobody, and is heard when it answers', async (t) => {
  for (
    const [what, pluginTimeout, timeout] of [['a long timeout', 400, 60_000], ['no plugin timeout', 0, 200]] as const
  ) {
    const waiting: Array<() => void> = []
    const issuer = await serve(t, (_, response) => {
      waiting.push(() => response.end(JSON.stringify(userPool(issuer))))
    })
    const start = performance.now()
    const app = await build(t, { ...options(issuer), timeout, server: { pluginTimeout } })
    t.ok(performance.now() - start > 195, 'half of the plugin timeout, or else the timeout')
    const response = await app.inject(document)
    t.equal(response.statusCode, 503, what)
    t.strictSame(response.json(), unavailable, what)
    t.match(response.headers['retry-after'], /^[12]$/, what)
    await until(async () => {
      for (const answer of waiting.splice(0)) answer()
      return (await app.inject(document)).statusCode === 200
    })
  }
})

t.test('attempts come after a second, then ever later, up to a minute or the next refresh', async (t) => {
  const noted = notingWaits(t)
  for (
    const [refreshInterval, expected] of [[3_600_000, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]], [
      5000,
      [1000, 2000, 4000, 5000, 5000]
    ], [500, [500, 500]]] as const
  ) {
    const provider = identityProvider({
      issuer: 'http://127.0.0.1:9',
      insecureHttp: false,
      timeout: 1000,
      refreshInterval
    }, silent)
    for (const wait of expected) {
      await provider.start()
      t.equal(provider.retryAfter(), Math.max(1, wait / 1000))
    }
    t.strictSame(noted.waits.splice(0), expected)
    t.equal(noted.last?.hasRef(), false, 'a wait does not keep the process alive')
    t.notOk(noted.cleared.has(noted.last))
    provider.stop()
    t.ok(noted.cleared.has(noted.last), 'and ends with the app')
  }
})

t.test('a good document ends the retries, and the next failure is the first one again', async (t) => {
  let isUp = false
  const issuer = await serve(
    t,
    (_, response) => isUp ? response.end(JSON.stringify(userPool(issuer))) : response.writeHead(503).end()
  )
  const { waits } = notingWaits(t)
  const provider = identityProvider({ issuer, insecureHttp: false, timeout: 1000, refreshInterval: 3_600_000 }, silent)
  for (isUp of [false, false, true, false, true]) await provider.start()
  // A connection that is kept waits as well.
  t.strictSame(waits.filter((wait) => wait !== 3000), [1000, 2000, 3_600_000, 1000, 3_600_000])
  provider.stop()
})

const silent = { error () {}, warn () {} } as unknown as FastifyBaseLogger

/**
 * Notes waits of half a second and more, which end at once; but none of a connection that is kept, which has other than
 * whole seconds.
 */
function notingWaits (t: Test) {
  const { setTimeout, clearTimeout } = globalThis
  t.teardown(() => {
    Object.assign(globalThis, { setTimeout, clearTimeout })
  })
  const noted = { waits: [] as number[], last: undefined as NodeJS.Timeout | undefined, cleared: new Set<unknown>() }
  globalThis.setTimeout = Object.assign((...[next, wait = 0, ...args]: Parameters<typeof setTimeout>) => {
    if (wait < 500 || wait % 500 !== 0) return setTimeout(next, wait, ...args)
    noted.waits.push(wait)
    noted.last = setTimeout(() => {}, 0)
    return noted.last
  }, setTimeout)
  globalThis.clearTimeout = (timer) => {
    noted.cleared.add(timer)
    clearTimeout(timer)
  }
  return noted
}

t.test('a server without a client id says so when it starts', async (t) => {
  const { issuer } = await provider(t)
  for (const clientId of ['', 'x']) {
    const lines: Array<{ level: number, msg: string }> = []
    await build(t, {
      ...options(issuer),
      clientId,
      server: {
        logger: {
          stream: {
            write: (line: string) => {
              lines.push(JSON.parse(line))
            }
          }
        }
      }
    })
    t.match(
      lines.filter(({ level }) => level === 40),
      clientId === '' ? [{ msg: 'clientId is empty: MCP clients cannot sign in through a browser' }] : []
    )
    t.equal(lines.filter(({ level }) => level === 40).length, clientId === '' ? 1 : 0)
  }
})

t.test('so does one that clients reach by http over a network', async (t) => {
  const { issuer } = await provider(t)
  for (const publicBaseUrl of ['http://shop.example.com', 'https://shop.example.com', 'http://127.0.0.1:8080']) {
    const lines: Array<{ level: number, msg: string }> = []
    await build(t, {
      ...options(issuer),
      publicBaseUrl,
      server: {
        logger: {
          stream: {
            write: (line: string) => {
              lines.push(JSON.parse(line))
            }
          }
        }
      }
    })
    const msg =
      'publicBaseUrl is http on another machine: anybody on the way can replace the sign-in page that clients ' +
      'find. Use https'
    t.match(
      lines.filter(({ level }) => level === 40),
      publicBaseUrl === 'http://shop.example.com' ? [{ msg }] : [],
      publicBaseUrl
    )
    t.equal(
      lines.filter(({ level }) => level === 40).length,
      publicBaseUrl === 'http://shop.example.com' ? 1 : 0,
      publicBaseUrl
    )
  }
})

t.test('an endless document is not read to its end', async (t) => {
  let sent = 0
  const issuer = await serve(t, (_, response) => {
    const write = () => {
      while (!response.destroyed && response.write('x'.repeat(65536))) sent += 65536
    }
    response.on('drain', write)
    write()
  })
  const app = await build(t, options(issuer))
  t.equal((await app.inject(document)).statusCode, 503)
  t.ok(sent < 50 * 1024 * 1024, `${sent} bytes`)
})

t.test('an answer that is not wanted is not read on', async (t) => {
  const closed: string[] = []
  const app = await build(
    t,
    options(
      await serve(t, (_, response) => {
        response.on('close', () => {
          closed.push('closed')
        }).writeHead(404).write('x')
      })
    )
  )
  while (closed.length === 0) await sleep(20)
  t.strictSame(closed, ['closed'])
  t.equal((await app.inject(document)).statusCode, 503)
})

t.test('an issuer with a slash at its end is asked at the same address', async (t) => {
  const asked: Array<string | undefined> = []
  const origin = await serve(t, (request, response) => {
    asked.push(request.url, request.headers.accept)
    response.end(JSON.stringify(userPool(`${origin}/`)))
  })
  const app = await build(t, options(`${origin}/`))
  t.equal((await app.inject(document)).json().issuer, `${origin}/`)
  t.strictSame(asked, ['/.well-known/openid-configuration', 'application/json'])
})

t.test('closing the app ends the reading', async (t) => {
  const { issuer, counter } = await provider(t)
  const app = await build(t, { ...options(issuer), refreshInterval: 5 })
  await until(() => counter.reads > 2)
  await app.close()
  const after = counter.reads
  await sleep(200)
  t.ok(counter.reads <= after + 1, 'only a read that was under way may still arrive')
})
