import t from 'tap'
import type { RequestListener } from 'node:http'
import { generateKeyPairSync, sign as cryptoSign, type KeyObject, type KeyPairKeyObjectResult } from 'node:crypto'
import { keysFromJwks } from '../src/tokens/jwks.ts'
import { bearer, build, REFUSED } from './build.ts'
import { signingKey, sign, startIssuer, NOW } from './issuer.ts'

/** Keys that no issuer has of itself. */
const [next, another] = [signingKey('key-2'), signingKey('key-3')]

const UNAVAILABLE = {
  statusCode: 503,
  code: 'DUAL_AUTH_PROVIDER_UNAVAILABLE',
  error: 'Service Unavailable',
  message: 'Tokens cannot be verified at the moment'
}

t.test('100 unknown kids cause one reading, one after another or at once', async (t) => {
  const { app, issuer } = await build(t)
  for (let i = 0; i < 50; i++) {
    const response = await app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: `stranger-${i}` })) })
    t.equal(response.statusCode, 401)
  }
  await Promise.all(
    Array.from(
      { length: 50 },
      (_, i) => app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: `other-${i}` })) })
    )
  )
  t.equal(issuer.fetches, 2, 'one at the boot, one for all strangers')
  t.equal(
    (await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode,
    200,
    'the good key is not driven out'
  )
})

t.test('a key that was rotated in works at its first use', async (t) => {
  const { app, issuer } = await build(t)
  issuer.keys = [issuer.key.jwk, next.jwk]
  const token = sign(next.privateKey, { alg: 'RS256', kid: 'key-2' }, {
    iss: issuer.url,
    sub: 'u',
    client_id: 'web-app',
    token_use: 'access',
    iat: NOW,
    exp: NOW + 3600
  })
  t.equal((await app.inject({ url: '/orders', headers: bearer(token) })).statusCode, 200)
})

t.test('a key that was rotated out stops working at the next reading, also for tokens seen before', async (t) => {
  const { app, issuer } = await build(t, { jwt: { jwksRefresh: 50 } })
  const token = issuer.user()
  t.equal((await app.inject({ url: '/orders', headers: bearer(token) })).statusCode, 200)
  issuer.keys = [next.jwk]
  const before = issuer.fetches
  while (issuer.fetches < before + 2) await new Promise((resolve) => setTimeout(resolve, 10))
  const response = await app.inject({ url: '/orders', headers: bearer(token) })
  t.equal(response.statusCode, 401)
  t.strictSame(response.json(), REFUSED)
})

const faults: Record<string, RequestListener> = {
  'an error': (_request, response) => {
    response.writeHead(500).end('{}')
  },
  HTML: (_request, response) => {
    response.end('<html></html>')
  },
  'an empty set': (_request, response) => {
    response.end('{"keys":[]}')
  },
  null: (_request, response) => {
    response.end('null')
  },
  'keys that are no list': (_request, response) => {
    response.end('{"keys":{"length":1}}')
  },
  'a redirect': (_request, response) => {
    response.writeHead(302, { location: '/pool/.well-known/openid-configuration' }).end()
  },
  silence: () => {},
  'a hang in the middle': (_request, response) => {
    response.write('{"keys":[')
  },
  '10 MB': (_request, response) => {
    response.end(`{"keys":["${'x'.repeat(10_000_000)}"]}`)
  },
  'a broken connection': (request) => {
    request.socket.destroy()
  },
  'another protocol': (request) => {
    request.socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
  }
}

for (const [name, fault] of Object.entries(faults)) {
  t.test(`key set answers with ${name}: known kids go on working, unknown ones are 503`, async (t) => {
    const { app, issuer } = await build(t, { jwt: { jwksTimeout: 1500 } })
    issuer.fault = fault
    const unknown = await app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: 'stranger' })) })
    t.equal(unknown.statusCode, 503)
    t.strictSame(unknown.json(), UNAVAILABLE)
    t.equal(unknown.headers['retry-after'], '5')
    t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
  })
}

t.test('the discovery document is read once for each reading of the keys, up to 512 KiB', async (t) => {
  const { app, issuer } = await build(t, { jwt: { jwksCooldown: 1 } })
  const stranger = async () =>
    (await app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: 'stranger' })) })).statusCode
  t.equal(await stranger(), 401)
  t.strictSame([issuer.discoveries, issuer.fetches], [2, 2], 'at startup, and for the stranger')
  let sent = 0
  issuer.discoveryFault = (_request, response) => {
    response.on('error', () => {}).write('{"x":"')
    const more = (): void => {
      if (response.destroyed || sent > 200_000_000) return
      sent += 65_536
      if (response.write('x'.repeat(65_536))) setImmediate(more)
      else response.once('drain', more)
    }
    more()
  }
  t.equal(await stranger(), 503)
  t.ok(sent < 20_000_000, `${sent} bytes were sent`)
  t.equal(
    (await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode,
    200,
    'known keys go on working'
  )
})

