import { Type } from '@sinclair/typebox'
import { KEY_LIST } from './key-list.ts'

// No control characters: PostgreSQL takes no NUL, and nobody wants the others in a listing.
const PRINTABLE = '^[^\\u0000-\\u001f\\u007f]*$'
const Time = Type.String({ format: 'date-time' })
const TimeOrNull = Type.Union([Time, Type.Null()])

/** Body of a creation. */
export const NewKey = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, pattern: PRINTABLE, description: 'A label of your own' }),
  scopes: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 64, pattern: '^[A-Za-z0-9_.:/-]+$' }), { minItems: 1, maxItems: 64, uniqueItems: true, description: 'read, write or operation ids; left out, every operation' })),
  expires_at: Type.Optional(Time)
}, { additionalProperties: false })

/** The parameters of the listing; `key-list.ts` reads them, since everything arrives as a string. */
const KeyListQuery = Type.Object({
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many keys to skip' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: KEY_LIST.maxLimit, default: KEY_LIST.defaultLimit, description: 'How many keys to return at most' })),
  range: Type.Optional(Type.String({ description: 'Instead of skip and limit: [first,last], last inclusive' })),
  filter: Type.Optional(Type.String({ description: 'A JSON object. Keys match all of it: revoked (true or false), q (part of the name or prefix) and any field of a key, with a value or a list of values' })),
  sort: Type.Optional(Type.String({ description: 'A field of one value, with a minus for descending; or ["field","ASC"]. Default: active keys first, then the newest first' }))
})

/** A key as the routes show it. */
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
// Open, because the host's error handler may answer with more, or with something else.
const ErrorBody = Type.Partial(Type.Object({ statusCode: Type.Integer(), code: Type.String(), error: Type.String(), message: Type.String() }, { additionalProperties: true }))
// Some are the host's: a shop that is not there, or input as its own validation has it.
const refusals = { 401: ErrorBody, 403: ErrorBody, 404: ErrorBody, 422: ErrorBody, 500: ErrorBody, 503: ErrorBody }

/** The answers to a body that cannot be read. */
const unreadable = { 400: ErrorBody, 413: ErrorBody, 415: ErrorBody }

/** The schemas of the three management routes. @param shopParam The route parameter that names the shop. */
export function schemasForShop (shopParam: string) {
  const shop = { [shopParam]: Type.String({ minLength: 1, maxLength: 64, pattern: PRINTABLE }) }
  const tags = ['api-keys']
  return {
    createSchema: {
      operationId: 'create_api_key',
      summary: 'Create an API key',
      description: 'Makes an API key for the shop. This answer is the only one that holds it.',
      tags,
      params: Type.Object(shop),
      body: NewKey,
      response: { 201: CreatedKey, ...unreadable, 409: ErrorBody, ...refusals }
    },
    listSchema: {
      operationId: 'list_api_keys',
      summary: 'List API keys',
      description: 'The API keys of the shop, active ones first, newest first. Content-Range: api-keys {skip}-{skip+limit}/{count}.',
      tags,
      params: Type.Object(shop),
      querystring: KeyListQuery,
      response: { 200: Type.Array(Key), 400: ErrorBody, ...refusals }
    },
    revokeSchema: {
      operationId: 'revoke_api_key',
      summary: 'Revoke an API key',
      description: 'Revokes an API key, at once and everywhere. To do so again is no error.',
      tags,
      params: Type.Object({ ...shop, key_id: Type.String({ format: 'uuid' }) }),
      response: { 204: Type.Null(), ...unreadable, ...refusals }
    }
  }
}
