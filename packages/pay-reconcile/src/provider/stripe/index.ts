import { AsyncLocalStorage } from 'node:async_hooks'
import Stripe from 'stripe'
import { isObject } from '../../details.ts'
import { integer, oneOf, type Table, TEXT } from '#shared/option-table'
import { isProviderError, providerError } from '../../errors.ts'
import { settingsBy } from '../../option-checks.ts'
import type { CustomerEvent } from '../../types.ts'
import type { PayCustomer, PayProvider, ProviderCall, ProviderResponse } from '../types.ts'
import { errorFrom, send, type StripeRequest } from './request.ts'
import { webhookVerifier } from './webhooks.ts'

/**
 * How to reach shops that have no key of their own, and the address of the API, which is only needed for a stand-in.
 */
export interface StripeProviderOptions {
  /**
   * The secret key of a Connect platform, or of an organization (`sk_org_…`). A shop's pay_secret_key may then be the
   * id of its account, `acct_…`, which is sent as `Stripe-Account`, or as `Stripe-Context` under the key of an
   * organization. **Only you may set these ids**: anyone who can set one reads the customers of that account. Default:
   * every shop has a key.
   */
  readonly platformKey?: string | undefined
  /** Default `api.stripe.com`. */
  readonly host?: string
  /** Default 443. */
  readonly port?: number
  /** Default `https`. */
  readonly protocol?: 'http' | 'https'
}

const SECRET_KEY_PATTERN = /^(sk|rk)_(test|live)_[A-Za-z0-9]+$/
const ORGANIZATION_KEY_PATTERN = /^sk_org_[A-Za-z0-9_]+$/
const ACCOUNT_PATTERN = /^acct_[A-Za-z0-9]{1,250}$/
const CUSTOMER_ID_PATTERN = /^[A-Za-z0-9_-]{1,255}$/

const TABLE: Table<StripeProviderOptions> = {
  platformKey: {
    holds: (key) => typeof key === 'string' && (SECRET_KEY_PATTERN.test(key) || ORGANIZATION_KEY_PATTERN.test(key)),
    rule: 'must be a secret key: sk_test_…, sk_live_… or sk_org_…',
    secret: true
  },
  host: TEXT,
  port: integer(1, 65_535),
  protocol: oneOf('http', 'https')
}

/** The fields that people and payments change. Other fields come, go and change with the version of the API. */
const COMPARED_FIELDS = [
  'deleted',
  'name',
  'business_name',
  'individual_name',
  'email',
  'phone',
  'description',
  'address',
  'shipping',
  'metadata',
  'currency',
  'balance',
  'delinquent',
  'default_source',
  'invoice_settings.default_payment_method',
  'preferred_locales',
  'tax_exempt'
]

// One for all providers, because in Node.js 20 each that was ever used makes every promise of the process slower. A
// call sees only what it was run with.
const requests = new AsyncLocalStorage<StripeRequest>()

/**
 * The payment provider Stripe, through its official library: one client for all shops, the key per request.
 *
 * The library makes single attempts. Its telemetry is off, because it would send one shop's request ids under the key
 * of another. Requests end with the signal of the call, body included; the library's own `timeout` is an idle timeout.
 */
