// One server of peers.js, in a process of its own: what one loads makes others slower, such as asynchronous context.
// Arguments: its name, the database or '', and in JSON { issuer, publicKey, user, machine }. Each message is the kind
// of caller of a round.
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import fastifyJwt from '@fastify/jwt'
import dualAuth, { createApiKey, memoryStore } from 'dual-auth'
import { createApiKeysTable, knexStore } from 'dual-auth/knex'
import Fastify from 'fastify'
import knex from 'knex'
import pg from 'pg'
import { installed } from './install.js'

/** How many API keys there are; requests use them in turn. */
const KEYS = 200
const WARM_UP = 200
const CONCURRENCY = 8

const [name, database, provider] = process.argv.slice(2)
const { issuer, publicKey, user, machine } = JSON.parse(provider)
const byKey = (key) => ({ 'x-api-key': key })
const byToken = (token) => ({ authorization: `Bearer ${token}` })
const times = async (work) => Promise.all(Array.from({ length: KEYS }, work))
const tokens = { user: [byToken(user)], machine: [byToken(machine)] }

/** Each returns a function that registers its authentication, and the headers of each kind of caller. */
const servers = {
  'no authentication': async () => ({ callers: { anybody: [{}] }, async register () {} }),

  /** The least that checks these tokens: who it is for is in the claims. */
  '@fastify/jwt': async () => ({
    callers: tokens,
    async register (app) {
      await app.register(fastifyJwt, {
        secret: { public: publicKey },
        verify: {
          algorithms: ['RS256'],
          allowedIss: issuer,
          requiredClaims: ['iss', 'sub', 'exp', 'iat'],
          clockTolerance: 5000
        }
      })
      app.addHook('onRequest', async (request, reply) => {
        const { token_use: use, client_id: client, scope } = await request.jwtVerify()
        if (use !== 'access' || (client !== 'app' && !/(?:^| )[^ ]+\/api(?: |$)/.test(scope))) {
          await reply.code(401).send()
        }
      })
    }
  }),

  /** The least that looks up a key in the same table, so that a revoked one stops at once. */
  async 'hand-written' () {
    const db = await databaseOf(database)
    await createApiKeysTable(db)
    const known = await times(async (_, i) => {
      const key = randomBytes(32).toString('hex')
      await db('api_keys').insert({
        id: randomUUID(),
        owner_id: `owner-${i}`,
        name: 'bench',
        prefix: key.slice(0, 12),
        fingerprint: sha256(key),
        pepper_id: '',
        hash: '',
        created_at: new Date(),
        created_by: 'bench'
      })
      return byKey(key)
    })
    const pool = new pg.Pool({ connectionString: database, max: CONCURRENCY, idleTimeoutMillis: 0 })
    const text =
      'select id, owner_id, scopes from api_keys where fingerprint = $1 and revoked_at is null and (expires_at ' +
      'is null or expires_at > now())'
    return {
      callers: { 'known key': known, 'unknown key': await times(async () => byKey(randomBytes(32).toString('hex'))) },
      async register (app) {
        app.decorateRequest('caller', null)
        app.addHook('onRequest', async (request, reply) => {
          const { rows: [caller] } = await pool.query({
            name: 'caller',
            text,
            values: [sha256(request.headers['x-api-key'])]
          })
          if (caller === undefined) return reply.code(401).send()
          request.caller = caller
        })
      }
    }
  },

  async 'better-auth' () {
    const load = await installed()
    const [{ betterAuth }, { apiKey }, { getMigrations }] = await Promise.all(
      ['better-auth', '@better-auth/api-key', 'better-auth/db/migration'].map(load)
    )
    const auth = betterAuth({
      secret: randomBytes(32).toString('hex'),
      baseURL: 'http://localhost',
      logger: { disabled: true },
      database: new pg.Pool({ connectionString: database, max: CONCURRENCY, idleTimeoutMillis: 0 }),
      // By default a key may be used ten times a day.
      plugins: [apiKey({ rateLimit: { enabled: false } })]
    })
    await (await getMigrations(auth.options)).runMigrations()
    const { internalAdapter } = await auth.$context
    const { id: userId } = await internalAdapter.createUser({ email: 'bench@example.com', name: 'bench' })
    return {
      callers: {
        'known key': await times(async () =>
          byKey((await auth.api.createApiKey({ body: { userId, name: 'bench' } })).key)
        ),
        'unknown key': await times(async () => byKey(randomBytes(32).toString('hex')))
      },
      async register (app) {
        app.addHook('onRequest', async (request, reply) => {
          const { valid } = await auth.api.verifyApiKey({ body: { key: request.headers['x-api-key'] } })
          if (!valid) await reply.code(401).send()
        })
      }
    }
  },

  async 'dual-auth' () {
    const apiKeys = { marker: 'bench', peppers: [{ id: 'p1', secret: randomBytes(32) }], store: memoryStore() }
    const keysIn = async (store) =>
      times(async (_, i) => {
        const request = { ownerId: `owner-${i}`, name: 'bench', scopes: 'all', createdBy: 'bench' }
        return byKey((await createApiKey({ ...apiKeys, store }, request)).plaintext)
      })
    const unknown = await keysIn(memoryStore())
    if (database !== '') {
      const db = databaseOf(database)
      await createApiKeysTable(db)
      apiKeys.store = knexStore(db)
    }
    const known = await keysIn(apiKeys.store)
    return {
      callers: { 'known key': known, 'unknown key': unknown, [FIRST]: known, ...tokens },
      async register (app) {
        await app.register(dualAuth, { apiKeys, jwt: { issuer, userClients: ['app'] }, policy: () => 'any-key' })
      }
    }
  }
}

/** A round of them uses each key once, on an app that knows none yet. */
const FIRST = 'first call of a key'

const sha256 = (text) => createHash('sha256').update(text).digest()

/** Its connections stay: a new one costs more than hundreds of look-ups. */
function databaseOf (connection) {
  return knex({ client: 'pg', connection, pool: { min: CONCURRENCY, max: CONCURRENCY } })
}

let statements = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (...parameters) {
  statements++
  return query.apply(this, parameters)
}

const { callers, register } = await servers[name]()

async function build () {
  const app = Fastify()
  await register(app)
  app.get('/', async () => ({ hello: 'world' }))
  await app.ready()
  return app
}

const longLived = await build()

async function send (app, kind, requests) {
  const headers = callers[kind]
  const expected = kind === 'unknown key' ? 401 : 200
  let left = requests
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    while (left-- > 0) {
      const { statusCode } = await app.inject({ url: '/', headers: headers[left % headers.length] ?? headers[0] })
      if (statusCode !== expected) throw new RangeError(`${name} answers ${statusCode} to ${kind}`)
    }
  }))
}

async function round (kind) {
  const app = kind === FIRST ? await build() : longLived
  const later = kind.endsWith('key') ? 500 : 2000
  const requests = kind === FIRST ? KEYS : later
  // Others ran since, and left the caches of the processor cold.
  await send(longLived, kind, WARM_UP)
  const [sent, started, usage] = [statements, performance.now(), process.cpuUsage()]
  await send(app, kind, requests)
  const { user, system } = process.cpuUsage(usage)
  const seconds = (performance.now() - started) / 1000
  if (app !== longLived) await app.close()
  return {
    all: requests + WARM_UP,
    cpu: (user + system) / requests,
    perSecond: requests / seconds,
    statements: (statements - sent) / requests
  }
}

process.on('message', async (kind) => process.send(await round(kind)))
process.on('disconnect', () => process.exit())
process.send(Object.keys(callers))
