import { missing, newId, ok, refusal, seconds, type StandInAnswer, type StandInRequest } from './answer.ts'
import { textIn, textsIn, type Form } from './form.ts'

/** A customer of the stand-in, in the shape of the provider's. */
export interface StandInCustomer {
  readonly id: string
  readonly object: 'customer'
  readonly [field: string]: unknown
}

/** A customer with the provider's usual fields; `fields` win. */
export function customerWith (fields: { readonly id?: string, readonly [field: string]: unknown }): StandInCustomer {
  return {
    address: null,
    balance: 0,
    created: seconds(),
    currency: null,
    delinquent: false,
    description: null,
    email: null,
    livemode: false,
    metadata: {},
    name: null,
    phone: null,
    ...fields,
    id: fields.id ?? newId('cus'),
    object: 'customer'
  }
}

/** `/v1/customers`: create, retrieve, update, delete, list and search. */
export function answerCustomers (customers: Map<string, StandInCustomer>, request: StandInRequest): StandInAnswer | undefined {
  const { method, path: [, id], form } = request
  if (id === undefined) return method === 'POST' ? created(customers, form) : listed(customers, form)
  if (id === 'search' && method === 'GET') return searched(customers, form)
  const customer = customers.get(id)
  if (!customer) return missing('customer', id)
  if (method === 'GET') return ok(customer)
  if (customer.deleted === true) return missing('customer', id)
  const changed = method === 'DELETE' ? tombstone(id) : { ...customer, ...fieldsFrom(form, customer) }
  customers.set(id, changed)
  return ok(changed)
}

/** What is left of a deleted customer. */
export function tombstone (id: string): StandInCustomer {
  return { id, object: 'customer', deleted: true }
}

function created (customers: Map<string, StandInCustomer>, form: Form): StandInAnswer {
  const customer = customerWith(fieldsFrom(form))
  customers.set(customer.id, customer)
  return ok(customer)
}

function fieldsFrom (form: Form, before?: StandInCustomer): Record<string, unknown> {
  const texts = ['name', 'email', 'phone', 'description'].flatMap(name => {
    const value = textIn(form, name)
    return value === undefined ? [] : [[name, value === '' ? null : value]]
  })
  const metadata = { ...(before?.metadata as object | undefined), ...textsIn(form, 'metadata') }
  return { ...Object.fromEntries(texts), metadata }
}

function listed (customers: ReadonlyMap<string, StandInCustomer>, form: Form): StandInAnswer {
  const email = textIn(form, 'email')
  const after = textIn(form, 'starting_after')
  const newestFirst = [...customers.values()].reverse()
    .filter(customer => customer.deleted !== true && (email === undefined || customer.email === email))
  return page('/v1/customers', newestFirst.slice(after === undefined ? 0 : newestFirst.findIndex(({ id }) => id === after) + 1), form)
}

function searched (customers: ReadonlyMap<string, StandInCustomer>, form: Form): StandInAnswer {
  const match = /^(?:metadata\['(\w+)'\]|(email|name)):(['"])((?:\\.|(?!\3)[^\\])*)\3$/.exec(textIn(form, 'query') ?? '')
  if (!match) return refusal(400, 'invalid_request_error', 'We were unable to parse your search query.')
  const [, key, field = '', , text = ''] = match
  const wanted = text.replace(/\\(.)/g, '$1')
  const valueOf = (customer: StandInCustomer): unknown =>
    key === undefined ? customer[field] : (customer.metadata as Record<string, unknown> | undefined)?.[key]
  const found = [...customers.values()].filter(customer => customer.deleted !== true && valueOf(customer) === wanted)
  return page('/v1/customers/search', found, form)
}

function page (url: string, found: readonly StandInCustomer[], form: Form): StandInAnswer {
  const limit = Math.min(Math.max(Number(textIn(form, 'limit') ?? 10), 1), 100)
  const data = found.slice(0, limit)
  const search = url.endsWith('/search')
  return ok({ object: search ? 'search_result' : 'list', url, has_more: found.length > limit, data, ...(search && { next_page: null }) })
}