t.test('a jwks_uri with a user or a password is not read, nor shown in the log', async (t) => {
  const logged: string[] = []
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  issuer.discoveryFault = (_request, response) => {
    response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: issuer.url.replace('//', '//user:secret@') }))
  }
  const { app } = await build(t, {
    issuer,
    server: {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            logged.push(line)
          }
        }
      }
    }
  })
  t.equal(app.dualAuthReady(), false)
  t.match(logged.join(''), 'the URL of the key set contains a user or a password')
  t.notMatch(logged.join(''), 'secret')
})

t.test('a discovery document without a jwks_uri is named in the log', async (t) => {
  const logged: string[] = []
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  issuer.discoveryFault = (_request, response) => {
    response.end(JSON.stringify({ issuer: issuer.url }))
  }
  const stream = {
    write (line: string) {
      logged.push(line)
    }
  }
  const { app } = await build(t, { issuer, server: { logger: { level: 'warn', stream } } })
  t.equal(app.dualAuthReady(), false)
  t.match(logged.join(''), `the discovery document at ${issuer.url}/.well-known/openid-configuration names no jwks_uri`)
})

t.test('a hanging key set holds up only those who need it', async (t) => {
  const { app, issuer } = await build(t, { jwt: { jwksTimeout: 1500 } })
  issuer.fault = () => {}
  const order: string[] = []
  const unknown = app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: 'stranger' })) }).then((
    { statusCode }
  ) => order.push(`unknown ${statusCode}`))
  await new Promise((resolve) => setTimeout(resolve, 50))
  const known = app.inject({ url: '/orders', headers: bearer(issuer.user()) }).then(({ statusCode }) =>
    order.push(`known ${statusCode}`)
  )
  await Promise.all([unknown, known])
  t.strictSame(order, ['known 200', 'unknown 503'])
})

t.test('the provider is down at the boot: the server starts, tokens are 503, and it recovers by itself', async (t) => {
  const issuer = await startIssuer()
  await issuer.stop()
  // The first retries do not wait for that long.
  const { app, mint } = await build(t, { issuer, jwt: { jwksCooldown: 3_600_000 } })
  const down = await app.inject({ url: '/orders', headers: bearer(issuer.user()) })
  t.equal(down.statusCode, 503)
  t.strictSame(down.json(), UNAVAILABLE)
  await issuer.start()
  t.teardown(() => issuer.stop())
  while (issuer.fetches === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(await mint(), { plaintext: String })
})

t.test('the provider hangs for longer than a start may take: the server starts, and keys follow', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const answered = new Promise<() => void>((resolve) => {
    issuer.fault = (_request, response) => {
      resolve(() => response.end(JSON.stringify({ keys: issuer.keys })))
    }
  })
  const { app } = await build(t, { issuer, jwt: { jwksTimeout: 20_000 }, server: { pluginTimeout: 2000 } })
  t.equal(app.dualAuthReady(), false)
  const waiting = app.inject({ url: '/orders', headers: bearer(issuer.user()) })
  ;(await answered)()
  t.equal((await waiting).statusCode, 200)
  t.equal(app.dualAuthReady(), true)
  t.equal(issuer.fetches, 1, 'it is the reading of the boot that went on')
})

for (const pluginTimeout of [0, 2000]) {
  t.test(`a provider that answers is waited for, with a pluginTimeout of ${pluginTimeout}`, async (t) => {
    const { app } = await build(t, { server: { pluginTimeout } })
    t.equal(app.dualAuthReady(), true)
  })
}

t.test('the provider goes down later: tokens of known keys go on working', async (t) => {
  const issuer = await startIssuer()
  const { app } = await build(t, { issuer, jwt: { jwksRefresh: 30, jwksCooldown: 30, jwksTimeout: 1500 } })
  await issuer.stop()
  await new Promise((resolve) => setTimeout(resolve, 150))
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid: 'stranger' })) })).statusCode, 503)
})

t.test('an outage that is longer than the keys are kept is 503, not 401', async (t) => {
  const issuer = await startIssuer()
  const { app } = await build(t, { issuer, jwt: { jwksKeep: 50, jwksTimeout: 1500 } })
  await issuer.stop()
  await new Promise((resolve) => setTimeout(resolve, 60))
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 503)
})

