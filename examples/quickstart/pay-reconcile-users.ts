import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import payReconcile, { type PayReconcileOptions } from 'pay-reconcile'
import {
  createAccountIndexes,
  createPayReconcileTables,
  knexAccountStore,
  knexRunStore,
  type KnexAccountStoreOptions
} from 'pay-reconcile/knex'
import { stripeProvider } from 'pay-reconcile/stripe'

// The customer's id stays in the column that it is in. The new column holds the snapshot.
const users = (): KnexAccountStoreOptions => ({
  table: 'users',
  columns: {
    name: 'email',
    email: 'email',
    hashName: null,
    customerId: 'stripe_customer_id',
    details: 'stripe_details'
  },
  shop: { secretKey: process.env.STRIPE_SECRET_KEY }
})

/** In a migration. */
export async function migrate (knex: Knex): Promise<void> {
  await knex.raw('alter table users add column if not exists stripe_details jsonb')
  await createPayReconcileTables(knex)
  await createAccountIndexes(knex, users())
}

/** Adds the routes of your staff to your app, at /admin/users. */
export async function reconcileUsers (app: FastifyInstance, { knex, authorize, provider = stripeProvider() }: {
  readonly knex: Knex,
  /** Your own check of who may see and link customers. */
  readonly authorize: PayReconcileOptions['authorize'],
  readonly provider?: PayReconcileOptions['provider']
}): Promise<void> {
  await app.register(payReconcile, {
    accounts: knexAccountStore(knex, users()),
    runs: knexRunStore(knex, { table: 'users' }),
    // Of this app, environment and table: another one under the same account at the provider has a user 1, too.
    namespace: 'acme-production-users',
    provider,
    authorize,
    actor: () => 'staff',
    prefix: '/admin/users'
  })
}
