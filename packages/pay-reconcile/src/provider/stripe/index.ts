import { AsyncLocalStorage } from 'node:async_hooks'
import Stripe from 'stripe'
import type { PayCustomer, PayProvider, ProviderAnswer, ProviderCall } from '../types.ts'
import { providerError } from '../../errors.ts'
import { answerOf, type Exchange } from './exchange.ts'
import { errorFrom } from './fault.ts'

/** Where the API is; only a stand-in needs any of these. */
export interface StripeProviderOptions {
  /** Default `api.stripe.com`. */
  readonly host?: string
  /** Default 443. */
  readonly port?: number
  /** Default `https`. */
  readonly protocol?: 'http' | 'https'
}

const secretKeyPattern = /^(sk|rk)_(test|live)_[A-Za-z0-9]+$/
const customerIdPattern = /^[A-Za-z0-9_-]{1,255}$/

/**
 * The payment provider Stripe, through its official library: one client for all shops, the key per request.
 *
 * The library makes single attempts without telemetry (it would send one shop's request ids under the key of
 * another), and its requests end with the signal of the call, body included; its own `timeout` is an idle one.
 */
export function stripeProvider ({ host, port, protocol }: StripeProviderOptions = {}): PayProvider {
  const exchanges = new AsyncLocalStorage<Exchange>()

  const stripe = new Stripe('sk_none', {
    telemetry: false,
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient((url: string | URL | Request, init?: RequestInit) =>
      answerOf(exchanges.getStore(), url, init)),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(protocol !== undefined && { protocol })
  })

  async function answer<T> ({ secretKey, signal }: ProviderCall, request: (options: Stripe.RequestOptions) => Promise<T>):
  Promise<ProviderAnswer<T>> {
    // The library takes a blank key for "use the client's own".
    if (!secretKeyPattern.test(secretKey)) throw providerError('key_rejected')
    const exchange: Exchange = { signal }
    try {
      const value = await exchanges.run(exchange, () => request({ apiKey: secretKey }))
      return { value, requestId: exchange.requestId ?? null, replayed: exchange.replayed ?? false }
    } catch (error) {
      throw errorFrom(error, exchange)
    }
  }

  return {
    isSecretKey: key => secretKeyPattern.test(key),
    isCustomerId: id => customerIdPattern.test(id),

    async retrieveCustomer (call) {
      const { value, requestId } = await answer(call, options => stripe.customers.retrieve(call.customerId, {}, options))
      return { value: customerFrom(value, requestId), requestId }
    },

    async createCustomer ({ accountId, idempotencyKey, name, email, ...call }) {
      const params = { metadata: { account_id: accountId }, ...(name && { name }), ...(email && { email }) }
      const { value, ...rest } = await answer(call, options => stripe.customers.create(params, { ...options, idempotencyKey }))
      return { value: customerFrom(value, rest.requestId), ...rest }
    },

    async findByAccount ({ accountId, ...call }) {
      const query = `metadata['account_id']:'${accountId.replace(/[\\']/g, '\\$&')}'`
      const { value, requestId } = await answer(call, options => stripe.customers.search({ query, limit: 10 }, options))
      return { value: customersFrom(value, requestId), requestId }
    },

    async listByAccount ({ accountId, email, since, ...call }) {
      const params = { limit: 100, ...(email && { email }), ...(since && { created: { gte: Math.floor(since.getTime() / 1000) } }) }
      const { value, requestId } = await answer(call, async options => {
        const found: Stripe.Customer[] = []
        for await (const customer of stripe.customers.list(params, options)) {
          if (customer.metadata?.account_id === accountId) found.push(customer)
        }
        return found
      })
      return { value: value.map(customer => customerFrom(customer, requestId)), requestId }
    },

    async findByEmail ({ email, ...call }) {
      const { value, requestId } = await answer(call, options => stripe.customers.list({ email, limit: 10 }, options))
      return { value: customersFrom(value, requestId), requestId }
    }
  }
}

function customersFrom (list: { readonly data: unknown }, requestId: string | null): readonly PayCustomer[] {
  if (!Array.isArray(list.data)) throw providerError('unexpected_object', { requestId: requestId ?? undefined })
  return list.data.map(item => customerFrom(item, requestId))
}

function customerFrom (value: unknown, requestId: string | null): PayCustomer {
  if (!isCustomer(value)) throw providerError('unexpected_object', { requestId: requestId ?? undefined })
  return value
}

function isCustomer (value: unknown): value is PayCustomer {
  return typeof value === 'object' && value !== null && 'object' in value && value.object === 'customer' &&
    'id' in value && typeof value.id === 'string' && value.id !== ''
}
