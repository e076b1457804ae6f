import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { openRedis } from '../src/operations/redis.ts'
import { bearer, build, client, createShop, openIdentityProvider, openTestDatabase } from './build.ts'
import { samplesOf, textOf } from './promtool.ts'
import { startRedis, withoutRedis } from './redis.ts'

const METRICS_TOKEN = 'metrics-token-of-redis-faults'
const LIMIT = 20
const GUESSES = 5

const database = await openTestDatabase(t)
const idp = await openIdentityProvider(t)
const shop = await createShop(database, 'counted')
const machine = bearer(await idp.machineToken())
const tags = `/shops/${shop}/tags`

/** What is wrong with a Redis that answers `PING`, how it comes about and ends, and its error. */
interface Fault {
  readonly name: string
  readonly begin: ReadonlyArray<readonly string[]>
  readonly end: ReadonlyArray<readonly string[]>
  /** The first word of what Redis answers; several as a pattern has them. */
  readonly says: string
}

const faults: readonly Fault[] = [
  {
    name: 'is full and evicts nothing',
    begin: [['config', 'set', 'maxmemory', '1']],
    end: [['config', 'set', 'maxmemory', '0']],
    says: 'OOM'
  },
  {
    name: 'has become a replica',
    begin: [['replicaof', '127.0.0.1', '1']],
    end: [['replicaof', 'no', 'one']],
    says: 'READONLY'
  },
  {
    name: 'may run no scripts',
    begin: [['acl', 'setuser', 'shop', '-@scripting']],
    end: [['acl', 'setuser', 'shop', '+@scripting']],
    says: 'NOPERM'
  },
  {
    name: 'may not expire its counters',
    begin: [['acl', 'setuser', 'shop', '-pexpire']],
    end: [['acl', 'setuser', 'shop', '+pexpire']],
    // The second check of a counter finds it as the first has left it.
    says: 'ERR|NOTTL'
  },
  {
    name: 'may not remember keys',
    begin: [['acl', 'setuser', 'shop', '-set']],
    end: [['acl', 'setuser', 'shop', '+set']],
    says: 'NOPERM'
  },
  {
    name: 'refuses writes since it cannot save',
    begin: [['config', 'set', 'min-replicas-to-write', '1']],
    end: [['config', 'set', 'min-replicas-to-write', '0']],
    says: 'NOREPLICAS'
  }
]

interface Line {
  readonly level: number
  readonly needed?: string
  readonly reason?: string
  readonly msg: string
}

/** @param rights - of the user of the server */
async function open (t: Test, rights: readonly string[] = ['~*', '+@all']) {
  const server = await startRedis(t)
  const operator = new Redis(server.url)
  t.teardown(() => {
    operator.disconnect()
  })
  await operator.call('acl', 'setuser', 'shop', 'on', '>of-the-shop', ...rights)
  const lines: Line[] = []
  const app = await build(t, database, idp, {
    settings: {
      REDIS_URL: server.url.replace('//', '//shop:of-the-shop@'),
      RATE_LIMIT_MAX: LIMIT,
      RATE_LIMIT_REFUSED_MAX: GUESSES,
      RATE_LIMIT_WINDOW: 3_600_000,
      METRICS_TOKEN,
      TRUST_PROXY: '1'
    },
    logger: {
      level: 'info',
      stream: {
        write: (line: string) => {
          lines.push(JSON.parse(line))
        }
      }
    }
  })
  const { body: { plaintext } } = await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, {
    name: 'counted'
  })
  const run = async (commands: Fault['begin']): Promise<void> => {
    for (const [command, ...args] of commands) await operator.call(command!, ...args)
  }
  return {
    app,
    server,
    operator,
    run,
    key: { 'x-api-key': plaintext as string },
    ofRedis: () => lines.filter(({ needed, msg }) => needed === 'redis' || msg.startsWith('Redis'))
  }
}

async function checkOf (app: FastifyInstance): Promise<[status: number, redis: string]> {
  const { statusCode, body } = await app.inject('/readyz')
  return [statusCode, JSON.parse(body).checks.redis]
}

async function until (app: FastifyInstance, expected: string | RegExp): Promise<void> {
  const isMet = (found: string): boolean => typeof expected === 'string' ? found === expected : expected.test(found)
  while (!isMet((await checkOf(app))[1])) await sleep(25)
}

async function metric (app: FastifyInstance): Promise<number | undefined> {
  const { body } = await app.inject({ url: '/metrics', headers: bearer(METRICS_TOKEN) })
  return samplesOf(body).find(({ name }) => name === 'shop_redis_up')?.value
}

/** How many of some calls were answered with 429. */
async function limitedOf (count: number, call: () => Promise<{ readonly statusCode: number }>): Promise<number> {
  let limited = 0
  for (let index = 0; index < count; index++) if ((await call()).statusCode === 429) limited++
  return limited
}

