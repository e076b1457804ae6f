import { spawnSync } from 'node:child_process'
import { networkInterfaces } from 'node:os'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import type { Outcome } from '../src/commands/command.ts'
import { run as shop } from '../src/commands/run.ts'
import { migrate } from '../src/migrations/migrate.ts'
import { makeAdmins } from '../src/users/repository.ts'
import {
  bearer,
  build,
  client,
  createDatabase,
  createShop,
  openIdentityProvider,
  openEmptyDatabase,
  TEST_DATABASE_URL
} from './build.ts'
import { startFreezingProxy } from './freezing-proxy.ts'
import { joined } from '../../../test/joined.ts'

const idp = await openIdentityProvider(t, ['kim', 'ada'])
const database = await openEmptyDatabase(t)
const { knex } = database
const settings = {
  ...idp.settings,
  PUBLIC_BASE_URL: 'http://localhost:8080',
  IDP_M2M_CLIENT_IDS: 'test-machine',
  ALLOW_INSECURE: 'embedded-database,http-base-url,http-issuer,weak-secrets',
  USER: 'olive'
}

/** Runs a command on the database of this file, which outlives it. */
async function run (argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<Outcome> {
  return await shop(argv, environment, async () => ({ ...database, close: async () => {} }))
}

const trail = async (): Promise<object[]> =>
  await knex('history').orderBy(['at', 'id'])
    .select(
      'actor_kind',
      'actor_id',
      'operation',
      'action',
      'record_kind',
      'shop_id',
      'record_id',
      'changes',
      'request_id'
    )

const usage = `Usage:
  shop admin add <subject>
      makes the person with this subject (the sub claim) an active admin
  shop key create --shop <slug or id> --name <name> [--scope <scope>]... [--expires <date-time>]
      creates an API key for a shop and prints it; it is not shown again
  shop person export <id or subject>
      prints everything that is stored about a person, as lines of JSON
  shop person rename <id or subject> <name>
      replaces the name of a person everywhere, also in the history; their next sign-in stores the name in their token
  shop person delete <id or subject>
      deletes a person for good and revokes their API keys; what they did stays in the history without their name
  shop doctor
      checks the settings and what they point to, and the access token in SHOP_TOKEN if there is one
  shop migrate [--status]
      brings the database tables up to date; --status only lists what is pending, and exits with 1 if anything is
  shop reseal
      re-encrypts the payment keys of all shops with the first secret in PAY_KEY_SECRETS
  shop seed
      adds the shops of the demo to the database, except those that exist
`

t.test('shop without a command that it knows says which there are', async (t) => {
  for (const argv of [[], ['admin'], ['key', 'add'], ['--help']]) {
    t.strictSame(await run(argv, settings), { code: 1, stdout: '', stderr: usage })
  }
})

t.test('npm run shop runs it, and ends as it says', (t) => {
  const program = fileURLToPath(new URL('../dist/commands/shop.js', import.meta.url))
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'doctor'], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] }
  })
  t.match({ status, stdout, stderr }, {
    status: 1,
    stdout: /^fail {2}settings {2}These settings cannot be used:\n {2}.*IDP_ISSUER/,
    stderr: ''
  })
  t.end()
})

t.test('commands want the tables, and the doctor says how to make them', async (t) => {
  for (const argv of [['admin', 'add', 'x'], ['key', 'create', '--shop', 'x', '--name', 'x']]) {
    t.match(await run(argv, settings), {
      code: 1,
      stdout: '',
      stderr: /^Migrations are pending: 001-shops[\s\S]* Database: /
    })
  }
  t.match(await run(['doctor'], settings), {
    code: 1,
    stdout: joined(
      /^ok {4}settings {4}complete\n/,
      /ok {4}database {4}.*PostgreSQL \d.*\n/,
      /fail {2}migrations {2}pending: 001-shops.* Run npm run migrate\n$/
    )
  })
  await migrate(database)
})

