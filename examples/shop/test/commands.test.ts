import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { SHORT_LIVED } from '../../../test/node-flags.js'
import { run as shop } from '../src/commands/run.ts'
import { openDatabase } from '../src/database/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { lastingData } from './process.ts'
import { joined } from '../../../test/joined.ts'

const PAY_KEY_SECRETS = `2026:${'abcdefgh'.repeat(4)}`

const TOP = fileURLToPath(new URL('../../../', import.meta.url))
const SHOP = fileURLToPath(new URL('../', import.meta.url))

interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a command in this process, which opens and closes the database as a process of its own does. */
async function run (
  command: 'migrate' | 'seed' | 'reseal',
  settings: Record<string, string>,
  ...args: string[]
): Promise<Ran> {
  const { code, stdout, stderr } = await shop([command, ...args], settings)
  return { code, output: stderr + stdout }
}

/** Runs a command to its end, as its npm script does. */
async function spawned (command: 'migrate' | 'seed', settings: Record<string, string>): Promise<Ran> {
  const script = fileURLToPath(new URL('../dist/commands/shop.js', import.meta.url))
  // Where npm runs them.
  const child = spawn(process.execPath, [...SHORT_LIVED, script, command], {
    cwd: SHOP,
    env: { PATH: process.env['PATH'], ...settings },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  const [code] = await once(child, 'close')
  return { code, output }
}

/** What one test leaves for the next: each new database takes seconds. */
const settings = { ...await lastingData(t), PAY_KEY_SECRETS, ALLOW_INSECURE: 'embedded-database' }

/** The line about the database: without user and password. */
const where = `Database: ${
  settings.DATABASE_URL === ''
    ? join(settings.DATA_DIR, 'database')
    : settings.DATABASE_URL.replace(/^\w+:\/\/[^@]*@([^/]+)\/(\w+).*$/, '$2 at $1')
}\n`

t.test('seed and reseal want the tables', async (t) => {
  t.match(await run('seed', settings), { code: 1, output: /^Migrations are pending/ })
  const ofServer = { ...settings, IDP_ISSUER: 'https://idp.example.com/pool', API_KEY_PEPPERS: PAY_KEY_SECRETS }
  t.match(await run('reseal', ofServer), { code: 1, output: /^Migrations are pending/ })
})

t.test('migrate says what is missing, brings it, and has nothing to do the next time', async (t) => {
  const all = Object.keys(migrations).join(', ')
  t.strictSame(await run('migrate', settings, '--status'), { code: 1, output: `${where}Pending: ${all}\n` })
  t.strictSame(await run('migrate', settings), { code: 0, output: `${where}Done: ${all}\n` })
  t.strictSame(await run('migrate', settings, '--status'), { code: 0, output: `${where}Up to date\n` })
  t.strictSame(await run('migrate', settings), { code: 0, output: `${where}Already up to date\n` })
})

t.test('a relative data directory is the same one as that of a server at the top of the repository', async (t) => {
  const { DATA_DIR, DATABASE_URL, ALLOW_INSECURE } = settings
  if (DATABASE_URL !== '') t.match(await run('migrate', { DATA_DIR, ALLOW_INSECURE }), { code: 0, output: /^Done: /m })
  t.strictSame(await spawned('migrate', { DATA_DIR: relative(TOP, DATA_DIR), ALLOW_INSECURE }), {
    code: 0,
    output: `Database: ${join(DATA_DIR, 'database')}\nAlready up to date\n`
  })
})

t.test('migrate does not take the embedded database for one whose URL is missing, as after a bad line in a file', async (t) => {
  const { DATA_DIR } = await lastingData(t)
  t.match(await run('migrate', { DATA_DIR, DATABASE_URL: '' }), {
    code: 1,
    output: joined(
      /^These settings cannot be used:\n {2}DATABASE_URL is not set: .*\. /,
      /To allow this, add embedded-database to ALLOW_INSECURE\n$/
    )
  })
  t.notOk(existsSync(DATA_DIR))
})

t.test('seed fills the tables once, and changes nothing the next time', async (t) => {
  const first = await spawned('seed', settings)
  t.match(first, {
    code: 0,
    output:
      /^[0-9a-f-]{36} {2}Copper Kettle\n[0-9a-f-]{36} {2}North Trail Outfitters\n[0-9a-f-]{36} {2}Paper Lantern\n$/
  })
  const rows = async (): Promise<unknown> => {
    const database = await openDatabase({
      DATA_DIR: settings.DATA_DIR,
      ...(settings.DATABASE_URL !== '' && { DATABASE_URL: settings.DATABASE_URL })
    })
    try {
      return await Promise.all(
        ['shops', 'products', 'accounts', 'orders'].map(async (table) => await database.knex(table).orderBy('id'))
      )
    } finally {
      await database.close()
    }
  }
  const before = await rows()
  t.strictSame(await run('seed', settings), first)
  t.strictSame(await rows(), before)
})

t.test('what a command cannot use is named', async (t) => {
  const { DATA_DIR } = await lastingData(t)
  t.match(await run('migrate', { DATA_DIR }, '--stauts'), {
    code: 1,
    output: /^Unknown option '--stauts'.*\nUsage: shop migrate \[--status\]\n$/
  })
  t.match(await run('migrate', { DATA_DIR, DATABASE_URL: 'mysql://x' }), {
    code: 1,
    output: joined(
      /^These settings cannot be used:\n {2}DATABASE_URL has the wrong format\./,
      / Expected: URL of a PostgreSQL database, version 15 or later/
    )
  })
  t.match(await run('seed', { DATA_DIR }), { code: 1, output: /PAY_KEY_SECRETS/ })
})
