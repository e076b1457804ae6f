import { Type, type TSchema } from '@sinclair/typebox'
import type { FastifySchema } from 'fastify'
import { defaultLimit, maxLimit } from './list-query.ts'

/** A route's schema with its documentation, which Fastify's own types do not know of. */
export function documented (schema: FastifySchema & { readonly operationId: string, readonly summary: string, readonly description: string }): FastifySchema {
  const withTags = { tags: ['pay-reconcile'], ...schema }
  return withTags
}

/** An id of the host's: the store says whether there is such an account or shop. */
export const Id = Type.String({ description: 'As the host has it' })

const Timestamp = Type.String({ description: 'ISO 8601 UTC' })

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])

export const nullableText = nullable(Type.String())
export const nullableTimestamp = nullable(Timestamp)

const JsonObject = Type.Object({}, { additionalProperties: true })

/** An account as the admin routes answer it. */
export const AdminAccountSchema = Type.Object({
  id: Id,
  shop_id: Id,
  shop_name: Type.String(),
  name: Type.String(),
  hash_name: nullableText,
  details: JsonObject,
  pay_customer_id: nullableText,
  pay_synced_at: nullableTimestamp
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

export const IdParams = Type.Object({ id: Id })

/** The parameters of every page. */
export const pageParameters = {
  skip: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'How many records to skip' })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxLimit, default: defaultLimit, description: 'How many records to return at most' })),
  range: Type.Optional(Type.String({ description: 'Instead of skip and limit: [first,last], last inclusive' }))
}

/** The parameters of every list. @param fields - what `filter` takes, in words */
export const listParameters = (fields: string) => ({
  ...pageParameters,
  filter: Type.Optional(Type.String({ description: `A JSON object. Records match all of it: ${fields}, with a value or a list of values` })),
  sort: Type.Optional(Type.String({ description: 'A field of one value, with a minus for descending; or ["field","ASC"]' }))
})

/** The names that the query string may have; `list-query.ts` reads the values, since everything arrives as text. */
export const ListQuerystring = Type.Object({
  ...listParameters('missing_pay, q (part of the name) and any field of an account'),
  shop_id: Type.Optional(Id),
  missing_pay: Type.Optional(Type.Boolean({ description: 'true: only accounts without a pay_customer_id; false: only with one' }))
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
  field: Type.Optional(Type.String({ description: 'The input that it is about, as a path: limit, filter/missing_pay' }))
})

const ProviderProblem = Type.Object({
  ...Problem.properties,
  provider_request_id: Type.Optional(Type.String({ description: 'The id of the request at the payment provider' }))
})

// The host answers these in its own words, which a stricter schema would cut off.
const HostProblem = Type.Object(Type.Partial(Problem).properties, { additionalProperties: true })

/** The answers to everybody who may not be here, and to everybody when the server or its database is in trouble. */
export const refusals = { 401: HostProblem, 403: HostProblem, 500: HostProblem, 503: HostProblem }

/** The answers to a body that cannot be read, where the method may bring one. */
export const unreadable = { 400: HostProblem, 413: HostProblem, 415: HostProblem }

/** The errors of a read from the provider. */
export const readProblems = { ...refusals, 400: Problem, 404: Problem, 422: InputProblem, 502: ProviderProblem }
