import type { FastifyInstance } from 'fastify'
import knex from 'knex'
import { type AppOptions, buildApp } from './app.ts'
import { configFromEnvironment } from './settings/config.ts'

/** Long enough for a secret, and nobody's. */
const NOTHING = `contract:${'0'.repeat(32)}`

/**
 * The app for looking at its tools: `mcp-from-routes contract` loads this module. It takes no settings from outside,
 * opens no port and no database. The identity provider that it names is at port 1, which fetch calls nobody on.
 */
export default async function appOfContract ({ onRoute = () => {} }: Pick<AppOptions, 'onRoute'> = {}): Promise<FastifyInstance> {
  const config = configFromEnvironment({}, {
    MCP_ENABLED: true, IDP_ISSUER: 'http://localhost:1', API_KEY_PEPPERS: NOTHING, PAY_KEY_SECRETS: NOTHING
  })
  const database = knex({ client: 'pg' })
  return await buildApp({ config, database: { engine: 'postgres', knex: database, logTo: () => {}, close: async () => await database.destroy() }, logger: false, onRoute })
}
