import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { examine, type Finding } from 'dual-auth/doctor'
import type { FastifyInstance } from 'fastify'
import { acceptedTokens } from '../auth.ts'
import { type Database, STATEMENT_LIMIT } from '../database/index.ts'
import { clockDiffers } from '../database/clock.ts'
import { losesWrites } from '../database/durability.ts'
import { pendingMigrations } from '../migrations/migrate.ts'
import { losesSessions, TIME_LIMIT_REMEDY } from '../database/pooler.ts'
import type { Replica } from '../database/replica.ts'
import { cannotMigrate, knowsCase, unsuitable } from '../database/session.ts'
import { hasSearchIndex, SEARCH_SQL } from '../migrations/search-index.ts'
import { misspeltIn, sentenceOf } from '../settings/misspelt.ts'
import { type Settings, settingsFromEnvironment } from '../settings/settings.ts'
import { inSettings } from '../settings/option-names.ts'
import { risksIn } from '../settings/risks.ts'
import type { Call, Command } from './command.ts'
import { reasonOf } from './refuse.ts'

/** The oldest PostgreSQL that the server is tested on, as a `server_version_num`. */
const OLDEST = 150_000

/**
 * `shop doctor`: builds the server from its settings, without listening, and reports what works and which tokens it
 * accepts. With an access token in SHOP_TOKEN it also says why the server would reject it; the server itself says so
 * only in its log.
 */
export const doctor: Command = {
  usage: 'doctor',
  summary: 'checks the settings and what they point to, and the access token in SHOP_TOKEN if there is one',
  async run (call) {
    const findings = await examineAll(call)
    const width = Math.max(...findings.map(({ what }) => what.length))
    return {
      code: findings.some(({ level }) => level === 'fail') ? 1 : 0,
      stdout: findings.map(({ level, what, found }) => `${level.padEnd(4)}  ${what.padEnd(width)}  ${found}\n`).join(
        ''
      ),
      stderr: ''
    }
  }
}

async function examineAll ({ environment, open }: Call): Promise<readonly Finding[]> {
  const settings = await attempt('settings', async () => settingsFromEnvironment(environment, {}, risksIn))
  if ('level' in settings) return [settings]
  const { result: config } = settings
  const database = await attempt('database', async () => await open(config))
  const complete = [
    ok('settings', 'complete'),
    ...misspeltIn(environment).map((name) => warn('settings', sentenceOf(name)))
  ]
  if ('level' in database) return [...complete, database]
  try {
    const found = [...complete, ...await examineDatabase(database.result)]
    // The server does not start while tables are missing.
    const startable = found.every(({ level }) => level !== 'fail')
    return startable
      ? [...found, ...await examineServer(config, database.result, environment['SHOP_TOKEN'] ?? '')]
      : found
  } finally {
    await database.result.close()
  }
}

async function examineMigrations (pending: readonly string[], knex: Database['knex']): Promise<Finding> {
  if (pending.length === 0) return ok('migrations', 'up to date')
  const reason = await cannotMigrate(knex)
  return fail(
    'migrations',
    `pending: ${pending.join(', ')}. ${reason === undefined ? 'Run npm run migrate' : `They cannot run: ${reason}`}`
  )
}

