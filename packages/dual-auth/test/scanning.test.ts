import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createHash } from 'node:crypto'
import {
  createApiKey,
  keyPattern,
  memoryStore,
  type ApiKeyStore,
  type ApiKeyOptions,
  type KeyChange,
  type KeyEvent,
  type OnKeyChange,
  type OnKeyEvent
} from '../src/index.ts'
import type { ScanningOptions } from '../src/scanning/index.ts'
import { mintKey } from '../src/keys/format.ts'
import { build, PEPPER, products, OWNER } from './build.ts'
import { startIssuer } from './issuer.ts'
import { startScanner, scannerKey, type Scanner } from './scanner.ts'

const issuer = await startIssuer()
t.teardown(() => issuer.stop())

interface Given {
  readonly scanning?: ScanningOptions
  readonly store?: ApiKeyStore
  readonly apiKeys?: Partial<ApiKeyOptions>
  readonly onKeyEvent?: OnKeyEvent
  readonly onKeyChange?: OnKeyChange
}

async function world (
  t: Test,
  { scanning, store = memoryStore(), apiKeys = {}, onKeyEvent = () => {}, onKeyChange }: Given = {}
) {
  const scanner = await startScanner(t)
  const lines: string[] = []
  const changes: KeyChange[] = []
  const told: OnKeyChange = onKeyChange ?? ((change) => {
    changes.push(change)
  })
  const host = await build(t, {
    issuer,
    store,
    apiKeys,
    auth: {
      onKeyEvent,
      scanning: { keysUrl: scanner.keysUrl, onKeyChange: told, ...scanning },
      management: { canManage: () => true, onKeyChange: told }
    },
    server: {
      logger: {
        level: 'trace',
        stream: {
          write: (line: string) => {
            lines.push(line)
          }
        }
      }
    }
  })
  const post = async (body: string, headers: Record<string, string> = scanner.headers(body)) => {
    const response = await host.app.inject({ method: 'POST', url: '/secret-scanning', headers, payload: body })
    return { status: response.statusCode, headers: response.headers, body: response.json() }
  }
  const report = async (...matches: ReadonlyArray<Record<string, unknown>>) => post(JSON.stringify(matches))
  const status = async (key: string) =>
    (await host.app.inject({ url: products(), headers: { 'x-api-key': key } })).statusCode
  return { ...host, scanner, lines, changes, post, report, status }
}

const hash = (text: string) => createHash('sha256').update(text).digest('hex')
const feedback = (token: string, label: string) => ({ token_hash: hash(token), token_type: 'shop_api_key', label })
const match = (token: string, more: object = {}) => ({
  token,
  type: 'shop_api_key',
  url: 'https://github.com/octocat/hello/blob/1/a.txt',
  source: 'content',
  ...more
})
const refusal = (statusCode: number, code: string, error: string, message: string) => ({
  statusCode,
  code,
  error,
  message
})
const REFUSED = refusal(403, 'DUAL_AUTH_REPORT_REFUSED', 'Forbidden', 'The report has no valid signature')
const UNAVAILABLE = refusal(
  503,
  'DUAL_AUTH_SCANNER_UNAVAILABLE',
  'Service Unavailable',
  'Reports cannot be verified at the moment'
)

t.test('a reported key is revoked at once, and the audit hook learns which and where', async (t) => {
  const { mint, report, status, changes, lines } = await world(t)
  const { id, plaintext } = await mint()
  const other = await mint()
  t.equal(await status(plaintext), 200)
  const { status: code, body } = await report(match(plaintext))
  t.equal(code, 200)
  t.strictSame(body, [feedback(plaintext, 'true_positive')])
  t.strictSame([await status(plaintext), await status(other.plaintext)], [401, 200])
  t.match(changes.at(-1), {
    action: 'revoke',
    key: { id, ownerId: OWNER, revokedAt: Date },
    leak: { url: 'https://github.com/octocat/hello/blob/1/a.txt', source: 'content' }
  })
  t.match(
    lines.join(''),
    `"keyId":"${id}","url":"https://github.com/octocat/hello/blob/1/a.txt","source":"content","msg":"an API key ` +
      'was found in public, and was revoked"'
  )
  t.notMatch(lines.join(''), plaintext, 'no line of the log has the key')
})

