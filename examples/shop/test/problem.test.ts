import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openPostgres } from '../src/database/index.ts'
import { bearer, build, createShop, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

/**
 * Sends bytes as they are.
 *
 * @returns the status and the body of the answer, and whether the connection was closed behind it
 */
async function raw (bytes: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (data) => {
    answer += String(data)
  })
  socket.on('error', () => {}) // it may be closed while it is written to
  socket.write(bytes)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return {
    status: head.split('\r\n')[0],
    type: /content-type: (.*)/i.exec(head)?.[1],
    length: Number(/content-length: (\d+)/i.exec(head)?.[1]),
    body
  }
}

t.test('an error before there is a route has the shape of every other', async (t) => {
  const long = 'x'.repeat(101)
  for (
    const [url, problem] of [
      ['/%zz', {
        statusCode: 400,
        code: 'FST_ERR_BAD_URL',
        error: 'Bad Request',
        message: "'/%zz' is not a valid url component"
      }],
      [`/shops/${long}/tags`, {
        statusCode: 414,
        code: 'FST_ERR_MAX_PARAM_LENGTH',
        error: 'URI Too Long',
        message: String
      }]
    ] as const
  ) {
    const { statusCode, headers, body } = await app.inject({ url, headers: bearer('x') })
    const { message, ...rest } = JSON.parse(body)
    const { message: expected, ...others } = problem
    t.strictSame([statusCode, rest], [problem.statusCode, others], url)
    t.match(message, expected)
    t.match(headers['content-type'], /^application\/json/)
  }
})

t.test('what is no HTTP request gets the same shape, and the connection is closed', async (t) => {
  for (
    const [bytes, status, problem] of [
      ['nonsense\r\n\r\n', 'HTTP/1.1 400 Bad Request', {
        statusCode: 400,
        code: 'SHOP_MALFORMED_REQUEST',
        error: 'Bad Request',
        message: 'This is not an HTTP request'
      }],
      [
        `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`,
        'HTTP/1.1 431 Request Header Fields Too Large',
        {
          statusCode: 431,
          code: 'SHOP_HEADERS_TOO_LARGE',
          error: 'Request Header Fields Too Large',
          message: 'Request headers are too large'
        }
      ]
    ] as const
  ) {
    const answer = await raw(bytes)
    t.strictSame([answer.status, answer.type, JSON.parse(answer.body)], [
      status,
      'application/json; charset=utf-8',
      problem
    ])
    t.equal(answer.length, Buffer.byteLength(answer.body))
  }
})

t.test('trouble of the database goes to the log of the server, and nowhere else', async (t) => {
  const printed = t.capture(console, 'log', () => {})
  const lines: string[] = []
  const stream = new Writable({
    write (line, _encoding, done) {
      lines.push(String(line))
      done()
    }
  })
  const away = openPostgres('postgres://nobody@127.0.0.1:1/nowhere')
  t.teardown(async () => await away.close())
  const withoutDatabase = await build(t, away, idp, { logger: { level: 'warn', stream } })
  const { statusCode, body } = await withoutDatabase.inject({
    url: '/shops/00000000-0000-4000-8000-000000000000/tags',
    headers: bearer(await idp.machineToken())
  })
  t.equal(statusCode, 503)
  t.match(JSON.parse(body), { code: 'SHOP_DATABASE_UNAVAILABLE' })
  // Other pools of the process may print something of their own.
  t.strictSame(printed().map(({ args }) => args.join(' ')).filter((text) => text.includes('127.0.0.1:1')), [])
  // Others may be about the identity provider, whose idle connections may end while one is wanted.
  t.match(lines.map((line) => JSON.parse(line)).filter(({ needed }) => needed === 'database'), [{
    level: 50,
    msg: 'No connection to the database',
    reason: /^ECONNREFUSED: connect ECONNREFUSED/,
    failures: 1
  }])
})

t.test('a client that goes away in the middle of its body is no fault of server or database', async (t) => {
  const lines: Array<{ level: number, msg: string, status?: number }> = []
  const stream = new Writable({
    write (line, _encoding, done) {
      lines.push(JSON.parse(line))
      done()
    }
  })
  let reading = false
  // The last that comes before the body is read.
  const preParsing = async (): Promise<void> => {
    reading = true
  }
  const logged = await build(t, database, idp, {
    logger: { level: 'info', stream },
    onRoute: (route) => {
      route.preParsing = [...[route.preParsing ?? []].flat(), preParsing]
    }
  })
  await logged.listen({ host: '127.0.0.1', port: 0 })
  const { port } = logged.server.address() as AddressInfo
  const until = async (what: string, done: () => boolean): Promise<void> => {
    for (let tries = 0; tries < 1000 && !done(); tries++) await sleep(20)
    t.ok(done(), what)
  }
  for (const path of [`/shops/${await createShop(database, 'left')}/tags`, '/mcp']) {
    reading = false
    lines.length = 0
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${await idp.machineToken()}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name":'
    )
    await until(`${path} reads`, () => reading)
    socket.destroy()
    await until('the end is logged', () => lines.some(({ msg, status }) => msg === 'request' && status === 499))
    t.strictSame(lines.filter(({ level }) => level > 30), [], 'as no warning or error')
  }
})
