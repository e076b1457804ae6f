import type { FastifyInstance } from 'fastify'
import type { Knex } from 'knex'
import type Stripe from 'stripe'
import payReconcile, {
  providerError,
  type AccountStore,
  type PayProvider,
  type PayReconcile,
  type PayReconcileOptions,
  type ProviderFault,
  type RunStore
} from '../src/index.ts'
import { csv } from '../src/csv/index.ts'
import { knexAccountStore, knexRunStore } from '../src/knex/index.ts'
import { stripeProvider } from '../src/provider/stripe/index.ts'
import { schedule } from '../src/schedule/index.ts'
import { startPayStandIn, type PayStandIn } from '../src/testing/index.ts'
import type * as parameters from '../src/testing/parameters.ts'
import { knexWebhookSecrets, webhooks, type Webhooks, type WebhookSecrets } from '../src/webhooks/index.ts'

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
  authorize: async (request) => {
    request.headers.authorization?.slice()
  },
  actor: (request) => request.id
}
app.register(payReconcile, options)
app.register(payReconcile, { ...options, prefix: '/accounts', perSecond: 20 })

app.register(payReconcile, {
  ...options,
  provider: stripeProvider({ platformKey: 'sk_test_1' }),
  extensions: [webhooks({ secrets: knexWebhookSecrets(knex), delay: 5000 }), schedule({ check: '0 3 * * *' }), csv()]
})

// @ts-expect-error webhooks have secrets
webhooks({})
// @ts-expect-error an extension is no option
app.register(payReconcile, { ...options, webhooks: { secrets: knexWebhookSecrets(knex) } })
// @ts-expect-error authorize is required
app.register(payReconcile, { accounts: options.accounts, provider: options.provider, actor: options.actor })
// @ts-expect-error actor is required
app.register(payReconcile, { accounts: options.accounts, provider: options.provider, authorize: options.authorize })
// @ts-expect-error options are read-only
options.prefix = '/other'

holds<Equals<typeof app.payReconcile, PayReconcile>>()
holds<
  Equals<
    Awaited<ReturnType<PayReconcile['ensureCustomer']>>,
    { readonly customerId: string, readonly created: boolean }
  >
>()
holds<Equals<ReturnType<typeof knexAccountStore>, AccountStore>>()
holds<Equals<ReturnType<typeof knexRunStore>, RunStore>>()
holds<Equals<ReturnType<typeof knexWebhookSecrets>, WebhookSecrets>>()
holds<Equals<Webhooks['secrets'], WebhookSecrets>>()
holds<Equals<ReturnType<typeof stripeProvider>, PayProvider>>()
holds<Equals<Parameters<typeof providerError>[0], ProviderFault>>()

// @ts-expect-error a fault that does not exist
providerError('out_of_coffee')
// @ts-expect-error the audit must say who
app.payReconcile.ensureCustomer({ accountId: '1' })
// @ts-expect-error accounts are needed
startPayStandIn({})

// The stand-in takes the parameters that the provider's library has.
type Names<Of extends keyof typeof parameters> = typeof parameters[Of] extends ReadonlyArray<infer Name>
  ? Exclude<Name, 'payment_method_types'>
  : never
holds<Equals<Names<'CUSTOMER_CREATE'>, keyof Stripe.CustomerCreateParams>>()
holds<Equals<Names<'CUSTOMER_UPDATE'>, keyof Stripe.CustomerUpdateParams>>()
holds<Equals<Names<'customerList'>, keyof Stripe.CustomerListParams>>()
holds<Equals<Names<'customerSearch'>, keyof Stripe.CustomerSearchParams>>()
holds<Equals<Names<'ONLY_EXPAND'>, keyof Stripe.CustomerRetrieveParams>>()
holds<Equals<Names<'NO_PARAMETERS'>, keyof Stripe.CustomerDeleteParams>>()
holds<Equals<Names<'eventList'>, keyof Stripe.EventListParams>>()
holds<Equals<Names<'INTENT_CREATE'>, keyof Stripe.PaymentIntentCreateParams>>()
holds<Equals<Names<'INTENT_RETRIEVE'>, keyof Stripe.PaymentIntentRetrieveParams>>()
holds<Equals<Names<'INTENT_CONFIRM'>, keyof Stripe.PaymentIntentConfirmParams>>()
holds<Equals<Names<'intentList'>, keyof Stripe.PaymentIntentListParams>>()
holds<Equals<Names<'intentSearch'>, keyof Stripe.PaymentIntentSearchParams>>()
holds<Equals<Names<'SESSION_CREATE'>, keyof Stripe.Checkout.SessionCreateParams>>()
holds<
  Equals<Names<'ONLY_EXPAND'>, keyof Stripe.Checkout.SessionRetrieveParams | keyof Stripe.Checkout.SessionExpireParams>
>()
holds<Equals<Names<'sessionList'>, keyof Stripe.Checkout.SessionListParams>>()
holds<Equals<Names<'lineItemList'>, keyof Stripe.Checkout.SessionListLineItemsParams>>()
