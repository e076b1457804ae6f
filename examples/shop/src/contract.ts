import type { FastifyInstance } from 'fastify'
import knex from 'knex'
import { type AppOptions, buildApp } from './app.ts'
import { settingsFromEnvironment } from './settings/settings.ts'

/** A valid secret that protects nothing. */
const NOTHING = `contract:${'0'.repeat(32)}`

/**
 * The app as `mcp-from-routes contract` loads it, to inspect its tools. It needs no settings, and opens no port and no
 * database. Its identity provider is at port 1, which fetch refuses to call.
 */
export default async function appOfContract (
  { onRoute = () => {}, importTools = true, views = true }: Pick<AppOptions, 'onRoute'> & {
    readonly importTools?: boolean,
    readonly views?: boolean
  } = {}
): Promise<FastifyInstance> {
  const config = settingsFromEnvironment({}, {
    MCP_ENABLED: true,
    MCP_IMPORTS_ENABLED: importTools,
    MCP_VIEWS_ENABLED: views,
    IDP_ISSUER: 'http://localhost:1',
    API_KEY_PEPPERS: NOTHING,
    PAY_KEY_SECRETS: NOTHING
  })
  const database = knex({ client: 'pg' })
  return await buildApp({
    config,
    database: {
      engine: 'postgres',
      place: 'nowhere',
      knex: database,
      log: { warn: () => {}, error: () => {} },
      logTo: () => {},
      close: async () => await database.destroy()
    },
    logger: false,
    onRoute
  })
}