async function examineDatabase ({ engine, place, knex, replica }: Database): Promise<readonly Finding[]> {
  const answer = await attempt(
    'database',
    async () =>
      (await knex.raw(
        "select current_setting('server_version') as version, current_setting('server_version_num')::int as number"
      )).rows[0]
  )
  if ('level' in answer) return [answer]
  const { version, number } = answer.result
  const name = `${engine === 'embedded' ? 'embedded ' : ''}PostgreSQL ${version}, ${place}`
  const pending = await attempt('migrations', async () => await pendingMigrations(knex))
  const difference = await clockDiffers({ engine, knex })
  const isCurrent = !('level' in pending) && pending.result.length === 0
  const isSearched = isCurrent && engine === 'postgres'
  return [
    number < OLDEST ? fail('database', `${name}: the server needs 15 or later`) : ok('database', name),
    ...(await unsuitable(knex)).map((reason) => fail('database', reason)),
    ...(await losesWrites({ engine, knex })).map((loss) => warn('database', loss)),
    ...difference === undefined ? [] : [warn('clock', difference)],
    ...engine === 'embedded' ? [] : [...await examineEncryption(knex), ...await examinePooler(knex)],
    'level' in pending ? pending : await examineMigrations(pending.result, knex),
    ...replica === undefined ? [] : [await examineReplica(replica)],
    ...!isSearched || await hasSearchIndex(knex)
      ? []
      : [
        warn(
          'search',
          'q reads every product or account of a shop: the indexes need the extensions pg_trgm and btree_gin. If ' +
            `they are available, run as a user who may create them: ${SEARCH_SQL}`
        )
      ],
    ...!isSearched || await knowsCase(knex)
      ? []
      : [
        warn(
          'search',
          'q reads every product of a shop: LC_CTYPE of the database is C, and its index knows the case of a to ' +
            'z only. Create the database with another, such as C.UTF-8'
        )
      ]
  ]
}

/** Nothing if what is sent to the database stays on this host, or is encrypted for the database alone. */
async function examineEncryption (knex: Database['knex']): Promise<readonly Finding[]> {
  const connection = await knex.client.acquireConnection()
  const { encrypted = false, authorized, remoteAddress } = connection.connection.stream as Socket & Partial<TLSSocket>
  await knex.client.releaseConnection(connection)
  // A socket of the file system has no address.
  if (remoteAddress === undefined || LOOPBACK.test(remoteAddress) || (encrypted && authorized)) return []
  const found = encrypted ? 'is encrypted, but the certificate is not verified' : 'is plain text'
  return [
    warn(
      'database',
      `the connection to ${remoteAddress} ${found}: append ?sslmode=verify-full&sslrootcert=<file of the ` +
        'authority> to DATABASE_URL'
    )
  ]
}

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/

/** The server works without it, too. */
async function examineReplica (replica: Replica): Promise<Finding> {
  const found = await attempt('read replica', async () => await replica.standing())
  if ('level' in found) return warn('read replica', `DATABASE_READ_URL: ${found.found}. Lists are read at the primary`)
  const { follows, lag } = found.result
  return follows
    ? ok('read replica', `follows, ${lag.toFixed(1)} s behind`)
    : warn(
      'read replica',
      'DATABASE_READ_URL leads to a server that follows no primary: set the URL of a standby of DATABASE_URL'
    )
}

/** Nothing if no pooler in transaction mode is found. */
async function examinePooler (knex: Database['knex']): Promise<readonly Finding[]> {
  if (!await losesSessions(knex)) return []
  const { rows: [{ limit, ms }] } = await knex.raw(
    "select current_setting('statement_timeout') as limit, setting::int as ms from pg_settings where name = " +
      "'statement_timeout'"
  )
  const found = ok('pooler', 'in transaction mode. Run migrations with the URL of the PostgreSQL server itself')
  if (ms === 0) {
    return [
      warn(
        'pooler',
        `statements have no time limit, since the pooler drops that of the server. Set one: ${TIME_LIMIT_REMEDY}`
      )
    ]
  }
  if (ms < STATEMENT_LIMIT) {
    return [
      found,
      warn(
        'pooler',
        `statements end after ${limit}, and the pooler drops the limit of the server, which some need: ` +
          `${TIME_LIMIT_REMEDY}`
      )
    ]
  }
  return [found]
}

