import { Type } from '@sinclair/typebox'
import { KeyName, KeyScopes, PRINTABLE } from '../keys/new-key.ts'
import { KEY_LIST } from './key-list.ts'

const Time = Type.String({ format: 'date-time' })
const TimeOrNull = Type.Union([Time, Type.Null()])

/** The body of a new key's request. */
export const NewKey = Type.Object({
  name: KeyName,
  scopes: Type.Optional(KeyScopes),
  expires_at: Type.Optional(Time)
}, { additionalProperties: false })

/** The parameters of the list. `key-list.ts` validates them, because all of them arrive as strings. */
const KeyListQuery = Type.Object({
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many keys to skip' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: KEY_LIST.maxLimit, default: KEY_LIST.defaultLimit, description: 'How many keys to return at most' })),
  range: Type.Optional(Type.String({ description: 'Instead of skip and limit: [first,last], last inclusive' })),
  filter: Type.Optional(Type.String({ description: 'A JSON object. Keys must match all of it: revoked (true or false), q (part of the name or prefix) and any field of a key, with a value or a list of values' })),
  sort: Type.Optional(Type.String({ description: 'A field with a single value, with a minus for descending; or ["field","ASC"]. Default: active keys first, then newest first' }))
})

/** A key as the routes return it. */
export const Key = Type.Object({
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  prefix: Type.String({ description: 'The middle part of the key' }),
  created_at: Time,
  last_used_at: TimeOrNull,
  revoked_at: TimeOrNull,
  scopes: Type.Optional(Type.Array(Type.String(), { description: 'Present if the key is limited to some operations' })),
  expires_at: Type.Optional(Time)
})

const CreatedKey = Type.Object({ ...Key.properties, plaintext: Type.String({ description: 'The key itself, shown this once' }) })
// Open: the host's error handler may add members or send something else.
const ErrorBody = Type.Partial(Type.Object({ statusCode: Type.Integer(), code: Type.String(), error: Type.String(), message: Type.String() }, { additionalProperties: true }))
// Some come from the host: a shop that does not exist, or its own form of validation errors.
const refusals = { 401: ErrorBody, 403: ErrorBody, 404: ErrorBody, 422: ErrorBody, 500: ErrorBody, 503: ErrorBody }

/** The responses to a body that cannot be read. */
const unreadable = { 400: ErrorBody, 413: ErrorBody, 415: ErrorBody }

/** The schemas of the three management routes. @param shopParam The route parameter that names the shop. */
export function schemasForShop (shopParam: string) {
  const shop = { [shopParam]: Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE }) }
  const tags = ['api-keys']
  return {
    createSchema: {
      operationId: 'create_api_key',
      summary: 'Create an API key',
      description: 'Creates an API key for the shop. Only this response contains the key itself.',
      tags,
      params: Type.Object(shop),
      body: NewKey,
      response: { 201: CreatedKey, ...unreadable, 409: ErrorBody, ...refusals }
    },
    listSchema: {
      operationId: 'list_api_keys',
      summary: 'List API keys',
      description: 'Lists the API keys of the shop, active ones first, newest first. Content-Range: api-keys {skip}-{skip+limit}/{count}.',
      tags,
      params: Type.Object(shop),
      querystring: KeyListQuery,
      response: { 200: Type.Array(Key), 400: ErrorBody, ...refusals }
    },
    revokeSchema: {
      operationId: 'revoke_api_key',
      summary: 'Revoke an API key',
      description: 'Revokes an API key, immediately and on every replica. Revoking it again is not an error.',
      tags,
      params: Type.Object({ ...shop, key_id: Type.String({ format: 'uuid' }) }),
      response: { 204: Type.Null(), ...unreadable, ...refusals }
    }
  }
}