t.test('no document is asked for in a compressed form', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const asked: unknown[] = []
  issuer.fault = (request, response) => {
    asked.push(request.headers['accept-encoding'])
    response.end(JSON.stringify({ keys: issuer.keys }))
  }
  const { app } = await build(t, { issuer })
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
  t.strictSame(asked, ['identity'])
})

t.test('a key set that is given by its address needs no discovery', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const { app } = await build(t, { issuer, jwt: { jwksUri: `${issuer.url}/jwks` } })
  t.equal((await app.inject({ url: '/orders', headers: bearer(issuer.user()) })).statusCode, 200)
})

t.test('only usable keys are taken from a set', async (t) => {
  const good = { ...next.jwk, kid: 'good' }
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
  const kids = (keys: unknown, algorithms = ['RS256']) => keysFromJwks({ keys }, algorithms).map(({ kid }) => kid)
  t.strictSame(kids([good]), ['good'])
  t.strictSame(kids([{ ...good, use: undefined, alg: undefined }]), ['good'])
  t.strictSame(kids([{ ...good, use: 'enc' }]), [])
  t.strictSame(kids([{ ...good, alg: 'RS512' }]), [])
  t.strictSame(kids([{ ...good, kid: undefined }, { ...good, kid: 7 }]), [undefined])
  t.strictSame(kids([{ ...good, n: '!' }, { ...good, kty: 'RSA', n: undefined }]), [])
  t.strictSame(kids([{ kty: 'oct', kid: 'secret', k: 'c2VjcmV0' }]), [])
  t.strictSame(kids([signingKey('small', 1024).jwk]), [])
  t.strictSame(kids([{ ...curve, kid: 'curve' }], ['ES256']), ['curve'])
  t.strictSame(kids([{ ...curve, kid: 'curve' }], ['ES384']), [])
  t.strictSame(kids([null, 7, 'x', []]), [])
  for (const body of [null, 7, 'x', [], {}, { keys: 'x' }, { keys: null }]) {
    t.equal(keysFromJwks(body, ['RS256']).length, 0)
  }
})

t.test('a kid is any text of 1 to 128 characters, in the set and in the token', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  const kids = [
    'public:hydra.openid.id-token',
    'https://issuer.test/keys/1?a=b&c',
    'key 1',
    'ключ',
    '__proto__',
    'x'.repeat(128)
  ]
  issuer.keys = kids.map((kid) => ({ ...issuer.key.jwk, kid }))
  const { app } = await build(t, { issuer })
  const status = async (kid: string) =>
    (await app.inject({ url: '/orders', headers: bearer(issuer.user({}, { kid })) })).statusCode
  for (const kid of kids) t.equal(await status(kid), 200, kid)
  t.equal(issuer.fetches, 1)

  const good = { ...next.jwk, kid: 'good' }
  const unusable = ['', 'x'.repeat(129)]
  t.strictSame(
    keysFromJwks({ keys: [...unusable.map((kid) => ({ ...good, kid })), good] }, ['RS256']).map(({ kid }) => kid),
    ['good']
  )
  for (const kid of unusable) t.equal(await status(kid), 401, 'refused without a look at the keys')
  t.equal(issuer.fetches, 1)
})

const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const edwards = generateKeyPairSync('ed25519')
const rsa = [next, another].map(({ privateKey, jwk: { alg: _alg, ...jwk } }) => ({ privateKey, jwk }))
const jwkOf = ({ publicKey }: KeyPairKeyObjectResult, more: object) => ({
  ...publicKey.export({ format: 'jwk' }),
  ...more
})
const nameless = { ...rsa[0]!.jwk, kid: undefined }

