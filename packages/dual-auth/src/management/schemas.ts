import { type Static, Type } from '@sinclair/typebox'
import { KeyName, KeyScopesOrAll, PRINTABLE } from '../keys/new-key.ts'
import { DEFAULT_GRACE, MAX_GRACE } from '../keys/rotation.ts'
import { refusedSince, statusOfKey, type ApiKeyRecord, type KeyPage } from '../keys/store.ts'
import { ErrorBody } from '../routes/error-body.ts'
import { KEY_LIST } from './key-list.ts'

const Time = Type.String({ format: 'date-time' })
const TimeOrNull = Type.Union([Time, Type.Null()])

// Not a union, whose errors would name both of its members.
const expiry = (description: string) =>
  Type.Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], format: 'date-time', description }))

const NewKey = Type.Object({
  name: KeyName,
  scopes: Type.Optional(KeyScopesOrAll),
  expires_at: expiry('When the key stops working; null or left out, never')
}, { additionalProperties: false })

/** The body of a new key's request. */
export type NewKeyBody = Static<typeof NewKey>

const RotationOf = Type.Object({
  grace: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_GRACE,
      default: DEFAULT_GRACE,
      description: 'How long the old key still works, in seconds; with 0 it is revoked at once'
    })
  ),
  expires_at: expiry('When the new key stops working; null, never. Default: the lifetime of the old key, from now')
}, { additionalProperties: false })

/** The body of a rotation's request. */
export type RotationBody = Static<typeof RotationOf>

/** The parameters of the list. `key-list.ts` validates them, because all of them arrive as strings. */
const KeyListQuery = Type.Object({
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many keys to skip' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: KEY_LIST.maxLimit,
      default: KEY_LIST.defaultLimit,
      description: 'How many keys to return at most'
    })
  ),
  range: Type.Optional(Type.String({ description: 'Instead of skip and limit: [first,last], last inclusive' })),
  filter: Type.Optional(
    Type.String({
      description: 'A JSON object. Keys must match all of it: status (active, expired or revoked), revoked (true or ' +
        'false), q (part of the name or prefix) and any field of a key, with a value or a list of values'
    })
  ),
  sort: Type.Optional(
    Type.String({
      description:
        'A field with a single value, with a minus for descending; or ["field","ASC"]. Default: active keys ' +
        'first, then newest first'
    })
  )
})

const UuidOrNull = (description: string) => Type.Union([Type.String({ format: 'uuid' }), Type.Null()], { description })

/** A key as the routes return it. */
const Key = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  prefix: Type.String({ description: 'The middle part of the key' }),
  status: Type.Union([Type.Literal('active'), Type.Literal('expired'), Type.Literal('revoked')], {
    description: 'Only an active key works'
  }),
  scopes: Type.Union([Type.Array(Type.String()), Type.Literal('all')], {
    description: 'The only operations that it opens; all: every operation that accepts keys'
  }),
  created_at: Time,
  created_by: Type.String({ description: 'The subject of the person or the client id of the machine that created it' }),
  expires_at: Type.Union([Time, Type.Null()], { description: 'Null: never' }),
  last_used_at: TimeOrNull,
  last_used_network: Type.Union([Type.String(), Type.Null()], {
    description: 'The network of its last use: /24 of an IPv4 address, /48 of an IPv6 address'
  }),
  revoked_at: TimeOrNull,
  replaces: UuidOrNull('The id of the key that it replaces'),
  replaced_by: UuidOrNull('The id of its successor')
})

const created = {
  ...Key.properties,
  plaintext: Type.String({ description: 'The key itself; shown only once' }),
  warnings: Type.Array(Type.String(), {
    description: 'Limits that the key lacks: it opens every operation, or never expires'
  })
}
const CreatedKey = Type.Object(created)
const RotatedKey = Type.Object({
  ...created,
  replaced: Type.Object(Key.properties, {
    description: 'The old key. It works until its expires_at, unless it is revoked'
  })
})
// Some come from the host: an owner that does not exist, or its own form of validation errors.
const refusals = { 401: ErrorBody, 403: ErrorBody, 404: ErrorBody, 422: ErrorBody, 500: ErrorBody, 503: ErrorBody }

/** The responses to a body that cannot be read. */
const unreadable = { 400: ErrorBody, 413: ErrorBody, 415: ErrorBody }

/**
 * The schemas of the management routes.
 *
 * @param ownerParam - the route parameter that names the owner; null: none does
 * @param name - the end of their operation ids
 */
export function schemasForOwner (ownerParam: string | null, name: string) {
  const owner = ownerParam === null
    ? {}
    : { [ownerParam]: Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE }) }
  const tags = ['api-keys']
  return {
    createSchema: {
      operationId: `create_${name}`,
      summary: 'Create an API key',
      description: 'Creates an API key. Only this response contains the key itself.',
      tags,
      params: Type.Object(owner),
      body: NewKey,
      response: { 201: CreatedKey, ...unreadable, 409: ErrorBody, ...refusals }
    },
    listSchema: {
      operationId: `list_${name}s`,
      summary: 'List API keys',
      description: 'Lists the API keys, active ones first, newest first. Content-Range: api-keys ' +
        '{skip}-{skip+limit}/{count}. Key-Counts: active=3, expired=1, revoked=2, of all of them.',
      tags,
      params: Type.Object(owner),
      querystring: KeyListQuery,
      response: { 200: Type.Array(Key), 400: ErrorBody, ...refusals }
    },
    rotateSchema: {
      operationId: `rotate_${name}`,
      summary: 'Rotate an API key',
      description:
        'Creates a successor with the same name and scopes. Only this response contains it. The old key works ' +
        'until the grace is over.',
      tags,
      params: Type.Object({ ...owner, key_id: Type.String({ format: 'uuid' }) }),
      body: RotationOf,
      response: { 201: RotatedKey, ...unreadable, 409: ErrorBody, ...refusals }
    },
    revokeSchema: {
      operationId: `revoke_${name}`,
      summary: 'Revoke an API key',
      description: 'Revokes an API key, immediately and on every replica. Revoking it again is not an error.',
      tags,
      params: Type.Object({ ...owner, key_id: Type.String({ format: 'uuid' }) }),
      response: { 204: Type.Null(), ...unreadable, ...refusals }
    }
  }
}

const OPENS_ALL = 'This key has the scopes all: it opens every operation that accepts keys. ' +
  'Create keys with "scopes": ["read"], or the operations they need.'
const NEVER_EXPIRES = 'This key has no expires_at: it works until somebody revokes it.'

/** A key as the routes return it. */
export function bodyFromRecord (key: ApiKeyRecord, at: Date) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    status: statusOfKey(key, at),
    scopes: key.scopes.length === 0 ? 'all' as const : [...key.scopes],
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    last_used_network: key.lastUsedNetwork,
    revoked_at: refusedSince(key, at)?.toISOString() ?? null,
    replaces: key.replaces,
    replaced_by: key.replacedBy
  }
}

/** The one response that contains the key itself, and says what the key is not limited in. */
export function createdBody (key: ApiKeyRecord, plaintext: string) {
  const warnings = [...(key.scopes.length === 0 ? [OPENS_ALL] : []), ...(key.expiresAt === null ? [NEVER_EXPIRES] : [])]
  return { ...bodyFromRecord(key, key.createdAt), plaintext, warnings }
}

/** The value of `Key-Counts`, a dictionary (RFC 9651 §3.2). */
export function countsHeader ({ active, expired, revoked }: KeyPage['counts']): string {
  return `active=${active}, expired=${expired}, revoked=${revoked}`
}
