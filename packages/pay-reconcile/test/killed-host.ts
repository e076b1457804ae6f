import Fastify from 'fastify'
import knexFrom from 'knex'
import payReconcile from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'

/**
 * A host that starts a run, says which, and waits to be killed. Without a run to start it continues what others left.
 */
const [connection = '', port, run] = process.argv.slice(2)
const knex = knexFrom({ client: 'pg', connection })
const app = Fastify()
app.register(payReconcile, {
  accounts: knexAccountStore(knex),
  provider: stripeProvider({ host: '127.0.0.1', port: Number(port), protocol: 'http' }),
  runs: knexRunStore(knex),
  authorize: async () => {},
  actor: () => 'killed',
  perSecond: 100_000,
  accountsAtOnce: 8,
  inFlight: 16,
  leaseDuration: 2000
})
await app.ready()
if (run === undefined) {
  process.stdout.write('ready\n')
} else {
  const response = await app.inject({ method: 'POST', url: '/admin/accounts/reconcile', payload: JSON.parse(run) })
  process.stdout.write(`${response.json().id}\n`)
}
