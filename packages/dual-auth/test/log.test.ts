import t, { type Test } from 'tap'
import { createApiKey, memoryStore, type ApiKeyStore } from '../src/index.ts'
import { mintKey } from '../src/keys/format.ts'
import { at, bearer, build, PEPPER, products, OWNER, type Settings } from './build.ts'
import { startIssuer } from './issuer.ts'
import { startScanner } from './scanner.ts'

const issuer = await startIssuer()
t.teardown(() => issuer.stop())

interface Line {
  readonly level: number
  readonly msg: string
  readonly [member: string]: unknown
}

/** A line of the log without what is of the process and the request, and of an error its code, or else its message. */
function shown ({ pid: _pid, hostname: _hostname, time: _time, reqId: _reqId, err, ...line }: Line): object {
  const { code, message } = err as { code?: string, message: string } ?? {}
  return { ...line, ...err !== undefined && { err: code ?? message } }
}

/** A server that logs, and what it has said since this was asked last, without Fastify's own lines. */
async function logging (t: Test, settings: Settings = {}) {
  const lines: Line[] = []
  const store = settings.store ?? memoryStore()
  const { app } = await build(t, {
    issuer,
    ...settings,
    store,
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
  const made = async (change: object = {}) =>
    createApiKey({ marker: 'shop_test', peppers: [PEPPER], store, logN: 4 }, {
      ownerId: OWNER,
      name: 'x',
      scopes: 'all',
      createdBy: 'ada',
      ...change
    })
  return {
    app,
    made,
    store,
    said: () =>
      lines.splice(0).filter(({ msg }) => !/^(?:incoming request|request completed|Server|Credentials|The )/.test(msg))
  }
}

const [INFO, WARN, ERROR] = [30, 40, 50]

t.test('why a credential is refused is in the log', async (t) => {
  const inner = memoryStore()
  let isGone = false
  const store: ApiKeyStore = {
    ...inner,
    find: async (fingerprints) => {
      const row = await inner.find(fingerprints)
      return row && { ...row, ...isGone && { owner: null } }
    }
  }
  const { app, made, said } = await logging(t, { store })
  const [good, revoked, expired] = [
    await made(),
    await made(),
    await made({ expiresAt: new Date(Date.now() + 60_000) })
  ]
  await store.revoke(OWNER, revoked.key.id, 'ada', new Date())
  const refused = async (url: string, headers: Record<string, string>, reason: string) => {
    said()
    t.equal((await app.inject({ url, headers })).statusCode, 401, reason)
    t.strictSame(said().map(shown), [{ level: INFO, reason, msg: 'credential refused' }])
  }
  await refused(products(), { 'x-api-key': 'x' }, 'the API key is malformed')
  await refused(products(), { authorization: 'Basic eDp5' }, 'Authorization has another scheme than Bearer')
  await refused(
    products(),
    { 'x-api-key': `${mintKey('shop_test').plaintext.slice(0, -6)}000000` },
    'the checksum of the API key is wrong: it was mistyped or cut'
  )
  await refused(products(), { 'x-api-key': mintKey('shop_test').plaintext }, 'the API key is unknown')
  await refused('/orders', bearer(good.plaintext), 'the route accepts no API keys')
  await refused(products(), bearer(revoked.plaintext), 'the API key is revoked')
  await at(+expired.key.expiresAt! - 1, async () => {
    t.equal((await app.inject({ url: products(), headers: bearer(expired.plaintext) })).statusCode, 200)
  })
  await at(
    +expired.key.expiresAt!,
    async () => refused(products(), bearer(expired.plaintext), 'the API key is expired')
  )
  isGone = true
  await refused(products(), bearer(good.plaintext), 'the owner of the API key does not exist')
  said()
  t.equal((await app.inject({ url: products() })).statusCode, 401)
  t.strictSame(said(), [], 'none is none')
})

t.test('groups of an unknown shape are left out, and told once', async (t) => {
  const { app, said } = await logging(t)
  for (const groups of [[7], [null], 'staff']) {
    t.equal(
      (await app.inject({ url: '/orders', headers: bearer(issuer.user({ 'cognito:groups': groups })) })).statusCode,
      200
    )
  }
  t.strictSame(said().map(shown), [{
    level: WARN,
    issuer: issuer.url,
    claim: 'cognito:groups',
    msg: 'a claim of a person has an unknown shape: what cannot be read of it is left out'
  }])
})

t.test('what is wrong with stored keys is in the log, with their ids', async (t) => {
  const inner = memoryStore()
  const wrong: { hash?: Buffer } = {}
  const store: ApiKeyStore = {
    ...inner,
    find: async (fingerprints) => {
      const row = await inner.find(fingerprints)
      return row && { ...row, ...wrong }
    },
    rehash: async () => {
      throw new RangeError('no rehash')
    },
    touch: async () => {
      throw new RangeError('no touch')
    }
  }
  const { app, made, said } = await logging(t, { store, apiKeys: { logN: 5 } })
  const { key: { id: keyId }, plaintext } = await made()
  said()
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 200)
  const lines: Line[] = []
  while (!lines.some(({ msg }) => msg.includes('rehashed')) || !lines.some(({ msg }) => msg.includes('last_used'))) {
    await new Promise((resolve) => setImmediate(resolve))
    lines.push(...said())
  }
  const linesOf = (wanted: number) => lines.filter(({ level }) => level === wanted).map(shown)
  t.strictSame(linesOf(WARN), [
    { level: WARN, err: 'DUAL_AUTH_STORE_UNAVAILABLE', msg: 'last_used_at was not written' },
    { level: WARN, keyId, err: 'DUAL_AUTH_STORE_UNAVAILABLE', msg: 'an API key was not rehashed' }
  ])
  t.strictSame(
    linesOf(ERROR),
    ['no touch', 'no rehash'].map((err) => ({ level: ERROR, err, msg: 'the API key store failed' }))
  )

  wrong.hash = Buffer.alloc(96)
  t.equal((await app.inject({ url: products(), headers: bearer(plaintext) })).statusCode, 401)
  t.strictSame(said().map(shown).slice(0, 1), [{
    level: ERROR,
    keyId,
    msg: 'the stored hash of an API key was not made from the key'
  }])
})

t.test('tokens for any resource are warned of at startup, and keys of a scanner that cannot be read', async (t) => {
  const { said } = await logging(t, { jwt: { audience: undefined as never } })
  t.strictSame(said().map(shown), [{
    level: WARN,
    issuer: issuer.url,
    msg: 'jwt.audience is not set: tokens that clients requested for another resource are accepted too'
  }])
  t.strictSame((await logging(t)).said(), [])

  const scanner = await startScanner(t)
  const world = await logging(t, { auth: { scanning: { keysUrl: scanner.keysUrl, keysCooldown: 1 } } })
  for (
    const [document, message] of [
      [{ public_keys: [] }, 'the keys of the scanner have no usable key'],
      ['x', 'the keys of the scanner have no usable key']
    ] as const
  ) {
    scanner.document = document
    t.equal(
      (await world.app.inject({
        method: 'POST',
        url: '/secret-scanning',
        headers: scanner.headers('[]'),
        payload: '[]'
      })).statusCode,
      503
    )
    t.strictSame(world.said().map(shown).slice(0, 1), [{
      level: WARN,
      keysUrl: scanner.keysUrl,
      err: message,
      msg: 'the keys of the secret scanner could not be read'
    }])
  }
})
