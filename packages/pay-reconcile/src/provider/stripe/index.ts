import { AsyncLocalStorage } from 'node:async_hooks'
import Stripe from 'stripe'
import { isObject } from '../../details.ts'
import { providerError } from '../../errors.ts'
import type { PayCustomer, PayProvider, ProviderCall, ProviderResponse } from '../types.ts'
import { errorFrom } from './error.ts'
import { send, type StripeRequest } from './request.ts'

/** Address of the API; only needed for a stand-in. */
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
 * The library makes single attempts. Its telemetry is off, because it would send one shop's request ids under the key of
 * another. Requests end with the signal of the call, body included; the library's own `timeout` is an idle timeout.
 */
export function stripeProvider ({ host, port, protocol }: StripeProviderOptions = {}): PayProvider {
  const requests = new AsyncLocalStorage<StripeRequest>()

  const stripe = new Stripe('sk_none', {
    telemetry: false,
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient((url: string | URL | Request, init?: RequestInit) => send(requests.getStore(), url, init)),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(protocol !== undefined && { protocol })
  })

  async function responseTo<T, Value> (
    { secretKey, signal }: ProviderCall, call: (options: Stripe.RequestOptions) => Promise<T>, read: (body: T) => Value | undefined
  ): Promise<ProviderResponse<Value>> {
    // For a blank key the library would use the key of the client.
    if (!secretKeyPattern.test(secretKey)) throw providerError('key_rejected')
    const request: StripeRequest = { signal }
    const body = await requests.run(request, () => call({ apiKey: secretKey })).catch(error => { throw errorFrom(error, request) })
    const { requestId = null, replayed = false } = request
    const value = read(body)
    if (value === undefined) throw providerError('unexpected_object', { requestId })
    return { value, requestId, replayed }
  }

  return {
    isSecretKey: key => secretKeyPattern.test(key),
    isCustomerId: id => customerIdPattern.test(id),

    retrieveCustomer: ({ customerId, ...call }) =>
      responseTo(call, options => stripe.customers.retrieve(customerId, {}, options), customerFrom),

    createCustomer ({ accountId, idempotencyKey, name, email, ...call }) {
      const params = { metadata: { account_id: accountId }, ...(name && { name }), ...(email && { email }) }
      return responseTo(call, options => stripe.customers.create(params, { ...options, idempotencyKey }), customerFrom)
    },

    findByAccount ({ accountId, ...call }) {
      const query = `metadata['account_id']:'${accountId.replace(/[\\']/g, '\\$&')}'`
      return responseTo(call, options => stripe.customers.search({ query, limit: 10 }, options), customersFrom)
    },

    listByAccount ({ accountId, email, since, ...call }) {
      const params = { limit: 100, ...(email && { email }), ...(since && { created: { gte: Math.floor(since.getTime() / 1000) } }) }
      return responseTo(call, async options => {
        const data: Stripe.Customer[] = []
        for await (const customer of stripe.customers.list(params, options)) {
          if (customer.metadata?.account_id === accountId) data.push(customer)
        }
        return { data }
      }, customersFrom)
    },

    findByEmail: ({ email, ...call }) =>
      responseTo(call, options => stripe.customers.list({ email, limit: 10 }, options), customersFrom)
  }
}

/** @returns undefined for anything that is not a list of customers. */
function customersFrom ({ data }: { readonly data: unknown }): readonly PayCustomer[] | undefined {
  const customers = Array.isArray(data) ? data.map(customerFrom) : [undefined]
  return customers.every(customer => customer !== undefined) ? customers : undefined
}

/** @returns undefined for anything that is not a customer. */
function customerFrom (value: unknown): PayCustomer | undefined {
  return isObject(value) && value.object === 'customer' && typeof value.id === 'string' && value.id !== '' ? value as PayCustomer : undefined
}