t.test('admin add makes an admin of anybody, known, unknown or shut out, and audits it', async (t) => {
  const made = await run(['admin', 'add', 'sub-1'], settings)
  t.match(made, {
    code: 0,
    stdout: /^[0-9a-f-]{36}\n$/,
    stderr: 'Nobody with the subject sub-1 has signed in yet. Check it against subject in the response of GET ' +
      '/me.\nsub-1 is now an admin.\n'
  })
  const id = made.stdout.trim()
  const user = {
    actor_kind: 'command',
    actor_id: 'olive',
    operation: 'admin add',
    record_kind: 'user',
    shop_id: null,
    record_id: id,
    request_id: null
  }
  const created = {
    ...user,
    action: 'create',
    changes: {
      subject: { before: null, after: 'sub-1' },
      active: { before: null, after: true },
      roles: { before: null, after: ['admin'] }
    }
  }
  t.strictSame(await trail(), [created])

  t.strictSame(await run(['admin', 'add', 'sub-1'], settings), {
    code: 0,
    stdout: `${id}\n`,
    stderr: 'sub-1 is already an admin.\n'
  })
  t.strictSame(await trail(), [created], 'what changes nothing is not told')

  await knex('users').where({ id }).update({ name: 'sue', roles: [], active: false })
  t.strictSame(await run(['admin', 'add', 'sub-1'], { ...settings, USER: '' }), {
    code: 0,
    stdout: `${id}\n`,
    stderr: 'sub-1 (sue) is now an admin.\n'
  })
  t.match(await knex('users').where({ id }).first(), { roles: ['admin'], active: true })
  t.strictSame((await trail()).slice(1), [
    {
      ...user,
      actor_id: null,
      action: 'update',
      changes: { roles: { before: [], after: ['admin'] }, active: { before: false, after: true } }
    }
  ])
})

t.test('ADMIN_SUBJECTS audits whom it makes an admin, once, and lets nobody in who was shut out', async (t) => {
  const before = (await trail()).length
  await knex('users').insert({ subject: 'sub-2', active: false })
  for (let start = 0; start < 2; start++) await makeAdmins(knex, ['sub-1', 'sub-2', 'sub-3'])
  t.match(await knex('users').where({ subject: 'sub-2' }).first(), { roles: ['admin'], active: false })
  const server = {
    actor_kind: 'server',
    actor_id: null,
    operation: 'ADMIN_SUBJECTS',
    record_kind: 'user',
    request_id: null
  }
  t.match((await trail()).slice(before), [
    { ...server, action: 'update', changes: { roles: { before: [], after: ['admin'] } } },
    { ...server, action: 'create', changes: { subject: { after: 'sub-3' } } }
  ])
  t.equal((await trail()).length, before + 2)
})

t.test('key create makes a key that works, for the shop and its scopes alone, and audits it', async (t) => {
  const id = await createShop(database, 'tea-house')
  const before = (await trail()).length
  const bySlug = await run(['key', 'create', '--shop', 'tea-house', '--name', 'Printer'], settings)
  t.match(bySlug, {
    code: 0,
    stdout: /^shop_\w{12}_\w{49}\n$/,
    stderr: new RegExp(`^API key [0-9a-f-]{36} of tea-house \\(${id}\\)\\. It is not shown again\\.\n$`)
  })
  const byId = await run([
    'key',
    'create',
    '--shop',
    id.toUpperCase(),
    '--name',
    'Reader',
    '--scope',
    'list_tags',
    '--scope',
    'list_products',
    '--expires',
    '2099-01-01T00:00:00+01:00'
  ], settings)
  t.equal(byId.code, 0)
  t.match((await trail()).slice(before), [
    {
      actor_kind: 'command',
      actor_id: 'olive',
      operation: 'key create',
      action: 'create',
      record_kind: 'api_key',
      shop_id: id,
      changes: { name: { after: 'Printer' } }
    },
    {
      changes: { scopes: { after: ['list_tags', 'list_products'] }, expires_at: { after: '2098-12-31T23:00:00.000Z' } }
    }
  ])
  t.notMatch(JSON.stringify(await trail()), bySlug.stdout.trim().slice(-20))
  const app = await build(t, database, idp)
  const [full, limited] = [bySlug, byId].map(({ stdout }) =>
    client(app, `/shops/${id}`, { 'x-api-key': stdout.trim() })
  ) as [ReturnType<typeof client>, ReturnType<typeof client>]
  t.equal((await full('POST', '/tags', { name: 'Sale' })).status, 201)
  t.equal((await limited('GET', '/tags')).status, 200)
  t.match(await limited('POST', '/tags', { name: 'Sale' }), {
    status: 403,
    body: { code: 'DUAL_AUTH_SCOPE_INSUFFICIENT' }
  })
  await knex('shops').where({ id }).update({ status: 'archived' })
  t.match(await run(['key', 'create', '--shop', id, '--name', 'Early'], settings), {
    code: 0,
    stderr: /\nThe shop is archived: its keys are refused until it is active again\.\n$/
  })
})

