import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { CORE } from '../core.ts'
import { managementSettings, type ManagementOptions } from './options.ts'
import { managementRoutes } from './routes.ts'

export type { ManagementOptions } from './options.ts'

/**
 * The routes to create, list, rotate and revoke API keys. Register it after dual-auth: once for each kind of owner,
 * such as teams and people.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} at startup
 */
const plugin: FastifyPluginAsync<ManagementOptions> = async (app, options) => {
  const core = app[CORE]
  const settings = managementSettings(options, core, app.prefix)
  await app.register(managementRoutes, { prefix: settings.path, host: app, core, settings })
}

export default fp(plugin, { fastify: '^5.0.0', name: 'dual-auth/management', dependencies: ['dual-auth'] })
