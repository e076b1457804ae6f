import type { FastifyError, FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import { headersFromOutage } from '../challenge.ts'
import type { Core } from '../core.ts'
import { errorOfField } from '../field-error.ts'
import { LATEST, newKey } from '../keys/new-key.ts'
import { DEFAULT_GRACE, rotationFrom } from '../keys/rotation.ts'
import { recordFromNewKey, type ApiKeyRecord } from '../keys/store.ts'
import { must } from '../option-checks.ts'
import { compileOwnSchemas } from '../routes/compilers.ts'
import type { ManagementSettings } from './options.ts'
import { excerpt } from '#shared/excerpt'
import { validatedKeyQuery, type RawKeyQuery } from './key-list.ts'
import { contentRange } from '#shared/list-grammar'
import {
  bodyFromRecord,
  countsHeader,
  createdBody,
  schemasForOwner,
  type NewKeyBody,
  type RotationBody
} from './schemas.ts'
import {
  DUAL_AUTH_KEY_LIMIT,
  DUAL_AUTH_KEY_NOT_FOUND,
  DUAL_AUTH_MANAGEMENT_FORBIDDEN,
  DUAL_AUTH_SCOPE_UNKNOWN,
  DUAL_AUTH_OWNER_UNKNOWN,
  DUAL_AUTH_STORE_UNAVAILABLE
} from '../errors.ts'

/** Who manages keys, for the record, and whose they are. */
const BY = Symbol('dual-auth.by')
const OWNER = Symbol('dual-auth.owner')

const NO_SCOPES = 'none, as no route that was registered after dual-auth accepts API keys with a scope'

declare module 'fastify' {
  interface FastifyRequest {
    [BY]: string
    [OWNER]: string
  }
}

export interface RouteParts {
  /** The instance that the routes are registered on. */
  readonly host: FastifyInstance
  readonly core: Core
  readonly settings: ManagementSettings
}

/**
 * The routes to create, list, rotate and revoke the keys of an owner, for tokens only, or for whom the host signs in:
 * with an API key nobody can list or create keys.
 */
export const managementRoutes: FastifyPluginAsync<RouteParts> = async (
  app,
  {
    host,
    core: { apiKeys, acceptsTokens, owners, knownScopes, callStore, queue, lastUsed, emit },
    settings: { canManage, onKeyChange, owner, operationName }
  }
) => {
  const { store, maxPerOwner } = apiKeys
  const { createSchema, listSchema, rotateSchema, revokeSchema } = schemasForOwner(
    owner === undefined ? apiKeys.ownerParam : null,
    operationName
  )
  // Public: keys are not read, and `canManage` alone decides.
  const config = { auth: acceptsTokens ? 'jwt' : 'public' } as const
  for (const note of [BY, OWNER]) if (!app.hasRequestDecorator(note)) app.decorateRequest(note, '')
  compileOwnSchemas(app, validatedKeyQuery)

  // Many clients send a JSON content type with every request, even with a DELETE without a body.
  const parseJson = app.getDefaultJsonParser('error', 'error')
  app.removeContentTypeParser('application/json')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else parseJson(request, body, done)
  })

  // Adds headers only; the host's error handler sends the response. The guard has set the challenge. Fastify knows the
  // handler that was set before this registration. One set later would not apply to these routes, so it is called here.
  const early = app.errorHandler
  app.setErrorHandler((error: FastifyError, request, reply) => {
    reply.headers(headersFromOutage(error))
    if (host.errorHandler === early) throw error
    return host.errorHandler(error, request, reply)
  })
  app.addHook('preParsing', async (request) => {
    const ownerId = owner === undefined ? owners.fromParams(request.params) : await owner(request)
    // The function is the host's and may be JavaScript: a value that is no id must not pass for an owner.
    must(
      ownerId === undefined || ownerId === null || typeof ownerId === 'string',
      'management.owner must return the id of the owner as a string, or undefined'
    )
    if (typeof ownerId !== 'string' || ownerId === '') {
      throw owner === undefined ? new DUAL_AUTH_OWNER_UNKNOWN() : new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
    }
    // Else the keys of a person would be those of the team with the same id.
    must(
      owner === undefined || !owners.areManaged() || !owners.canBeNamed(ownerId),
      `management.owner of ${app.prefix} must return what no path names, such as person:7, as other keys are ` +
        'managed by path: whoever has the id of another owner could use and manage its keys'
    )
    const allowed = await canManage(request, ownerId)
    request[OWNER] = ownerId
    if (!allowed) throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
    request[BY] = acceptsTokens ? callerOf(request) : callerFromHost(allowed)
  })

  app.post<{ Body: NewKeyBody }>('/', { schema: createSchema, config }, async (request, reply) => {
    const { name, scopes = 'all', expires_at: expiry } = request.body
    const unknown = scopes === 'all' ? [] : scopes.filter((scope) => !knownScopes().has(scope))
    if (unknown.length > 0) {
      const known = [...knownScopes()].join(', ') || NO_SCOPES
      throw errorOfField('scopes', new DUAL_AUTH_SCOPE_UNKNOWN(excerpt(unknown.join(', ')), known))
    }
    const by = request[BY]
    const { stored, plaintext } = await newKey(apiKeys, {
      ownerId: request[OWNER],
      name,
      scopes,
      expiresAt: dateFromText(expiry),
      createdBy: by
    }, queue)
    const inserted = await callStore(
      () =>
        store.insert(stored, maxPerOwner, async (key, transaction) => {
          await onKeyChange({ action: 'create', key }, request, transaction)
        }),
      async (late) => {
        if (late) await revokeUndelivered(stored, request)
      }
    )
    if (!inserted) throw new DUAL_AUTH_KEY_LIMIT(maxPerOwner)
    const key = recordFromNewKey(stored)
    emit({ type: 'created', key, by })
    return reply.code(201).header('cache-control', 'no-store').send(createdBody(key, plaintext))
  })

  app.get<{ Querystring: RawKeyQuery }>('/', { schema: listSchema, config }, async (request, reply) => {
    // So that a key that was just used shows it.
    await lastUsed.flush()
    const at = new Date(Date.now())
    const { keys, count, counts } = await callStore(() => store.list(request[OWNER], { ...request.query, at }))
    reply.headers({
      'content-range': contentRange('api-keys', request.query, count, keys.length),
      'key-counts': countsHeader(counts)
    })
    return keys.map((key) => bodyFromRecord(key, at))
  })

  // Many clients send no body at all if they have nothing to say.
  const preValidation = async (request: FastifyRequest) => {
    request.body ??= {}
  }
  app.post<{ Params: { key_id: string }, Body: RotationBody }>('/:key_id/rotate', {
    schema: rotateSchema,
    config,
    preValidation
  }, async (request, reply) => {
    const { grace = DEFAULT_GRACE, expires_at: expiry } = request.body
    const by = request[BY]
    const ownerId = request[OWNER]
    // Its name and scopes become those of the key that it replaces.
    const wanted = { ownerId, name: '', scopes: 'all', expiresAt: dateFromText(expiry), createdBy: by } as const
    const { stored: minted, plaintext } = await newKey(apiKeys, wanted, queue)
    let isLate = false
    const rotating = callStore(
      () =>
        store.rotate(
          ownerId,
          request.params.key_id.toLowerCase(),
          minted.createdAt,
          (found) => rotationFrom(found, { minted, grace, limit: maxPerOwner, isEndless: expiry === null }),
          async (rotated, transaction) => {
            // Undone: the old key must not end if nobody has got the new one.
            if (isLate) throw new DUAL_AUTH_STORE_UNAVAILABLE()
            await onKeyChange({ action: 'rotate', ...rotated }, request, transaction)
            // The host may have taken the time.
            if (isLate) throw new DUAL_AUTH_STORE_UNAVAILABLE()
          }
        ),
      async (late) => {
        if (late !== null) await revokeUndelivered(late.key, request)
      }
    )
    const rotated = await rotating.catch((error) => {
      isLate = true
      throw error
    })
    if (rotated === null) throw new DUAL_AUTH_KEY_NOT_FOUND()
    emit({ type: 'rotated', ...rotated, by })
    return reply.code(201).header('cache-control', 'no-store').send({
      ...createdBody(rotated.key, plaintext),
      replaced: bodyFromRecord(rotated.replaced, minted.createdAt)
    })
  })

  app.delete<{ Params: { key_id: string } }>('/:key_id', { schema: revokeSchema, config }, async (request, reply) => {
    if (!await revoke(request[OWNER], request.params.key_id.toLowerCase(), request)) throw new DUAL_AUTH_KEY_NOT_FOUND()
    return reply.code(204).send()
  })

  /** @returns whether the owner has such a key */
  async function revoke (ownerId: string, id: string, request: FastifyRequest): Promise<boolean> {
    const by = request[BY]
    let revoked: ApiKeyRecord | undefined
    const tell = async (): Promise<void> => {
      if (revoked !== undefined) emit({ type: 'revoked', key: revoked, by })
    }
    const found = await callStore(
      () =>
        store.revoke(ownerId, id, by, new Date(Date.now()), async (key, transaction) => {
          await onKeyChange({ action: 'revoke', key }, request, transaction)
          revoked = key
        }),
      tell
    )
    await tell()
    return found
  }

  /** The response was a 503, so nobody has the key: it must neither work nor count as an active key of the owner. */
  async function revokeUndelivered (
    { id, ownerId }: Pick<ApiKeyRecord, 'id' | 'ownerId'>,
    request: FastifyRequest
  ): Promise<void> {
    try {
      await revoke(ownerId, id, request)
      app.log.warn({ keyId: id }, 'an API key was stored after its request timed out, and was revoked')
    } catch (err) {
      app.log.warn({ err, keyId: id }, 'an API key was stored after its request timed out, and could not be revoked')
    }
  }
}

/** JavaScript has no leap seconds (RFC 3339 §5.7): they count as the second before. */
function dateFromText (text: string | null = null): Date | null {
  return text === null ? null : new Date(Math.min(Date.parse(text.replace(/:60(?=[.Z+-])/i, ':59')), LATEST))
}

function callerFromHost (id: string | true): string {
  must(
    typeof id === 'string',
    "management.canManage must return the id of the caller, or false, with jwt: 'host' and jwt: false"
  )
  return id
}

function callerOf ({ identity }: FastifyRequest): string {
  switch (identity?.kind) {
    case 'user':
      return identity.subject
    case 'machine':
      return identity.clientId
    // Unreachable: the policy of these routes accepts tokens only.
    default:
      throw new DUAL_AUTH_MANAGEMENT_FORBIDDEN()
  }
}