t.test('the rights in the manual are all that Redis must grant', { skip: withoutRedis }, async (t) => {
  const [, keys = '', commands = ''] =
    /server's user needs the keys `(\S+)` and the commands `([^`]+)`/.exec(textOf('docs/production.md')) ?? []
  t.match(keys, /^~shop:/)
  const { app, ofRedis } = await open(t, ['resetkeys', keys, ...commands.split(' ')])
  await until(app, 'ok')
  t.strictSame([await checkOf(app), ofRedis()], [[200, 'ok'], []])
})

for (const { name, begin, end, says } of faults) {
  t.test(`a Redis that answers and ${name}: each server limits calls and guesses alone, and says so`, {
    skip: withoutRedis
  }, async (t) => {
    const { app, run, key, ofRedis } = await open(t)
    await until(app, 'ok')
    t.strictSame([await checkOf(app), await metric(app), ofRedis()], [[200, 'ok'], 1, []])

    await run(begin)
    t.equal(await limitedOf(60, async () => await app.inject({ url: tags, headers: key })), 60 - LIMIT)
    const told = new RegExp(`^it does not count \\((?:${says})\\): each server limits calls alone$`)
    // Until a check has ended, guesses may still be counted in Redis.
    await until(app, told)
    t.equal(
      await limitedOf(40, async () => await app.inject({ url: tags, headers: { 'x-api-key': 'shop_wrong' } })),
      40 - GUESSES
    )
    t.match([await checkOf(app), await metric(app)], [[200, told], 0])
    const [line, ...others] = ofRedis()
    t.match(line, {
      level: 50,
      needed: 'redis',
      reason: new RegExp(says),
      msg: 'Redis does not count calls: each server limits calls alone until it does'
    })
    t.strictSame(others, [])

    await run(end)
    await until(app, 'ok')
    t.strictSame([await checkOf(app), await metric(app)], [[200, 'ok'], 1])
    t.match(ofRedis().at(-1), { level: 30, msg: 'Redis counts calls again' })
    const other = await client(app, '', machine)('POST', `/shops/${shop}/api-keys/`, { name: 'counted' })
    t.equal(
      (await app.inject({ url: tags, headers: { 'x-api-key': other.body.plaintext, 'x-forwarded-for': '192.0.2.1' } }))
        .headers['ratelimit-remaining'],
      String(LIMIT - 1)
    )
  })
}

t.test('a counter that Redis kept without an end locks out guesses as any other, and nobody for ever', {
  skip: withoutRedis
}, async (t) => {
  const { app, operator, key } = await open(t)
  await until(app, 'ok')
  t.equal((await app.inject({ url: tags, headers: key })).statusCode, 200)
  const guess = async () => await app.inject({ url: tags, headers: { 'x-api-key': 'shop_wrong' } })
  await guess()
  const [counter = '', ...others] = await operator.keys('*refused:*')
  t.match([counter, others], [/^shop:limit:/, []])
  await operator.set(counter, GUESSES)
  t.equal(await operator.pttl(counter), -1)

  t.equal(await limitedOf(40, guess), 40 - GUESSES)
  t.equal((await guess()).headers['retry-after'], '3600')
  t.equal((await app.inject({ url: tags, headers: key })).statusCode, 200)
})

t.test(
  'an answer that came while the server was busy counts, however late it is read',
  { skip: withoutRedis },
  async (t) => {
    const app = await build(t, database, idp)
    const redis = await openRedis((await startRedis(t)).url, app.log)
    t.teardown(() => {
      redis.disconnect()
    })
    while (redis.status !== 'ready') await sleep(5)
    // From here on, Node.js looks at timers before it reads from connections.
    await nextTurn()
    const answer = redis.ping()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
    t.equal(await answer, 'PONG')
  }
)

t.test(
  'a Redis that is gone: each server limits alone, and shares the counts once it is back',
  { skip: withoutRedis },
  async (t) => {
    const { app, server, key, ofRedis } = await open(t)
    await until(app, 'ok')
    await server.kill()
    t.equal(await limitedOf(60, async () => await app.inject({ url: tags, headers: key })), 60 - LIMIT)
    await until(app, 'it does not respond: each server limits calls alone')
    t.equal(await metric(app), 0)
    t.match(ofRedis(), [{ level: 50, needed: 'redis' }])
    await server.start()
    // It has lost its user, who is refused until then.
    const operator = new Redis(server.url)
    t.teardown(() => {
      operator.disconnect()
    })
    await operator.call('acl', 'setuser', 'shop', 'on', '>of-the-shop', '~*', '+@all')
    await until(app, 'ok')
    t.equal(await metric(app), 1)
    await app.inject({ url: tags, headers: key })
    t.equal((await operator.keys('shop:limit:*key:*')).length, 1)
  }
)
