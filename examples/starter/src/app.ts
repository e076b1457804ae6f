import { createHmac } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import dualAuth from 'dual-auth'
import management from 'dual-auth/management'
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import mcpFromRoutes from 'mcp-from-routes'
import { confirm } from 'mcp-from-routes/confirm'
import oauthDiscoveryShim from 'oauth-discovery-shim'
import { stripeProvider } from 'pay-reconcile/stripe'
import { authOptions, isMember, requireMember } from './auth.ts'
import { notes } from './notes.ts'
import { pay } from './pay.ts'
import type { Settings } from './settings.ts'

/** The whole server, from top to bottom. Hooks run in this order. */
export async function buildApp (
  settings: Settings,
  knex: Knex,
  { logger = true, provider = stripeProvider() } = {}
): Promise<FastifyInstance> {
  const { idp, publicBaseUrl, stripeKey: secretKey } = settings
  const app = Fastify({
    logger: logger && { redact: ['req.headers.authorization', 'req.headers["x-api-key"]', 'req.headers.cookie'] },
    bodyLimit: 256 * 1024,
    requestTimeout: 60_000,
    // Longer than load balancers keep an idle connection.
    keepAliveTimeout: 72_000,
    // Unknown fields are refused; Fastify would drop them.
    ajv: { customOptions: { removeAdditional: false } }
  })

  app.setErrorHandler<FastifyError>((error, request, reply) => {
    // What PostgreSQL cannot store, such as U+0000 in a text, is a mistake of the caller.
    const isUnstorable = error.statusCode === undefined && /^22...$/.test(error.code)
    const statusCode = isUnstorable ? 400 : error.statusCode ?? 500
    if (statusCode >= 500) request.log.error({ err: error }, 'The request failed')
    const code = statusCode < 500 && !isUnstorable ? error.code : 'FAILED'
    const message = code === 'FAILED' ? `The log has the reason, for request ${request.id}` : error.message
    return reply.code(statusCode).send({ statusCode, code, error: STATUS_CODES[statusCode], message })
  })

  // From here on, a route that is not public needs a credential.
  await app.register(dualAuth, authOptions(settings, knex))
  app.addHook('onRequest', requireMember)
  app.get(
    '/health',
    { config: { auth: 'public' } },
    async () => ({ database: (await knex.raw('select 1')).rowCount === 1 })
  )

  if (idp !== undefined) {
    const { issuer, clientId } = idp
    await app.register(oauthDiscoveryShim, { publicBaseUrl, issuer, clientId, config: { auth: 'public' } })
    await app.register(management, { path: '/teams/:team_id/api-keys', canManage: isMember })
  } else app.log.warn('IDP_ISSUER is not set: nobody signs in, and API keys are the only credentials')

  // Routes with the tag `mcp` that are registered from here on become tools.
  await app.register(mcpFromRoutes, {
    serverInfo: { name: 'starter', version: '1.0.0' },
    canUse: ({ route }, request) => request.mayCall(route) || 'unlisted',
    // A key belongs to one team, so its agent need not name it.
    impliedArguments: { team_id: ({ identity }) => identity?.kind === 'api-key' ? identity.ownerId : undefined },
    allowedOrigins: [publicBaseUrl],
    // A client that cannot ask its person is refused. Replicas share the secret.
    extensions: [confirm({ secret: createHmac('sha256', settings.pepper).update('confirm').digest('hex') })]
  })
  await app.register(notes, { knex, prefix: '/teams/:team_id/notes' })

  if (idp !== undefined && secretKey !== undefined) await app.register(pay, { knex, secretKey, provider })
  else app.log.warn('No payments: they need STRIPE_SECRET_KEY, and IDP_ISSUER for admins to sign in')
  return app
}
