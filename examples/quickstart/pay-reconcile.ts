import Fastify from 'fastify'
import knexFrom from 'knex'
import payReconcile from 'pay-reconcile'
import { createPayReconcileTables, knexAccountStore, knexRunStore } from 'pay-reconcile/knex'
import { stripeProvider } from 'pay-reconcile/stripe'

const knex = knexFrom({ client: 'pg', connection: process.env.DATABASE_URL ?? '' })
await createPayReconcileTables(knex) // better in a migration

const app = Fastify({ logger: true })

app.register(payReconcile, {
  accounts: knexAccountStore(knex),
  runs: knexRunStore(knex),
  // Without PAY_PORT this is the real provider.
  provider: stripeProvider(
    process.env.PAY_PORT ? { host: '127.0.0.1', port: Number(process.env.PAY_PORT), protocol: 'http' } : {}
  ),
  // Your own check of who is a superuser.
  authorize: async ({ headers: { authorization } }, reply) => {
    if (authorization === undefined) return reply.code(401).send({ message: 'Log in first' })
    if (authorization !== `Bearer ${process.env.ADMIN_TOKEN}`) {
      return reply.code(403).send({ message: 'For superusers only' })
    }
  },
  actor: () => 'admin'
})

// Concurrent checkouts create one customer at the provider. Check first that the caller may use this account.
app.post<{ Params: { id: string } }>('/accounts/:id/checkout', async ({ id: requestId, params: { id: accountId } }) => {
  const { customerId } = await app.payReconcile.ensureCustomer({ accountId, actor: accountId, requestId })
  return { pay_customer_id: customerId }
})

app.addHook('onClose', () => knex.destroy())
process.once('SIGTERM', () => {
  app.close()
})
await app.listen({ port: Number(process.env.PORT ?? 8080) })
