// Measures what a check adds to a request, what it sustains, and what a flood costs. Numbers are of this
// machine and of this moment: run it on an idle one. `npm run bench -w dual-auth` runs it after peers.js.
import { createHook } from 'node:async_hooks'
import { availableParallelism } from 'node:os'
import { randomBytes, verify } from 'node:crypto'
import Fastify from 'fastify'
import Scrypt from 'scrypt-kdf'
import dualAuth, { memoryStore } from 'dual-auth'
import management from 'dual-auth/management'
import { startIssuer } from './issuer.js'

const OWNER = 'owner-1'
const bearer = (token) => ({ authorization: `Bearer ${token}` })
const issuer = await startIssuer()
const failures = []

console.log(`node ${process.version}, ${availableParallelism()} processors`)

async function serve (store, logN) {
  const app = Fastify()
  await app.register(dualAuth, {
    apiKeys: {
      marker: 'bench',
      peppers: [{ id: 'p1', secret: randomBytes(32) }],
      store,
      ownerIdFromParam: 'slug',
      ...(logN && { logN })
    },
    jwt: { issuer: issuer.url, userClients: ['app'] }
  })
  await app.register(management, { path: '/owners/:owner_id/api-keys', canManage: () => true })
  app.get('/open', { config: { auth: 'public' } }, async () => 'x')
  app.get('/dual', { config: { auth: 'any-key' } }, async () => 'x')
  app.get('/jwt', async () => 'x')
  await app.ready()
  const mint = async (owner) => {
    const response = await app.inject({
      method: 'POST',
      url: `/owners/${owner}/api-keys/`,
      headers: bearer(issuer.token()),
      payload: { name: 'bench' }
    })
    return response.json().plaintext
  }
  return { app, mint, key: await mint(OWNER) }
}

/** Microseconds per request, the median, one request at a time; the requests of all kinds take turns. */
async function medians (app, requests, rounds) {
  const times = requests.map(() => [])
  for (let round = -rounds / 10; round < rounds; round++) {
    for (const [i, request] of requests.entries()) {
      const start = process.hrtime.bigint()
      const { statusCode } = await app.inject(request)
      if (statusCode !== 200) failures.push(`${request.url} is ${statusCode}`)
      if (round >= 0) times[i].push(Number(process.hrtime.bigint() - start) / 1000)
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)])
}

async function medianOf (work, rounds) {
  const times = []
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint()
    await work()
    times.push(Number(process.hrtime.bigint() - start) / 1000)
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]
}

/** Requests a second, 32 at once, and the processor's microseconds for each. */
async function rate (app, request, total, expected = 200) {
  let left = total
  const usage = process.cpuUsage()
  const start = performance.now()
  await Promise.all(Array.from({ length: 32 }, async () => {
    while (left-- > 0) {
      const { statusCode } = await app.inject(request())
      if (statusCode !== expected) failures.push(`${statusCode} instead of ${expected}`)
    }
  }))
  const perSecond = total / (performance.now() - start) * 1000
  const { user, system } = process.cpuUsage(usage)
  return { perSecond, cpu: (user + system) / total }
}

/** The median of five rounds of `rate`. */
async function steadyRate (app, request, total) {
  const rounds = []
  for (let round = 0; round < 6; round++) rounds.push(await rate(app, request, total))
  // The first gets it warm.
  return rounds.slice(1).sort((a, b) => a.perSecond - b.perSecond)[2]
}

function report (what, value, unit, good) {
  const verdict = good ? 'ok  ' : 'MISS'
  const figure = Math.round(value).toLocaleString('en')
  console.log(`${good === undefined ? '    ' : verdict} ${what}: ${figure} ${unit}`)
  if (good === false) process.exitCode = 1
}

