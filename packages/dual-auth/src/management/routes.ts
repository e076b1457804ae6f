import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Static } from '@sinclair/typebox'
import type { Ask } from '../keys/call-store.ts'
import type { LastUsed } from '../keys/last-used.ts'
import type { Queue } from '../keys/queue.ts'
import type { Shops } from '../shop.ts'
import { headersFromRefusal, type ChallengeOptions } from '../challenge.ts'
import type { ManagementOptions, ResolvedApiKeyOptions } from '../options.ts'
import { recordFromNewKey, type ApiKeyRecord, type KeyChange, type KeyQuery, type OnStored } from '../keys/store.ts'
import { newKey } from '../keys/new-key.ts'
import { excerpt } from './excerpt.ts'
import { compileOwnSchemas } from './compilers.ts'
import { contentRange } from './list-grammar.ts'
import { schemasForShop, type Key, type NewKey } from './schemas.ts'
import { about } from '../about.ts'
import { DUAL_AUTH_KEY_LIMIT, DUAL_AUTH_KEY_NOT_FOUND, DUAL_AUTH_MANAGEMENT_FORBIDDEN, DUAL_AUTH_SCOPE_UNKNOWN } from '../errors.ts'

/** A later one would be written with a sign and six digits of its year, which is no date-time of RFC 3339. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The parts that the routes are made of. */
export interface RouteParts {
  /** Whoever registered the plugin. */
  readonly host: FastifyInstance
  readonly options: ResolvedApiKeyOptions
  readonly shops: Shops
  readonly canManage: ManagementOptions['canManage']
  readonly onKeyChange: Required<ManagementOptions>['onKeyChange']
  /** Whether a key with this scope can call something. */
  readonly isScope: (scope: string) => boolean
  readonly ask: Ask
  readonly queue: Queue
  readonly lastUsed: LastUsed
  readonly challenge: ChallengeOptions
}

/** POST, GET and DELETE of a shop's keys, for tokens only: an API key can neither see nor make one. */
export const managementRoutes: FastifyPluginAsync<RouteParts> = async (app, { host, options, shops, canManage, onKeyChange, isScope, ask, queue, lastUsed, challenge }) => {
  const { store, maxPerShop } = options
  const { createSchema, listSchema, revokeSchema } = schemasForShop(options.shopParam)
  const config = { auth: 'jwt' } as const
  compileOwnSchemas(app)

  // Many clients send a JSON content type with every request, a DELETE without a body too.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parseJson(request, body, done)
  })

  // Headers only; the answer itself is left to the host's error handler. Fastify knows the one that there is by now. One
  // that is set later is asked for here, as it would not be for routes that are there already.
  const early = app.errorHandler
  app.setErrorHandler((error: FastifyError, request, reply) => {
    reply.headers(headersFromRefusal(error.code, challenge, null))
    if (host.errorHandler === early) throw error
    return host.errorHandler(error, request, reply)
  })
  app.addHook('preParsing', async request => {
    if (!await canManage(request, shopOf(request))) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
  })

  app.post<{ Body: Static<typeof NewKey> }>('/', { schema: createSchema, config }, async (request, reply) => {
    const { name, scopes = [], expires_at: expiry } = request.body
    const expiresAt = expiry === undefined ? null : dateFromText(expiry)
    const unknown = scopes.filter(scope => !isScope(scope))
    if (unknown.length > 0) throw about('scopes', new DUAL_AUTH_SCOPE_UNKNOWN(excerpt(unknown.join(', '))))
    const { stored, plaintext } = await newKey(options, { shopId: shopOf(request), name, scopes, expiresAt, createdBy: callerOf(request) }, queue)
    const inserted = await ask(() => store.insert(stored, maxPerShop, told('create', request)), async late => { if (late) await takeBack(stored, request) })
    if (!inserted) throw new DUAL_AUTH_KEY_LIMIT(maxPerShop)
    return reply.code(201).header('cache-control', 'no-store').send({ ...bodyFromRecord(recordFromNewKey(stored)), plaintext })
  })

  app.get<{ Querystring: KeyQuery }>('/', { schema: listSchema, config }, async (request, reply) => {
    // Whoever has just used a key and looks here should see it.
    await lastUsed.flush()
    const { keys, count } = await ask(() => store.list(shopOf(request), request.query))
    reply.header('content-range', contentRange('api-keys', request.query, count, keys.length))
    return keys.map(bodyFromRecord)
  })

  app.delete<{ Params: { key_id: string } }>('/:key_id', { schema: revokeSchema, config }, async (request, reply) => {
    const found = await ask(() => store.revoke(shopOf(request), request.params.key_id.toLowerCase(), callerOf(request), new Date(), told('revoke', request)))
    if (!found) throw new DUAL_AUTH_KEY_NOT_FOUND()
    return reply.code(204).send()
  })

  function told (action: KeyChange['action'], request: FastifyRequest): OnStored {
    return async (key, transaction) => { await onKeyChange({ action, key }, request, transaction) }
  }

  /** @throws {@link DUAL_AUTH_MANAGEMENT_FORBIDDEN} where the path names no shop */
  function shopOf ({ params }: FastifyRequest): string {
    const shopId = shops.fromParams(params)
    if (shopId === undefined) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
    return shopId
  }

  /** Nobody was given the key, since the answer was a 503: it shall not be good, nor count as one that the shop has. */
  async function takeBack ({ id, shopId }: Pick<ApiKeyRecord, 'id' | 'shopId'>, request: FastifyRequest): Promise<void> {
    try {
      await ask(() => store.revoke(shopId, id, callerOf(request), new Date(), told('revoke', request)))
      app.log.warn({ keyId: id }, 'an API key was stored too late to be given out, and was revoked')
    } catch (err) {
      app.log.warn({ err, keyId: id }, 'an API key was stored too late to be given out, and could not be revoked')
    }
  }
}

/** JavaScript knows no leap second (RFC 3339 §5.7): it counts as the one before. */
function dateFromText (text: string): Date {
  return new Date(Math.min(Date.parse(text.replace(/:60(?=[.Z+-])/i, ':59')), LATEST))
}

/** The contract's record; the two fields it does not name appear only on keys that were made with them. */
function bodyFromRecord ({ id, name, prefix, scopes, createdAt, lastUsedAt, expiresAt, revokedAt }: ApiKeyRecord): Static<typeof Key> {
  return {
    id,
    name,
    prefix,
    created_at: createdAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
    ...(scopes.length > 0 && { scopes: [...scopes] }),
    ...(expiresAt !== null && { expires_at: expiresAt.toISOString() })
  }
}

function callerOf ({ identity }: FastifyRequest): string {
  switch (identity?.kind) {
    case 'user': return identity.subject
    case 'machine': return identity.clientId
    // The policy of these routes leaves no other; if it ever did, this is the refusal.
    default: throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
  }
}
