import createError from '@fastify/error'
import Fastify from 'fastify'
import knexFrom from 'knex'
import payReconcile from 'pay-reconcile'
import { createPayReconcileTables, knexAccountStore, knexRunStore } from 'pay-reconcile/knex'
import { stripeProvider } from 'pay-reconcile/stripe'

const UNAUTHORIZED = createError('SHOP_UNAUTHORIZED', 'Log in first', 401)
const FORBIDDEN = createError('SHOP_FORBIDDEN', 'For superusers only', 403)

const knex = knexFrom({ client: 'pg', connection: process.env.DATABASE_URL ?? '' })
await createPayReconcileTables(knex) // in your migrations, rather

const app = Fastify({ logger: true })

app.register(payReconcile, {
  accounts: knexAccountStore(knex),
  runs: knexRunStore(knex),
  // Without PAY_PORT this is the real provider.
  provider: stripeProvider(process.env.PAY_PORT ? { host: '127.0.0.1', port: Number(process.env.PAY_PORT), protocol: 'http' } : {}),
  // Your own check of who is a superuser.
  authorize: async request => {
    if (request.headers.authorization === undefined) throw new UNAUTHORIZED()
    if (request.headers.authorization !== `Bearer ${process.env.ADMIN_TOKEN}`) throw new FORBIDDEN()
  },
  actor: () => 'admin'
})

// A checkout: the customer is created at the provider once, however many checkouts run at the same time.
app.post<{ Params: { id: string } }>('/accounts/:id/checkout', async request => {
  const { customerId } = await app.payReconcile.ensureCustomer({
    accountId: request.params.id, actor: request.params.id, requestId: request.id, signal: request.signal
  })
  return { pay_customer_id: customerId }
})

app.addHook('onClose', () => knex.destroy())
process.once('SIGTERM', () => { app.close() })
await app.listen({ port: Number(process.env.PORT ?? 8080) })
