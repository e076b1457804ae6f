import type { FastifyInstance } from 'fastify'
import knex from 'knex'
import { buildApp } from './app.ts'
import { configFromEnvironment } from './config.ts'

/** Long enough for a secret, and nobody's. */
const NOTHING = `contract:${'0'.repeat(32)}`

/**
 * The app for looking at its tools: `mcp-from-routes contract` loads this module. It takes no settings from outside,
 * opens no port and no database, and asks nothing of the identity provider that it names.
 */
export default async function appOfContract (): Promise<FastifyInstance> {
  const config = configFromEnvironment({}, {
    MCP_ENABLED: true, IDP_ISSUER: 'http://localhost:1', API_KEY_PEPPERS: NOTHING, PAY_KEY_SECRETS: NOTHING
  })
  const database = knex({ client: 'pg' })
  return await buildApp({ config, database: { engine: 'postgres', knex: database, close: async () => await database.destroy() }, logger: false })
}
