import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../app.ts'
import { authOptions } from '../auth.ts'
import type { Database, openDatabase } from '../database/index.ts'
import { pendingMigrations } from '../database/migrate.ts'
import { SHOP_USAGE } from '../errors.ts'
import { type Config, configFromEnvironment } from '../settings/config.ts'
import { risksIn } from '../settings/risks.ts'
import type { Command } from './command.ts'
import { reasonOf } from './serve.ts'

/** One thing that was looked at. */
interface Finding {
  /** `warn`: the server starts, and something does not work. */
  readonly level: 'ok' | 'warn' | 'fail'
  readonly what: string
  readonly found: string
}

/** The oldest PostgreSQL that the server is tested on, as its `server_version_num` has it. */
const OLDEST = 150_000

const usage = 'doctor'

/**
 * `shop doctor`: builds the server with its settings, without listening, and tells what works and which tokens it accepts.
 * With an access token in SHOP_TOKEN it says why the server would refuse it, which the server itself tells only its log.
 */
export const doctor: Command = {
  usage,
  summary: 'checks the settings, and what they point to; with an access token in SHOP_TOKEN, that too',
  async run (args, environment, open) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true })
    if (positionals.length > 0) throw new SHOP_USAGE(`shop ${usage}`)
    const findings = await examine(environment, open)
    const width = Math.max(...findings.map(({ what }) => what.length))
    return {
      code: findings.some(({ level }) => level === 'fail') ? 1 : 0,
      stdout: findings.map(({ level, what, found }) => `${level.padEnd(4)}  ${what.padEnd(width)}  ${found}\n`).join(''),
      stderr: ''
    }
  }
}

async function examine (environment: NodeJS.ProcessEnv, open: typeof openDatabase): Promise<readonly Finding[]> {
  const settings = await tried('settings', async () => configFromEnvironment(environment, {}, risksIn))
  if ('level' in settings) return [settings]
  const { result: config } = settings
  const database = await tried('database', async () => await open(config))
  if ('level' in database) return [ok('settings', 'complete'), database]
  try {
    const found = [ok('settings', 'complete'), ...await examineDatabase(database.result)]
    // A server does not start on tables that are missing.
    const needed = found.every(({ level }) => level === 'ok')
    return needed ? [...found, ...await examineServer(config, database.result, environment['SHOP_TOKEN'] ?? '')] : found
  } finally {
    await database.result.close()
  }
}

async function examineDatabase ({ engine, knex }: Database): Promise<readonly Finding[]> {
  const asked = await tried('database', async () => (await knex.raw("select current_setting('server_version') as version, current_setting('server_version_num')::int as number")).rows[0])
  if ('level' in asked) return [asked]
  const { version, number } = asked.result
  const name = `${engine === 'embedded' ? 'embedded ' : ''}PostgreSQL ${version}`
  const pending = await pendingMigrations(knex)
  return [
    number < OLDEST ? fail('database', `${name}: the server needs 15 or later`) : ok('database', name),
    pending.length > 0 ? fail('migrations', `pending: ${pending.join(', ')}. Run npm run migrate`) : ok('migrations', 'up to date')
  ]
}

/** What the server itself would say of its surroundings and of a token. */
async function examineServer (config: Config, database: Database, token: string): Promise<readonly Finding[]> {
  const lines: string[] = []
  const logger = { level: 'info', stream: { write: (line: string) => { lines.push(line) } } }
  const built = await tried('server', async () => await buildApp({ config, database, logger }))
  if ('level' in built) return [built]
  const { result: app } = built
  try {
    // Behind the authentication, and in front of all that would make the person known.
    app.get('/doctor', { schema: { hide: true }, onRequest: async (request, reply) => await reply.send(request.identity) }, async () => {})
    const started = await tried('server', async () => await app.ready())
    if ('level' in started) return [started]
    const { checks } = (await app.inject('/readyz')).json<{ checks: Record<string, string> }>()
    return [
      checks['identity_provider'] === 'ok' ? ok('identity provider', 'its keys were read') : fail('identity provider', `its keys cannot be read from ${config.IDP_ISSUER}/.well-known/openid-configuration`),
      ...(checks['redis'] === undefined ? [] : [redis(checks['redis'])]),
      await secrets(app),
      await admins(database),
      browserLogin(config),
      accepted(config, database),
      ...(token === '' ? [] : [await judged(app, token, lines)])
    ]
  } finally {
    await app.close()
  }
}

/** Without Redis the server serves, too. */
function redis (found: string): Finding {
  return found === 'ok' ? ok('Redis', 'answers') : warn('Redis', found)
}

async function secrets (app: FastifyInstance): Promise<Finding> {
  const compared = await tried('secrets', async () => await app.storedSecrets.compare())
  if ('level' in compared) return compared
  const { state } = app.storedSecrets
  return state === 'ok' ? ok('secrets', 'those of the stored keys') : warn('secrets', state)
}

async function admins ({ knex }: Database): Promise<Finding> {
  const { count } = await knex('users').where({ active: true }).whereRaw("'admin' = any(roles)").count('* as count').first() ?? { count: 0 }
  return Number(count) > 0 ? ok('admins', `${count}`) : warn('admins', 'none yet: sign in, read subject in the response of GET /me, then run shop admin add <subject>')
}

function browserLogin ({ IDP_MCP_CLIENT_ID: client }: Config): Finding {
  return client === '' ? warn('browser login', 'IDP_MCP_CLIENT_ID is not set: MCP clients can use API keys only') : ok('browser login', `client ${client}`)
}

function accepted (config: Config, { knex }: Database): Finding {
  const { issuer, userClients, machineClients, audience = [] } = authOptions(config, knex).jwt
  const machines = machineClients === undefined ? 'any with a scope that ends in /api' : machineClients.join(', ') || 'none'
  return ok('tokens', `access tokens of ${issuer}; client_id of people: ${userClients.join(', ') || 'none'}; of machines: ${machines}; aud: absent, or one of ${audience.join(' ')}`)
}

async function judged (app: FastifyInstance, token: string, lines: readonly string[]): Promise<Finding> {
  const answer = await app.inject({ url: '/doctor', headers: { authorization: `Bearer ${token}` } })
  if (answer.statusCode === 200) {
    const { kind, subject, username, clientId } = answer.json<Record<string, string>>()
    return ok('SHOP_TOKEN', kind === 'user' ? `a person: subject ${subject}${username === null ? '' : `, ${username}`}` : `a machine: client ${clientId}`)
  }
  const reason = lines.map((line) => JSON.parse(line)).findLast(({ reason }) => reason !== undefined)?.reason
  return fail('SHOP_TOKEN', `refused: ${reason ?? answer.json().message}`)
}

async function tried<T> (what: string, work: () => Promise<T>): Promise<{ readonly result: T } | Finding> {
  try {
    return { result: await work() }
  } catch (error) {
    return fail(what, reasonOf(error))
  }
}

function ok (what: string, found: string): Finding {
  return { level: 'ok', what, found }
}

function warn (what: string, found: string): Finding {
  return { level: 'warn', what, found }
}

function fail (what: string, found: string): Finding {
  return { level: 'fail', what, found }
}