t.test('input that cannot be used is named, and changes nothing', async (t) => {
  const before = (await trail()).length
  const create = ['key', 'create', '--shop', 'tea-house', '--name', 'x']
  for (
    const [argv, stderr] of [
      [['admin', 'add'], 'Usage: shop admin add <subject>\n'],
      [['admin', 'add', 'a', 'b'], 'Usage: shop admin add <subject>\n'],
      [['admin', 'add', 's'.repeat(256)], 'Usage: shop admin add <subject>\n'],
      [['admin', 'add', '--force', 'a'], /^Unknown option '--force'/],
      [['key', 'create', '--shop', 'tea-house'], /^Usage: shop key create /],
      [['key', 'create', '--shop', 'nowhere', '--name', 'x'], 'No shop nowhere\n'],
      [['key', 'create', '--shop', 'tea-house', '--name', 'x'.repeat(101)], /name must be 1 to 100 characters/],
      [[...create, '--scope', 'reed'], /^Unknown scopes: reed\. Known: read, write, create_attribute, /],
      [[...create, '--expires', '2027-01-31'], /^--expires must be a date and time with a time zone, such as /],
      [[...create, '--expires', '2001-01-01T00:00:00Z'], /must be in the future|not in the future|past/],
      [['doctor', 'now'], 'Usage: shop doctor\n']
    ] as const
  ) t.match(await run(argv, settings), { code: 1, stdout: '', stderr }, argv.join(' '))
  t.equal((await trail()).length, before)
})

t.test('key create refuses peppers that fit no stored key: its key would not work at the server', async (t) => {
  const other = { ...settings, API_KEY_PEPPERS: `other:${'q'.repeat(32)}` }
  t.match(await run(['key', 'create', '--shop', 'tea-house', '--name', 'x'], other), {
    code: 1,
    stdout: '',
    stderr: /API_KEY_PEPPERS lacks the secrets of 3 of 3 stored API keys \(ids: test\)/
  })
  t.match(await run(['doctor'], other), {
    code: 1,
    stdout: /\nfail {2}secrets .*\n.*API_KEY_PEPPERS lacks the secrets of 3 of 3/
  })
})

t.test('the doctor says what works, and which tokens the server accepts', async (t) => {
  const { code, stdout } = await run(['doctor'], settings)
  t.equal(code, 0)
  const lines = stdout.split('\n')
  t.match(lines, [
    /^ok {4}settings {11}complete$/,
    /^ok {4}database {11}.*PostgreSQL/,
    /^ok {4}migrations {9}up to date$/,
    `ok    identity provider  ${idp.settings['IDP_ISSUER']}`,
    /^ok {4}signing keys {7}\d for RS256$/,
    /^ok {4}secrets {12}match the stored keys$/,
    /^ok {4}admins {13}2$/,
    /^ok {4}browser login {6}client test-mcp$/,
    `ok    tokens             access tokens of ${idp.settings['IDP_ISSUER']} (cognito); clients of people: ` +
    'test-mcp; of machines: test-machine; ' +
    'aud: absent, or one of http://localhost:8080 http://localhost:8080/ http://localhost:8080/mcp ' +
    'http://localhost:8080/mcp/',
    ''
  ])
  t.equal(lines.length, 10)
})

t.test('the doctor warns of what the server starts without, and fails for what it does not', async (t) => {
  await knex('users').update({ roles: [] })
  t.match(await run(['doctor'], { ...settings, IDP_MCP_CLIENT_ID: '', REDIS_URL: 'redis://127.0.0.1:1' }), {
    code: 0,
    stdout: /\nwarn {2}Redis .*\n(.*\n)*warn {2}admins .*shop admin add <subject>\nwarn {2}browser login /
  })
  t.match(await run(['doctor'], { ...settings, IDP_ISSUER: 'http://127.0.0.1:1' }), {
    code: 1,
    stdout: /\nfail {2}identity provider {2}the discovery document at http:\/\/127\.0\.0\.1:1\/\S+ cannot be read: /
  })
  t.match(await run(['doctor'], { ...settings, ALLOW_INSECURE: '' }), {
    code: 1,
    stdout: /^fail {2}settings {2}These settings cannot be used:\n(.*\n)*.*http-issuer/
  })
  t.match(await shop(['doctor'], { ...settings, DATABASE_URL: 'postgres://x@127.0.0.1:1/x' }), {
    code: 1,
    stdout: /^ok {4}settings {2}complete\nfail {2}database {2}.*ECONNREFUSED/
  })
})

