import type { Server } from 'node:http'
import dualAuth from 'dual-auth'
import management from 'dual-auth/management'
import scanning from 'dual-auth/scanning'
import Fastify, { type FastifyInstance, type FastifyServerOptions, LogController, type RouteOptions } from 'fastify'
import mcpFromRoutes from 'mcp-from-routes'
import { confirm } from 'mcp-from-routes/confirm'
import { fields } from 'mcp-from-routes/fields'
import { skills } from 'mcp-from-routes/skills'
import { tasks } from 'mcp-from-routes/tasks'
import { telemetry } from 'mcp-from-routes/telemetry'
import { views as mcpViews } from 'mcp-from-routes/views'
import payReconcile from 'pay-reconcile'
import { authOptions, keyManagement, keyScanning, MCP_PATH, PAY_PREFIX, shopOfKey } from './auth.ts'
import { catalog } from './catalog/index.ts'
import type { Database } from './database/index.ts'
import { audit } from './history/audit-routes.ts'
import { whoIn } from './access/caller.ts'
import { keyEvents } from './operations/key-events.ts'
import { forgetHistory } from './history/retention.ts'
import { history } from './history/routes.ts'
import { turns } from './turns.ts'
import { warnOfUntrustedProxy } from './http/caller-address.ts'
import { limitJson } from './http/json-bodies.ts'
import { answerClientError, answerProblems, sendProblem } from './http/problem.ts'
import { allowOrigins, endLargeBodies, forbidCaching, secureHeaders, shedLoad } from './http/protection.ts'
import { serializeOutput } from './http/serialization.ts'
import { refuseUnstorable } from './http/storable.ts'
import { cleanBody } from './http/text.ts'
import { validateInput } from './http/validation.ts'
import { refuseUnmatched } from './http/if-match.ts'
import { repeatable } from './idempotency/repeatable.ts'
import { imports } from './imports/routes.ts'
import { readListQuery } from './lists/list.ts'
import { limitConcurrency } from './operations/concurrency.ts'
import { confirmationOptions, questionSecrets } from './operations/confirmations.ts'
import { health } from './operations/health.ts'
import { answerRequestId, loggerOptions, requestIdOf } from './operations/logging.ts'
import {
  countAuthentication,
  countJobFailures,
  countQuotas,
  countRefusals,
  measuredProvider,
  measureRequests,
  measureState,
  measureToolCall,
  metricsRoute,
  openMetrics,
  startToolCounts
} from './operations/metrics.ts'
import { databaseLog } from './operations/outages.ts'
import { openRateLimits } from './operations/rate-limit.ts'
import { openRedis } from './operations/redis.ts'
import { logRequests, noteToolCall } from './operations/request-log.ts'
import { drainable } from './operations/shutdown.ts'
import { storedSecrets } from './operations/stored-secrets.ts'
import type { Tracing } from './operations/tracing.ts'
import { TOOLS_VERSION } from './operations/version.ts'
import { webConsole } from './pages/console.ts'
import { documentation } from './pages/documentation.ts'
import { landing } from './pages/landing.ts'
import { pictures } from './samples/picture-routes.ts'
import { views } from './http/views.ts'
import { keyRing } from './pay/key-ring.ts'
import { payProvider, payReconcileOptions } from './pay/reconcile.ts'
import { pay } from './pay/routes.ts'
import type { Settings } from './settings/settings.ts'
import { trustedProxies } from './settings/trusted-proxies.ts'
import { shopRecords } from './shops/index.ts'
import { instructionsFor } from './shops/instructions.ts'
import { ShopScope } from './access/scope.ts'
import { shops } from './shops/shops.ts'
import { signIn } from './sign-in.ts'
import { toolCalls } from './tool-calls/routes.ts'
import { toolTally } from './tool-calls/tally.ts'
import { usage } from './usage/routes.ts'
import { connectedApps } from './users/connected-apps.ts'
import { knowCurrentUser } from './users/current-user.ts'
import { me } from './users/me.ts'
import { personReader } from './access/person.ts'
import { users } from './users/users.ts'

export interface AppOptions {
  readonly config: Settings
  readonly database: Database
  /** Default: standard output, at the level of the settings. */
  readonly logger?: FastifyServerOptions<Server>['logger']
  /** Default: no traces. */
  readonly tracing?: Tracing | undefined
  /** An API key for the start page, which everybody can read: only the demo has one. Default: a placeholder. */
  readonly demoKey?: (() => string | undefined) | undefined
  /** Called for every route of the app. */
  readonly onRoute?: (route: RouteOptions) => void
}

