import { createSocket } from 'node:dgram'
import dns from 'node:dns'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { createServer as createTcpServer, setDefaultAutoSelectFamily, type AddressInfo, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { rsaKeyPair } from '../../../../test/rsa-keys.ts'
import { clientDocuments } from '../../src/broker/clients/documents.ts'
import { fetchJson } from '../../src/client-document/fetch-json.ts'
import { memoryBrokerStore, type BrokerStore } from '../../src/broker/index.ts'
import { selfSigned } from './certificate.ts'
import { corporate } from './corporate.ts'
import {
  allow,
  authorizeUrl,
  base,
  brokerWorld,
  browser,
  clock,
  grantOf,
  loopback,
  pkce,
  sealedIn,
  signIn,
  token,
  type WorldOptions
} from './world.ts'

const { key, cert } = selfSigned()
const schemes = ['cursor']

interface Site {
  readonly origin: string
  readonly requests: string[]
  /** What is served, by path. */
  readonly pages: Map<string, (response: ServerResponse, request: IncomingMessage) => void>
  /** Serves a client's document, and returns its URL. */
  client(path: string, change?: object, headers?: Record<string, string>): string
}

/** A site of client makers. */
async function site (t: Test): Promise<Site> {
  const pages: Site['pages'] = new Map()
  const requests: string[] = []
  const server = createServer({ key, cert }, (request, response) => {
    requests.push(request.url ?? '')
    const page = pages.get(request.url ?? '')
    if (page) page(response, request)
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `https://localhost:${(server.address() as AddressInfo).port}`
  return {
    origin,
    requests,
    pages,
    client (path, change = {}, headers = {}) {
      const document = {
        client_id: `${origin}${path}`,
        client_name: 'Agent',
        redirect_uris: [`${origin}/callback`, loopback],
        token_endpoint_auth_method: 'none',
        ...change
      }
      pages.set(
        path,
        (response) =>
          response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(document))
      )
      return `${origin}${path}`
    }
  }
}

/** A server that trusts the certificate of {@link site}, whose host is in its own network. */
const trusting: WorldOptions = { timeout: 2000, broker: { documents: { privateHosts: ['localhost'], ca: cert } } }

/** A name server that knows these hosts, and is silent about others. @returns the names that it was asked for */
async function nameServer (t: Test, hosts: Readonly<Record<string, string>>): Promise<Set<string>> {
  const asked = new Set<string>()
  const server = createSocket('udp4').on('message', (query, { port, address }) => {
    // RFC 1035 §4.1: a header of 12 bytes, labels until an empty one, type and class.
    const end = query.indexOf(0, 12) + 5
    const name = query.subarray(13, end - 5).toString().replaceAll(/[^-\w]/g, '.')
    asked.add(name)
    const found = hosts[name]
    if (found === undefined) return
    const answers = query.readUInt16BE(end - 4) === 1
      ? [[0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...found.split('.').map(Number)]]
      : []
    server.send(
      Buffer.from([
        ...query.subarray(0, 2),
        0x81,
        0x80,
        0,
        1,
        0,
        answers.length,
        0,
        0,
        0,
        0,
        ...query.subarray(12, end),
        ...answers.flat()
      ]),
      port,
      address
    )
  }).bind(0, '127.0.0.1')
  await once(server, 'listening')
  const before = dns.getServers()
  dns.setServers([`127.0.0.1:${server.address().port}`])
  t.teardown(() => {
    dns.setServers(before)
    server.close()
  })
  return asked
}

t.test('a client signs in by the URL of its metadata document, without a registration', async (t) => {
  const { client, requests } = await site(t)
  const world = await brokerWorld(t, trusting)
  const id = client('/client.json')
  const { verifier, challenge } = pkce()
  const page = await browser(world.app).get(authorizeUrl(id, challenge))
  t.match(page.body, /Let Agent use Shop in your name\?/)
  t.match(page.body, new RegExp(`Described by <strong>${new URL(id).host}</strong>, at <code>${id}</code>`))
  const landed = await signIn(world, authorizeUrl(id, challenge, { redirect_uri: 'http://127.0.0.1:50001/callback' }))
  t.equal(landed.origin, 'http://127.0.0.1:50001')
  const exchanged = await token(world, {
    grant_type: 'authorization_code',
    client_id: id,
    code: landed.searchParams.get('code')!,
    code_verifier: verifier,
    redirect_uri: 'http://127.0.0.1:50001/callback'
  })
  t.equal(exchanged.statusCode, 200, exchanged.body)
  t.equal(
    (await token(world, { grant_type: 'refresh_token', client_id: id, refresh_token: exchanged.json().refresh_token }))
      .statusCode,
    200
  )
  t.strictSame(requests, ['/client.json'], 'it was read once')
})

t.test('bad metadata documents: each is refused with a page that a person understands', async (t) => {
  const { client, pages, origin } = await site(t)
  const [{ app }, { app: hasty }] = [
    await brokerWorld(t, trusting),
    await brokerWorld(t, { ...trusting, timeout: 300 })
  ]
  const json = { 'content-type': 'application/json' }
  client('/good.json')
  pages.set('/moved.json', (response) => response.writeHead(302, { location: `${origin}/good.json` }).end())
  pages.set('/html.json', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'))
  pages.set('/text.json', (response) => response.writeHead(200, json).end('{"client_id":'))
  pages.set('/list.json', (response) => response.writeHead(200, json).end('[]'))
  pages.set('/gone.json', (response) => response.writeHead(410, json).end('{}'))
  pages.set(
    '/large.json',
    (response) =>
      response.writeHead(200, json).end(JSON.stringify({ client_id: `${origin}/large.json`, x: 'x'.repeat(5200) }))
  )
  pages.set('/endless.json', (response) => {
    response.writeHead(200, json)
    response.on('error', () => {})
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
      response.once('drain', more)
    }
    more()
  })
  pages.set('/slow.json', (response) => {
    response.writeHead(200, json).write('{')
  })
  pages.set('/silent.json', () => {})
  pages.set(
    '/packed.json',
    (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(' '.repeat(100_000)))
  )
  pages.set('/broken.json', ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n')
    setTimeout(() => socket?.write('no size\r\n'), 10)
  })
  pages.set('/cut.json', (response) => {
    response.writeHead(200, { ...json, 'content-length': '100' }).write('{')
    setTimeout(() => response.destroy(), 20)
  })

  for (
    const [id, reason] of [
      [`${origin}/moved.json`, 'its server redirects to another address'],
      [`${origin}/html.json`, 'its server does not send it as application/json'],
      [`${origin}/text.json`, 'it is not JSON'],
      [`${origin}/list.json`, 'it is not a JSON object'],
      [`${origin}/gone.json`, 'its server returns the status 410'],
      [`${origin}/nothing.json`, 'its server returns the status 404'],
      [`${origin}/large.json`, 'it is larger than 5120 bytes'],
      [`${origin}/endless.json`, 'it is larger than 5120 bytes'],
      [`${origin}/slow.json`, 'its server took longer than 0.3 seconds'],
      [`${origin}/silent.json`, 'its server took longer than 0.3 seconds'],
      [`${origin}/packed.json`, 'its server sends it compressed'],
      [`${origin}/cut.json`, 'its server cannot be reached over https'],
      [`${origin}/broken.json`, 'its server cannot be reached over https'],
      ['https://localhost:9/client.json', 'its server cannot be reached over https'],
      [
        client('/other.json', { client_id: `${origin}/good.json` }),
        'its client_id is not the address that it was read from'
      ],
      [
        client('/user.json', {
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: 'https://user@keys.example.com/jwks'
        }),
        'its jwks_uri contains a username or password'
      ],
      [
        client('/password.json', {
          token_endpoint_auth_method: 'private_key_jwt',
          jwks_uri: 'https://:secret@keys.example.com/jwks'
        }),
        'its jwks_uri contains a username or password'
      ],
      [origin, 'its address has no path'],
      [`${origin}/a/../good.json`, 'its address is not written as browsers normalize it'],
      [
        `${origin.toUpperCase().replace('HTTPS', 'https')}/good.json`,
        'its address is not written as browsers normalize it'
      ],
      [`${origin}/good.json#x`, 'its address contains a fragment (#)'],
      [`https://user@${origin.slice(8)}/good.json`, 'its address contains a username or password'],
      ['https://\u0430gent.example.com/client.json', 'its address is not a URL, or is longer than 500 characters'],
      ['https://agent.example.com/ /client.json', 'its address is not a URL, or is longer than 500 characters'],
      [`https://agent.example.com/${'x'.repeat(500)}`, 'its address is not a URL, or is longer than 500 characters']
    ] as const
  ) {
    const { statusCode, headers, body } = await (reason.includes('took longer') ? hasty : app).inject(
      authorizeUrl(id, pkce().challenge)
    )
    t.equal(statusCode, 400, id)
    t.match(headers['content-type'], 'text/html')
    t.notOk('location' in headers)
    t.match(body, '<h1>This app cannot sign in here</h1>', id)
    t.ok(
      body.includes(`<p>The metadata document of this app cannot be used: ${reason}.</p>`),
      `${id}: ${/<p>.*<\/p>/.exec(body)?.[0] ?? ''}`
    )
    t.match(body, /Nothing was sent to the app\. Start again in the app/)
    t.match(body, 'For the maker of the app: <code>invalid_client</code>')
  }
})

t.test('SSRF: addresses that are not on the internet are not connected to', async (t) => {
  const { client, requests, origin } = await site(t)
  const { app } = await brokerWorld(t, { broker: { documents: { ca: cert } } })
  const port = new URL(client('/client.json')).port
  for (
    const host of [
      'localhost',
      'x.localhost',
      '127.0.0.1',
      '127.1',
      '0x7f000001',
      '2130706433',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '0.0.0.0',
      '10.0.0.1',
      '169.254.169.254',
      '192.168.0.1',
      '172.16.0.1',
      '100.64.0.1',
      '[fe80::1]',
      '[fd00:ec2::254]',
      '[64:ff9b::7f00:1]',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      'localhost.',
      '0',
      '0177.0.0.1',
      '192.0.0.192',
      '[::]',
      '[::127.0.0.1]',
      '[2002:7f00:1::]',
      '[2001::1]',
      '[ff02::1]',
      '[fec0::1]'
    ]
  ) {
    const { statusCode, body } = await app.inject(authorizeUrl(`https://${host}:${port}/client.json`, pkce().challenge))
    t.equal(statusCode, 400, host)
    t.match(body, /its address leads into a private network|its address is not written as browsers normalize it/, host)
  }
  t.strictSame(requests, [], origin)
})

t.test('SSRF: a name that resolves to a private address a moment later (DNS rebinding) leads nowhere', async (t) => {
  const { client, requests } = await site(t)
  const { port } = new URL(client('/client.json'))
  const answers: string[][] = [
    ['127.0.0.1'],
    ['93.184.215.14', '127.0.0.1'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:10.0.0.1']
  ]
  let asked = 0
  const lookup = ((_host: string, _options: object, done: (error: null, addresses: object[]) => void) => {
    done(null, answers[asked++]!.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }) as never
  for (const answer of answers) {
    await t.rejects(
      fetchJson(new URL(`https://rebinding.example.com:${port}/client.json`), {
        timeout: 2000,
        largest: 5120,
        privateHosts: [],
        loopback: false,
        lookup,
        ca: cert
      }),
      {
        message: 'its server cannot be reached over https',
        cause: { message: /^rebinding\.example\.com resolves to .*, in a private network$/ }
      },
      answer.join()
    )
  }
  t.equal(asked, answers.length, 'the connection resolves the name once, and that is what is checked')
  t.strictSame(requests, [])
})

t.test('a name of an internal network says the same as one that does not exist: nobody can search it', async (t) => {
  const lookup = ((host: string, _options: object, done: (error: Error | null, addresses?: object[]) => void) => {
    if (host === 'db.internal.example') done(null, [{ address: '10.0.0.7', family: 4 }])
    else done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }))
  }) as never
  const { app } = await brokerWorld(t)
  const documents = clientDocuments({ timeout: 500, privateHosts: [], loopback: false, lookup, schemes, log: app.log })
  for (const host of ['db', 'nothing']) {
    await t.rejects(documents.read(`https://${host}.internal.example/client.json`), {
      message: 'The metadata document of this app cannot be used: its server cannot be reached over https'
    })
  }
})

