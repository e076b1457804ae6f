import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { printable } from '../src/doctor/finding.ts'
import { createApiKey, memoryStore, type ApiKeyStore } from '../src/index.ts'
import { jsonFrom } from '../src/json-from.ts'
import { createNotices } from '../src/keys/notices.ts'
import { createQueue } from '../src/keys/queue.ts'
import { excerpt } from '../src/management/excerpt.ts'
import { issuerSettings, settingsFromOptions, type DualAuthOptions } from '../src/options.ts'
import { matchesFromBody, signatureFromHeaders } from '../src/scanning/report.ts'
import { createScannerKeys, keysFromDocument } from '../src/scanning/scanner-keys.ts'
import { createKeySet, keysFromJwks } from '../src/tokens/jwks.ts'
import { at, PEPPER, SHOP } from './build.ts'
import { startIssuer, signingKey } from './issuer.ts'
import { scannerKey, startScanner } from './scanner.ts'

const { log } = Fastify()
const apiKeys = { marker: 'shop_test', peppers: [PEPPER], store: memoryStore() }
const jwt = { issuer: 'https://idp.test/pool', userClients: ['web'] }
const settingsOf = (change: Partial<DualAuthOptions> = {}) => settingsFromOptions({ apiKeys, jwt, ...change })

/** Stops the clock of intervals. @returns sets it */
function stopwatch (t: Test): (milliseconds: number) => void {
  t.teardown(() => { Reflect.deleteProperty(performance, 'now') })
  const set = (milliseconds: number): void => { Object.defineProperty(performance, 'now', { value: () => milliseconds, configurable: true }) }
  set(0)
  return set
}

t.test('the options that are left out have their defaults', async t => {
  const { apiKeys: { shopIdFromParam, ...keys }, jwt: [{ shape: _shape, claims: _claims, ...issuer } = issuerSettings(jwt)[0]!], ...settings } = settingsOf({ management: { canManage: () => true }, scanning: {} })
  t.strictSame(keys, { ...apiKeys, headerName: 'x-api-key', logN: 5, shopParam: 'shop_id', maxPerShop: 100, concurrency: 3, queueLength: 256, storeTimeout: 2000 })
  t.equal(shopIdFromParam('A'), 'A')
  t.strictSame(issuer, {
    ...jwt,
    provider: 'cognito',
    insecureHttp: false,
    tenants: undefined,
    jwksUri: undefined,
    machineClients: undefined,
    machineScopes: undefined,
    audience: undefined,
    algorithms: ['RS256'],
    clockTolerance: 5000,
    jwksCooldown: 30_000,
    jwksTimeout: 5000,
    jwksRefresh: 600_000,
    jwksKeep: 86_400_000
  })
  t.strictSame(settings.challenge, {})
  t.equal(settings.management?.path, '/shops/:shop_id/api-keys')
  t.strictSame(settings.scanning, { path: '/secret-scanning', keysUrl: 'https://api.github.com/meta/public_keys/secret_scanning', keysTimeout: 5000, keysCooldown: 300_000, maxTokens: 1000 })
  t.equal(settings.onKeyEvent, undefined)
  t.equal(settings.policy({ method: 'GET', url: '/', schema: undefined, config: undefined }), undefined)
  t.strictSame(settings.tokenScopes({ method: 'GET', url: '/', schema: undefined, config: undefined }), [])
})

