import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { unlinkedCustomersOf, type UnlinkedCustomer } from '../customers/unlinked.ts'
import type { Sources } from '../customers/snapshot.ts'
import { PAY_RECONCILE_VALIDATION } from '../errors.ts'
import { excerpt } from '#shared/excerpt'
import type { RawQuery } from '#shared/list-grammar'
import { shopFrom } from './list-query.ts'
import { documented, Id, NullableString, oneOf, readProblems, ShownMetadata } from './schemas.ts'

const UnlinkedCustomerSchema = Type.Object({
  pay_customer_id: Type.String(),
  name: NullableString,
  email: NullableString,
  metadata: ShownMetadata,
  accounts: Type.Array(
    Type.Object({
      account_id: Id,
      account_name: Type.String(),
      match: oneOf(['metadata', 'email']),
      pay_customer_id: NullableString
    }),
    { description: 'Accounts that the customer may belong to, and the customers that they have' }
  )
})

export const UnlinkedCustomersSchema = Type.Object({
  customers: Type.Array(UnlinkedCustomerSchema),
  next: Type.Union([Type.String(), Type.Null()], {
    description: 'The after of the next page; null: this is the last one'
  })
})

const Querystring = Type.Object({
  shop_id: Id,
  after: Type.Optional(Type.String({ description: 'The next of the page before' }))
})

/** The route that lists the customers at the provider that no account is linked to. */
export function unlinkedRoutes (scope: FastifyInstance, sources: Sources): void {
  scope.get<{ Querystring: RawQuery }>('/unlinked-customers', {
    schema: documented({
      operationId: 'list_unlinked_customers',
      summary: 'List unlinked customers',
      description:
        'Lists customers of a shop at the payment provider that no account is linked to, with the accounts that ' +
        'they may belong to. Reads 100 customers live and stores nothing; a page may be empty although next is ' +
        'not null.',
      querystring: Querystring,
      response: { 200: UnlinkedCustomersSchema, ...readProblems }
    })
  }, async ({ query, signal }) => {
    const shopId = shopFrom(query.shop_id)
    if (shopId === undefined) {
      throw new PAY_RECONCILE_VALIDATION('shop_id', 'shop_id is required: each shop has its own key')
    }
    const { after } = query
    if (after !== undefined && !(typeof after === 'string' && sources.provider.isCustomerId(after))) {
      throw new PAY_RECONCILE_VALIDATION('after', 'after must be the next of the page before')
    }
    const { customers, next } = await unlinkedCustomersOf(sources, shopId, after, signal)
    return { customers: customers.map(unlinkedBodyFrom), next }
  })
}

function unlinkedBodyFrom (
  { customerId, accounts, ...facts }: UnlinkedCustomer
): Static<typeof UnlinkedCustomerSchema> {
  return {
    pay_customer_id: customerId,
    ...facts,
    accounts: accounts.map(({ account, match, customerId: linked }) => ({
      account_id: account.id,
      account_name: excerpt(account.name),
      match,
      pay_customer_id: linked
    }))
  }
}
