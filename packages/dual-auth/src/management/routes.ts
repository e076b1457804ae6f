import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Static } from '@sinclair/typebox'
import { headersFromRefusal, type ChallengeOptions } from '../challenge.ts'
import type { StoreCall } from '../keys/call-store.ts'
import type { LastUsed } from '../keys/last-used.ts'
import { newKey } from '../keys/new-key.ts'
import type { Queue } from '../keys/queue.ts'
import { recordFromNewKey, type ApiKeyRecord, type KeyChange, type KeyQuery, type OnStored } from '../keys/store.ts'
import type { ApiKeySettings, ManagementOptions } from '../options.ts'
import type { ShopReader } from '../shop.ts'
import { compileOwnSchemas } from './compilers.ts'
import { excerpt } from './excerpt.ts'
import { contentRange } from './list-grammar.ts'
import { schemasForShop, type Key, type NewKey } from './schemas.ts'
import { DUAL_AUTH_KEY_LIMIT, DUAL_AUTH_KEY_NOT_FOUND, DUAL_AUTH_MANAGEMENT_FORBIDDEN, DUAL_AUTH_SCOPE_UNKNOWN } from '../errors.ts'

/** Later dates are written with a sign and a six-digit year, which RFC 3339 does not allow. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

export interface RouteParts {
  /** The instance that the plugin is registered on. */
  readonly host: FastifyInstance
  readonly settings: ApiKeySettings
  readonly shops: ShopReader
  readonly canManage: ManagementOptions['canManage']
  readonly onKeyChange: Required<ManagementOptions>['onKeyChange']
  /** Every scope that opens a route. */
  readonly knownScopes: () => ReadonlySet<string>
  readonly callStore: StoreCall
  readonly queue: Queue
  readonly lastUsed: LastUsed
  readonly challenge: ChallengeOptions
}

/** POST, GET and DELETE of a shop's keys, for tokens only: with an API key nobody can list or create keys. */
export const managementRoutes: FastifyPluginAsync<RouteParts> = async (app, { host, settings, shops, canManage, onKeyChange, knownScopes, callStore, queue, lastUsed, challenge }) => {
  const { store, maxPerShop } = settings
  const { createSchema, listSchema, revokeSchema } = schemasForShop(settings.shopParam)
  const config = { auth: 'jwt' } as const
  compileOwnSchemas(app)

  // Many clients send a JSON content type with every request, even with a DELETE without a body.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parseJson(request, body, done)
  })

  // Adds headers only; the host's error handler sends the response. Fastify already knows the handler set before this
  // registration. One set later would not apply to these routes, so it is called here.
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
    const unknown = scopes.filter(scope => !knownScopes().has(scope))
    if (unknown.length > 0) throw Object.assign(new DUAL_AUTH_SCOPE_UNKNOWN(excerpt(unknown.join(', ')), [...knownScopes()].join(', ')), { field: 'scopes' })
    const { stored, plaintext } = await newKey(settings, { shopId: shopOf(request), name, scopes, expiresAt, createdBy: callerOf(request) }, queue)
    const inserted = await callStore(() => store.insert(stored, maxPerShop, onStored('create', request)), async late => { if (late) await revokeUndelivered(stored, request) })
    if (!inserted) throw new DUAL_AUTH_KEY_LIMIT(maxPerShop)
    return reply.code(201).header('cache-control', 'no-store').send({ ...bodyFromRecord(recordFromNewKey(stored)), plaintext })
  })

  app.get<{ Querystring: KeyQuery }>('/', { schema: listSchema, config }, async (request, reply) => {
    // So that a key that was just used shows it.
    await lastUsed.flush()
    const { keys, count } = await callStore(() => store.list(shopOf(request), request.query))
    reply.header('content-range', contentRange('api-keys', request.query, count, keys.length))
    return keys.map(bodyFromRecord)
  })

  app.delete<{ Params: { key_id: string } }>('/:key_id', { schema: revokeSchema, config }, async (request, reply) => {
    const found = await callStore(() => store.revoke(shopOf(request), request.params.key_id.toLowerCase(), callerOf(request), new Date(), onStored('revoke', request)))
    if (!found) throw new DUAL_AUTH_KEY_NOT_FOUND()
    return reply.code(204).send()
  })

  function onStored (action: KeyChange['action'], request: FastifyRequest): OnStored {
    return async (key, transaction) => { await onKeyChange({ action, key }, request, transaction) }
  }

  /** @throws {@link DUAL_AUTH_MANAGEMENT_FORBIDDEN} if the path names no shop */
  function shopOf ({ params }: FastifyRequest): string {
    const shopId = shops.fromParams(params)
    if (shopId === undefined) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
    return shopId
  }

  /** The response was a 503, so nobody has the key: it must neither work nor count as one of the shop's active keys. */
  async function revokeUndelivered ({ id, shopId }: Pick<ApiKeyRecord, 'id' | 'shopId'>, request: FastifyRequest): Promise<void> {
    try {
      await callStore(() => store.revoke(shopId, id, callerOf(request), new Date(), onStored('revoke', request)))
      app.log.warn({ keyId: id }, 'an API key was stored after its request timed out, and was revoked')
    } catch (err) {
      app.log.warn({ err, keyId: id }, 'an API key was stored after its request timed out, and could not be revoked')
    }
  }
}

/** JavaScript has no leap seconds (RFC 3339 §5.7): they count as the second before. */
function dateFromText (text: string): Date {
  return new Date(Math.min(Date.parse(text.replace(/:60(?=[.Z+-])/i, ':59')), LATEST))
}

/** `scopes` and `expires_at` appear only on keys that were created with them. */
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
    // Unreachable: the policy of these routes accepts tokens only.
    default: throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
  }
}
