import t from 'tap'
import { connect, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { crc32 } from 'node:zlib'
import { mintKey } from '../src/keys/format.ts'
import { memoryStore } from '../src/index.ts'
import { schemes } from '../../../test/spellings.ts'
import { at, bearer, build, countScrypt, products, REFUSED, MISSING, OWNER } from './build.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The text with the checksum a real key would have. */
function withChecksum (body: string): string {
  let rest = crc32(body)
  let digits = ''
  for (let i = 0; i < 6; i++) {
    digits = DIGITS.charAt(rest % 62) + digits
    rest = Math.floor(rest / 62)
  }
  return body + digits
}

t.test('every bad key is the same 401, through both headers, and none runs scrypt', async (t) => {
  const logged: string[] = []
  const { app, mint } = await build(t, {
    server: { logger: { level: 'info', stream: { write: (line: string) => logged.push(line) } } }
  })
  const a = await mint()
  const b = await mint()
  const [, , prefixA, restA] = a.plaintext.split('_') as [string, string, string, string]
  const restB = b.plaintext.split('_')[3] as string
  const bad: Record<string, string> = {
    'the marker alone': 'shop_test',
    'the marker and a line': 'shop_test_',
    'another marker': withChecksum(`shop_live_${prefixA}_${restA.slice(0, -6)}`),
    'the marker in capitals': a.plaintext.replace('shop_test', 'OWNER_TEST'),
    'no prefix': `shop_test_${restA}`,
    'a third segment': `${a.plaintext}_x`,
    'one more line': a.plaintext.replace('shop_test_', 'shop_test__'),
    'one character less': a.plaintext.slice(0, -1),
    'one character more': `${a.plaintext}0`,
    'half a key': a.plaintext.slice(0, 40),
    'a wrong checksum': a.plaintext.slice(0, -6) + '000000',
    'a good checksum on an unknown key': mintKey('shop_test').plaintext,
    'the prefix of one key and the rest of another': `shop_test_${prefixA}_${restB}`,
    'the same with a good checksum': withChecksum(`shop_test_${prefixA}_${restB.slice(0, -6)}`),
    'an encoded line': a.plaintext.replace('_', '%5F'),
    'base64 of a key': Buffer.from(a.plaintext).toString('base64'),
    'a like pattern': `shop_test_${'%'.repeat(12)}_${'_'.repeat(49)}`,
    'a pattern in the rest': `shop_test_${prefixA}_${'%'.repeat(49)}`,
    SQL: `shop_test_${prefixA}_' OR 1=1--`,
    'SQL in the prefix': `shop_test_' OR 1=1--_${restA}`,
    'two keys in one header': `${a.plaintext}, ${b.plaintext}`,
    'the same key twice in one header': `${a.plaintext}, ${a.plaintext}`,
    '8 KiB': `shop_test_${'a'.repeat(8192)}`,
    'the prefix': a.prefix,
    'the id': a.id,
    'a JWT-like': 'eyJhbGciOiJub25lIn0.e30.'
  }
  const scrypt = countScrypt()
  for (const [name, value] of Object.entries(bad)) {
    for (
      const [headers, challenge] of [
        [{ 'x-api-key': value }, 'Bearer'],
        [bearer(value), 'Bearer error="invalid_token"']
      ] as const
    ) {
      const response = await app.inject({ url: products(), headers })
      t.equal(response.statusCode, 401, name)
      t.strictSame(response.json(), REFUSED, name)
      t.equal(response.headers['www-authenticate'], challenge, name)
    }
  }
  scrypt.stop()
  t.equal(scrypt.runs, 0)
  const text = logged.join('')
  t.match(text, 'the API key is unknown')
  t.notMatch(text, restA)
  t.notMatch(text, restB)
})

t.test('a store that says undefined for a key that it does not have is understood', async (t) => {
  const { app } = await build(t, { store: { ...memoryStore(), find: async () => undefined as unknown as null } })
  const response = await app.inject({ url: products(), headers: { 'x-api-key': mintKey('shop_test').plaintext } })
  t.equal(response.statusCode, 401)
  t.strictSame(response.json(), REFUSED)
})

t.test('a key in the header of a real connection: odd bytes, sizes and repetitions', async (t) => {
  const { app, mint } = await build(t)
  const [{ plaintext }, { plaintext: other }] = [await mint(), await mint()]
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const status = async (...headers: string[]) => {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      [`GET ${products()} HTTP/1.1`, 'host: shop.test', 'connection: close', ...headers, '', ''].join('\r\n'),
      'latin1'
    )
    let answer = ''
    socket.setEncoding('latin1').on('data', (chunk) => {
      answer += chunk
    })
    await once(socket, 'close')
    return Number(answer.split(' ', 2)[1])
  }
  t.equal(await status(`x-api-key: ${plaintext}`), 200)
  t.equal(await status(`X-API-KEY: ${plaintext}`), 200)
  t.equal(await status(`authorization: bearer ${plaintext}`), 200)
  t.equal(await status(`authorization: BEARER ${plaintext}`), 200)
  t.equal(await status('x-api-key:'), 401)
  t.equal(await status(`x-api-key: ${plaintext}`, `x-api-key: ${plaintext}`), 401)
  t.equal(await status(`x-api-key: ${plaintext}`, 'x-api-key: other'), 401)
  t.equal(await status('x-api-key: other', `x-api-key: ${plaintext}`), 401)
  t.equal(await status('authorization: Bearer bad', `authorization: Bearer ${plaintext}`), 401)
  for (
    const headers of [
      ['x-api-key:', `x-api-key: ${plaintext}`],
      [`x-api-key: ${plaintext}`, 'x-api-key:'],
      [`x-api-key: ,${plaintext}`],
      [`x-api-key: ${plaintext},`],
      [`x-api-key: "${plaintext}"`],
      [`x-api-key: Bearer ${plaintext}`],
      ['x-api-key: bad', `authorization: Bearer ${plaintext}`],
      [`x-api-key: ${plaintext}`, `authorization: Bearer ${other}`],
      ['x-api-key: \u00a0', 'authorization: Bearer shop_test_bad'],
      ['x-api-key: \u00e2\u0080\u008b', `authorization: Bearer ${plaintext}`],
      [`x_api_key: ${plaintext}`],
      [`proxy-authorization: Bearer ${plaintext}`],
      ...[`Bearer  ${plaintext}`, `Bearer\t${plaintext}`, `Bearer${plaintext}`, `ApiKey ${plaintext}`, plaintext]
        .map((value) => [`authorization: ${value}`])
    ]
  ) t.equal(await status(...headers), 401, headers.join(' | ').replaceAll(plaintext, 'KEY').replaceAll(other, 'OTHER'))
  // Set, but to nothing: another header decides.
  for (const empty of ['', ' ', '\t', ',', ' , ', '\u00a0']) {
    t.equal(await status(`x-api-key: ${empty}`, `authorization: Bearer ${plaintext}`), 200, JSON.stringify(empty))
  }
  t.equal(await status(`x-api-key: bad\r\n ${plaintext}`), 400, 'a folded line')
  t.equal(await status(`x-api-key: ${plaintext.replace('s', '\u00df')}`), 401)
  t.equal(await status(`x-api-key: ${'a'.repeat(15_000)}`), 401)
  t.equal(await status(`x-api-key: ${'a'.repeat(20_000)}`), 431)
  t.equal(await status(`x-api-key: ${plaintext}\0`), 400)
})