{
  const { app, key } = await serve(memoryStore())
  // What nobody can be faster than, measured in the same minute: the machine may be busy.
  const hash = await Scrypt.kdf('key', { logN: 5 })
  const signature = issuer.sign('x')
  const token = issuer.token()
  report('scrypt-kdf alone at the default cost, median', await medianOf(() => Scrypt.verify(hash, 'key'), 2000), 'µs')
  const started = performance.now()
  await Promise.all(Array.from({ length: 16 }, async () => {
    for (let i = 0; i < 250; i++) await Scrypt.verify(hash, 'key')
  }))
  report('and sustained, 16 at once', 4000 / (performance.now() - started) * 1000, '/s')
  report(
    'an RS256 verification alone, median',
    await medianOf(() => verify('sha256', 'x', issuer.publicKey, signature), 2000),
    'µs'
  )
  // One kind of check at a time: scrypt leaves the caches cold for whatever comes next.
  const [open, jwt] = await medians(app, [
    { url: '/open', headers: bearer(token) },
    { url: '/jwt', headers: bearer(token) }
  ], 10_000)
  report('a JWT check adds, median', jwt - open, 'µs (at most 60)', jwt - open <= 60)
  const [free, dual] = await medians(app, [
    { url: '/open', headers: bearer(key) },
    { url: '/dual', headers: bearer(key) }
  ], 3000)
  report('a check of an API key that is known adds, median', dual - free, 'µs (at most 500)', dual - free <= 500)
  const keys = await steadyRate(app, () => ({ url: '/dual', headers: bearer(key) }), 5_000)
  report('API key requests sustained', keys.perSecond, '/s (at least 5,000)', keys.perSecond >= 5000)
  report('and use of a processor', keys.cpu, 'µs each')
  const none = await steadyRate(app, () => ({ url: '/open' }), 5_000)
  report('public requests sustained, for comparison', none.perSecond, '/s')
  report('and use of a processor', none.cpu, 'µs each')

  let runs = 0
  const hook = createHook({
    init (_id, type) {
      if (type === 'SCRYPTREQUEST') runs++
    }
  }).enable()
  // Well formed and with a checksum that is right: keys of another server with the same marker.
  const { app: other, mint } = await serve(memoryStore())
  const strangers = []
  for (let i = 0; i < 20; i++) strangers.push(await mint(`owner-${i}`))
  await other.close()
  runs = 0
  let n = 0
  const flood = await rate(
    app,
    () => ({ url: '/dual', headers: bearer(n++ % 2 === 0 ? strangers[n % 20] : `bench_${n}`) }),
    10_000,
    401
  )
  hook.disable()
  report('a flood of 10,000 bad keys is answered at', flood.perSecond, '/s')
  report('and runs scrypt', runs, 'times (0)', runs === 0)

  issuer.fetches = 0
  const strange = await rate(app, () => ({ url: '/jwt', headers: bearer(issuer.token(`kid-${n++}`)) }), 1000, 401)
  report('a flood of 1,000 unknown kids is answered at', strange.perSecond, '/s')
  report('and reads the key set', issuer.fetches, 'times (at most 1)', issuer.fetches <= 1)
  await app.close()
}

// scrypt runs at the first use of a key.
console.log('\n logN    memory   first use adds   later uses add')
for (const logN of [1, 4, 5, 6, 7, 8, 10, 12, 15]) {
  const { app, mint } = await serve(memoryStore(), logN)
  const keys = []
  for (let i = 0; i < (logN > 10 ? 20 : 200); i++) keys.push(await mint(`owner-${i}`))
  const next = keys.values()
  const use = async (key) => {
    await app.inject({ url: '/dual', headers: bearer(key) })
  }
  const first = await medianOf(() => use(next.next().value), keys.length)
  const [open, later] = await medians(app, [{ url: '/open' }, { url: '/dual', headers: bearer(keys[0]) }], 1000)
  const milliseconds = (time) => `${((time - open) / 1000).toFixed(2)} ms`
  console.log(
    `${String(logN).padStart(5)} ${String(2 ** logN).padStart(5)} KiB ${milliseconds(first).padStart(16)} ` +
      `${milliseconds(later).padStart(16)}`
  )
  await app.close()
}

issuer.close()
if (failures.length > 0) {
  console.log(`${failures.length} unexpected answers, the first: ${failures[0]}`)
  process.exitCode = 1
}
