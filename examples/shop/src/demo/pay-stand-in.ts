import type { Knex } from 'knex'
import { type PayStandIn, startPayStandIn } from 'pay-reconcile/testing'
import { customerOf, customersOf } from './accounts.ts'

/**
 * Starts the demo's payment provider, with the demo's customers for the key of each shop.
 *
 * @param port - on loopback
 * @param payKeys - by the slug of their shop
 */
export async function startDemoPay (port: number, payKeys: Readonly<Record<string, string>>): Promise<PayStandIn> {
  const accounts = Object.entries(payKeys).map(([slug, key]) => [key, { customers: customersOf(slug) }] as const)
  return await startPayStandIn({ port, accounts: Object.fromEntries(accounts), log: () => {} })
}

/** Restores the customers that checkouts created before the last stop, since the stand-in stores nothing. */
export async function restoreCustomers (knex: Knex, standIn: PayStandIn, payKeys: Readonly<Record<string, string>>): Promise<void> {
  const created = await knex('pay_reconcile_audit as c').where({ action: 'create' })
    .joinRaw('join accounts as a on a.id::text = c.account_id').join('shops as s', 's.id', 'a.shop_id').whereIn('s.slug', Object.keys(payKeys))
    .select('s.slug', 'a.id', 'a.name', knex.raw("a.details->>'email' as email"), knex.raw("c.after->>'pay_customer_id' as customer_id"), 'c.at')
  for (const { slug, id, name, email, customer_id: customerId, at } of created) {
    const customer = customerOf({ id, name, email, customerId, created: Math.floor(Date.parse(at) / 1000) })
    standIn.account(payKeys[slug]!).customers.set(customerId, customer)
  }
}
