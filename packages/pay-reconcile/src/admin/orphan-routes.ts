import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { orphansOf, type Orphan } from '../customers/orphans.ts'
import type { Sources } from '../customers/types.ts'
import { validationError } from '../errors.ts'
import { excerpt } from './excerpt.ts'
import type { RawQuery } from './list-grammar.ts'
import { shopFrom } from './list-query.ts'
import { documented, Id, NullableString, oneOf, readProblems } from './schemas.ts'

const OrphanSchema = Type.Object({
  pay_customer_id: Type.String(),
  name: NullableString,
  email: NullableString,
  accounts: Type.Array(Type.Object({
    account_id: Id,
    account_name: Type.String(),
    match: oneOf(['metadata', 'email']),
    pay_customer_id: NullableString
  }), { description: 'Accounts that the customer may belong to, and the customers that they have' })
})

export const OrphansSchema = Type.Object({
  orphans: Type.Array(OrphanSchema),
  next: Type.Union([Type.String(), Type.Null()], { description: 'The after of the next page; null: this is the last one' })
})

const Querystring = Type.Object({
  shop_id: Id,
  after: Type.Optional(Type.String({ description: 'The next of the page before' }))
})

/** The route that lists the customers at the provider that no account is linked to. */
export function orphanRoutes (scope: FastifyInstance, sources: Sources): void {
  scope.get<{ Querystring: RawQuery }>('/orphans', {
    schema: documented({
      operationId: 'list_pay_orphans',
      summary: 'List customers without an account',
      description: 'Lists customers of a shop at the payment provider that no account is linked to, with the accounts that they may belong to. Reads 100 customers live and stores nothing; a page may be empty although next is not null.',
      querystring: Querystring,
      response: { 200: OrphansSchema, ...readProblems }
    })
  }, async ({ query, signal }) => {
    const shopId = shopFrom(query.shop_id)
    if (shopId === undefined) throw validationError('shop_id', 'shop_id is required: each shop has its own key')
    const { after } = query
    if (after !== undefined && !(typeof after === 'string' && sources.provider.isCustomerId(after))) throw validationError('after', 'after must be the next of the page before')
    const { orphans, next } = await orphansOf(sources, shopId, after, signal)
    return { orphans: orphans.map(orphanBodyFrom), next }
  })
}

function orphanBodyFrom ({ customerId, name, email, accounts }: Orphan): Static<typeof OrphanSchema> {
  return {
    pay_customer_id: customerId,
    name,
    email,
    accounts: accounts.map(({ account, match, customerId: linked }) => ({
      account_id: account.id, account_name: excerpt(account.name), match, pay_customer_id: linked
    }))
  }
}
