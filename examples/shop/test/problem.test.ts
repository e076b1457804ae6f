import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { Writable } from 'node:stream'
import t from 'tap'
import { openPostgres } from '../src/database/index.ts'
import { bearer, build, openIdentityProvider, openTestDatabase } from './build.ts'

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const app = await build(t, database, idp)
await app.listen({ host: '127.0.0.1', port: 0 })
const { port } = app.server.address() as AddressInfo

/** Sends bytes as they are. @returns the status and the body of the answer, and whether the connection was closed behind it */
async function raw (bytes: string) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8')
  let answer = ''
  socket.on('data', (data) => { answer += String(data) })
  socket.on('error', () => {}) // it may be closed while it is written to
  socket.write(bytes)
  await once(socket, 'close')
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  return { status: head.split('\r\n')[0], type: /content-type: (.*)/i.exec(head)?.[1], length: Number(/content-length: (\d+)/i.exec(head)?.[1]), body }
}

t.test('an error before there is a route has the shape of every other', async (t) => {
  const long = 'x'.repeat(101)
  for (const [url, problem] of [
    ['/%zz', { statusCode: 400, code: 'FST_ERR_BAD_URL', error: 'Bad Request', message: "'/%zz' is not a valid url component" }],
    [`/shops/${long}/tags`, { statusCode: 414, code: 'FST_ERR_MAX_PARAM_LENGTH', error: 'URI Too Long', message: String }]
  ] as const) {
    const { statusCode, headers, body } = await app.inject({ url, headers: bearer('x') })
    const { message, ...rest } = JSON.parse(body)
    const { message: expected, ...others } = problem
    t.strictSame([statusCode, rest], [problem.statusCode, others], url)
    t.match(message, expected)
    t.match(headers['content-type'], /^application\/json/)
  }
})

t.test('what is no HTTP request gets the same shape, and the connection is closed', async (t) => {
  for (const [bytes, status, problem] of [
    ['nonsense\r\n\r\n', 'HTTP/1.1 400 Bad Request', { statusCode: 400, code: 'SHOP_MALFORMED_REQUEST', error: 'Bad Request', message: 'This is no HTTP request' }],
    [`GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 'HTTP/1.1 431 Request Header Fields Too Large',
      { statusCode: 431, code: 'SHOP_HEADERS_TOO_LARGE', error: 'Request Header Fields Too Large', message: 'The headers of the request are too large' }]
  ] as const) {
    const answer = await raw(bytes)
    t.strictSame([answer.status, answer.type, JSON.parse(answer.body)], [status, 'application/json; charset=utf-8', problem])
    t.equal(answer.length, Buffer.byteLength(answer.body))
  }
})

t.test('trouble of the database goes to the log of the server, and nowhere else', async (t) => {
  const printed = t.capture(console, 'log', () => {})
  const lines: string[] = []
  const stream = new Writable({ write (line, _encoding, done) { lines.push(String(line)); done() } })
  const away = openPostgres('postgres://nobody@127.0.0.1:1/nowhere')
  t.teardown(async () => await away.close())
  const withoutDatabase = await build(t, away, idp, { logger: { level: 'warn', stream } })
  const { statusCode, body } = await withoutDatabase.inject({ url: '/shops/00000000-0000-4000-8000-000000000000/tags', headers: bearer(await idp.machineToken()) })
  t.equal(statusCode, 503)
  t.match(JSON.parse(body), { code: 'SHOP_DATABASE_UNAVAILABLE' })
  t.strictSame(printed(), [])
  t.match(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 40), [{ msg: /^Acquire connection error: .*ECONNREFUSED/ }])
})