/** Signs as RFC 7518 §3.4 and RFC 8037 §3.1 say. */
function tokenBy (key: KeyObject, header: object, iss: string): string {
  const input = [header, { iss, sub: 'u', client_id: 'web-app', token_use: 'access', iat: NOW, exp: NOW + 3600 }].map((
    part
  ) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${input}.${
    cryptoSign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.from(input), {
      key,
      dsaEncoding: 'ieee-p1363'
    }).toString('base64url')
  }`
}

const sets: Array<[title: string, keys: unknown[], key: KeyObject, header: object, status: number]> = [
  [
    'of two keys with one kid, the second one by its type',
    [{ ...rsa[0]!.jwk, kid: 'same' }, jwkOf(curve, { kid: 'same' })],
    curve.privateKey,
    { alg: 'ES256', kid: 'same' },
    200
  ],
  [
    'of two keys with one kid, the first one by its type',
    [{ ...rsa[0]!.jwk, kid: 'same' }, jwkOf(curve, { kid: 'same' })],
    rsa[0]!.privateKey,
    { alg: 'RS256', kid: 'same' },
    200
  ],
  [
    'of two keys with one kid, the second one by its alg',
    [{ ...rsa[0]!.jwk, kid: 'same', alg: 'RS512' }, { ...rsa[1]!.jwk, kid: 'same', alg: 'RS256' }],
    rsa[1]!.privateKey,
    { alg: 'RS256', kid: 'same' },
    200
  ],
  [
    'a kid whose key is for another alg',
    [jwkOf(curve, { kid: 'a' }), { ...rsa[0]!.jwk, kid: 'b' }],
    rsa[0]!.privateKey,
    { alg: 'RS256', kid: 'a' },
    401
  ],
  ['a key without kid, alone', [nameless], rsa[0]!.privateKey, { alg: 'RS256' }, 200],
  ['a key without kid, alone, for a token with one', [nameless], rsa[0]!.privateKey, { alg: 'RS256', kid: 'x' }, 200],
  ['a key without kid, beside one of another type', [nameless, jwkOf(curve, { kid: 'c' })], rsa[0]!.privateKey, {
    alg: 'RS256'
  }, 200],
  ['a key without kid, beside one of its type', [nameless, { ...rsa[1]!.jwk, kid: 'r' }], rsa[0]!.privateKey, {
    alg: 'RS256'
  }, 401],
  ['a key with kid, for a token without', [{ ...rsa[0]!.jwk, kid: 'r' }], rsa[0]!.privateKey, { alg: 'RS256' }, 401],
  ['EdDSA', [jwkOf(edwards, { kid: 'e', alg: 'EdDSA' })], edwards.privateKey, { alg: 'EdDSA', kid: 'e' }, 200],
  ['Ed25519 of RFC 9864', [jwkOf(edwards, { kid: 'e', alg: 'Ed25519' })], edwards.privateKey, {
    alg: 'Ed25519',
    kid: 'e'
  }, 200],
  ['Ed25519 by a key for EdDSA', [jwkOf(edwards, { kid: 'e', alg: 'EdDSA' })], edwards.privateKey, {
    alg: 'Ed25519',
    kid: 'e'
  }, 200],
  [
    'Ed25519 by a key of another type',
    [{ ...rsa[0]!.jwk, kid: 'e' }],
    rsa[0]!.privateKey,
    { alg: 'Ed25519', kid: 'e' },
    401
  ]
]
t.test('the key of a token: by kid, then by alg and type; without a kid if it is the only one', async (t) => {
  for (const [title, keys, key, header, status] of sets) {
    await t.test(title, async (t) => {
      const issuer = await startIssuer()
      t.teardown(() => issuer.stop())
      issuer.keys = keys
      const { app } = await build(t, { issuer, jwt: { algorithms: ['RS256', 'ES256', 'EdDSA'] } })
      t.equal(
        (await app.inject({ url: '/orders', headers: bearer(tokenBy(key, header, issuer.url)) })).statusCode,
        status
      )
    })
  }
})

t.test('several keys without a kid: the log says what is missing', async (t) => {
  const issuer = await startIssuer()
  t.teardown(() => issuer.stop())
  issuer.keys = [nameless, { ...rsa[1]!.jwk, kid: undefined }]
  const logged: string[] = []
  const { app } = await build(t, {
    issuer,
    server: {
      logger: {
        level: 'warn',
        stream: {
          write: (line: string) => {
            logged.push(line)
          }
        }
      }
    }
  })
  t.equal(app.dualAuthReady(), false)
  t.match(logged.join(''), 'kid is missing from all keys of the key set: only a single key can do without')
})

t.test('a key replaced under its name: its first token reads the set again, forged ones once', async (t) => {
  const { app, issuer } = await build(t)
  const status = async (token: string) => (await app.inject({ url: '/orders', headers: bearer(token) })).statusCode
  const old = issuer.user()
  t.equal(await status(old), 200)
  issuer.keys = [{ ...next.jwk, kid: 'key-1' }]
  t.equal(await status(tokenBy(next.privateKey, { alg: 'RS256', kid: 'key-1' }, issuer.url)), 200)
  t.equal(await status(old), 401)
  for (let i = 0; i < 20; i++) {
    t.equal(await status(tokenBy(another.privateKey, { alg: 'RS256', kid: 'key-1' }, issuer.url)), 401)
  }
  t.equal(issuer.fetches, 2)
})