/** An address of this machine that others reach. */
const address = Object.values(networkInterfaces()).flat().find((found) => found?.family === 'IPv4' && !found.internal)
  ?.address

t.test('the doctor warns of a connection in plain text to another host', {
  skip: (TEST_DATABASE_URL === undefined || address === undefined) && 'it needs TEST_DATABASE_URL, and a network'
}, async (t) => {
  const url = await createDatabase(t, TEST_DATABASE_URL!)
  const examine = async (DATABASE_URL: string): Promise<string> =>
    (await shop(['doctor'], { ...settings, DATABASE_URL })).stdout
  t.match(
    await examine((await startFreezingProxy(t, url, address)).url),
    `warn  database    the connection to ${address} is plain text: append ?sslmode=verify-full`
  )
  t.notMatch(await examine(url), 'plain text')
})

t.test('the doctor warns where searches have no index, and says how to make it', {
  skip: database.engine === 'embedded' && 'the embedded database has none'
}, async (t) => {
  await database.knex.raw('drop index products_search, accounts_search')
  const { code, stdout } = await run(['doctor'], settings)
  t.match({ code, stdout }, {
    code: 0,
    stdout: joined(
      /\nwarn {2}search {2,}q reads every product or account of a shop: .*: /,
      /create extension if not exists pg_trgm; /,
      /create extension if not exists btree_gin; /,
      /create index concurrently if not exists products_search on .*; /,
      /create index concurrently if not exists accounts_search on /
    )
  })
  const statement = /run as a user who may create them: .*?; (create index .*)$/m.exec(stdout)![1]!
  for (const one of statement.split('; ')) await database.knex.raw(one)
  t.notMatch((await run(['doctor'], settings)).stdout, 'warn  search')
})

t.test('the doctor says whose a token is, or why it is refused, and makes nobody known', async (t) => {
  const judged = async (token: string, more: object = {}): Promise<unknown> =>
    (await run(['doctor'], { ...settings, ...more, SHOP_TOKEN: token })).stdout.split('\n').find((line) =>
      /^(?:ok|fail) +SHOP_TOKEN/.test(line)
    )
  const kim = await idp.userToken('kim')
  const { sub } = JSON.parse(Buffer.from(kim.split('.')[1]!, 'base64url').toString())
  t.equal(
    await judged(kim),
    `ok    SHOP_TOKEN         accepted as a person: subject ${sub}, kim; groups: none; scopes: openid email profile`
  )
  t.equal(
    await judged(await idp.machineToken()),
    'ok    SHOP_TOKEN         accepted as a machine: client test-machine; scopes: http://localhost:8080/api'
  )
  t.equal(
    await judged(await idp.machineToken(), { IDP_M2M_CLIENT_IDS: 'none' }),
    'fail  SHOP_TOKEN         rejected: client is not a known machine'
  )
  t.equal(
    await judged(kim, { PUBLIC_BASE_URL: 'http://localhost:8081' }),
    'fail  SHOP_TOKEN         rejected: aud is another resource'
  )
  t.equal(
    await judged(kim, { IDP_MCP_CLIENT_ID: 'web' }),
    'fail  SHOP_TOKEN         rejected: client is not a known app'
  )
  t.match(await judged('nonsense'), /^fail {2}SHOP_TOKEN {9}rejected: /)
  t.strictSame(await knex('users').where({ subject: sub }), [])
  // Then the person is the one that GET /me and admin add know.
  const app = await build(t, database, idp)
  t.match(await client(app, '', bearer(kim))('GET', '/me'), { status: 200, body: { subject: sub, roles: [] } })
  t.match(await run(['admin', 'add', sub], settings), { code: 0, stderr: `${sub} (kim) is now an admin.\n` })
})