t.test('a key anywhere but in the two headers is no credential', async (t) => {
  const { app, mint } = await build(t)
  const { plaintext } = await mint()
  const elsewhere = [
    { url: `${products()}?api_key=${plaintext}` },
    { url: `${products()}?access_token=${plaintext}` },
    { url: `${products()}?x-api-key=${plaintext}` },
    { url: products(), cookies: { 'x-api-key': plaintext } },
    { url: products(), method: 'POST' as const, payload: { api_key: plaintext } },
    {
      url: products(),
      headers: {
        'proxy-authorization': `Bearer ${plaintext}`,
        'x-internal-auth': 'true',
        'x-identity': '{"kind":"user"}'
      }
    }
  ]
  for (const request of elsewhere) {
    const response = await app.inject(request)
    t.equal(response.statusCode, 401)
    t.strictSame(response.json(), MISSING)
  }
})

t.test('schemes, spaces and contradictions', async (t) => {
  const { app, issuer, mint } = await build(t)
  const { plaintext } = await mint()
  const other = await mint()
  const token = issuer.user()
  const cases: Array<[Record<string, string>, number]> = [
    ...schemes.flatMap((scheme): Array<[Record<string, string>, number]> => [
      [{ authorization: `${scheme} ${plaintext}` }, 200],
      [{ authorization: `${scheme} ${token}` }, 200],
      [{ 'x-api-key': plaintext, authorization: `${scheme} ${token}` }, 200],
      [{ 'x-api-key': plaintext, authorization: `${scheme} ${other.plaintext}` }, 401],
      ...['', ' ', ` ${token} ${token}`, ` ${token.split('.').slice(0, 2).join('.')}`, ` ${token}.dd`, ` ${token}=`]
        .map((rest): [Record<string, string>, number] => [{ authorization: scheme + rest }, 401])
    ]),
    [{ authorization: '' }, 401],
    [{ 'x-api-key': plaintext, authorization: 'Basic YTpi' }, 200],
    [{ authorization: `Basic ${plaintext}` }, 401],
    [{ authorization: `Token ${plaintext}` }, 401],
    [{ authorization: plaintext }, 401],
    [{ authorization: `Bearer  ${plaintext}` }, 401],
    [{ authorization: `Bearer\t${plaintext}` }, 401],
    [{ authorization: `Bearer ${plaintext} ` }, 401],
    [{ authorization: `Bearer ${plaintext}, Bearer ${plaintext}` }, 401],
    [{ 'x-api-key': plaintext, ...bearer(plaintext) }, 200],
    [{ 'x-api-key': plaintext, ...bearer(other.plaintext) }, 401],
    [{ 'x-api-key': 'bad', ...bearer(plaintext) }, 401],
    [{ 'x-api-key': plaintext, ...bearer('shop_test_bad') }, 401],
    [{ 'x-api-key': '', ...bearer(issuer.user()) }, 200],
    [{ 'x-api-key': '   ', ...bearer(issuer.user()) }, 200],
    [{ 'x-api-key': 'bad', ...bearer(issuer.user()) }, 401],
    [{ 'x-api-key': plaintext, ...bearer(issuer.user()) }, 200],
    [{ 'x-api-key': plaintext, ...bearer('aa.bb.cc') }, 200]
  ]
  for (const [headers, status] of cases) {
    const response = await app.inject({ url: products(), headers })
    t.equal(
      response.statusCode,
      status,
      Object.entries(headers).map(([name, value]) => `${name} ${value.slice(0, 12)}`).join()
    )
    if (status === 401) t.strictSame(response.json(), REFUSED)
  }
})

