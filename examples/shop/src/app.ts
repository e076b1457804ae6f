import type { Server } from 'node:http'
import dualAuth from 'dual-auth'
import Fastify, { type FastifyInstance, type FastifyServerOptions, type RouteOptions } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import oauthDiscoveryShim from 'oauth-discovery-shim'
import payReconcile from 'pay-reconcile'
import { authOptions, MCP_PATH, PAY_PREFIX } from './auth.ts'
import { catalog } from './catalog/index.ts'
import type { Config } from './config.ts'
import type { Database } from './database/index.ts'
import { readListQuery } from './list.ts'
import { payProvider, payReconcileOptions } from './pay.ts'
import { answerClientError, answerProblems, sendProblem } from './problem.ts'
import { shopRecords } from './shops/index.ts'
import { keyRing } from './shops/key-ring.ts'
import { pay } from './shops/pay.ts'
import { shops } from './shops/shops.ts'
import { refuseUnstorable } from './storable.ts'
import { knowCurrentUser } from './users/current-user.ts'
import { me } from './users/me.ts'
import { users } from './users/users.ts'
import { validateInput } from './validation.ts'
import { VERSION } from './version.ts'

export interface AppOptions {
  readonly config: Config
  readonly database: Database
  /** Where to log; by default to standard output at the level of the settings. */
  readonly logger?: FastifyServerOptions<Server>['logger']
  /** Is told of every route that the app has. */
  readonly onRoute?: (route: RouteOptions) => void
}

/**
 * The whole server, from top to bottom. The order of registrations is the order in which a request
 * meets them.
 */
export async function buildApp ({ config, database, logger = { level: config.LOG_LEVEL }, onRoute = () => {} }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    logger,
    routerOptions: { ignoreTrailingSlash: true },
    forceCloseConnections: 'idle',
    frameworkErrors: sendProblem,
    clientErrorHandler: answerClientError
  })
  database.logTo(app.log)

  app.addHook('onRoute', onRoute)
  validateInput(app)
  answerProblems(app)
  app.addHook('preValidation', readListQuery)
  app.addHook('preValidation', refuseUnstorable)
  app.decorateRequest('currentUser', null)
  app.addHook('preParsing', knowCurrentUser(database.knex))

  // Nobody gets past this without a credential, except to the routes that say that they are public.
  await app.register(dualAuth, authOptions(config, database.knex))

  await app.register(oauthDiscoveryShim, {
    publicBaseUrl: config.PUBLIC_BASE_URL,
    issuer: config.IDP_ISSUER,
    clientId: config.IDP_MCP_CLIENT_ID,
    mcpPath: MCP_PATH,
    resourceName: 'Shop',
    config: { auth: 'public' }
  })

  // It sees the routes that come after it, and makes tools of those tagged `mcp`.
  if (config.MCP_ENABLED) {
    await app.register(mcpFromRoutes, {
      path: MCP_PATH,
      serverInfo: { name: 'shop', version: VERSION },
      instructions: 'Manages the catalogs of shops. Every tool takes the shop_id of the shop to work on. ' +
        'Money is in minor units: 1999 is 19.99. Lists come in pages of 25: narrow them with filter, page with skip and limit.',
      allowedOrigins: [new URL(config.PUBLIC_BASE_URL).origin]
    })
  }

  await app.register(catalog, { knex: database.knex })
  await app.register(me)
  await app.register(users, { knex: database.knex, prefix: '/admin/users' })
  await app.register(shops, { knex: database.knex, prefix: '/shops' })
  await app.register(shopRecords, { knex: database.knex })

  const provider = payProvider(config.PAY_API_URL)
  const keys = keyRing(config.PAY_KEY_SECRETS)
  await app.register(payReconcile, payReconcileOptions(database.knex, provider, keys))
  await app.register(pay, { knex: database.knex, provider, keys, isPublic: config.PAY_ROUTES_PUBLIC, prefix: PAY_PREFIX })

  return app
}
