import { type Database, openPostgres } from '../src/database/index.ts'
import { freePort } from '../../../shared/free-port.ts'
import { RISKS } from '../src/settings/risks.ts'
import { BASE_URL, bearer, createShop, openIdentityProvider, type TestIdentityProvider } from './build.ts'
import { call, type Running, start } from './process.ts'
import type { Scope } from '../../../test/scope.ts'

type Settings = Readonly<Record<string, string>>

/** Replicas in processes of their own, on one database, and a shop in it. */
export interface Installation {
  readonly replicas: readonly Running[]
  readonly idp: TestIdentityProvider
  readonly shop: string
  /** With a key of the shop. */
  readonly headers: Settings
  /** With a token that reaches all shops. */
  readonly machine: Settings
  readonly database: Database
  /**
   * Starts another replica, with the settings of the others.
   *
   * @param more - settings, such as the port of one that has ended
   */
  add(more?: Settings, folder?: URL): Promise<Running>
}

export interface InstallationOptions {
  /** The database, as the replicas reach it. */
  readonly url: string
  /** As the test reaches it; default: in the same way. */
  readonly direct?: string
  readonly replicas: number
  /** In place of those that a replica needs, and that limit no call. */
  readonly settings?: Settings
  /** The folder of the shop that the first of them run, if it is another version. */
  readonly folder?: URL
}

/** Starts all replicas at once on an empty database. */
export async function install (
  t: Scope,
  { url, direct = url, replicas: count, settings = {}, folder }: InstallationOptions
): Promise<Installation> {
  const idp = await openIdentityProvider(t)
  const add = async (more: Settings = {}, from = folder): Promise<Running> =>
    await start(t, 'server', {
      ...idp.settings,
      DATABASE_URL: url,
      PUBLIC_BASE_URL: BASE_URL,
      MCP_ENABLED: 'true',
      TRUST_PROXY: '1',
      RATE_LIMIT_MAX: '1000000',
      ALLOW_INSECURE: RISKS.join(','),
      ...settings,
      ...more
    }, from)
  const database = openPostgres(direct)
  t.teardown(async () => {
    await database.close()
  })
  const replicas = await Promise.all(
    Array.from({ length: count }, async () => await add({ PORT: String(await freePort()) }))
  )
  const shop = await createShop(database, 'replicated')
  const machine = bearer(await idp.machineToken())
  const key = await call('POST', `${replicas[0]!.baseUrl}/shops/${shop}/api-keys/`, {
    headers: machine,
    body: { name: 'replicas' }
  })
  return { replicas, idp, shop, headers: { 'x-api-key': key.body.plaintext }, machine, database, add }
}

/** The names of all rows that a load made. */
export async function written ({ knex }: Database): Promise<ReadonlySet<string>> {
  return new Set((await knex('tags').select('name')).map(({ name }) => name))
}