/** Maximum size of a request body, in bytes. */
const BODY_LIMIT = 1_048_576

/**
 * How many reverts run at a time: each has a connection to the database, and other callers need the rest of the pool.
 */
const REVERTS_AT_ONCE = 3

/** How long a client may take to send the headers of a request, and all of it, in milliseconds. */
const HEADERS_TIMEOUT = 20_000
const REQUEST_TIMEOUT = 60_000

/** How often both are checked, in milliseconds: a request may take that much longer. */
const CHECK_INTERVAL = 1000

/**
 * How long an idle connection is kept, in milliseconds: longer than proxies keep it, which would otherwise use a closed
 * one.
 */
const KEEP_ALIVE_TIMEOUT = 72_000

/** The whole server, from top to bottom. Hooks of one kind run in this order. */
export async function buildApp (
  { config, database, logger = {}, tracing, demoKey, onRoute = () => {} }: AppOptions
): Promise<FastifyInstance> {
  const trustProxy = trustedProxies(config.TRUST_PROXY)
  const app = Fastify({
    logger: typeof logger === 'object' ? { ...loggerOptions(config), ...logger } : logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    trustProxy,
    routerOptions: { ignoreTrailingSlash: true },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    http: { headersTimeout: HEADERS_TIMEOUT, connectionsCheckingInterval: CHECK_INTERVAL },
    forceCloseConnections: 'idle',
    frameworkErrors: sendProblem,
    clientErrorHandler: answerClientError
  })
  database.logTo(databaseLog(app.log))
  database.replica?.logTo(app.log)
  const redis = config.REDIS_URL === undefined ? undefined : await openRedis(config.REDIS_URL, app.log)
  const metrics = config.METRICS_TOKEN.length === 0 ? undefined : await openMetrics(database)
  app.addHook('onClose', async () => {
    redis?.disconnect()
  })

  logRequests(app)
  app.addHook('onRoute', onRoute)
  tracing?.instrument(app, database)
  if (metrics !== undefined) measureRequests(app, metrics)
  countJobFailures(app, metrics)
  answerRequestId(app)
  warnOfUntrustedProxy(app, trustProxy)
  secureHeaders(app, config)
  forbidCaching(app)
  endLargeBodies(app, BODY_LIMIT)
  limitJson(app)
  await allowOrigins(app, config)
  drainable(app)
  await shedLoad(app, config.MAX_EVENT_LOOP_DELAY)
  validateInput(app)
  serializeOutput(app)
  answerProblems(app)
  app.addHook('preValidation', ShopScope.admitAgain(database.knex))
  app.addHook('preValidation', readListQuery)
  app.addHook('preValidation', refuseUnstorable)
  app.addHook('preValidation', cleanBody)
  refuseUnmatched(app)
  const repeats = repeatable(app, database.knex, (outcome) => metrics?.keyedCalls.inc({ outcome }))
  app.decorate('personOf', personReader(config))
  app.decorateRequest('currentUser', null)
  app.decorateRequest('shopOfPerson', null)
  app.addHook('preParsing', knowCurrentUser(database.knex))

  await documentation(app, { config })

  // From here on, every route except public ones needs a credential.
  const limits = await openRateLimits(app, config, redis)
  app.addHook('onRequest', limits.before)
  await app.register(dualAuth, authOptions(config, database.knex, keyEvents(database.knex, app.log, metrics)))
  await app.register(management, keyManagement(database.knex))
  if (config.SECRET_SCANNING_ENABLED) await app.register(scanning, keyScanning(config))
  app.addHook('onRequest', limits.behind)
  limitConcurrency(app, config)
  if (metrics !== undefined) {
    countAuthentication(app, metrics)
    countQuotas(app, metrics)
    countRefusals(app, metrics)
  }

  await app.register(landing, { config, demoKey })
  await app.register(pictures)
  if (config.CONSOLE_ENABLED) await app.register(webConsole, { config })
  const secrets = storedSecrets(database.knex, config, app.log)
  app.decorate('storedSecrets', secrets)
  await health(app, {
    database,
    limits: limits.condition,
    remarks: () => ({
      ...database.replica !== undefined && { read_replica: database.replica.condition },
      secrets: secrets.state
    })
  })
  if (metrics !== undefined) await app.register(metricsRoute, { metrics, tokens: config.METRICS_TOKEN })

  await signIn(app, config, database.knex)

  const hasViews = config.MCP_ENABLED && config.MCP_VIEWS_ENABLED
  const tally = toolTally(app, database.knex, config)
  // Routes tagged `mcp` that are registered after this become tools.
  if (config.MCP_ENABLED) {
    await app.register(mcpFromRoutes, {
      path: MCP_PATH,
      serverInfo: { name: 'shop', version: TOOLS_VERSION },
      instructions: instructionsFor(database.knex),
      // readListQuery parses the filter of lists.
      jsonQuery: true,
      // A key sees the tools that it can call. A call of another tool reaches the route, whose error names the missing
      // scope.
      canUse: ({ route }, request) => request.mayCall(route) || 'unlisted',
      impliedArguments: { shop_id: shopOfKey },
      output: 'brief',
      // By default, a refreshed access token would count as another caller.
      caller: (request) => {
        const { kind, id } = whoIn(request)
        return id === null ? undefined : `${kind} ${id}`
      },
      allowedOrigins: [new URL(config.PUBLIC_BASE_URL).origin, ...config.CORS_ORIGINS],
      onToolCall: (event) => {
        tally.count(event)
        noteToolCall(event)
        if (metrics !== undefined) measureToolCall(metrics, event)
      },
      extensions: [
        // Agents choose the fields of lists; those of single records where routes say so.
        fields(),
        // Deletions ask a person, see catalog/deletion.ts, if the client can. Other clients delete without a question:
        // operations/confirmations.ts says why, and which fallback refuses instead.
        confirm(confirmationOptions(config, database.knex)),
        ...config.MCP_IMPORTS_ENABLED ? [tasks({ secret: questionSecrets(config) })] : [],
        // Their calls are checked at startup, so one that shows a tool is there only with the tool.
        skills(
          ['catalog', ...(config.MCP_IMPORTS_ENABLED ? ['imports'] : [])].map((name) =>
            new URL(`../skills/${name}/`, import.meta.url)
          )
        ),
        ...hasViews ? [mcpViews()] : [],
        ...tracing === undefined ? [] : [telemetry({ tracer: tracing.tracer })]
      ]
    })
  }

  if (config.MCP_ENABLED && metrics !== undefined) startToolCounts(app, metrics)

  if (hasViews) await app.register(views, { config })
  await app.register(catalog, { knex: database.knex, hasViews })
  await app.register(me)
  await app.register(users, { knex: database.knex, prefix: '/admin/users' })
  await app.register(connectedApps, { knex: database.knex, prefix: '/admin/users/:user_id/apps' })
  await app.register(shops, { knex: database.knex, prefix: '/shops' })
  await app.register(shopRecords, { knex: database.knex })
  await app.register(imports, {
    knex: database.knex,
    repeats,
    asTools: config.MCP_IMPORTS_ENABLED,
    hasViews,
    onEnd: (outcome) => metrics?.imports.inc({ outcome }),
    prefix: '/shops/:shop_id/imports'
  })
  const reverts = turns({ atOnce: REVERTS_AT_ONCE })
  await app.register(history, { knex: database.knex, inTurn: reverts, prefix: '/shops/:shop_id/history' })
  await app.register(audit, { knex: database.knex })
  if (metrics !== undefined) await measureState(app, metrics, config, reverts.state)
  await app.register(toolCalls, { knex: database.knex, tally })
  await app.register(usage, { knex: database.knex, tally })
  forgetHistory(app, database.knex, config.HISTORY_DAYS, config.FAILED_CALLS_KEPT)

  const sender = payProvider(config.PAY_API_URL)
  const provider = metrics === undefined ? sender : measuredProvider(sender, metrics)
  const keys = keyRing(config.PAY_KEY_SECRETS)
  await app.register(payReconcile, payReconcileOptions(database.knex, provider, keys, config))
  await app.register(pay, {
    knex: database.knex,
    provider,
    keys,
    timeout: config.PAY_TIMEOUT,
    isPublic: config.PAY_ROUTES_PUBLIC,
    ...(config.PAY_WEBHOOKS_ENABLED && { webhooksAt: config.PUBLIC_BASE_URL }),
    prefix: PAY_PREFIX
  })

  return app
}
