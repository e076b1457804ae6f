import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import { CORE } from '../core.ts'
import { scanningSettings, type ScanningOptions } from './options.ts'
import { scanningRoutes } from './routes.ts'

export type { ScanningOptions } from './options.ts'

/**
 * The endpoint that GitHub reports leaked API keys to, which revokes them. Register it after dual-auth.
 *
 * @throws {@link DUAL_AUTH_INVALID_OPTION} at startup
 */
const plugin: FastifyPluginAsync<ScanningOptions> = async (app, options) => {
  await app.register(scanningRoutes, { core: app[CORE], settings: scanningSettings(options) })
}

export default fp(plugin, { fastify: '^5.0.0', name: 'dual-auth/scanning', dependencies: ['dual-auth'] })
