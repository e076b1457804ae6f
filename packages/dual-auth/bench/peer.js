// One server of peers.js, in a process of its own: what one loads makes others slower, such as asynchronous context.
// Arguments: its name, the database or '', and in JSON { issuer, publicKey, token }. Each message is a round of requests.
import { randomBytes } from 'node:crypto'
import fastifyJwt from '@fastify/jwt'
import dualAuth, { createApiKey, memoryStore } from 'dual-auth'
import { createApiKeysTable, knexStore } from 'dual-auth/knex'
import Fastify from 'fastify'
import knex from 'knex'
import pg from 'pg'
import { installed } from './install.js'

/** How many API keys there are; requests use them in turn. */
const KEYS = 100
const CONCURRENCY = 8

const [name, database, provider] = process.argv.slice(2)
const { issuer, publicKey, token } = JSON.parse(provider)
const load = await installed()
const bearer = (credential) => ({ authorization: `Bearer ${credential}` })
const times = async (work) => Promise.all(Array.from({ length: KEYS }, work))

/** Each registers its authentication, and returns the headers of callers. */
const servers = {
  'no authentication': async () => [{}],
  async 'JWT: dual-auth' (app) {
    await dualAuthIn(app, memoryStore())
    return [bearer(token)]
  },
  async 'JWT: @fastify/jwt' (app) {
    await app.register(fastifyJwt, { secret: { public: publicKey }, verify: { algorithms: ['RS256'], allowedIss: issuer } })
    app.addHook('onRequest', async (request) => { await request.jwtVerify() })
    return [bearer(token)]
  },
  'API key: dual-auth': (app) => dualAuthIn(app, memoryStore()),
  async 'API key: @fastify/bearer-auth' (app) {
    const { default: bearerAuth } = await load('@fastify/bearer-auth')
    const keys = await times(async () => randomBytes(32).toString('hex'))
    await app.register(bearerAuth, { keys: new Set(keys) })
    return keys.map(bearer)
  },
  async 'API key: better-auth' (app) {
    const { memoryAdapter } = await load('better-auth/adapters/memory')
    return betterAuthIn(app, { database: memoryAdapter({ user: [], session: [], account: [], verification: [], apikey: [] }) })
  },
  async 'API key in PostgreSQL: dual-auth' (app) {
    const db = knex({ client: 'pg', connection: database, pool: { min: 0, max: CONCURRENCY } })
    await createApiKeysTable(db)
    return dualAuthIn(app, knexStore(db))
  },
  async 'API key in PostgreSQL: better-auth' (app) {
    const { getMigrations } = await load('better-auth/db/migration')
    const options = await betterAuthOptions({ database: new pg.Pool({ connectionString: database, max: CONCURRENCY }) })
    await (await getMigrations(options)).runMigrations()
    return betterAuthIn(app, options)
  }
}

async function dualAuthIn (app, store) {
  const apiKeys = { marker: 'bench', peppers: [{ id: 'p1', secret: randomBytes(32) }], store }
  await app.register(dualAuth, { apiKeys, jwt: { issuer, userClients: ['app'] }, policy: () => 'dual' })
  return times(async (_, i) => ({ 'x-api-key': (await createApiKey(apiKeys, { shopId: `shop-${i}`, name: 'bench', createdBy: 'bench' })).plaintext }))
}

async function betterAuthOptions (options) {
  const { apiKey } = await load('@better-auth/api-key')
  // By default a key may be used ten times a day.
  return { secret: randomBytes(32).toString('hex'), baseURL: 'http://localhost', logger: { disabled: true }, plugins: [apiKey({ rateLimit: { enabled: false } })], ...options }
}

async function betterAuthIn (app, options) {
  const { betterAuth } = await load('better-auth')
  const auth = betterAuth(await betterAuthOptions(options))
  const { internalAdapter } = await auth.$context
  const { id: userId } = await internalAdapter.createUser({ email: 'bench@example.com', name: 'bench' })
  app.addHook('onRequest', async (request, reply) => {
    const { valid } = await auth.api.verifyApiKey({ body: { key: request.headers['x-api-key'] } })
    if (!valid) await reply.code(401).send()
  })
  return times(async () => ({ 'x-api-key': (await auth.api.createApiKey({ body: { userId, name: 'bench' } })).key }))
}

let statements = 0
const { query } = pg.Client.prototype
pg.Client.prototype.query = function (...parameters) {
  statements++
  return query.apply(this, parameters)
}

const app = Fastify()
const headers = await servers[name](app)
app.get('/', async () => ({ hello: 'world' }))
await app.ready()

process.on('message', async (requests) => {
  const [sent, usage] = [statements, process.cpuUsage()]
  let left = requests
  await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
    while (left-- > 0) {
      const { statusCode } = await app.inject({ url: '/', headers: headers[left % headers.length] ?? headers[0] })
      if (statusCode !== 200) throw new RangeError(`${name} answers ${statusCode}`)
    }
  }))
  const { user, system } = process.cpuUsage(usage)
  process.send({ cpu: (user + system) / requests, statements: (statements - sent) / requests })
})
process.on('disconnect', () => process.exit())
process.send('ready')