t.test('a server that switches protocols or closes without a word ends only its own document', async (t) => {
  const { app } = await brokerWorld(t, trusting)
  for (
    const [head, reason] of [
      [
        'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        'its server returns the status 101'
      ],
      ['HTTP/1.1 101 Switching Protocols\r\n\r\n', 'its server returns the status 101'],
      ['', 'its server cannot be reached over https'],
      ['HTTP/1.1 103 Early Hints\r\n\r\n', 'its server cannot be reached over https']
    ] as const
  ) {
    const server = createTlsServer({ key, cert }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => {
        socket.write(head)
        if (!head.includes('101')) socket.end()
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    // More than are read at the same time.
    for (let i = 0; i < 20; i++) {
      const { statusCode, body } = await app.inject(
        authorizeUrl(`https://localhost:${port}/${i}.json`, pkce().challenge)
      )
      t.equal(statusCode, 400)
      t.match(body, reason)
    }
  }
  const { client } = await site(t)
  t.equal((await app.inject(authorizeUrl(client('/client.json'), pkce().challenge))).statusCode, 200)
})

t.test('name servers of strangers that are silent do not hold up the look-ups of this server', async (t) => {
  const asked = await nameServer(t, { 'db.internal.example': '10.0.0.7' })
  const read = async (host: string) =>
    await fetchJson(new URL(`https://${host}/client.json`), {
      timeout: 2000,
      largest: 5120,
      privateHosts: [],
      loopback: false
    })
  const silent = Array.from(
    { length: 16 },
    async (_, i) =>
      await t.rejects(read(`n${i}.silent.example`), { message: 'its server cannot be reached over https' })
  )
  for (const selects of [true, false]) {
    setDefaultAutoSelectFamily(selects)
    await t.rejects(read('db.internal.example'), {
      cause: { message: 'db.internal.example resolves to 10.0.0.7, in a private network' }
    }, 'what DNS says is what is checked')
  }
  setDefaultAutoSelectFamily(true)
  t.equal(asked.size, 17, 'DNS was asked for each of them, and the system, which has few threads, for none')
  await Promise.all(silent)
})

/**
 * Where connections are accepted and nothing is ever said; and documents that are read with every name leading there.
 */
async function silence (t: Test, timeout: number) {
  const sockets: Socket[] = []
  const server = createTcpServer((socket) => {
    sockets.push(socket.on('error', () => {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const lookup = ((_host: string, { all }: { all?: boolean }, done: (error: null, ...found: unknown[]) => void) => {
    done(null, ...all === true ? [[{ address: '127.0.0.1', family: 4 }]] : ['127.0.0.1', 4])
  }) as never
  const { app } = await brokerWorld(t)
  const documents = clientDocuments({
    timeout,
    privateHosts: [],
    loopback: true,
    ca: cert,
    lookup,
    schemes,
    log: app.log
  })
  return {
    sockets,
    port: (server.address() as AddressInfo).port,
    read: async (url: string) => documents.read(url).then(({ name }) => name, (error: Error) => error.message)
  }
}

const LATE = 'The metadata document of this app cannot be used: its server took longer than 1 seconds'
const BUSY = 'Too many clients are being looked up. Try again in a moment'

t.test('three documents of a host are read at once; another port or name is another host', async (t) => {
  const { client } = await site(t)
  const { port, read, sockets } = await silence(t, 1000)
  const strangers = ['localhost', 'a.github.io', 'b.github.io'].flatMap((host) =>
    Array.from({ length: 4 }, (_, i) => read(`https://${host}:${port}/${i}.json`))
  )
  t.equal(
    await read(client('/client.json')),
    'Agent',
    'a port where nobody answers does not keep the client of that host out'
  )
  t.strictSame(await Promise.all(strangers), Array(3).fill([LATE, LATE, LATE, BUSY]).flat())
  t.equal(sockets.length, 9)
})

const [SLOW, SLOWEST] = [3, 6].map((seconds) => LATE.replace('1 seconds', `${seconds} seconds`))
const HURRIED =
  'The metadata document of this app cannot be used: its server is slow, and many other apps are being looked ' +
  'up. Try again in a moment'

t.test('sixteen documents are read at once, sixty-four wait, others are told to come again', async (t) => {
  const { client } = await site(t)
  const { port, read, sockets } = await silence(t, 6000)
  const hold = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => read(`https://n${from + i}.slow.example:${port}/client.json`))
  const silent = hold(0, 79)
  const good = read(client('/client.json'))
  t.strictSame(await Promise.all(hold(79, 84)), Array(5).fill(BUSY))
  t.ok(sockets.length <= 16)
  const ended: unknown[] = []
  for (const one of silent) one.then((message) => ended.push(message))
  t.equal(await good, 'Agent', 'the last of those that wait has its turn, though no other server answers')
  t.notOk(ended.includes(SLOWEST), 'before any of them has had all of its time')
  // With nobody behind them, servers have all of their time.
  const ends = await Promise.all(silent)
  t.ok(ends.every((message) => message === HURRIED || message === SLOWEST))
  t.ok(ends.filter((message) => message === SLOWEST).length <= 16)
  t.equal(await read(client('/again.json')), 'Agent', 'and then there is room again')
})

t.test('one that waits takes the place of one, the slowest', async (t) => {
  const { client } = await site(t)
  const { port, read } = await silence(t, 3000)
  const silent = Array.from({ length: 16 }, (_, i) => read(`https://n${i}.slow.example:${port}/client.json`))
  await sleep(1000)
  t.equal(await read(client('/client.json')), 'Agent')
  t.strictSame(await Promise.all(silent), [HURRIED, ...Array(15).fill(SLOW)])
})

t.test('a host that cannot be connected to holds its place for a moment only', async (t) => {
  const lookup = (() => {}) as never
  await t.rejects(
    fetchJson(new URL('https://nowhere.example/client.json'), {
      timeout: 8000,
      largest: 5120,
      privateHosts: [],
      loopback: false,
      lookup
    }),
    { message: 'its server cannot be reached over https', cause: { message: 'no connection within 1500 ms' } }
  )
})

t.test('a certificate that nobody vouches for is refused', async (t) => {
  const { client } = await site(t)
  const { app } = await brokerWorld(t, { broker: { documents: { privateHosts: ['localhost'] } } })
  t.match(
    (await app.inject(authorizeUrl(client('/client.json'), pkce().challenge))).body,
    /its server cannot be reached over https/
  )
})

t.test('on this machine a server may read documents of this machine, and of no other private host', async (t) => {
  const { client } = await site(t)
  const { app } = await brokerWorld(t, { publicBaseUrl: 'http://localhost:8080', broker: { documents: { ca: cert } } })
  const page = await app.inject(authorizeUrl(client('/client.json'), pkce().challenge, { resource: undefined }))
  t.equal(page.statusCode, 200, page.body)
  t.match(
    String(page.headers['set-cookie']),
    /^oauth-asked-[\w-]{22}=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/
  )
  t.match((await app.inject(authorizeUrl('https://10.0.0.1/client.json', pkce().challenge))).body, /private network/)
})

t.test('documents are kept as their headers say, within a minute and a day, and faults are not', async (t) => {
  const { client, pages, requests, origin } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const ask = (id: string) => app.inject(authorizeUrl(id, pkce().challenge))
  for (
    const [header, path] of [
      ['no-store', '/a'],
      ['max-age=0', '/b'],
      ['public, max-age=999999999', '/c'],
      ['', '/d']
    ] as const
  ) {
    client(path, {}, { 'cache-control': header })
    for (let i = 0; i < 3; i++) t.equal((await ask(`${origin}${path}`)).statusCode, 200)
  }
  t.strictSame(requests, ['/a', '/b', '/c', '/d'])
  pages.set('/later.json', (response) => response.writeHead(503).end())
  t.equal((await ask(`${origin}/later.json`)).statusCode, 400)
  client('/later.json')
  t.equal((await ask(`${origin}/later.json`)).statusCode, 200, 'a fault is not remembered')

  client('/many.json')
  const before = requests.length
  t.strictSame(
    (await Promise.all(Array.from({ length: 20 }, () => ask(`${origin}/many.json`)))).map(({ statusCode }) =>
      statusCode
    ),
    Array(20).fill(200)
  )
  t.equal(requests.length, before + 1, 'read once for all who wait')

  pages.clear()
  const waiting: ServerResponse[] = []
  for (let i = 0; i < 40; i++) {
    pages.set(`/${i}.json`, (response) => {
      waiting.push(response)
    })
  }
  const flood = Array.from({ length: 40 }, (_, i) => ask(`${origin}/${i}.json`))
  const busy = await Promise.race(flood)
  t.equal(busy.statusCode, 503)
  t.match(busy.body, /Too many clients are being looked up/)
  while (waiting.length < 3) await sleep(5)
  t.equal(waiting.length, 3, 'not more of one host at the same time')
  for (const response of waiting) response.writeHead(404).end()
  t.equal(
    (await Promise.all(flood)).filter(({ statusCode }) => statusCode === 503).length,
    37,
    'the others are told to come again'
  )
})

t.test('five hundred documents are kept, and the oldest gives way', async (t) => {
  const { client, requests } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const at = clock(t)
  const ask = async (i: number) => {
    requests.length = 0
    await app.inject(
      authorizeUrl(client(`/${i}.json`, {}, { 'cache-control': `max-age=${i === 5 ? 60 : 3600}` }), pkce().challenge)
    )
    return requests.length
  }
  for (let i = 0; i < 500; i++) await ask(i)
  at(60_000)
  t.strictSame([await ask(5), await ask(0)], [1, 0], 'one that is read again takes no place')
  t.strictSame([await ask(500), await ask(1), await ask(0)], [1, 0, 1])
})

t.test('a document is read again when its time is over', async (t) => {
  const { client, requests } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const at = clock(t)
  for (
    const [header, seconds] of [
      ['', 300],
      ['public', 300],
      ['max-age=59', 60],
      ['max-age=61', 61],
      ['private,max-age="90", x', 90],
      ['MAX-AGE=100', 100],
      ['s-max-age=100', 300],
      ['max-age=86399', 86_399],
      ['max-age=86401', 86_400],
      ['max-age=1000, no-store', 60],
      ['No-Cache', 60],
      ['no-cache="set-cookie", max-age=1000', 1000],
      ['x-no-store, max-age=1000', 1000]
    ] as const
  ) {
    const path = `/${encodeURIComponent(header)}.json`
    const id = client(path, {}, { 'cache-control': header })
    for (const [later, reads] of [[0, 1], [seconds * 1000 - 1, 1], [seconds * 1000, 2]] as const) {
      at(later)
      t.equal((await app.inject(authorizeUrl(id, pkce().challenge))).statusCode, 200)
      t.equal(requests.filter((url) => url === path).length, reads, `${header}: ${later}`)
    }
  }
})

t.test('an older document counts for a day while its server is out, or too many others are read', async (t) => {
  const { client, pages, origin } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const id = client('/client.json')
  const ask = async (of = id) => (await app.inject(authorizeUrl(of, pkce().challenge))).statusCode
  const at = clock(t)
  t.equal(await ask(), 200)
  for (
    const [status, later, expected] of [
      [500, 86_399_999, 200],
      [429, 86_399_999, 200],
      [599, 86_399_999, 200],
      [500, 86_400_000, 400]
    ] as const
  ) {
    pages.set('/client.json', (response) => response.writeHead(status).end())
    at(later)
    t.equal(await ask(), expected, `${status} after ${later}`)
  }
  for (const status of [300, 399, 400, 499]) {
    at(0)
    client('/client.json')
    t.equal(await ask(), 200)
    at(300_000)
    pages.set('/client.json', (response) => response.writeHead(status).end())
    t.equal(await ask(), 400, `${status} is no outage`)
  }
  client('/client.json')
  t.equal(await ask(), 200)
  at(900_000)
  const waiting: ServerResponse[] = []
  for (let i = 0; i < 3; i++) {
    pages.set(`/${i}.json`, (response) => {
      waiting.push(response)
    })
  }
  const others = Array.from({ length: 3 }, (_, i) => ask(`${origin}/${i}.json`))
  while (waiting.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(await ask(), 200)
  for (const response of waiting) response.writeHead(404).end()
  await Promise.all(others)
})

t.test('what is too large, or not wanted, is not read on', async (t) => {
  const { pages, origin } = await site(t)
  for (
    const [status, message] of [
      [200, 'it is larger than 99 bytes'],
      [404, 'its server returns the status 404']
    ] as const
  ) {
    const closed: string[] = []
    pages.set('/endless', (response) => {
      response.on('close', () => {
        closed.push('closed')
      }).writeHead(status, { 'content-type': 'application/json' }).write(' '.repeat(100))
    })
    await t.rejects(
      fetchJson(new URL(`${origin}/endless`), {
        timeout: 60_000,
        largest: 99,
        privateHosts: ['localhost'],
        loopback: false,
        ca: cert
      }),
      { message }
    )
    while (closed.length === 0) await sleep(20)
    t.strictSame(closed, ['closed'], message)
  }
})

t.test('what is read of a host, and how', async (t) => {
  const { pages, origin } = await site(t)
  const options = { timeout: 2000, largest: 20, privateHosts: ['localhost'], loopback: false, ca: [cert] }
  const json = { 'content-type': 'application/json' }
  for (
    const [what, status, headers, body, expected] of [
      ['as large as it may be', 200, json, 'x'.repeat(20), { text: 'x'.repeat(20), maxAge: undefined }],
      ['a byte more', 200, json, 'x'.repeat(21), 'it is larger than 20 bytes'],
      [
        'another type of JSON',
        200,
        { 'content-type': 'Application/vnd.x+json; charset=utf-8', 'cache-control': 'max-age=7' },
        '{}',
        { text: '{}', maxAge: 7 }
      ],
      ['a space behind the type', 200, { 'content-type': 'application/json ' }, '', { text: '', maxAge: undefined }],
      ['not compressed', 200, { ...json, 'content-encoding': 'identity' }, '{}', { text: '{}', maxAge: undefined }],
      [
        'JSON lines',
        200,
        { 'content-type': 'application/jsonl' },
        '{}',
        'its server does not send it as application/json'
      ],
      ['no type', 200, {}, '{}', 'its server does not send it as application/json'],
      ['compressed', 200, { ...json, 'content-encoding': 'br' }, '{}', 'its server sends it compressed'],
      ['not to be kept', 200, { ...json, 'cache-control': 'no-store' }, '{}', { text: '{}', maxAge: 0 }],
      ['a redirect', 300, json, '{}', 'its server redirects to another address'],
      ['the last redirect', 399, json, '{}', 'its server redirects to another address'],
      ['an error', 400, json, '{}', 'its server returns the status 400'],
      ['another good status', 201, json, '{}', 'its server returns the status 201']
    ] as const
  ) {
    const asked: object[] = []
    pages.set('/x', (response, { headers: { accept, 'user-agent': agent, connection } }) => {
      asked.push({ accept, agent, connection })
      response.writeHead(status, headers).end(body)
    })
    const read = fetchJson(new URL(`${origin}/x`), options)
    if (typeof expected === 'string') await t.rejects(read, { name: 'Error', message: expected }, what)
    else t.strictSame(await read, expected, what)
    t.strictSame(asked, [{ accept: 'application/json', agent: 'oauth-discovery-shim', connection: 'close' }])
  }
})

t.test('in an outage of its server a document counts for a day; what it takes back does not', async (t) => {
  const { client, pages, origin } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const id = client('/client.json')
  const ask = () => app.inject(authorizeUrl(id, pkce().challenge))
  t.equal((await ask()).statusCode, 200)

  const at = clock(t)
  const later = (minutes: number) => at(minutes * 60_000)
  later(6)
  pages.set('/client.json', (response) => response.writeHead(503).end())
  t.equal((await ask()).statusCode, 200, 'an error of the server')
  pages.set('/client.json', (response) => {
    response.destroy()
  })
  t.equal((await ask()).statusCode, 200, 'no answer')
  later(24 * 60 + 1)
  t.match((await ask()).body, /its server cannot be reached over https/, 'a day later')

  client('/client.json')
  t.equal((await ask()).statusCode, 200)
  later(24 * 60 + 10)
  pages.set('/client.json', (response) => response.writeHead(404).end())
  t.match((await ask()).body, /its server returns the status 404/)
  pages.set('/client.json', (response) => response.writeHead(503).end())
  t.match((await ask()).body, /its server returns the status 503/, `${origin} took it back`)
})

t.test('a client of the list whose id is the URL of its document signs in, and the document is not read', async (t) => {
  const { client, pages, requests } = await site(t)
  const id = client('/client.json')
  pages.set('/client.json', (response) => response.writeHead(403).end())
  const world = await brokerWorld(t, {
    ...trusting,
    broker: { ...trusting.broker, clients: [{ id, name: 'Agent', redirectUris: [loopback] }] }
  })
  t.equal((await token(world, { ...await grantOf(world, id) })).statusCode, 200)
  t.strictSame(requests, [])
})

t.test('somebody who allowed a client and cancels later is asked again; so is everybody on demand', async (t) => {
  const { client, origin } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const person = browser(app)
  const own = { 'sec-fetch-site': 'none' }
  const url = (path: string, more: Record<string, string> = {}) =>
    authorizeUrl(client(path), pkce().challenge, { redirect_uri: `${origin}/callback`, ...more })
  for (const path of ['/one.json', '/two.json']) {
    await allow(person, url(path), own)
    t.equal((await person.get(url(path), own)).statusCode, 303)
  }
  const page = await person.get(url('/one.json', { prompt: 'login consent' }), own)
  t.equal(page.statusCode, 200, 'OpenID Connect Core §3.1.2.1: prompt=consent')
  t.equal((await person.get(url('/one.json'), own)).statusCode, 303)
  await person.post('/oauth/authorize', { request: sealedIn(page.body), decision: 'deny' })
  t.equal((await person.get(url('/one.json'), own)).statusCode, 200)
  t.equal((await person.get(url('/two.json'), own)).statusCode, 303, 'the other one is not forgotten')
})

t.test('consent is remembered for clients with a document and an https callback that started here', async (t) => {
  const { client, origin } = await site(t)
  const world = await brokerWorld(t, trusting)
  const { app, idp } = world
  const id = client('/client.json')
  const own = { redirect_uri: `${origin}/callback` }
  const person = browser(app)
  const url = (change: Record<string, string> = own) => authorizeUrl(id, pkce().challenge, change)
  for (const site of ['cross-site', 'same-site']) await allow(person, url(), { 'sec-fetch-site': site })
  await allow(person, url())
  t.notOk(
    person.cookies.has('__Host-oauth-consent'),
    'a client that is a site is never remembered: a link in a mail could use that'
  )
  await allow(person, url(), { 'sec-fetch-site': 'none' })
  t.ok(person.cookies.has('__Host-oauth-consent'))

  const direct = await person.get(url(), { 'sec-fetch-site': 'none' })
  t.equal(direct.statusCode, 303)
  t.match(String(direct.headers.location), idp.issuer.replace('/pool', '/authorize'))
  t.equal((await person.get(url(), { 'sec-fetch-site': 'same-origin' })).statusCode, 303, 'a page of this server')
  t.equal(
    (await person.get(idp.signIn(String(direct.headers.location)).href)).statusCode,
    303,
    'and the sign-in goes on'
  )
  for (
    const [what, asked] of [
      ['a site sent the browser here', person.get(url(), { 'sec-fetch-site': 'cross-site' })],
      ['a neighbouring site did', person.get(url(), { 'sec-fetch-site': 'same-site' })],
      ['a browser that does not say', person.get(url())],
      ['another browser', browser(app).get(url(), { 'sec-fetch-site': 'none' })],
      ['other scopes', person.get(url({ ...own, scope: 'openid' }), { 'sec-fetch-site': 'none' })],
      ['a callback on this computer', person.get(url({}), { 'sec-fetch-site': 'none' })],
      [
        'another client',
        person.get(authorizeUrl(client('/two.json'), pkce().challenge, own), { 'sec-fetch-site': 'none' })
      ]
    ] as const
  ) t.equal((await asked).statusCode, 200, what)

  const forgetful = await brokerWorld(t, { ...trusting, broker: { ...trusting.broker, rememberConsent: 0 } })
  const other = browser(forgetful.app)
  await allow(other, url(), { 'sec-fetch-site': 'none' })
  t.notOk(other.cookies.has('__Host-oauth-consent'))
  t.equal((await other.get(url(), { 'sec-fetch-site': 'none' })).statusCode, 200)

  for (let i = 0; i < 25; i++) {
    const { body } = await person.get(authorizeUrl(client(`/${i}.json`), pkce().challenge, own), {
      'sec-fetch-site': 'none'
    })
    await person.post('/oauth/authorize', { request: sealedIn(body), decision: 'allow' })
  }
  t.ok(person.cookies.get('__Host-oauth-consent')!.length < 2000, 'the cookie does not grow without end')
})

t.test("the page says when a sign-in leads to another site than the client's", async (t) => {
  const { client } = await site(t)
  const { app } = await brokerWorld(t, trusting)
  const id = client('/client.json', { redirect_uris: ['https://elsewhere.example.com/cb'] })
  const { body } = await app.inject(
    authorizeUrl(id, pkce().challenge, { redirect_uri: 'https://elsewhere.example.com/cb' })
  )
  t.match(
    body,
    new RegExp(
      `The app is described by ${new URL(id).host}, but your sign-in goes to elsewhere\\.example\\.com, which ` +
        'is another site'
    )
  )
})

t.test('a client with a key (private_key_jwt) has to prove it', async (t) => {
  const { client, pages, origin } = await site(t)
  const world = await brokerWorld(t, { ...trusting, broker: { ...trusting.broker, refreshGrace: 3_600_000 } })
  const { privateKey, publicKey } = rsaKeyPair()
  const stranger = rsaKeyPair()
  pages.set('/keys.json', (response) => {
    exportJWK(publicKey).then(
      (jwk) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({ keys: [{ ...jwk, kid: '1', alg: 'RS256' }] })
        ),
      () => {}
    )
  })
  const id = client('/client.json', { token_endpoint_auth_method: 'private_key_jwt', jwks_uri: `${origin}/keys.json` })
  const assertion = (claims: object = {}, signer = privateKey) =>
    new SignJWT({
      iss: id,
      sub: id,
      aud: `${base}/oauth/token`,
      jti: Math.random().toString(36),
      exp: Math.floor(Date.now() / 1000) + 60,
      ...claims
    })
      .setProtectedHeader({ alg: 'RS256', kid: '1' }).sign(signer)
  const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const { verifier, challenge } = pkce()
  const landed = await signIn(world, authorizeUrl(id, challenge))
  const grant = {
    grant_type: 'authorization_code',
    code: landed.searchParams.get('code')!,
    code_verifier: verifier,
    redirect_uri: loopback
  }

  for (
    const [what, form] of [
      ['nothing', { client_id: id }],
      ['another key', { client_assertion: await assertion({}, stranger.privateKey) }],
      ['another issuer', { client_id: id, client_assertion: await assertion({ iss: 'x' }) }],
      ['another audience', { client_assertion: await assertion({ aud: 'https://other.example.com' }) }],
      ["the issuer of the root, which is the provider's", { client_assertion: await assertion({ aud: base }) }],
      ['expired', { client_assertion: await assertion({ exp: Math.floor(Date.now() / 1000) - 60 }) }],
      ['expired half a minute ago', { client_assertion: await assertion({ exp: Math.floor(Date.now() / 1000) - 30 }) }],
      ['for more than an hour', { client_assertion: await assertion({ exp: Math.floor(Date.now() / 1000) + 3602 }) }],
      ['another subject', { client_id: id, client_assertion: await assertion({ sub: 'x' }) }],
      ['a number as jti', { client_assertion: await assertion({ jti: 1 }) }],
      ['no exp', { client_assertion: await assertion({ exp: undefined }) }],
      ['for a year', { client_assertion: await assertion({ exp: Math.floor(Date.now() / 1000) + 31_536_000 }) }],
      ['no jti', { client_assertion: await assertion({ jti: undefined }) }],
      ['no JWT', { client_id: id, client_assertion: 'x' }],
      ['alg none', {
        client_id: id,
        client_assertion: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${
          Buffer.from(JSON.stringify({ iss: id, sub: id, aud: `${base}/oauth/token`, jti: 'x', exp: 9999999999 }))
            .toString('base64url')
        }.`
      }]
    ] as const
  ) {
    const response = await token(world, {
      ...grant,
      client_assertion_type: 'client_assertion' in form ? type : undefined,
      ...form
    })
    t.strictSame([response.statusCode, response.json().error], [401, 'invalid_client'], what)
  }
  t.match(
    (await token(world, { ...grant, client_id: id, client_assertion: await assertion(), client_assertion_type: 'x' }))
      .json(),
    { error: 'invalid_client' }
  )
  for (
    const form of [
      {},
      { client_assertion: 'x', client_assertion_type: type },
      { client_assertion: await assertion({ sub: undefined }), client_assertion_type: type }
    ]
  ) {
    t.match((await token(world, { ...grant, ...form })).json(), {
      error: 'invalid_request',
      error_description: 'The parameter client_id is missing'
    })
  }

  const once = await assertion()
  const exchanged = await token(world, { ...grant, client_assertion: once, client_assertion_type: type })
  t.equal(exchanged.statusCode, 200, exchanged.body)
  const refresh = { grant_type: 'refresh_token', refresh_token: exchanged.json().refresh_token }
  t.match((await token(world, { ...refresh, client_assertion: once, client_assertion_type: type })).json(), {
    error: 'invalid_client'
  }, 'an assertion works once (RFC 7523 §3)')
  t.match(
    (await token(world, { ...refresh, client_id: id })).json(),
    { error: 'invalid_client' },
    'a stolen refresh token is worth nothing'
  )
  const now = Date.now
  t.teardown(() => {
    Date.now = now
  })
  const second = Math.floor(now() / 1000)
  Date.now = () => second * 1000
  for (
    const claims of [{ aud: `${base}/oauth` }, { aud: `${base}/oauth/revoke` }, {
      exp: Math.floor(Date.now() / 1000) - 20
    }, { exp: Math.floor(Date.now() / 1000) + 3600 }]
  ) {
    t.equal(
      (await token(world, { ...refresh, client_assertion: await assertion(claims), client_assertion_type: type }))
        .statusCode,
      200,
      JSON.stringify(claims)
    )
  }

  Date.now = now

  // As long as another replica, whose clock is behind, lets it pass.
  const late = await assertion()
  const used = async () =>
    (await token(world, { ...refresh, client_assertion: late, client_assertion_type: type })).statusCode
  t.equal(await used(), 200)
  Date.now = () => now() + 110_000
  t.equal(await used(), 401, 'it is remembered until nobody accepts it')
  Date.now = () => now() + 122_000
  t.equal(await used(), 200, 'and no longer')
  Date.now = now

  // Other keys, from a document that was read again.
  pages.set('/keys.json', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{'))
  t.equal(
    (await token(world, { ...refresh, client_assertion: await assertion(), client_assertion_type: type })).statusCode,
    200,
    'the keys are kept'
  )
  Date.now = () => now() + 600_000
  t.match(
    (await token(world, { ...refresh, client_assertion: await assertion(), client_assertion_type: type })).json(),
    { error: 'invalid_client', error_description: 'The metadata document of this app cannot be used: it is not JSON' }
  )
})

t.test('a client with a key exchanges assertions of organizations that have no entry, and only with it', async (t) => {
  const { client } = await site(t)
  const acme = await corporate(t, `${base}/oauth`, `${base}/mcp`)
  const assertions = { issuers: [{ issuer: acme.issuer }], keys: [{ id: 'a', secret: 'x'.repeat(32) }] }
  const { app } = await brokerWorld(t, { ...trusting, broker: { ...trusting.broker, assertions } })
  const { privateKey, publicKey } = rsaKeyPair()
  const id = client('/client.json', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [await exportJWK(publicKey)] }
  })
  const open = client('/open.json')
  const proof = async (who = id, signer = privateKey) => ({
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT({
      iss: who,
      sub: who,
      aud: `${base}/oauth`,
      jti: Math.random().toString(36),
      exp: Math.floor(Date.now() / 1000) + 60
    }).setProtectedHeader({ alg: 'RS256' }).sign(signer)
  })
  for (
    const [what, who, form, status, expected] of [
      ['its key', id, await proof(), 200, { token_type: 'Bearer' }],
      ['no key', id, { client_id: id }, 401, { error: 'invalid_client' }],
      ['another key', id, await proof(id, rsaKeyPair().privateKey), 401, { error: 'invalid_client' }],
      ['the key of a client without one', open, await proof(open), 401, { error: 'invalid_client' }],
      ['the assertion of another client', open, await proof(), 400, { error: 'invalid_grant' }]
    ] as const
  ) {
    const response = await token({ app }, {
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: acme.assertion({ client_id: who }),
      ...form
    })
    t.match([response.statusCode, response.json()], [status, expected], what)
  }
})

t.test('a client with its keys in its document, or with many', async (t) => {
  const { client, pages, origin } = await site(t)
  const world = await brokerWorld(t, trusting)
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const keys = { keys: [await exportJWK(publicKey)] }
  const padded = (length: number) =>
    JSON.stringify({ ...keys, padding: 'x'.repeat(length - JSON.stringify({ ...keys, padding: '' }).length) })
  for (const [length, path] of [[32 * 1024, '/fits.json'], [32 * 1024 + 1, '/long.json']] as const) {
    pages.set(path, (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(padded(length)))
  }
  const invalid = { error: 'invalid_client' }
  const tooLong = {
    ...invalid,
    error_description: 'The metadata document of this app cannot be used: it is larger than 32768 bytes'
  }
  for (
    const [path, members, expected] of [['/own', { jwks: keys }, undefined], ['/no', { jwks: { keys: [] } }, invalid], [
      '/fits',
      { jwks_uri: `${origin}/fits.json` },
      undefined
    ], ['/long', { jwks_uri: `${origin}/long.json` }, tooLong]] as const
  ) {
    const id = client(path, { token_endpoint_auth_method: 'private_key_jwt', ...members })
    const assertion = await new SignJWT({
      iss: id,
      sub: id,
      aud: `${base}/oauth`,
      jti: path,
      exp: Math.floor(Date.now() / 1000) + 60
    }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
    const { client_id: _id, ...grant } = await grantOf(world, id)
    const response = await token(world, {
      ...grant,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    })
    if (expected) t.match(response.json(), expected, path)
    else t.equal(response.statusCode, 200, response.body)
  }
})

t.test('a client whose document no longer has keys, or whose store is away, proves nothing', async (t) => {
  const { client } = await site(t)
  let isAway = false
  const inner = memoryBrokerStore()
  const store: BrokerStore = {
    raise: async (...args) => isAway ? Promise.reject(new Error('away')) : await inner.raise(...args)
  }
  const world = await brokerWorld(t, { ...trusting, broker: { ...trusting.broker, store } })
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const id = client('/client.json', {
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [await exportJWK(publicKey)] }
  })
  const { client_id: _id, ...grant } = await grantOf(world, id)
  const ask = async (jti: string, replica = world) => {
    const assertion = await new SignJWT({
      iss: id,
      sub: id,
      aud: `${base}/oauth`,
      jti,
      exp: Math.floor(Date.now() / 1000) + 60
    }).setProtectedHeader({ alg: 'ES256' }).sign(privateKey)
    return await token(replica, {
      ...grant,
      client_assertion: assertion,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    })
  }
  isAway = true
  t.match((await ask('1')).json(), { statusCode: 503, error: 'temporarily_unavailable' })
  isAway = false
  client('/client.json')
  // A replica that has not read the document yet.
  const other = await brokerWorld(t, { ...trusting, idp: world.idp, broker: { ...trusting.broker, store } })
  t.match((await ask('2', other)).json(), { statusCode: 401, error: 'invalid_client' })
})

t.test("a client that can do without its key, as ChatGPT's document says, is public", async (t) => {
  const { client } = await site(t)
  const world = await brokerWorld(t, trusting)
  const id = client('/chatgpt.json', {
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
    jwks_uri: 'https://chatgpt.com/oauth/jwks.json'
  })
  const { verifier, challenge } = pkce()
  const landed = await signIn(world, authorizeUrl(id, challenge))
  t.equal(
    (await token(world, {
      grant_type: 'authorization_code',
      client_id: id,
      code: landed.searchParams.get('code')!,
      code_verifier: verifier
    })).statusCode,
    200
  )
})
