import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { accessTokenFor, startIdentityProvider } from 'identity-provider'
import knex, { type Knex } from 'knex'
import type { Test } from 'tap'
import { setDatabase, SETTINGS } from '../../../test/database-settings.ts'
import { packedDatabase } from '../../../test/packed-database.ts'
import { type AppOptions, buildApp } from '../src/app.ts'
import { settingsFromEnvironment } from '../src/settings/settings.ts'
import { type Database, openEmbedded, openPostgres } from '../src/database/index.ts'
import { migrate } from '../src/migrations/migrate.ts'
import type { Demo } from '../src/demo/demo-file.ts'
import { machineToken } from '../src/demo/keys.ts'
import { isInner } from '../src/http/inner-request.ts'
import { engineWithTables } from './engines.ts'
import type { Scope } from '../../../test/scope.ts'
import { template } from './template.ts'
import { folderWithKey } from '../../../test/signing-key-folder.ts'

/** A PostgreSQL server to test on, with the right to create databases; unset, the embedded engine. */
export const TEST_DATABASE_URL = process.env['TEST_DATABASE_URL']

/**
 * @param settings - of its sessions, as `NAME=VALUE; NAME=VALUE`; default: those of `TEST_DATABASE_SETTINGS`
 * @param options - how to create it, in SQL
 * @returns the URL of a new, empty database on the test server, dropped when the test ends
 */
export async function createDatabase (t: Scope, server: string, settings?: string, options = ''): Promise<string> {
  const admin = adminOf(server)
  const name = `shop_test_${randomUUID().replaceAll('-', '')}`
  await admin.raw(`create database ?? ${options}`, [name])
  await setDatabase(admin, name, settings)
  t.teardown(async () => {
    await admin.raw('drop database ?? with (force)', [name])
    await admin.destroy()
  })
  return urlOf(server, name)
}

/** @returns the URL of a new database with the shop's tables, empty, dropped when the test ends */
async function createWithTables (t: Scope, server: string): Promise<string> {
  const admin = adminOf(server)
  const name = await template(admin, TABLES, SETTINGS, async (name) => {
    await admin.raw('create database ??', [name])
    await setDatabase(admin, name)
    const database = openPostgres(urlOf(server, name))
    await migrate(database)
    await database.close()
  })
  await admin.destroy()
  return await createDatabase(t, server, undefined, `template ${name}`)
}

/** Its warnings go where no test looks for what the shop prints: knex would print them with `console.log`. */
function adminOf (server: string): Knex {
  const log = { warn: console.error, error: console.error }
  return knex({ client: 'pg', connection: server, pool: { min: 0, max: 2 }, log })
}