t.test('options at their limits', async t => {
  const keys = {
    marker: 'a'.repeat(16), peppers: [{ id: 'p', secret: 'x'.repeat(32) }, { id: 'q', secret: Buffer.alloc(32) }], logN: 15, headerName: 'X-Key', shopParam: 'shop', maxPerShop: 1, concurrency: 1, queueLength: 0, storeTimeout: 2 ** 31 - 1
  }
  t.match(settingsOf({ apiKeys: { ...apiKeys, ...keys } }).apiKeys, { ...keys, headerName: 'x-key' })
  t.match(settingsOf({ apiKeys: { ...apiKeys, logN: 1, storeTimeout: 1 } }).apiKeys, { logN: 1, storeTimeout: 1 })
  const issuer = { clockTolerance: 60_000, jwksCooldown: 1, jwksTimeout: 1, jwksRefresh: 2 ** 31 - 1, jwksKeep: 1, jwksUri: 'http://localhost/jwks', machineClients: [], machineScopes: ['a'], audience: ['b'], algorithms: ['ES256', 'EdDSA'] as const }
  t.match(settingsOf({ jwt: { ...jwt, ...issuer } }).jwt, [issuer])
  t.match(settingsOf({ jwt: [{ ...jwt, clockTolerance: 0 }] }).jwt, [{ clockTolerance: 0 }])
  for (const url of ['http://localhost/a', 'http://127.0.0.1:1', 'http://[::1]/']) t.equal(settingsOf({ jwt: { ...jwt, issuer: url } }).jwt[0]?.issuer, url)
  const scanning = { path: '/', keysUrl: 'http://localhost/keys', keysTimeout: 1, keysCooldown: 1, maxTokens: 1 }
  t.strictSame(settingsOf({ scanning }).scanning, scanning)
  for (const [wrong, message] of [
    [{ path: 'leaks' }, 'scanning.path must start with / and have no parameters'], [{ path: '/:a' }, 'scanning.path must start with / and have no parameters'], [{ path: 1 }, 'scanning.path must start with / and have no parameters'],
    [{ keysUrl: 'http://example.com' }, 'scanning.keysUrl must be an https URL, or http on loopback'], [{ keysTimeout: 0 }, 'scanning.keysTimeout must be a whole number, at least 1'], [{ keysCooldown: 2 ** 31 }, 'scanning.keysCooldown must be less than 2^31 milliseconds'],
    [{ maxTokens: 0 }, 'scanning.maxTokens must be a whole number, at least 1'], [{ keys: [] }, 'scanning.keys is not an option'], [null, 'scanning must be an object']
  ] as const) t.throws(() => settingsOf({ scanning: wrong as never }), { code: 'DUAL_AUTH_INVALID_OPTION', message: `dual-auth: ${message}` }, JSON.stringify(wrong))
  t.throws(() => settingsOf({ onKeyEvent: 1 as never }), { message: 'dual-auth: onKeyEvent must be a function' })
})

t.test('a key that expires at the moment of its creation is not created', async t => {
  const create = (expiresAt: Date) => at(1_900_000_000_000, () => createApiKey({ ...apiKeys, store: memoryStore(), logN: 1 }, { shopId: SHOP, name: 'x'.repeat(100), scopes: Array.from({ length: 64 }, (_, i) => `s${i}`), createdBy: 'ada', expiresAt }))
  await t.rejects(create(new Date(1_900_000_000_000)), { code: 'DUAL_AUTH_EXPIRY_PAST', field: 'expires_at' })
  t.match((await create(new Date(1_900_000_000_001))).key, { createdAt: new Date(1_900_000_000_000), expiresAt: new Date(1_900_000_000_001) })
})

t.test('the queue holds as many as it may, and no more', async t => {
  const queue = createQueue(1, 2)
  let go = (): void => {}
  const gate = new Promise<void>(resolve => { go = resolve })
  const works = ['a', 'b', 'c'].map(name => queue(async () => { await gate; return name }))
  await t.rejects(queue(async () => 'd'), { code: 'DUAL_AUTH_BUSY' })
  go()
  t.strictSame(await Promise.all(works), ['a', 'b', 'c'])
  t.equal(await queue(async () => 'e'), 'e')
  await t.rejects(Promise.all([1, 2].map(() => createQueue(1, 0)).map(queue => Promise.all([queue(async () => 'a'), queue(async () => 'b')]))), { code: 'DUAL_AUTH_BUSY' })
})

t.test('texts of others are quoted up to a length', async t => {
  t.equal(printable('x'.repeat(300)), 'x'.repeat(300))
  t.equal(printable('x'.repeat(301)), `${'x'.repeat(299)}…`)
  t.equal(printable('\n\u{e0041}'), '\\u000a\\udb40\\udc41')
  t.equal(excerpt('x'.repeat(200)), 'x'.repeat(200))
  t.equal(excerpt('x'.repeat(201)), `${'x'.repeat(199)}…`)
  t.equal(excerpt(`${'x'.repeat(198)}😀y`), `${'x'.repeat(198)}…`)
})

