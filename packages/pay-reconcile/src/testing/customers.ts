import { missing, newId, ok, seconds, type StandInAnswer, type StandInRequest } from './answer.ts'
import { textIn, textsIn, type Form } from './form.ts'

/** A customer of the stand-in, in the shape of the provider's. */
export interface StandInCustomer {
  readonly id: string
  readonly object: 'customer'
  readonly [field: string]: unknown
}

/** A customer with every field that the provider sends; `fields` win. */
export function customerWith (fields: { readonly id?: string, readonly [field: string]: unknown }): StandInCustomer {
  return {
    address: null,
    balance: 0,
    created: seconds(),
    currency: null,
    customer_account: null,
    default_source: null,
    delinquent: false,
    description: null,
    discount: null,
    email: null,
    invoice_prefix: null,
    invoice_settings: { custom_fields: null, default_payment_method: null, footer: null, rendering_options: null },
    livemode: false,
    metadata: {},
    name: null,
    next_invoice_sequence: 1,
    phone: null,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
    ...fields,
    id: fields.id ?? newId('cus'),
    object: 'customer'
  }
}

/** What a search shows of a customer while it lags. */
interface Unsearchable {
  /** Milliseconds since 1970. */
  readonly until: number
  /** What it was before; undefined: it was not there. */
  readonly before: StandInCustomer | undefined
}

/** The customers of an account, and how soon a search shows them. */
export interface Customers {
  readonly customers: Map<string, StandInCustomer>
  /** By the customer's id; not there: a search shows the customer as it is. */
  readonly unsearchable: Map<string, Unsearchable>
  readonly searchLagMs: number
}

export function createCustomer (account: Customers, { form }: StandInRequest): StandInAnswer {
  return ok(stored(account, customerWith(fieldsFrom(form))))
}

export function retrieveCustomer ({ customers }: Customers, id: string): StandInAnswer {
  const customer = customers.get(id)
  return customer ? ok(customer) : missing('customer', id)
}

export function updateCustomer (account: Customers, id: string, { form }: StandInRequest): StandInAnswer {
  const customer = account.customers.get(id)
  return customer && customer.deleted !== true ? ok(stored(account, { ...customer, ...fieldsFrom(form, customer) })) : missing('customer', id)
}

export function deleteCustomer (account: Customers, id: string): StandInAnswer {
  const customer = account.customers.get(id)
  return customer && customer.deleted !== true ? ok(stored(account, tombstone(id))) : missing('customer', id)
}

/** The provider's error for a parameter that names a customer who is not there. */
export function unknownCustomer ({ customers }: Pick<Customers, 'customers'>, form: Form): StandInAnswer | undefined {
  const id = textIn(form, 'customer')
  const customer = id === undefined ? undefined : customers.get(id)
  return id === undefined || (customer && customer.deleted !== true) ? undefined : missing('customer', id, 'customer')
}

/** The customers as a search shows them. */
export function searchableCustomers ({ customers, unsearchable }: Customers): readonly StandInCustomer[] {
  return [...customers.values()].flatMap(customer => shown(customer, unsearchable.get(customer.id)) ?? [])
}

function shown (customer: StandInCustomer | undefined, lag: Unsearchable | undefined): StandInCustomer | undefined {
  return lag && lag.until > Date.now() ? lag.before : customer
}

/** What is left of a deleted customer. */
export function tombstone (id: string): StandInCustomer {
  return { id, object: 'customer', deleted: true }
}

function stored ({ customers, unsearchable, searchLagMs }: Customers, customer: StandInCustomer): StandInCustomer {
  const { id } = customer
  const before = shown(customers.get(id), unsearchable.get(id))
  if (searchLagMs > 0) unsearchable.set(id, { until: Date.now() + searchLagMs, before })
  customers.set(id, customer)
  return customer
}

const texts = ['name', 'email', 'phone', 'description', 'business_name', 'individual_name']

function fieldsFrom (form: Form, before?: StandInCustomer): Record<string, unknown> {
  const given = texts.flatMap(name => {
    const value = textIn(form, name)
    return value === undefined ? [] : [[name, value === '' ? null : value]]
  })
  return { ...Object.fromEntries(given), metadata: metadataFrom(form, before?.metadata) }
}

/** An empty value removes its key, and empty metadata all of them. */
export function metadataFrom (form: Form, before: unknown = {}): Readonly<Record<string, unknown>> {
  const kept = form.metadata === '' ? {} : before as object
  return Object.fromEntries(Object.entries({ ...kept, ...textsIn(form, 'metadata') }).filter(([, value]) => value !== ''))
}
