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

const ROUNDS = 21
const REQUESTS = 1500

/** Servers of peer.js by what they verify; the others are compared with the first. */
const GROUPS = { JWT: ['dual-auth', '@fastify/jwt'], 'API key': ['dual-auth', '@fastify/bearer-auth', 'better-auth'], 'API key in PostgreSQL': ['dual-auth', 'better-auth'] }
const OWN = ['dual-auth', '@fastify/jwt']

const issuer = await startIssuer()
const provider = JSON.stringify({ issuer: issuer.url, publicKey: issuer.publicKey.export({ type: 'spki', format: 'pem' }), token: issuer.token() })
const server = process.env.TEST_DATABASE_URL
const admin = server && knex({ client: 'pg', connection: server, pool: { min: 0, max: 1 } })
const hasPeers = await installed() !== undefined
const databases = []

async function createDatabase () {
  const name = `dual_auth_bench_${randomBytes(4).toString('hex')}`
  await admin.raw('create database ??', [name])
  databases.push(name)
  const url = new URL(server)
  url.pathname = name
  return { name, url: url.href }
}

async function start (group, member) {
  const database = group.includes('PostgreSQL') ? await createDatabase() : undefined
  const child = fork(fileURLToPath(new URL('peer.js', import.meta.url)), [group === '' ? member : `${group}: ${member}`, database?.url ?? '', provider])
  const ended = once(child, 'exit').then(([code]) => { throw new RangeError(`${member} ended with ${code}`) })
  ended.catch(() => {})
  const answer = async () => (await Promise.race([once(child, 'message'), ended]))[0]
  await answer()
  const round = async () => {
    const before = await databaseTime(database)
    child.send(REQUESTS)
    const used = await answer()
    return { ...used, database: (await databaseTime(database) - before) / REQUESTS }
  }
  return { group, member, database, child, round, rounds: [] }
}

/** The processor time of the database's processes so far, in microseconds: known on Linux, if they run here. */
async function databaseTime (database) {
  if (database === undefined) return 0
  const { rows } = await admin.raw('select pid from pg_stat_activity where datname = ?', [database.name])
  try {
    return rows.reduce((sum, { pid }) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000, 0)
  } catch {
    return NaN
  }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const medianOf = (rounds, value) => median(rounds.map(value))

console.log(`node ${process.version}, ${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)}`)
const plain = await start('', 'no authentication')
const peers = []
for (const [group, members] of Object.entries(GROUPS)) {
  if (group.includes('PostgreSQL') && server === undefined) continue
  for (const member of members) if (hasPeers || OWN.includes(member)) peers.push(await start(group, member))
}
const all = [plain, ...peers]
for (let n = -3; n < ROUNDS; n++) {
  // The first rounds get them warm.
  for (const each of n % 2 === 0 ? all : all.toReversed()) each.rounds[Math.max(n, 0)] = await each.round()
}

console.log(`a request without authentication: ${Math.round(medianOf(plain.rounds, ({ cpu }) => cpu))} µs`)
console.table(peers.map(({ group, member, database, rounds }) => {
  const first = peers.find((other) => other.group === group)
  const added = (of, n) => of[n].cpu - plain.rounds[n].cpu
  return {
    'to verify': group,
    with: member,
    'Node.js, µs added': Math.round(medianOf(rounds, (_, n) => added(rounds, n))),
    'times dual-auth': medianOf(rounds, (_, n) => added(rounds, n) / added(first.rounds, n)).toFixed(2),
    ...(database && { 'PostgreSQL, µs': Math.round(medianOf(rounds, ({ database: time }) => time)), statements: medianOf(rounds, ({ statements }) => statements).toFixed(1) })
  }
}))
if (!hasPeers) console.log('NOT MEASURED: @fastify/bearer-auth and better-auth could not be installed.')
if (server === undefined) console.log('NOT MEASURED: PostgreSQL. Set TEST_DATABASE_URL to a server on which databases may be created.')
console.log('NOT MEASURED: unkey. Its keys are verified by its service, over the network.')

for (const { child } of all) {
  child.disconnect()
  await once(child, 'exit')
}
for (const name of databases) await admin.raw('drop database ?? with (force)', [name])
await admin?.destroy()
issuer.close()