t.test('a report of leaked keys at its limits', async t => {
  const read = (items: readonly object[], most = 1) => matchesFromBody(Buffer.from(JSON.stringify(items)), 'shop_test', most)
  const address = (length: number) => `https://a.test/${'x'.repeat(length - 15)}`
  for (const [item, match] of [
    [{}, { type: '', leak: { url: null, source: null } }],
    [{ type: 'x'.repeat(201), url: address(1000), source: 'x'.repeat(40) }, { type: 'x'.repeat(200), leak: { url: address(1000), source: 'x'.repeat(40) } }],
    [{ type: 1, url: address(1001), source: 'x'.repeat(41) }, { type: '', leak: { url: `${address(1000).slice(0, 999)}…`, source: null } }],
    [{ url: 'http://ada:secret@a.test/', source: 1 }, { leak: { url: 'http://a.test/', source: null } }],
    [{ url: 'ftp://a.test/' }, { leak: { url: null } }], [{ url: 'a' }, { leak: { url: null } }], [{ url: 1 }, { leak: { url: null } }]
  ] as const) t.match(read([{ token: 'a', ...item }]), [{ token: 'a', ...match }], JSON.stringify(item).slice(0, 60))
  t.throws(() => read([{ token: 'a' }, { token: 'b' }]), { code: 'DUAL_AUTH_REPORT_TOO_LONG' })
  t.equal(read([{ token: 'a' }, { token: 'b' }], 2).length, 2)
  const headers = { 'github-public-key-identifier': 'k'.repeat(128), 'github-public-key-signature': 'AAAAAAAA' }
  t.strictSame(signatureFromHeaders(headers), { keyId: 'k'.repeat(128), value: Buffer.alloc(6) })
  for (const change of [{ 'github-public-key-identifier': ['a', 'b'] }, { 'github-public-key-signature': ['a', 'b'] }, { 'github-public-key-signature': 'AAAAAAA' }]) {
    t.throws(() => signatureFromHeaders({ ...headers, ...change } as never), { code: 'DUAL_AUTH_REPORT_REFUSED', cause: 'the signature is missing or malformed' })
  }
})

t.test('the keys of the scanner are trusted for a day, and looked for again after the cooldown', async t => {
  const set = stopwatch(t)
  const scanner = await startScanner(t)
  const keys = createScannerKeys(settingsOf({ scanning: { keysUrl: scanner.keysUrl, keysCooldown: 1000 } }).scanning!, log)
  const refused = { code: 'DUAL_AUTH_REPORT_REFUSED', cause: 'no such key is published' }
  const unavailable = { code: 'DUAL_AUTH_SCANNER_UNAVAILABLE' }
  for (const [time, reads, error] of [[0, 1, refused], [999, 1, unavailable], [1000, 2, refused], [1001, 2, unavailable]] as const) {
    set(time)
    await t.rejects(keys.find('other'), error, String(time))
    t.equal(scanner.reads, reads, String(time))
  }
  await keys.find('key-1')
  set(1000 + 86_399_999)
  await keys.find('key-1')
  t.equal(scanner.reads, 2)
  set(1000 + 86_400_000)
  await keys.find('key-1')
  t.equal(scanner.reads, 3)
})

t.test('of the published keys only those on the curve P-256 are taken', async t => {
  const { published } = scannerKey('a')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const ids = (document: unknown) => [...keysFromDocument(document).keys()]
  t.strictSame(ids({ public_keys: [published, { key_identifier: 'rsa', key: rsa }, { key_identifier: 'other', key: other }, { key_identifier: 'text', key: 'x' }, { key_identifier: 1, key: published.key }, { key_identifier: 'none' }, null] }), ['a'])
  for (const document of [null, [], { public_keys: {} }, {}]) t.strictSame(ids(document), [])
})

t.test('the keys of the identity provider are trusted as long as the option says, and looked for again after the cooldown', async t => {
  const set = stopwatch(t)
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const keys = createKeySet(issuerSettings({ ...jwt, issuer: issuer.url, jwksCooldown: 1000, jwksKeep: 5000 })[0]!, log)
  t.teardown(() => keys.close())
  const known = (kid: string) => ({ kid, alg: 'RS256', issuer: issuer.url })
  const unknown = async () => t.rejects(keys.find(known('other')), { code: 'DUAL_AUTH_CREDENTIAL_INVALID', cause: 'kid is unknown' })
  for (const [time, fetches] of [[0, 1], [999, 1], [1000, 2], [1001, 2]] as const) {
    set(time)
    await unknown()
    t.equal(issuer.fetches, fetches, String(time))
  }
  t.equal(await keys.find(known('key-1')), issuer.key.publicPem)
  issuer.keys = [{ ...issuer.key.jwk, kid: 'later' }]
  set(5999)
  t.equal(keys.hasKeys(), true)
  t.equal(await keys.find(known('key-1')), issuer.key.publicPem)
  set(6000)
  t.equal(keys.hasKeys(), false)
  await t.rejects(keys.find(known('key-1')), { cause: 'kid is unknown' })
  t.equal(await keys.find(known('later')), issuer.key.publicPem)
})