t.test('a report may come again, and may name a key twice', async (t) => {
  const store = memoryStore()
  const calls: string[] = []
  const { mint, report, changes } = await world(t, {
    store: {
      ...store,
      find: async (fingerprints) => {
        calls.push('find')
        return store.find(fingerprints)
      },
      revoke: async (...args) => {
        calls.push('revoke')
        return store.revoke(...args)
      }
    }
  })
  const { plaintext } = await mint()
  const twice = [feedback(plaintext, 'true_positive'), feedback(plaintext, 'true_positive')]
  for (let time = 0; time < 2; time++) {
    t.strictSame((await report(match(plaintext), match(plaintext, { source: 'commit' }))).body, twice)
  }
  t.equal(changes.filter(({ action }) => action === 'revoke').length, 1)
  t.strictSame(
    calls,
    ['find', 'revoke', 'find'],
    'each report looks a key up once, and only the first has to revoke it'
  )
})

t.test('the database says who revoked the key', async (t) => {
  const store = memoryStore()
  const calls: unknown[] = []
  const { mint, report } = await world(t, {
    store: {
      ...store,
      revoke: async (...args) => {
        calls.push(args.slice(0, 3))
        return store.revoke(...args)
      }
    }
  })
  const { id, plaintext } = await mint()
  await report(match(plaintext))
  t.strictSame(calls, [[OWNER, id, 'github-secret-scanning']])
})

t.test('look-alikes are false positives, and only those with a checksum reach the store', async (t) => {
  const store = memoryStore()
  let finds = 0
  const { report } = await world(t, {
    store: {
      ...store,
      find: async (fingerprints) => {
        finds++
        return store.find(fingerprints)
      }
    }
  })
  const { plaintext: unknown } = mintKey('shop_test')
  const tokens = [
    unknown,
    unknown.replace(/.$/, (last) => last === 'a' ? 'b' : 'a'),
    'NMIfyYncKcRALEXAMPLE',
    '',
    `shop_test_${'a'.repeat(12)}_${'b'.repeat(49)}`
  ]
  t.strictSame(
    (await report(...tokens.map((token) => match(token)))).body,
    tokens.map((token) => feedback(token, 'false_positive'))
  )
  t.equal(finds, 1)
  t.strictSame((await report()).body, [])
})

const leaks: Array<[title: string, given: object, leak: object]> = [
  ['without an address and a source', { url: undefined, source: undefined }, { url: null, source: null }],
  ['with an empty address', { url: '', source: '' }, { url: null, source: null }],
  ['with an address of a script', { url: 'javascript:alert(1)' }, { url: null, source: 'content' }],
  ['with an address that is an object', { url: {}, source: 7 }, { url: null, source: null }],
  ['with credentials in its address', { url: 'https://ada:pw@github.com/a' }, {
    url: 'https://github.com/a',
    source: 'content'
  }],
  ['with control characters', { url: 'https://github.com/a\u001b[2J\nb', source: 'a\nb' }, {
    url: 'https://github.com/a%1B[2Jb',
    source: null
  }],
  ['with a long address', { url: `https://github.com/${'a'.repeat(2000)}` }, {
    url: `https://github.com/${'a'.repeat(980)}…`,
    source: 'content'
  }],
  ['in capitals', { source: 'Issue_comment' }, {
    url: 'https://github.com/octocat/hello/blob/1/a.txt',
    source: 'issue_comment'
  }]
]
for (const [title, given, leak] of leaks) {
  t.test(`a report ${title} tells the audit hook what can be shown`, async (t) => {
    const { mint, report, changes } = await world(t)
    const { plaintext } = await mint()
    t.equal((await report(match(plaintext, given))).status, 200)
    t.strictSame(changes.at(-1)?.leak, leak)
  })
}

