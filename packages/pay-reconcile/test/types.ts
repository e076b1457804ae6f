import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import payReconcile, {
  providerError, type AccountStore, type PayProvider, type PayReconcile, type PayReconcileOptions, type ProviderFault, type RunStore
} from '../src/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/stripe/index.ts'
import { startPayStandIn, type PayStandIn } from '../src/testing/index.ts'

// Nothing here runs; that it compiles is the test.
type Equals<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false
const holds = <Holds extends true>(value?: Holds): Holds | undefined => value

declare const app: FastifyInstance
declare const knex: Knex
declare const standIn: PayStandIn

const options: PayReconcileOptions = {
  accounts: knexAccountStore(knex, { table: 'accounts', openKey: async (stored, shopId) => stored + shopId }),
  provider: stripeProvider(standIn),
  runs: knexRunStore(knex),
  authorize: async request => { request.headers.authorization?.slice() },
  actor: request => request.id
}
app.register(payReconcile, options)
app.register(payReconcile, { ...options, prefix: '/accounts', perSecond: 20 })

// @ts-expect-error authorize is required
app.register(payReconcile, { accounts: options.accounts, provider: options.provider, actor: options.actor })
// @ts-expect-error actor is required
app.register(payReconcile, { accounts: options.accounts, provider: options.provider, authorize: options.authorize })
// @ts-expect-error options are read-only
options.prefix = '/other'

holds<Equals<typeof app.payReconcile, PayReconcile>>()
holds<Equals<Awaited<ReturnType<PayReconcile['ensureCustomer']>>, { readonly customerId: string, readonly created: boolean }>>()
holds<Equals<ReturnType<typeof knexAccountStore>, AccountStore>>()
holds<Equals<ReturnType<typeof knexRunStore>, RunStore>>()
holds<Equals<ReturnType<typeof stripeProvider>, PayProvider>>()
holds<Equals<Parameters<typeof providerError>[0], ProviderFault>>()

// @ts-expect-error a fault that does not exist
providerError('out_of_coffee')
// @ts-expect-error the audit must say who
app.payReconcile.ensureCustomer({ accountId: '1' })
// @ts-expect-error accounts are needed
startPayStandIn({})