function urlOf (server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** @returns a database without tables, of the engine under test, gone when the test ends */
export async function openEmptyDatabase (t: Test): Promise<Database> {
  const database = TEST_DATABASE_URL === undefined
    ? await openEmbedded(null)
    : openPostgres(await createDatabase(t, TEST_DATABASE_URL))
  t.teardown(async () => await database.close())
  return database
}

/** What the tables are made by. */
export const TABLES = [
  'shop/src/migrations',
  '../packages/dual-auth/src/keys/table.ts',
  '../packages/pay-reconcile/src/knex/tables.ts',
  '../packages/oauth-discovery-shim/src/broker/store/knex.ts',
  '../packages/oauth-discovery-shim/src/broker/grants/knex.ts'
].map((path) => new URL(`../../${path}`, import.meta.url))

/** @returns a database with its tables, empty, gone when the test ends */
export async function openTestDatabase (t: Scope): Promise<Database> {
  if (TEST_DATABASE_URL === undefined) {
    const { engine, release } = await engineWithTables(async () =>
      await packedDatabase('shop', TABLES, migrateDirectory)
    )
    t.teardown(release)
    const database = await openEmbedded(null, engine)
    t.teardown(async () => await database.close())
    return database
  }
  const database = openPostgres(await createWithTables(t, TEST_DATABASE_URL))
  t.teardown(async () => await database.close())
  return database
}

/** Makes the tables of an embedded database. */
export async function migrateDirectory (dataDir: string): Promise<void> {
  const database = await openEmbedded(dataDir)
  await migrate(database)
  await database.close()
}

export const BASE_URL = 'http://localhost:8080'
const CLIENT_ID = 'test-mcp'
const MACHINE = { clientId: 'test-machine', clientSecret: 'test machine secret' }

/** An identity provider of its own for a test file, with the people that the test names. */
export interface TestIdentityProvider {
  readonly settings: Readonly<Record<string, string>>
  /** What the file of the demo says of it. */
  readonly ofDemo: Demo['idp']
  /** An access token of the machine client. */
  machineToken(): Promise<string>
  /** An access token of a person, by signing in. */
  userToken(username: string): Promise<string>
  close(): Promise<void>
  /** Starts it again, at the same address and with the same key. */
  open(): Promise<void>
}

/** What fails when an app does what it must not. */
export type Checked = Scope & Pick<Test, 'fail'>

/** How many identity providers of this process run. */
let running = 0

/** @returns a running identity provider, stopped when the test ends */
export async function openIdentityProvider (
  t: Scope,
  usernames: readonly string[] = []
): Promise<TestIdentityProvider> {
  const password = 'test password'
  t.teardown(() => {
    running--
  })
  const dataDir = await folderWithKey(t, ++running)
  const options = {
    users: usernames.map((username) => ({ username, password })),
    resource: BASE_URL,
    clientId: CLIENT_ID,
    m2m: MACHINE,
    dataDir
  }
  let provider = await startIdentityProvider({ ...options, port: 0 })
  const { issuer } = provider
  const close = async (): Promise<void> => {
    await provider.close()
  }
  t.teardown(close)
  const ofDemo = {
    issuer,
    mcp_client_id: CLIENT_ID,
    m2m: { client_id: MACHINE.clientId, client_secret: MACHINE.clientSecret, scope: `${BASE_URL}/api` }
  }
  return {
    settings: {
      IDP_ISSUER: issuer,
      IDP_MCP_CLIENT_ID: CLIENT_ID,
      API_KEY_PEPPERS: `test:${'p'.repeat(32)}`,
      PAY_KEY_SECRETS: `test:${'k'.repeat(32)}`
    },
    ofDemo,
    machineToken: async () => await machineToken(ofDemo),
    userToken: async (username) =>
      await accessTokenFor({ issuer, clientId: CLIENT_ID, resource: `${BASE_URL}/mcp`, username, password }),
    close,
    open: async () => {
      provider = await startIdentityProvider({ ...options, port: Number(new URL(issuer).port) })
    }
  }
}

/**
 * @returns the app on the database, closed when the test ends; every status that it sends must be one that the route
 * declares. It sheds no load unless the settings say so: other tests use the processors too
 */
export async function build (t: Checked, database: Database, idp: TestIdentityProvider, options: {
  readonly settings?: Readonly<Record<string, unknown>>,
  readonly onRoute?: (route: RouteOptions) => void,
  /** Default: nothing is logged. */
  readonly logger?: AppOptions['logger'],
  readonly tracing?: AppOptions['tracing'],
  readonly demoKey?: AppOptions['demoKey']
} = {}): Promise<FastifyInstance> {
  const { settings, onRoute, ...rest } = options
  const config = settingsFromEnvironment({}, {
    MCP_ENABLED: true,
    PUBLIC_BASE_URL: BASE_URL,
    MAX_EVENT_LOOP_DELAY: 0,
    ...idp.settings,
    ...settings
  })
  const app = await buildApp({
    config,
    database,
    logger: false,
    onRoute: (route) => {
      watchStatuses(t, route)
      watchHeaders(t, route)
      onRoute?.(route)
    },
    ...rest
  })
  t.teardown(async () => await app.close())
  await app.ready()
  return app
}

/** Fails the test as soon as the route answers with a status that its response schemas do not have. */
function watchStatuses (t: Checked, route: RouteOptions): void {
  // Not known of the tools' endpoint, whose answers are JSON-RPC.
  if (route.schema?.hide === true) return
  // The last is that of a tool call which waits for a person. It never leaves the server.
  const declared = [...Object.keys(route.schema?.response ?? {}), '428']
  route.onResponse = [
    ...[route.onResponse ?? []].flat(),
    async (request: FastifyRequest, { statusCode }: FastifyReply) => {
      if (!declared.includes(String(statusCode))) {
        t.fail(
          `${request.method} ${route.url} answers ${statusCode}, which it does not declare`
        )
      }
    }
  ]
}

/** In bytes. nginx takes a server that sends more than 4 KiB of headers for broken. */
export const LARGEST_HEADERS = 3072

/** Fails the test as soon as the headers of the route's answer are larger. */
function watchHeaders (t: Checked, route: RouteOptions): void {
  route.onResponse = [...[route.onResponse ?? []].flat(), async (request: FastifyRequest, reply: FastifyReply) => {
    // They stay in the process.
    if (isInner(request)) return
    const size = headersOf(reply.raw).length
    if (size > LARGEST_HEADERS) t.fail(`${request.method} ${route.url} answers with ${size} bytes of headers`)
  }]
}

/** The status line and the headers, as they were sent. */
export function headersOf (response: object): string {
  const { _header: text } = response as { readonly _header?: unknown }
  if (typeof text !== 'string') throw new TypeError('this version of Node.js keeps the headers elsewhere')
  return text
}

/** @returns the id of a new shop */
export async function createShop ({ knex }: Database, slug: string, currency = 'EUR'): Promise<string> {
  const [{ id }] = await knex('shops').insert({ slug, name: slug, currency }).returning('id')
  return id
}

/** Sends JSON and gives back what a test asserts on. */
export function client (app: FastifyInstance, prefix: string, headers: Readonly<Record<string, string>>) {
  return async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) => {
    const response = await app.inject({
      method,
      url: prefix + path,
      headers: { ...headers },
      ...(body && { payload: body })
    })
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.body === '' ? null : response.json()
    }
  }
}

/** @returns the header that a token travels in */
export function bearer (token: string): { authorization: string } {
  return { authorization: `Bearer ${token}` }
}

/** Matches an id and an instant, whose values a test cannot know. */
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