t.test('an address that contains the key is shown without it', async (t) => {
  const { mint, report, changes, lines } = await world(t)
  const { plaintext } = await mint()
  for (
    const spelling of [
      plaintext,
      plaintext.replace('owner', '%73ho%70'),
      plaintext.replaceAll('_', '%5f'),
      plaintext.replace(/[0-9A-Za-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)
    ]
  ) {
    const { plaintext: other } = await mint()
    await report(match(other, { url: `https://github.com/a/${spelling}.txt` }))
    t.equal(changes.at(-1)?.leak?.url, 'https://github.com/a/shop_test_….txt')
  }
  await report(match(plaintext, { url: `https://github.com/a/${plaintext}.txt` }))
  t.strictSame(changes.at(-1)?.leak?.url, 'https://github.com/a/shop_test_%E2%80%A6.txt'.replace('%E2%80%A6', '…'))
  t.notMatch(lines.join(''), plaintext)
})

const body = JSON.stringify([match('x')])
const refused: Array<[title: string, headers: (scanner: Scanner) => Record<string, string>]> = [
  ['without headers', () => ({})],
  ['without a key', (scanner) => {
    const { 'github-public-key-identifier': _, ...rest } = scanner.headers(body)
    return rest
  }],
  ['without a signature', (scanner) => {
    const { 'github-public-key-signature': _, ...rest } = scanner.headers(body)
    return rest
  }],
  ['with a signature of another body', (scanner) => scanner.headers(`${body} `)],
  [
    'with a signature of another key',
    () => ({
      'github-public-key-identifier': 'key-1',
      'github-public-key-signature':
        'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc='
    })
  ],
  [
    'with a signature that is no DER',
    () => ({ 'github-public-key-identifier': 'key-1', 'github-public-key-signature': 'AAAAAAAAAAAA' })
  ],
  [
    'with a signature that is no base64',
    () => ({ 'github-public-key-identifier': 'key-1', 'github-public-key-signature': '…'.repeat(20) })
  ],
  ['with a key that is not published', (scanner) => scanner.headers(body, 'key-2')],
  ['with the name of a property of objects', (scanner) => scanner.headers(body, '__proto__')],
  ['with a long name of a key', (scanner) => scanner.headers(body, 'k'.repeat(129))]
]
for (const [title, headers] of refused) {
  t.test(`a report ${title} is 403, and its reason is only in the log`, async (t) => {
    const { post, scanner, lines } = await world(t)
    const response = await post(body, { 'content-type': 'application/json', ...headers(scanner) })
    t.strictSame([response.status, response.body], [403, REFUSED])
    t.match(lines.join(''), /"reason":"[a-z ]+","msg":"report of leaked keys refused"/)
  })
}

t.test('a good report with a changed byte is refused', async (t) => {
  const { post, scanner, mint, status } = await world(t)
  const { plaintext } = await mint()
  const signed = JSON.stringify([match(plaintext)])
  t.strictSame((await post(signed.replace('content', 'contenu'), scanner.headers(signed))).body, REFUSED)
  t.equal(await status(plaintext), 200)
})

for (const text of ['', '{}', 'null', '[', '[1]', '[null]', '[{"type":"x"}]', '[{"token":1}]']) {
  t.test(`the signed report ${JSON.stringify(text)} is 400`, async (t) => {
    const { post } = await world(t)
    t.strictSame(await post(text).then(({ status, body }) => [status, body]), [
      400,
      refusal(400, 'DUAL_AUTH_REPORT_INVALID', 'Bad Request', 'The report must be a JSON array of objects with a token')
    ])
  })
}

t.test('too many tokens and too large a body are 413, and revoke nothing', async (t) => {
  const { report, post, mint, status } = await world(t, { scanning: { maxTokens: 2 } })
  const { plaintext } = await mint()
  t.strictSame(
    (await report(match('a'), match('b'), match(plaintext))).body,
    refusal(413, 'DUAL_AUTH_REPORT_TOO_LONG', 'Payload Too Large', 'The report has more than 2 tokens')
  )
  t.equal((await report(match('a'), match('b'))).status, 200)
  t.match(await post(`[${' '.repeat(1024 * 1024)}]`), { status: 413, body: { code: 'FST_ERR_CTP_BODY_TOO_LARGE' } })
  t.equal(await status(plaintext), 200)
})

t.test('without management routes a reported key is revoked, too', async (t) => {
  const scanner = await startScanner(t)
  const store = memoryStore()
  const { app } = await build(t, {
    issuer,
    store,
    auth: { scanning: { keysUrl: scanner.keysUrl }, management: undefined as never }
  })
  const { plaintext } = await createApiKey({ marker: 'shop_test', peppers: [PEPPER], store, logN: 1 }, {
    ownerId: OWNER,
    name: 'Printer',
    scopes: 'all',
    createdBy: 'command'
  })
  const report = JSON.stringify([match(plaintext)])
  const { statusCode, json } = await app.inject({
    method: 'POST',
    url: '/secret-scanning',
    headers: scanner.headers(report),
    payload: report
  })
  t.strictSame([statusCode, json()], [200, [feedback(plaintext, 'true_positive')]])
  t.equal((await app.inject({ url: products(), headers: { 'x-api-key': plaintext } })).statusCode, 401)
})

t.test('the body of an unsigned report is not read', async (t) => {
  const { post } = await world(t)
  t.match(await post(' '.repeat(2 * 1024 * 1024), {}), { status: 403 })
})

t.test('the published keys are read once, then for an unknown key; one that may be newer is 503', async (t) => {
  const { report, post, scanner } = await world(t, { scanning: { keysCooldown: 60_000 } })
  t.equal(scanner.reads, 0, 'none at startup')
  await Promise.all([report(), report(), report()])
  t.equal(scanner.reads, 1)
  for (let i = 0; i < 20; i++) t.equal((await post('[]', scanner.headers('[]', `forged-${i}`))).status, 503)
  t.equal(scanner.reads, 1)
})

t.test('an invented key id hides no true report: 503 until the keys may be read again, then good', async (t) => {
  const { mint, post, status, scanner } = await world(t, { scanning: { keysCooldown: 1000 } })
  const { plaintext } = await mint()
  t.equal((await post('[]', scanner.headers('[]', 'invented'))).status, 403, 'read for this one')
  const [published] = (scanner.document as { public_keys: object[] }).public_keys
  scanner.document = { public_keys: [{ ...published, key_identifier: 'key-2' }] }
  const body = JSON.stringify([match(plaintext)])
  const early = await post(body, scanner.headers(body, 'key-2'))
  t.strictSame([early.status, early.headers['retry-after'], early.body], [503, '5', UNAVAILABLE])
  while ((await post(body, scanner.headers(body, 'key-2'))).status === 503) await sleep(50)
  t.equal(await status(plaintext), 401)
  t.equal(scanner.reads, 2)
})

t.test('a new key of the scanner is found, one that is withdrawn is not', async (t) => {
  const { post, scanner } = await world(t, { scanning: { keysCooldown: 1 } })
  const status = async (id: string) => (await post('[]', scanner.headers('[]', id))).status
  t.equal(await status('key-1'), 200)
  const [published] = (scanner.document as { public_keys: object[] }).public_keys
  scanner.document = { public_keys: [scannerKey('key-3').published, { ...published, key_identifier: 'key-2' }] }
  t.equal(await status('key-2'), 200)
  t.equal(await status('key-1'), 403)
  t.equal(await status('key-3'), 403, 'signed by another')
})

const outages: Array<[title: string, fault: NonNullable<Scanner['fault']>]> = [
  ['a 500', (_request, response) => {
    response.writeHead(500).end()
  }],
  ['no JSON', (_request, response) => {
    response.end('<html>')
  }],
  ['no list', (_request, response) => {
    response.end('{"public_keys":{}}')
  }],
  ['no usable key', (_request, response) => {
    response.end(JSON.stringify({ public_keys: [null, { key_identifier: 'key-1', key: 'no PEM' }, { key: 1 }] }))
  }],
  ['a megabyte', (_request, response) => {
    response.end(' '.repeat(1024 * 1024))
  }],
  ['a redirect', (_request, response) => {
    response.writeHead(302, { location: '/keys' }).end()
  }],
  ['nothing', () => {}]
]
for (const [title, fault] of outages) {
  t.test(`while the keys answer with ${title}, a report is 503 and may come again`, async (t) => {
    const { mint, report, status, scanner } = await world(t, { scanning: { keysCooldown: 1, keysTimeout: 500 } })
    const { plaintext } = await mint()
    scanner.fault = fault
    const response = await report(match(plaintext))
    t.strictSame([response.status, response.headers['retry-after'], response.body], [503, '5', UNAVAILABLE])
    scanner.fault = null
    t.equal((await report(match(plaintext))).status, 200)
    t.equal(await status(plaintext), 401)
    scanner.fault = fault
    t.equal((await report(match(plaintext))).status, 200, 'known keys need no read')
  })
}

t.test('a key that cannot be revoked now keeps no other from it, and the report is 503', async (t) => {
  const store = memoryStore()
  let isBroken = true
  const first: { id?: string } = {}
  const { mint, report, status } = await world(t, {
    store: {
      ...store,
      revoke: async (...args) => {
        if (isBroken && args[1] === first.id) throw new Error('down')
        return store.revoke(...args)
      }
    }
  })
  const [one, two] = [await mint(), await mint()]
  first.id = one.id
  t.match(await report(match(one.plaintext), match(two.plaintext)), {
    status: 503,
    headers: { 'retry-after': '5' },
    body: { code: 'DUAL_AUTH_STORE_UNAVAILABLE' }
  })
  t.strictSame([await status(one.plaintext), await status(two.plaintext)], [200, 401])
  isBroken = false
  t.strictSame((await report(match(one.plaintext), match(two.plaintext))).body, [
    feedback(one.plaintext, 'true_positive'),
    feedback(two.plaintext, 'true_positive')
  ])
})

t.test('a key whose audit fails is not revoked', async (t) => {
  const { mint, report, status } = await world(t, {
    onKeyChange: ({ leak }) => {
      if (leak !== undefined) throw new Error('no audit')
    }
  })
  const { plaintext } = await mint()
  t.equal((await report(match(plaintext))).status, 503)
  t.equal(await status(plaintext), 200)
})

t.test('without the option there is no endpoint, and it may have another path', async (t) => {
  const { app } = await build(t, { issuer })
  t.equal((await app.inject({ method: 'POST', url: '/secret-scanning' })).statusCode, 404)
  const { app: moved } = await world(t, { scanning: { path: '/github/leaks' } })
  t.equal((await moved.inject({ method: 'POST', url: '/github/leaks' })).statusCode, 403)
})

t.test('GitHub signed this report with this key', async (t) => {
  // The sample of its documentation, whose key it published when it was written.
  const sample =
    '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]'
  const keyId = 'bcb53661c06b4728e59d897fb6165d5c9cda0fd9cdf9d09ead458168deb7518c'
  const key = '-----BEGIN PUBLIC KEY-----\n' +
    'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd\n' +
    'AjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==\n' +
    '-----END PUBLIC KEY-----\n'
  const { post, scanner } = await world(t)
  scanner.document = { public_keys: [{ key_identifier: keyId, key, is_current: true }] }
  const headers = {
    'content-type': 'application/json',
    'github-public-key-identifier': keyId,
    'github-public-key-signature':
      'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg=='
  }
  const { status, body } = await post(sample, headers)
  t.strictSame([status, body], [200, [{
    token_hash: hash('some_token'),
    token_type: 'some_type',
    label: 'false_positive'
  }]])
  t.equal((await post(sample.replace('some_token', 'same_token'), headers)).status, 403)
})

t.test('the pattern finds every key in a text, and no look-alike', (t) => {
  const pattern = new RegExp(`\\b${keyPattern('acme')}\\b`, 'g')
  const keys = Array.from({ length: 50 }, () => mintKey('acme').plaintext)
  const [key = ''] = keys
  for (
    const [before, after] of [
      ['', ''],
      ['KEY=', '\n'],
      ['"', '"'],
      ['https://api.test/?key=', '&x=1'],
      ['Bearer ', ','],
      ['`', '`.'],
      ['(', ')']
    ]
  ) {
    for (const key of keys) t.strictSame(`${before}${key}${after}`.match(pattern), [key])
  }
  for (
    const text of [
      key.slice(0, -1),
      `${key}x`,
      `x${key}`,
      `my_${key}`,
      key.replace('acme', 'acne'),
      key.toUpperCase(),
      key.replace(/.{20}$/, '.'.repeat(20)),
      key.replace('_', '-')
    ]
  ) {
    t.notMatch(text, pattern)
  }
  t.end()
})

t.test('a revocation that the store finishes after its deadline is logged and told too, once', async (t) => {
  const inner = memoryStore()
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const events: KeyEvent[] = []
  const store: ApiKeyStore = {
    ...inner,
    revoke: async (...args) => {
      const found = await inner.revoke(...args)
      await finished
      return found
    }
  }
  const { app, mint, report, lines } = await world(t, {
    store,
    apiKeys: { storeTimeout: 100 },
    onKeyEvent: (event) => {
      events.push(event)
    }
  })
  const { id, plaintext } = await mint()
  t.equal((await report(match(plaintext))).status, 503)
  t.notMatch(lines.join(''), 'was found in public')
  finish()
  t.strictSame((await report(match(plaintext))).body, [feedback(plaintext, 'true_positive')])
  await app.close()
  t.equal(lines.filter((line) => line.includes(`"keyId":"${id}"`) && line.includes('was found in public')).length, 1)
  t.match(events.filter(({ type }) => type === 'revoked'), [{ key: { id }, by: 'github-secret-scanning' }])
})
