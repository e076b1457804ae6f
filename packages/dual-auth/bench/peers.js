// What authentication adds to a request: dual-auth beside others, on the same route and the same store, in one run.
// Processor time, because it depends less on what else the machine does; compare the ratios. All take turns in each
// round, and each figure is the median of the rounds. npm run bench -w dual-auth
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import knex from 'knex'
import { installed } from './install.js'
import { startIssuer } from './issuer.js'

const ROUNDS = 11

const issuer = await startIssuer()
const provider = JSON.stringify({
  issuer: issuer.url,
  publicKey: issuer.publicKey.export({ type: 'spki', format: 'pem' }),
  user: issuer.token(),
  machine: issuer.token('key-1', { sub: 'robot', client_id: 'robot', scope: 'shop/api' })
})
const server = process.env.TEST_DATABASE_URL
const admin = server && knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
const hasBetterAuth = server !== undefined && await installed() !== undefined
const databases = []

async function createDatabase () {
  const name = `dual_auth_bench_${randomBytes(4).toString('hex')}`
  await admin.raw('create database ??', [name])
  databases.push(name)
  const url = new URL(server)
  url.pathname = name
  return { name, url: url.href }
}

/** Returns one entry for each kind of caller of a server. */
async function start (name) {
  const database = server && await createDatabase()
  const child = fork(fileURLToPath(new URL('peer.js', import.meta.url)), [name, database?.url ?? '', provider])
  const ended = once(child, 'exit').then(([code]) => {
    throw new RangeError(`${name} ended with ${code}`)
  })
  ended.catch(() => {})
  const answer = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  const kinds = await answer()
  return kinds.map((kind) => ({
    name,
    kind,
    child,
    rounds: [],
    async round () {
      const before = await databaseTime(database)
      child.send(kind)
      const used = await answer()
      return { ...used, database: (await databaseTime(database) - before) / used.all }
    }
  }))
}

/** The processor time of the database's processes so far, in microseconds: known on Linux, if they run here. */
async function databaseTime (database) {
  if (database === undefined) return 0
  const { rows } = await admin.raw('select pid from pg_stat_activity where datname = ?', [database.name])
  try {
    return rows.reduce(
      (sum, { pid }) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000,
      0
    )
  } catch {
    return NaN
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const load = () => `load ${loadavg()[0].toFixed(1)}`

console.log(`node ${process.version}, ${availableParallelism()} processors, ${load()}`)
const all = []
for (
  const name of [
    'no authentication',
    ...(server === undefined ? [] : ['hand-written']),
    ...(hasBetterAuth ? ['better-auth'] : []),
    '@fastify/jwt',
    'dual-auth'
  ]
) all.push(...await start(name))
const [plain] = all
// Without a database, dual-auth would be the only one with keys.
const measured = all.filter(({ kind }) => server !== undefined || !kind.endsWith('key'))
for (let n = -3; n < ROUNDS; n++) {
  // The first rounds get them warm.
  for (const each of n % 2 === 0 ? measured : measured.toReversed()) each.rounds[Math.max(n, 0)] = await each.round()
}
console.log(`afterwards ${load()}`)

const of = ({ rounds }, value) => median(rounds.map(value))
console.log(
  `a request without authentication: ${Math.round(of(plain, ({ cpu }) => cpu))} µs, ` +
    `${Math.round(of(plain, ({ perSecond }) => perSecond))} requests a second`
)
const kinds = ['known key', 'unknown key', 'first call of a key', 'user', 'machine']
console.table(
  kinds.flatMap((kind) => measured.filter((each) => each.kind === kind)).map((each) => {
    const { name, kind } = each
    // The first of its kind is the least that does it. Only dual-auth treats the first call differently.
    const least = measured.find((other) => other.kind === kind.replace('first call of a', 'known'))
    const added = ({ rounds }, n) => rounds[n].cpu - plain.rounds[n].cpu
    return {
      caller: kind,
      with: name,
      'Node.js, µs added': Math.round(of(each, (_, n) => added(each, n))),
      'times the least': of(each, (_, n) => added(each, n) / added(least, n)).toFixed(2),
      'requests a second': Math.round(of(each, ({ perSecond }) => perSecond)),
      'PostgreSQL, µs': Math.round(of(each, ({ database }) => database)),
      statements: of(each, ({ statements }) => statements).toFixed(1)
    }
  })
)
if (server === undefined) {
  console.log('NOT MEASURED: API keys. Set TEST_DATABASE_URL to a PostgreSQL on which databases may be created.')
  process.exitCode ??= 2
} else if (!hasBetterAuth) {
  console.log('NOT MEASURED: better-auth could not be installed.')
  process.exitCode ??= 2
}
console.log('Not compared: unkey. Its keys are verified by its service, over the network.')

for (const child of new Set(all.map(({ child }) => child))) {
  child.disconnect()
  await once(child, 'exit')
}
for (const name of databases) await admin.raw('drop database ?? with (force)', [name])
await admin?.destroy()
issuer.close()