export function stripeProvider (options: StripeProviderOptions = {}): PayProvider {
  const { platformKey, host, port, protocol } = settingsBy(TABLE, options, 'stripeProvider')
  const access = accessUnder(platformKey)

  const stripe = new Stripe('sk_none', {
    telemetry: false,
    maxNetworkRetries: 0,
    httpClient: Stripe.createFetchHttpClient((url: string | URL | Request, init?: RequestInit) =>
      send(requests.getStore(), url, init)
    ),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(protocol !== undefined && { protocol })
  })

  async function responseTo<T, Value> (
    { secretKey, signal }: ProviderCall,
    call: (options: Stripe.RequestOptions) => Promise<T>,
    read: (body: T) => Value | undefined
  ): Promise<ProviderResponse<Value>> {
    // For a blank key the library would use the key of the client.
    const options = access(secretKey)
    if (!options) throw providerError('key_rejected')
    const request: StripeRequest = { signal }
    const body = await requests.run(request, () => call(options)).catch((error) => {
      throw isProviderError(error) ? error : errorFrom(error, request)
    })
    const { requestId = null, replayed = false } = request
    const value = read(body)
    if (value === undefined) throw providerError('unexpected_object', { requestId })
    return { value, requestId, replayed }
  }

  return {
    comparedFields: COMPARED_FIELDS,
    webhooks: webhookVerifier(stripe),
    isSecretKey: (key) => access(key) !== undefined,
    isCustomerId: (id) => CUSTOMER_ID_PATTERN.test(id),

    retrieveCustomer: ({ customerId, ...call }) =>
      responseTo(call, (options) => stripe.customers.retrieve(customerId, {}, options), customerFrom),

    createCustomer ({ metadata, idempotencyKey, name, email, ...call }) {
      const params = { metadata, ...(name && { name }), ...(email && { email }) }
      return responseTo(
        call,
        (options) => stripe.customers.create(params, { ...options, idempotencyKey }),
        customerFrom
      )
    },

    findByAccount ({ metadata, ...call }) {
      const query = Object.entries(metadata).map(([name, value]) =>
        `metadata['${name}']:'${value.replace(/[\\']/g, '\\$&')}'`
      ).join(' AND ')
      return responseTo(call, (options) => stripe.customers.search({ query, limit: 100 }, options), customersFrom)
    },

    listByAccount ({ metadata, email, since, ...call }) {
      const params = {
        limit: 100,
        ...(email && { email }),
        ...(since && { created: { gte: Math.floor(since.getTime() / 1000) } })
      }
      return responseTo(call, async (options) => {
        const data: Stripe.Customer[] = []
        const seen = new Set<string>()
        for await (const customer of stripe.customers.list(params, options)) {
          if (seen.has(customer.id)) throw providerError('unexpected_object')
          seen.add(customer.id)
          if (Object.entries(metadata).every(([name, value]) => customer.metadata?.[name] === value)) {
            data.push(customer)
          }
        }
        return { data }
      }, customersFrom)
    },

    findByEmail: ({ email, ...call }) =>
      responseTo(call, (options) => stripe.customers.list({ email }, options), customersFrom),

    listCustomers: ({ after, ...call }) =>
      responseTo(
        call,
        (options) =>
          stripe.customers.list({ limit: 100, ...(after !== undefined && { starting_after: after }) }, options),
        (body) => {
          const customers = customersFrom(body)
          return customers && { customers, more: body.has_more === true }
        }
      ),

    listEvents: ({ since, after, ...call }) =>
      responseTo(call, (options) =>
        stripe.events.list({
          type: 'customer.*',
          created: { gte: Math.floor(since.getTime() / 1000) },
          limit: 100,
          ...(after !== undefined && { starting_after: after })
        }, options), (body) => {
        const events = eventsFrom(body)
        return events && { events, more: body.has_more === true && events.length > 0 }
      })
  }
}

/**
 * What a shop's pay_secret_key stands for, as options of a request; undefined if it is neither a key nor the id of an
 * account.
 *
 * @see [Stripe: Connect](https://docs.stripe.com/connect/authentication),
 *   [organization keys](https://docs.stripe.com/keys/organization-api-keys)
 */
function accessUnder (platformKey: string | undefined): (secretKey: string) => Stripe.RequestOptions | undefined {
  const isOrganization = platformKey !== undefined && ORGANIZATION_KEY_PATTERN.test(platformKey)
  return (secretKey) => {
    if (SECRET_KEY_PATTERN.test(secretKey)) return { apiKey: secretKey }
    if (platformKey === undefined || !ACCOUNT_PATTERN.test(secretKey)) return undefined
    return { apiKey: platformKey, ...(isOrganization ? { stripeContext: secretKey } : { stripeAccount: secretKey }) }
  }
}

/** @returns undefined for anything that is not a list of events. */
function eventsFrom ({ data }: { readonly data: unknown }): readonly CustomerEvent[] | undefined {
  const events = Array.isArray(data) ? data.map(eventFrom) : [undefined]
  return events.every((event) => event !== undefined) ? events : undefined
}

/**
 * An event about a customer, or about what belongs to one, such as `customer.subscription.updated`.
 * @returns undefined for anything that is not an event.
 */
function eventFrom (value: unknown): CustomerEvent | undefined {
  if (
    !isObject(value) || value.object !== 'event' || typeof value.id !== 'string' || value.id === '' ||
    !Number.isFinite(value.created)
  ) return undefined
  const object = isObject(value.data) && isObject(value.data.object) ? value.data.object : {}
  const owner = isObject(object.customer) ? object.customer.id : object.customer
  const customer = object.object === 'customer' ? object.id : owner
  return {
    id: value.id,
    createdAt: new Date(Number(value.created) * 1000).toISOString(),
    customerId: typeof customer === 'string' ? customer : null
  }
}

/** @returns undefined for anything that is not a list of customers. */
function customersFrom ({ data }: { readonly data: unknown }): readonly PayCustomer[] | undefined {
  const customers = Array.isArray(data) ? data.map(customerFrom) : [undefined]
  return customers.every((customer) => customer !== undefined) ? customers : undefined
}

/** @returns undefined for anything that is not a customer. */
function customerFrom (value: unknown): PayCustomer | undefined {
  return isObject(value) && value.object === 'customer' && typeof value.id === 'string' && value.id !== ''
    ? value as PayCustomer
    : undefined
}
