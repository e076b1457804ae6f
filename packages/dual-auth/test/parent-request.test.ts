import t from 'tap'
import inject from 'light-my-request'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { memoryStore, type ApiKeyStore } from '../src/index.ts'
import { bearer, build, products, REFUSED, OWNER, OTHER_OWNER } from './build.ts'

/** An in-process call of a route by another, as mcp endpoints make them. */
async function innerCall (app: FastifyInstance, parent: FastifyRequest | undefined, options: inject.InjectOptions) {
  return inject((request, response) => {
    if (parent !== undefined) Object.assign(request, { [Symbol.for('mcp-from-routes.parentRequest')]: parent })
    app.routing(request, response)
  }, options)
}

/** A gateway whose request makes three inner calls with the headers it is told to. */
const gateway =
  (headersOf: (request: FastifyRequest) => Record<string, string>, linked = true, url = products()) =>
  (app: FastifyInstance) => {
    app.post('/gateway', { config: { auth: 'any-key' } }, async (request) => {
      const statuses = []
      for (let i = 0; i < 3; i++) {
        const response = await innerCall(app, linked ? request : undefined, { url, headers: headersOf(request) })
        statuses.push(response.statusCode)
      }
      return statuses
    })
  }

const sameHeaders = ({ headers }: FastifyRequest) => ({
  ...(headers.authorization !== undefined && { authorization: headers.authorization }),
  ...(headers['x-api-key'] !== undefined && { 'x-api-key': String(headers['x-api-key']) })
})

/** A store that counts how often a key is looked up. */
function countingStore (): ApiKeyStore & { readonly finds: number } {
  const store = memoryStore()
  let finds = 0
  return {
    ...store,
    find: async (fingerprints) => {
      finds++
      return store.find(fingerprints)
    },
    get finds () {
      return finds
    }
  }
}

for (
  const [title, usesSymbol, lasts, finds] of [
    [
      'a request verifies its key once, however many routes it calls in process; the next one verifies it again',
      true,
      0,
      2
    ],
    ['a request that lasts for a second verifies its key again: it may be revoked meanwhile', true, 1000, 8],
    ['an in-process call without the symbol is a request of its own', false, 0, 8]
  ] as const
) {
  t.test(title, async (t) => {
    const store = countingStore()
    const now = performance.now.bind(performance)
    let ahead = 0
    t.intercept(performance, 'now', { value: () => now() + ahead })
    const { app, mint } = await build(t, {
      store,
      routes: gateway((request) => {
        ahead += lasts
        return sameHeaders(request)
      }, usesSymbol)
    })
    const { plaintext } = await mint()
    for (const headers of [bearer(plaintext), { 'x-api-key': plaintext }]) {
      t.strictSame((await app.inject({ method: 'POST', url: '/gateway', headers })).json(), [200, 200, 200])
    }
    t.equal(store.finds, finds)
  })
}

t.test('another credential on the inner call is verified, a missing one is missing', async (t) => {
  const other = await build(t)
  const stranger = (await other.mint()).plaintext
  for (const headers of [{}, bearer(stranger), { 'x-api-key': 'bad' }]) {
    const { app, mint } = await build(t, { routes: gateway(() => ({ ...headers })) })
    const { plaintext } = await mint()
    t.strictSame((await app.inject({ method: 'POST', url: '/gateway', headers: bearer(plaintext) })).json(), [
      401,
      401,
      401
    ])
  }
})

t.test('the inner route still asks for its own policy, owner and scopes', async (t) => {
  const cases = [['/orders', 403], [products(OTHER_OWNER), 403], [products(OWNER), 403]] as const
  for (const [url, status] of cases) {
    const { app, mint } = await build(t, { routes: gateway(sameHeaders, true, url) })
    const { plaintext } = await mint(OWNER, { name: 'x', scopes: ['write'] })
    t.strictSame((await app.inject({ method: 'POST', url: '/gateway', headers: bearer(plaintext) })).json(), [
      status,
      status,
      status
    ])
  }
})

t.test('an in-process call on a route for tokens tells the holder of a good key so, without a challenge', async (t) => {
  const { app, mint } = await build(t, {
    routes: (app) => {
      app.post('/gateway', { config: { auth: 'any-key' } }, async (request) => {
        const { statusCode, headers, payload } = await innerCall(app, request, {
          url: '/orders',
          headers: sameHeaders(request)
        })
        return [statusCode, headers['www-authenticate'] ?? null, JSON.parse(payload)]
      })
    }
  })
  const { plaintext } = await mint()
  const headers = bearer(plaintext)
  t.strictSame((await app.inject({ method: 'POST', url: '/gateway', headers })).json(), [
    403,
    null,
    {
      statusCode: 403,
      code: 'DUAL_AUTH_KEY_NOT_ACCEPTED',
      error: 'Forbidden',
      message: 'GET /orders accepts no API keys, only tokens'
    }
  ])
  t.strictSame(
    (await app.inject({ url: '/orders', headers })).json(),
    REFUSED,
    'from outside nothing tells that it is good'
  )
})

t.test('a token is verified once too, and its identity is the same', async (t) => {
  const seen: unknown[] = []
  const { app, issuer } = await build(t, {
    routes: (app) => {
      app.get('/inner', async (request) => {
        seen.push(request.identity)
        return ''
      })
      gateway(sameHeaders, true, '/inner')(app)
    }
  })
  t.strictSame((await app.inject({ method: 'POST', url: '/gateway', headers: bearer(issuer.user()) })).json(), [
    200,
    200,
    200
  ])
  t.equal(new Set(seen).size, 1)
})

t.test('a client cannot claim a parent', async (t) => {
  const { app } = await build(t)
  const response = await app.inject({
    url: products(),
    headers: { 'fastify.parentrequest': '{}', 'x-parent-request': '1' }
  })
  t.equal(response.statusCode, 401)
  const forged = await innerCall(app, { headers: {} } as FastifyRequest, {
    url: products(),
    headers: { 'x-api-key': 'bad' }
  })
  t.equal(forged.statusCode, 401)
})