t.test('the keys of the identity provider are read again after the refresh interval, and after a failure after the cooldown', async t => {
  const { setTimeout, clearTimeout } = globalThis
  t.teardown(() => Object.assign(globalThis, { setTimeout, clearTimeout }))
  const waits: unknown[] = []
  const timers = new Map<unknown, unknown>()
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimeout>) => {
    const timer = setTimeout(...args)
    if (args[1] === 70_001 || args[1] === 70_002) {
      waits.push(args[1])
      timers.set(timer, args[1])
    }
    return timer
  }, setTimeout)
  globalThis.clearTimeout = timer => {
    if (timers.has(timer)) waits.push(`no ${timers.get(timer)}`)
    clearTimeout(timer)
  }
  const issuer = await startIssuer()
  const keys = createKeySet(issuerSettings({ ...jwt, issuer: issuer.url, jwksRefresh: 70_001, jwksCooldown: 70_002 })[0]!, log)
  t.equal(await keys.refresh(), true)
  await issuer.stop()
  t.equal(await keys.refresh(), false)
  t.equal(keys.hasKeys(), true)
  t.strictSame(waits, [70_001, 'no 70001', 70_002], 'one timer at a time')
  keys.close()
  t.equal(await keys.refresh(), false)
  t.strictSame(waits.slice(3, 4), ['no 70002'])
  t.equal(timers.size, 2, 'not any more')
})

t.test('a key with fewer than 2048 bits is not taken', async t => {
  t.strictSame([2047, 2048].map(bits => keysFromJwks({ keys: [signingKey('a', bits).jwk] }, ['RS256']).length), [0, 1])
})

t.test('a JSON document of another server', async t => {
  let answer: RequestListener = () => {}
  const server = createServer((request, response) => { answer(request, response) }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.closeAllConnections(); server.close() })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  const read = (from = url, timeout = 1000) => jsonFrom(from, 'the list', AbortSignal.timeout(timeout))
  const text = (length: number): RequestListener => (_, response) => { response.end(`"${'x'.repeat(length - 2)}"`) }
  answer = text(512 * 1024)
  t.equal((await read() as string).length, 512 * 1024 - 2)
  for (const [what, listener, message] of [
    ['a byte more', text(512 * 1024 + 1), `the list at ${url} cannot be read: more than 524288 bytes`],
    ['no JSON', (_: unknown, response: ServerResponse) => { response.end('<') }, `the list at ${url} is not JSON`],
    ['nothing', (_: unknown, response: ServerResponse) => { response.writeHead(204).end() }, `the list at ${url} cannot be read: status 204`],
    ['an error', (_: unknown, response: ServerResponse) => { response.writeHead(404).end('{}') }, `the list at ${url} cannot be read: status 404`],
    ['a redirect', (_: unknown, response: ServerResponse) => { response.writeHead(302, { location: '/y' }).end('{}') }, `the list at ${url} cannot be read: unexpected redirect`]
  ] as const) {
    answer = listener
    await t.rejects(read(), { message }, what)
  }
  answer = () => {}
  await t.rejects(read(url, 20), { message: `the list at ${url} cannot be read: The operation was aborted due to timeout` })
  await t.rejects(read('http://127.0.0.1:9/'), { message: /^the list at http:\/\/127\.0\.0\.1:9\/ cannot be read: (?:ECONNREFUSED|bad port)$/, cause: Error })
  await t.rejects(read('http://example.com/'), { message: 'the URL of the list is neither https nor on loopback' })
})

t.test('keys are looked through again after the interval, or a second later if there may be more', async t => {
  const { setTimeout } = globalThis
  t.teardown(() => { globalThis.setTimeout = setTimeout })
  for (const [count, wait] of [[99, 70_003], [100, 1000]] as const) {
    const waits: unknown[] = []
    globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimeout>) => {
      if (args[1] === 70_003 || args[1] === 1000) waits.push(args[1])
      return setTimeout(...args)
    }, setTimeout)
    const asked: unknown[] = []
    const store: ApiKeyStore = {
      ...memoryStore(),
      async takeNotices (at, limit) {
        asked.push([at instanceof Date, limit])
        return Array(count).fill({ type: 'unused', days: 90, key: {} })
      }
    }
    const told: unknown[] = []
    const notices = createNotices(store, async call => await call(), event => { told.push(event) }, 70_003)
    notices.start()
    while (waits.length === 0) await new Promise(resolve => setImmediate(resolve))
    await notices.stop()
    t.strictSame([told.length, waits, asked], [count, [wait], [[true, 100]]])
  }
})