t.test('a good key is 401 where keys are not taken, wherever it is put, and runs no scrypt', async (t) => {
  const { app, issuer, mint } = await build(t)
  const { id, plaintext } = await mint()
  const routes = [
    ['GET', '/orders'],
    ['HEAD', '/orders'],
    ['POST', `/owners/${OWNER}/api-keys/`],
    ['GET', `/owners/${OWNER}/api-keys/`],
    ['DELETE', `/owners/${OWNER}/api-keys/${id}`],
    ['POST', `/owners/${OWNER}/api-keys`],
    ['GET', `/owners/${OWNER}/api-keys`]
  ] as const
  const scrypt = countScrypt()
  for (const [method, url] of routes) {
    for (
      const [headers, body] of [
        [{ 'x-api-key': plaintext }, MISSING],
        [bearer(plaintext), REFUSED],
        [{ 'x-api-key': plaintext, ...bearer(plaintext) }, REFUSED],
        [{ 'x-api-key': plaintext, ...bearer('bad') }, REFUSED]
      ] as const
    ) {
      const response = await app.inject({
        method,
        url,
        headers,
        ...(method === 'POST' && { payload: { name: 'minted by a key' } })
      })
      t.equal(response.statusCode, 401, `${method} ${url}`)
      if (method !== 'HEAD') t.strictSame(response.json(), body)
    }
  }
  scrypt.stop()
  t.equal(scrypt.runs, 0)
  const keys = (await app.inject({ url: `/owners/${OWNER}/api-keys/`, headers: bearer(issuer.user()) })).json()
  t.equal(keys.length, 1)
  t.match(keys[0], { name: 'test', last_used_at: null, revoked_at: null })
})