/** What the server itself says about its surroundings and a token. */
async function examineServer (config: Settings, database: Database, token: string): Promise<readonly Finding[]> {
  const { buildApp } = await import('../app.ts')
  const built = await attempt('server', async () => await buildApp({ config, database, logger: false }), config)
  if ('level' in built) return [built]
  const { result: app } = built
  try {
    const started = await attempt('server', async () => await app.ready(), config)
    if ('level' in started) return [started]
    const found = await examineTokens(config, token)
    const first = found.findIndex(({ what }) => what === TOKEN)
    const [issuers, judged] = first === -1 ? [found, []] : [found.slice(0, first), found.slice(first)]
    const { checks } = (await app.inject('/readyz')).json<{ checks: Record<string, string> }>()
    return [
      ...issuers,
      // The server works without Redis, too.
      ...(checks['redis'] === undefined
        ? []
        : [checks['redis'] === 'ok' ? ok('Redis', 'responds') : warn('Redis', checks['redis'])]),
      await secrets(app),
      await admins(database),
      config.IDP_MCP_CLIENT_ID === ''
        ? warn('browser login', 'IDP_MCP_CLIENT_ID is not set: MCP clients can only use API keys')
        : ok('browser login', `client ${config.IDP_MCP_CLIENT_ID}`),
      ...tokens(config),
      ...judged
    ]
  } finally {
    await app.close()
  }
}

async function secrets ({ storedSecrets }: FastifyInstance): Promise<Finding> {
  const compared = await attempt('secrets', async () => await storedSecrets.compare())
  if ('level' in compared) return compared
  return storedSecrets.state === 'ok' ? ok('secrets', 'match the stored keys') : warn('secrets', storedSecrets.state)
}

async function admins ({ knex }: Database): Promise<Finding> {
  const { count } =
    await knex('users').where({ active: true }).whereRaw("'admin' = any(roles)").count('* as count').first() ??
      { count: 0 }
  return Number(count) > 0
    ? ok('admins', `${count}`)
    : warn('admins', 'none yet: sign in, read subject in the response of GET /me, then run shop admin add <subject>')
}

/** Which tokens of each issuer are accepted. */
function tokens (config: Settings): readonly Finding[] {
  return acceptedTokens(config).map((accepted) => {
    const { provider, issuer, tenants, userClients, machineClients, audience = [], sessionTokens = false } = accepted
    const isCognito = provider === 'cognito'
    const machines = machineClients === undefined
      ? `any${isCognito ? ' with a scope that ends in /api' : ''}`
      : machineClients.join(', ') || 'none'
    const clients = [userClients ?? []].flat().join(', ') || 'none'
    const sessions = sessionTokens || provider === 'supabase' ? ', and sessions without a client' : ''
    const people = userClients === undefined ? 'any that exchanges an assertion' : clients + sessions
    return ok(
      'tokens',
      `access tokens of ${issuer} ` +
        `(${provider})${tenants === undefined ? '' : `, tenants ${tenants.join(' ')}`}; clients of people: ` +
        `${people}; of machines: ${machines}; aud: ${isCognito ? 'absent, or ' : ''}one of ${audience.join(' ')}`
    )
  })
}

const TOKEN = 'SHOP_TOKEN'

/** What dual-auth's own doctor calls its findings, and what they are called here. */
const NAMES: Readonly<Record<string, string>> = { keys: 'signing keys', endpoint: 'opaque tokens', token: TOKEN }

async function examineTokens (config: Settings, token: string): Promise<readonly Finding[]> {
  const findings = await examine(acceptedTokens(config), token === '' ? undefined : token)
  return findings.map(({ issuer, ...finding }) => ({
    ...finding,
    found: inSettings(finding.found, config.IDP_SECOND_ISSUER),
    what: finding.what === 'issuer' ? whose(issuer, config) : NAMES[finding.what] ?? finding.what
  }))
}

function whose (issuer: string | undefined, config: Settings): string {
  if (issuer === config.IDP_ISSUER) return 'identity provider'
  return issuer === config.IDP_SECOND_ISSUER ? 'second issuer' : 'this server'
}

async function attempt<T> (
  what: string,
  work: () => Promise<T>,
  settings?: Parameters<typeof reasonOf>[1]
): Promise<{ readonly result: T } | Finding> {
  try {
    return { result: await work() }
  } catch (error) {
    return fail(what, reasonOf(error, settings))
  }
}

const finding = (level: Finding['level']) => (what: string, found: string): Finding => ({ level, what, found })
const ok = finding('ok')
const warn = finding('warn')
const fail = finding('fail')
