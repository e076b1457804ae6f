import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import payReconcile, { type PayProvider } from 'pay-reconcile'
import { knexAccountStore, knexRunStore, type KnexAccountStoreOptions } from 'pay-reconcile/knex'
import { requireAdmin } from './auth.ts'

const OfTeam = Type.Object({ team_id: Type.String({ format: 'uuid' }) })
const Billing = Type.Object({ email: Type.String({ format: 'email', maxLength: 254 }) }, {
  additionalProperties: false
})
const Customer = Type.Object({ customer_id: Type.String() })

/** Teams are the accounts that pay. */
export function payingTeams (secretKey: string): KnexAccountStoreOptions {
  const columns = { email: 'email', hashName: null, customerId: 'stripe_customer_id', details: 'stripe_details' }
  return { table: 'teams', columns, shop: { secretKey } }
}

interface PayOptions {
  readonly knex: Knex
  readonly secretKey: string
  readonly provider: PayProvider
}

/** No route here is a tool. */
export const pay: FastifyPluginAsyncTypebox<PayOptions> = async (app, { knex, secretKey, provider }) => {
  // How teams differ from their customers at Stripe, for admins.
  await app.register(payReconcile, {
    accounts: knexAccountStore(knex, payingTeams(secretKey)),
    runs: knexRunStore(knex, { table: 'teams' }),
    provider,
    authorize: requireAdmin,
    actor: ({ identity }) => identity?.kind === 'user' ? identity.subject : 'unknown',
    prefix: '/admin/teams'
  })

  // Who gets the invoices. The first call makes the customer at Stripe.
  app.put('/teams/:team_id/billing', {
    schema: { params: OfTeam, body: Billing, response: { 200: Customer } },
    config: { auth: 'dual' }
  }, async ({ params: { team_id: accountId }, body: { email }, id: requestId, signal }) => {
    await knex('teams').where({ id: accountId }).update({ email })
    const actor = accountId
    const { customerId } = await app.payReconcile.ensureCustomer({ accountId, email, actor, requestId, signal })
    return { customer_id: customerId }
  })
}