t.test('spellings of a path never get round the check', async (t) => {
  const { app } = await build(t, {
    server: { routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, caseSensitive: false } }
  })
  for (
    const url of [
      '/mcp',
      '/mcp/',
      '//mcp',
      '/MCP',
      '/mcp?x',
      '/mcp;x',
      '/mcp/..;/',
      '/mcp%2f',
      '/%6dcp',
      '/./mcp',
      '/orders',
      '/orders/',
      '/ORDERS',
      '//orders',
      '/health/../orders',
      '/orders%2f..%2fhealth'
    ]
  ) {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT'] as const) {
      const { statusCode } = await app.inject({ method, url })
      t.ok(statusCode === 401 || statusCode === 404 || statusCode === 400, `${method} ${url} is ${statusCode}`)
    }
  }
  t.equal((await app.inject({ method: 'POST', url: '/%6dcp' })).statusCode, 401)
})

t.test('a revoked and an expired key get the 401 of an unknown one, without scrypt', async (t) => {
  const store = memoryStore()
  const { app, issuer, mint } = await build(t, { store })
  const revoked = await mint()
  await app.inject({ method: 'DELETE', url: `/owners/${OWNER}/api-keys/${revoked.id}`, headers: bearer(issuer.user()) })
  const expiry = Date.now() + 3_600_000
  const expired = await mint(OWNER, { name: 'short', expires_at: new Date(expiry).toISOString() })
  const scrypt = countScrypt()
  for (const { plaintext } of [revoked, expired, mintKey('shop_test')]) {
    const response = await at(expiry, () => app.inject({ url: products(), headers: bearer(plaintext) }))
    t.equal(response.statusCode, 401)
    t.strictSame(response.json(), REFUSED)
    t.equal(response.headers['www-authenticate'], 'Bearer error="invalid_token"')
  }
  t.equal(scrypt.runs, 0)
  t.equal(
    (await store.list(OWNER, { at: new Date(), filter: {}, sort: null, skip: 0, limit: 100 })).keys.every((
      { lastUsedAt }
    ) => lastUsedAt === null),
    true
  )
  t.equal(
    (await at(expiry - 1, () => app.inject({ url: products(), headers: bearer(expired.plaintext) }))).statusCode,
    200
  )
  scrypt.stop()
  t.equal(scrypt.runs, 1)
})

t.test('200 bad keys run no scrypt; a good one runs it until it was verified', async (t) => {
  const { app, mint } = await build(t)
  const { plaintext } = await mint()
  const scrypt = countScrypt()
  const bad = await Promise.all(
    Array.from({ length: 200 }, () => app.inject({ url: products(), headers: bearer(mintKey('shop_test').plaintext) }))
  )
  t.ok(bad.every(({ statusCode }) => statusCode === 401))
  t.equal(scrypt.runs, 0)
  const statuses = []
  for (let i = 0; i < 200; i++) {
    statuses.push((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode)
  }
  scrypt.stop()
  t.ok(statuses.every((status) => status === 200))
  t.equal(scrypt.runs, 1)
})

t.test('more keys than the queue holds are 503 with Retry-After, the others are served', async (t) => {
  const { app, mint } = await build(t, { apiKeys: { logN: 7, concurrency: 1, queueLength: 3 } })
  const { plaintext } = await mint()
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => app.inject({ url: products(), headers: bearer(plaintext) }))
  )
  const refused = responses.filter(({ statusCode }) => statusCode === 503)
  t.equal(responses.filter(({ statusCode }) => statusCode === 200).length, 4)
  t.equal(refused.length, 16)
  t.strictSame(refused[0]?.json(), {
    statusCode: 503,
    code: 'DUAL_AUTH_BUSY',
    error: 'Service Unavailable',
    message: 'Too many API keys are being verified'
  })
  t.equal(refused[0]?.headers['retry-after'], '5')
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
})

t.test('at the default cost no key waits for the thread pool', async (t) => {
  const { app, mint } = await build(t, { apiKeys: { logN: 5, concurrency: 1, queueLength: 0 } })
  const { plaintext } = await mint()
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => app.inject({ url: products(), headers: bearer(plaintext) }))
  )
  t.ok(responses.every(({ statusCode }) => statusCode === 200))
})
