import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import type { Details } from '../types.ts'

export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1000

/** A route's schema with its documentation, which Fastify's own types do not have. */
export function documented (
  schema: FastifySchema & { readonly operationId: string, readonly summary: string, readonly description: string }
): FastifySchema {
  return Object.assign({ tags: ['pay-reconcile'] }, schema)
}

/** An id of the host. Only the store knows whether there is such an account or shop. */
export const Id = Type.String({ description: 'In the form that the host uses' })

export const Timestamp = Type.String({ description: 'ISO 8601 UTC' })

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const oneOf = <Word extends string>(words: readonly Word[], description?: string) =>
  Type.Union(words.map((word) => Type.Literal(word)), description === undefined ? {} : { description })

export const NullableString = nullable(Type.String())
export const NullableTimestamp = nullable(Timestamp)

export const JsonObject = Type.Unsafe<Details>(Type.Object({}, { additionalProperties: true }))

/** What a customer's metadata say, for a person to decide by. */
export const ShownMetadata = Type.Record(Type.String(), Type.String(), {
  description: "What the customer's metadata say: at most ten values, first those that name its account"
})

/** An account as the admin routes return it. */
export type AdminAccount = Static<typeof AdminAccountSchema>
export const AdminAccountSchema = Type.Object({
  id: Id,
  shop_id: Id,
  shop_name: Type.String(),
  name: Type.String(),
  hash_name: NullableString,
  details: JsonObject,
  pay_customer_id: NullableString,
  pay_synced_at: NullableTimestamp
})

export const PayCustomerSchema = Type.Object({
  account_id: Id,
  pay_customer_id: Type.String(),
  pay_customer: JsonObject
})

export const SyncedAccountSchema = Type.Object({
  id: Id,
  pay_customer_id: Type.String(),
  pay_synced_at: Timestamp,
  pay_customer: JsonObject
})

export const LinkBody = Type.Object({
  pay_customer_id: Type.String({ pattern: '^[A-Za-z0-9_-]{1,255}$' })
}, { additionalProperties: false })

/** Optional. */
export const UnlinkBody = Type.Union([Type.Null(), LinkBody])

export const IdParams = Type.Object({ id: Id })

/** The parameters of every page. */
export const pageParameters = {
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many records to skip' })),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
      description: 'How many records to return at most'
    })
  ),
  range: Type.Optional(Type.String({ description: 'Instead of skip and limit: [first,last], last inclusive' }))
}

/** @param fields - describes what `filter` accepts */
export const filterParameter = (fields: string) =>
  Type.Optional(
    Type.String({
      description: `A JSON object. Records must match all of it: ${fields}, with a value or a list of values`
    })
  )

/** The parameters of every list. @param fields - describes what `filter` accepts */
export const listParameters = (fields: string) => ({
  ...pageParameters,
  filter: filterParameter(fields),
  sort: Type.Optional(
    Type.String({ description: 'A field with a single value, with a minus for descending; or ["field","ASC"]' })
  )
})

/** Names and documentation of the parameters; `list-query.ts` reads the values, since they arrive as strings. */
export const ListQuerystring = Type.Object({
  ...listParameters('missing_pay, q (words of the name, or parts of them) and any field of an account'),
  shop_id: Type.Optional(Id),
  missing_pay: Type.Optional(
    Type.Boolean({ description: 'true: only accounts without a pay_customer_id; false: only with one' })
  )
})

/** The body of an error. */
export const Problem = Type.Object({
  statusCode: Type.Integer(),
  code: Type.String(),
  error: Type.String(),
  message: Type.String()
})

/** The body of an error about the input. */
export const InputProblem = Type.Object({
  ...Problem.properties,
  field: Type.Optional(Type.String({ description: 'The invalid input, as a path: limit, filter/missing_pay' }))
})

const ProviderProblem = Type.Object({
  ...Problem.properties,
  provider_request_id: Type.Optional(Type.String({ description: 'The id of the request at the payment provider' })),
  missing_permission: Type.Optional(Type.String({ description: 'The permission that a restricted key lacks' })),
  provider_param: Type.Optional(
    Type.String({ description: 'What of the customer the payment provider refused: email or name' })
  ),
  provider_code: Type.Optional(Type.String({ description: "Why, in the provider's words: email_invalid" }))
})

// The host sends these in its own form; a stricter schema would remove fields.
export const HostProblem = Type.Object(Type.Partial(Problem).properties, { additionalProperties: true })

/** Responses of the host: not authorized, or the server or its database has a problem. */
export const refusals = { 401: HostProblem, 403: HostProblem, 500: HostProblem, 503: HostProblem }

/** Responses to an unreadable body, for methods that may have one. */
export const unreadable = { 400: HostProblem, 413: HostProblem, 415: HostProblem }

/** The errors of a read from the provider. */
export const readProblems = { ...refusals, 400: Problem, 404: Problem, 422: InputProblem, 502: ProviderProblem }
