import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { freePort } from '../src/demo/ports.ts'
import { openPostgres } from '../src/database/index.ts'
import { RISKS } from '../src/settings/risks.ts'
import { BASE_URL, bearer, createShop, openIdentityProvider } from './build.ts'
import { call, start } from './process.ts'
import { startWriting } from './writers.ts'

/** Where Debian puts the programs of PostgreSQL, of the newest version. */
const PROGRAMS = '/usr/lib/postgresql'
const [version] = versions().toSorted((a, b) => Number(b) - Number(a))

/** PostgreSQL does not run as root. */
const AS_POSTGRES = process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--'] : []

function versions (): readonly string[] {
  try {
    return readdirSync(PROGRAMS)
  } catch {
    return []
  }
}

/** A PostgreSQL server of the test's own, that it may stop. */
interface Postgres {
  readonly url: string
  start (): void
  stop (): void
}

/** Starts it on a free port, with its files in a directory of its own. */
async function startPostgres (t: Test): Promise<Postgres> {
  const dir = mkdtempSync(join(tmpdir(), 'shop-outage-'))
  const port = await freePort(0)
  const run = (program: string, ...args: readonly string[]): void => {
    const [command, ...rest] = [...AS_POSTGRES, join(PROGRAMS, version!, 'bin', program), ...args]
    const { status, stdout, stderr } = spawnSync(command!, rest, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    if (status !== 0) throw new Error(`${program}: ${stdout}${stderr}`)
  }
  const data = join(dir, 'data')
  const control = (...args: readonly string[]): void => { run('pg_ctl', '-D', data, '-w', '-t', '120', '-s', ...args) }
  const postgres = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: () => { control('-o', `-p ${port} -k ${dir} -c listen_addresses=127.0.0.1`, '-l', join(dir, 'log'), 'start') },
    stop: () => { control('-m', 'immediate', 'stop') }
  }
  if (AS_POSTGRES.length > 0) spawnSync('chown', ['postgres', dir])
  t.teardown(() => {
    try {
      postgres.stop()
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
  run('initdb', '-D', data, '-A', 'trust', '-U', 'postgres')
  postgres.start()
  return postgres
}

t.test('while the database is away calls get 503, and all is well when it is back', {
  skip: version === undefined && `there is no PostgreSQL in ${PROGRAMS} to start and stop`
}, async (t) => {
  const postgres = await startPostgres(t)
  const idp = await openIdentityProvider(t, ['kim'])
  const { baseUrl, output } = await start(t, 'server', {
    ...idp.settings, DATABASE_URL: postgres.url, PUBLIC_BASE_URL: BASE_URL, MCP_ENABLED: 'true', RATE_LIMIT_MAX: '1000000', ALLOW_INSECURE: RISKS.join(',')
  })
  const database = openPostgres(postgres.url)
  t.teardown(async () => await database.close())
  const shop = await createShop(database, 'outage')
  const tags = `${baseUrl}/shops/${shop}/tags`
  const machine = bearer(await idp.machineToken())
  const person = bearer(await idp.userToken('kim'))
  t.equal((await call('GET', `${baseUrl}/me`, { headers: person })).status, 200)
  const key = { 'x-api-key': (await call('POST', `${baseUrl}/shops/${shop}/api-keys/`, { headers: machine, body: { name: 'outage' } })).body.plaintext }
  const loads = [startWriting(tags, key, 4, 20), startWriting(tags, machine, 4, 20)]
  const acknowledge = async (more: number): Promise<void> => {
    await Promise.all(loads.map(async (load) => await load.acknowledges(load.acknowledged.size + more)))
  }
  const readiness = async (status: number) => {
    for (;;) {
      const answer = await call('GET', `${baseUrl}/readyz`)
      if (answer.status === status) return answer.body
      await sleep(50)
    }
  }

  for (let outage = 0; outage < 2; outage++) {
    await acknowledge(40)
    postgres.stop()
    t.match(await readiness(503), { status: 'not ready', checks: { database: /^(it cannot be reached|no answer within \d+ ms)$/, shutdown: 'ok' } })
    t.equal((await call('GET', `${baseUrl}/healthz`)).status, 200, 'the process is up all the same')
    for (const [headers, code] of [[key, 'DUAL_AUTH_STORE_UNAVAILABLE'], [machine, 'SHOP_DATABASE_UNAVAILABLE'], [person, 'SHOP_DATABASE_UNAVAILABLE']] as const) {
      const { status, body, headers: sent } = await call('GET', tags, { headers })
      t.match([status, body, sent.get('retry-after')], [503, { statusCode: 503, code, error: 'Service Unavailable' }, '5'])
    }
    t.equal((await call('GET', `${baseUrl}/me`, { headers: person })).status, 503)
    postgres.start()
    t.match(await readiness(200), { status: 'ready' })
    await acknowledge(40)
  }
  for (const load of loads) await load.end()

  const statuses = new Set(loads.flatMap(({ failures }) => failures.map(({ status }) => status)))
  const unforeseen = output().split('\n').filter((line) => line.includes('"level":50') && !/ECONNREFUSED|57P0/.test(line))
  t.strictSame(statuses, new Set([503]), `nothing but 503, by key and by token: ${unforeseen.join(' ').slice(0, 2000)}`)
  const kept = new Set((await database.knex('tags').select('name')).map(({ name }) => name))
  const acknowledged = loads.flatMap((load) => [...load.acknowledged])
  t.strictSame(acknowledged.filter((name) => !kept.has(name)), [], 'every acknowledged write is there')
  t.comment(`${acknowledged.length} acknowledged, ${loads.reduce((sum, { failures }) => sum + failures.length, 0)} refused`)
})
