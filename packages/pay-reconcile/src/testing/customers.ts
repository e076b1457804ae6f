import {
  missing,
  newId,
  nulls,
  ok,
  seconds,
  stringIn,
  stringsIn,
  type StandInResponse,
  type StandInRequest,
  type Form,
  type StandInObject
} from './response.ts'

/** A customer in the provider's format. */
export interface StandInCustomer {
  readonly id: string
  readonly object: 'customer'
  readonly [field: string]: unknown
}

/** A customer with every field that the provider sends; `fields` override the defaults. */
export function customerWith (fields: { readonly id?: string, readonly [field: string]: unknown }): StandInCustomer {
  return {
    ...nulls(
      'address currency customer_account default_source description discount email invoice_prefix name phone ' +
        'shipping test_clock'
    ),
    balance: 0,
    created: seconds(),
    delinquent: false,
    invoice_settings: nulls('custom_fields default_payment_method footer rendering_options'),
    livemode: false,
    metadata: {},
    next_invoice_sequence: 1,
    preferred_locales: [],
    tax_exempt: 'none',
    ...fields,
    id: fields.id ?? newId('cus'),
    object: 'customer'
  }
}

/** What a search shows of a customer while it lags. */
interface Unsearchable {
  /** Milliseconds since 1970. */
  readonly until: number
  /** The customer before the change; undefined: it did not exist. */
  readonly before: StandInCustomer | undefined
}

/** The customers of an account, and what a search shows of them. */
export interface Customers {
  readonly customers: Map<string, StandInCustomer>
  /** By the customer's id. For other customers a search shows their present state. */
  readonly unsearchable: Map<string, Unsearchable>
  readonly searchLag: number
  readonly deletedSearchLag: number
  /** What happened to customers, oldest first. */
  readonly events: StandInEvent[]
}

export function createCustomer (account: Customers, { form }: StandInRequest): StandInResponse {
  return ok(stored(account, customerWith(fieldsFrom(form))))
}

export function retrieveCustomer ({ customers }: Customers, id: string): StandInResponse {
  const customer = customers.get(id)
  return customer ? ok(customer) : missing('customer', id)
}

export function updateCustomer (account: Customers, id: string, { form }: StandInRequest): StandInResponse {
  const customer = account.customers.get(id)
  return customer && customer.deleted !== true
    ? ok(stored(account, { ...customer, ...fieldsFrom(form, customer) }))
    : missing('customer', id)
}

export function deleteCustomer (account: Customers, id: string): StandInResponse {
  const customer = account.customers.get(id)
  return customer && customer.deleted !== true ? ok(stored(account, tombstone(id))) : missing('customer', id)
}

/** The provider's error for a parameter with the id of an unknown customer. */
export function unknownCustomer ({ customers }: Pick<Customers, 'customers'>, form: Form): StandInResponse | undefined {
  const id = stringIn(form, 'customer')
  const customer = id === undefined ? undefined : customers.get(id)
  return id === undefined || (customer && customer.deleted !== true) ? undefined : missing('customer', id, 'customer')
}

/** The customers as a search shows them. */
export function searchableCustomers ({ customers, unsearchable }: Customers): readonly StandInCustomer[] {
  return [...customers.values()].flatMap((customer) => shown(customer, unsearchable.get(customer.id)) ?? [])
}

function shown (customer: StandInCustomer | undefined, lag: Unsearchable | undefined): StandInCustomer | undefined {
  return lag && lag.until > Date.now() ? lag.before : customer
}

/** What is left of a deleted customer. */
export function tombstone (id: string): StandInCustomer {
  return { id, object: 'customer', deleted: true }
}

function stored (
  { customers, unsearchable, searchLag, deletedSearchLag, events }: Customers,
  customer: StandInCustomer
): StandInCustomer {
  const { id } = customer
  const before = shown(customers.get(id), unsearchable.get(id))
  unsearchable.set(id, { until: Date.now() + (customer.deleted === true ? deletedSearchLag : searchLag), before })
  events.push(eventOf(customers.get(id), customer))
  customers.set(id, customer)
  return customer
}

const STRINGS = ['name', 'email', 'phone', 'description', 'business_name', 'individual_name']

function fieldsFrom (form: Form, before?: StandInCustomer): Record<string, unknown> {
  const given = STRINGS.flatMap((name) => {
    const value = stringIn(form, name)
    return value === undefined ? [] : [[name, value === '' ? null : value]]
  })
  return { ...Object.fromEntries(given), metadata: metadataFrom(form, before?.metadata) }
}

/** An empty value removes its key, and empty metadata all of them. */
export function metadataFrom (form: Form, before: unknown = {}): Readonly<Record<string, unknown>> {
  const kept = form.metadata === '' ? {} : before as object
  return Object.fromEntries(
    Object.entries({ ...kept, ...stringsIn(form, 'metadata') }).filter(([, value]) => value !== '')
  )
}

/** An event in the provider's format. */
export interface StandInEvent extends StandInObject {
  readonly object: 'event'
  readonly type: string
  /** Seconds since 1970. */
  readonly created: number
}

/** In seconds. The provider lists events of the last 30 days. */
const RETENTION = 30 * 24 * 3600

/** The event of a change to a customer. @param before - undefined: it was created. */
function eventOf (before: StandInObject | undefined, customer: StandInObject): StandInEvent {
  const written = before ? 'updated' : 'created'
  const kind = customer.deleted === true ? 'deleted' : written
  const previous = Object.fromEntries(
    Object.entries(before ?? {}).filter(([name, value]) => JSON.stringify(customer[name]) !== JSON.stringify(value))
  )
  return {
    id: newId('evt'),
    object: 'event',
    api_version: null,
    created: seconds(),
    // The provider shows a deleted customer as it was.
    data: {
      object: kind === 'deleted' ? before : customer,
      ...(kind === 'updated' && { previous_attributes: previous })
    },
    livemode: false,
    pending_webhooks: 0,
    request: { id: null, idempotency_key: null },
    type: `customer.${kind}`
  }
}

/**
 * What a list of events shows, oldest first: of this type, such as `customer.updated` or `customer.*`, that have not
 * expired.
 */
export function listedEvents (
  events: readonly StandInEvent[],
  types: readonly string[]
): ReadonlyMap<string, StandInEvent> {
  const oldest = seconds() - RETENTION
  const isWanted = ({ type, created }: StandInEvent): boolean =>
    created > oldest &&
    (types.length === 0 ||
      types.some((wanted) => wanted === type || (wanted.endsWith('*') && type.startsWith(wanted.slice(0, -1)))))
  return new Map(
    events.filter(isWanted).sort((one, other) => one.created - other.created).map((event) => [event.id, event])
  )
}
