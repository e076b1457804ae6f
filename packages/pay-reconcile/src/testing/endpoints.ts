import {
  missing,
  stringIn,
  stringsIn,
  type StandInResponse,
  type StandInObject,
  type StandInRequest
} from './response.ts'
import {
  createCustomer,
  deleteCustomer,
  retrieveCustomer,
  searchableCustomers,
  unknownCustomer,
  updateCustomer,
  listedEvents,
  type Customers
} from './customers.ts'
import type { Returned } from './expand.ts'
import { listResponse, searchResponse } from './list.ts'
import {
  CUSTOMER_CREATE,
  customerList,
  customerSearch,
  CUSTOMER_UPDATE,
  eventList,
  INTENT_CONFIRM,
  INTENT_CREATE,
  intentList,
  INTENT_RETRIEVE,
  intentSearch,
  lineItemList,
  NO_PARAMETERS,
  ONLY_EXPAND,
  SESSION_CREATE,
  sessionList,
  type Parameters
} from './parameters.ts'
import { confirmIntent, createIntent, createSession, expireSession, retrieved } from './payments.ts'

/** The objects of an account. */
export interface Objects extends Customers {
  readonly intents: Map<string, StandInObject>
  readonly sessions: Map<string, StandInObject>
  /** The line items of each session by its id, last item first, because lists reverse the order. */
  readonly lineItems: Map<string, ReadonlyMap<string, StandInObject>>
}

export interface Endpoint extends Parameters {
  readonly method: string
  /** After `/v1`, with `:id` for an id. */
  readonly path: string
  readonly returns: Returned
  answer(account: Objects, request: StandInRequest, id: string): StandInResponse
}

const CUSTOMER = { type: 'customer' }
const INTENT = { type: 'payment_intent' }
const SESSION = { type: 'checkout.session' }

/** All endpoints of the stand-in. */
const endpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: 'customers',
    names: customerList,
    returns: { ...CUSTOMER, page: 'list' },
    answer: ({ customers }, { form }) =>
      listResponse(
        { kind: 'customer', url: '/v1/customers', objects: customers, filters: ['email', 'test_clock'] },
        form
      )
  },
  {
    method: 'POST',
    path: 'customers',
    names: CUSTOMER_CREATE,
    emails: ['email'],
    returns: CUSTOMER,
    answer: createCustomer
  },
  {
    method: 'GET',
    path: 'customers/search',
    names: customerSearch,
    required: ['query'],
    returns: { ...CUSTOMER, page: 'search' },
    answer: (account, { form }) =>
      searchResponse({
        resource: 'customers',
        objects: searchableCustomers(account),
        fields: ['email', 'name', 'phone']
      }, form)
  },
  {
    method: 'GET',
    path: 'events',
    names: eventList,
    returns: { type: 'event', page: 'list' },
    answer: ({ events }, { form }) => {
      const types = [stringIn(form, 'type'), ...Object.values(stringsIn(form, 'types'))].filter((type) =>
        type !== undefined
      )
      return listResponse({ kind: 'event', url: '/v1/events', objects: listedEvents(events, types) }, form)
    }
  },
  {
    method: 'GET',
    path: 'events/:id',
    names: ONLY_EXPAND,
    returns: { type: 'event' },
    answer: ({ events }, _, id) => retrieved('event', listedEvents(events, []), id)
  },
  {
    method: 'GET',
    path: 'customers/:id',
    names: ONLY_EXPAND,
    returns: CUSTOMER,
    answer: (account, _, id) => retrieveCustomer(account, id)
  },
  {
    method: 'POST',
    path: 'customers/:id',
    names: CUSTOMER_UPDATE,
    emails: ['email'],
    returns: CUSTOMER,
    answer: (account, request, id) => updateCustomer(account, id, request)
  },
  {
    method: 'DELETE',
    path: 'customers/:id',
    names: NO_PARAMETERS,
    returns: CUSTOMER,
    answer: (account, _, id) => deleteCustomer(account, id)
  },
  {
    method: 'GET',
    path: 'payment_intents',
    names: intentList,
    returns: { ...INTENT, page: 'list' },
    answer: ({ intents }, { form }) =>
      listResponse(
        { kind: 'payment_intent', url: '/v1/payment_intents', objects: intents, filters: ['customer'] },
        form
      )
  },
  {
    method: 'POST',
    path: 'payment_intents',
    names: INTENT_CREATE,
    emails: ['receipt_email'],
    required: ['amount', 'currency'],
    returns: INTENT,
    answer: (account, request) => unknownCustomer(account, request.form) ?? createIntent(account.intents, request)
  },
  {
    method: 'GET',
    path: 'payment_intents/search',
    names: intentSearch,
    required: ['query'],
    returns: { ...INTENT, page: 'search' },
    answer: ({ intents }, { form }) =>
      searchResponse({
        resource: 'payment_intents',
        objects: [...intents.values()],
        fields: ['amount', 'currency', 'customer', 'status']
      }, form)
  },
  {
    method: 'GET',
    path: 'payment_intents/:id',
    names: INTENT_RETRIEVE,
    returns: INTENT,
    answer: ({ intents }, _, id) => retrieved('payment_intent', intents, id)
  },
  {
    method: 'POST',
    path: 'payment_intents/:id/confirm',
    names: INTENT_CONFIRM,
    returns: INTENT,
    answer: ({ intents }, _, id) => confirmIntent(intents, id)
  },
  {
    method: 'GET',
    path: 'checkout/sessions',
    names: sessionList,
    returns: { ...SESSION, page: 'list' },
    answer: ({ sessions }, { form }) =>
      listResponse({
        kind: 'checkout.session',
        url: '/v1/checkout/sessions',
        objects: sessions,
        filters: ['customer', 'payment_intent', 'status']
      }, form)
  },
  {
    method: 'POST',
    path: 'checkout/sessions',
    names: SESSION_CREATE,
    emails: ['customer_email'],
    returns: SESSION,
    answer: (account, request) => unknownCustomer(account, request.form) ?? createSession(account, request)
  },
  {
    method: 'GET',
    path: 'checkout/sessions/:id',
    names: ONLY_EXPAND,
    returns: SESSION,
    answer: ({ sessions }, _, id) => retrieved('checkout.session', sessions, id)
  },
  {
    method: 'POST',
    path: 'checkout/sessions/:id/expire',
    names: ONLY_EXPAND,
    returns: SESSION,
    answer: ({ sessions }, _, id) => expireSession(sessions, id)
  },
  {
    method: 'GET',
    path: 'checkout/sessions/:id/line_items',
    names: lineItemList,
    returns: { type: 'item', page: 'list' },
    answer: ({ lineItems }, { form }, id) => {
      const items = lineItems.get(id)
      return items
        ? listResponse({ kind: 'item', url: `/v1/checkout/sessions/${id}/line_items`, objects: items }, form)
        : missing('checkout.session', id)
    }
  }
]

/** The endpoint of a request, and the id in its path. */
export function endpointOf ({ method, path }: StandInRequest): readonly [endpoint: Endpoint, id: string] | undefined {
  for (const endpoint of endpoints) {
    const parts = endpoint.path.split('/')
    if (endpoint.method !== method || parts.length !== path.length) continue
    if (parts.every((part, index) => part === ':id' || part === path[index])) {
      return [endpoint, path[parts.indexOf(':id')] ?? '']
    }
  }
  return undefined
}
