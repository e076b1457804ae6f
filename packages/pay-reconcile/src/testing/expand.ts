import { refusal, type StandInResponse, type StandInObject, type Form } from './response.ts'

/**
 * The expandable fields of each type, and what they expand to: a type of the stand-in, `list` for an empty list that is
 * otherwise omitted, `''` for objects that the stand-in never has.
 */
const EXPANDABLE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  customer: {
    cash_balance: '',
    default_source: '',
    'discount.promotion_code': '',
    'invoice_settings.default_payment_method': '',
    invoice_credit_balance: '',
    sources: 'list',
    subscriptions: 'list',
    tax: '',
    tax_ids: 'list',
    test_clock: ''
  },
  payment_intent: {
    application: '',
    customer: 'customer',
    latest_charge: '',
    on_behalf_of: '',
    payment_method: '',
    review: '',
    source: ''
  },
  'checkout.session': {
    customer: 'customer',
    invoice: '',
    line_items: 'line_items',
    payment_intent: 'payment_intent',
    payment_link: '',
    setup_intent: '',
    subscription: ''
  },
  event: {},
  item: { 'price.product': '', discounts: '' }
}

/** The objects that fields can expand to. */
export interface Expandables {
  readonly customers: ReadonlyMap<string, StandInObject>
  readonly intents: ReadonlyMap<string, StandInObject>
  /** Of checkout sessions, by the id of the session. */
  readonly lineItems: ReadonlyMap<string, ReadonlyMap<string, StandInObject>>
}

/** The type of an endpoint's response. */
export interface Returned {
  readonly type: string
  /** A page of them. */
  readonly page?: 'list' | 'search'
}

/**
 * The provider's error for a path that cannot be expanded, or undefined.
 * @see [Stripe: expanding responses](https://docs.stripe.com/expand): four levels, lists under `data`
 */
export function expandFault (form: Form, { type, page }: Returned): StandInResponse | undefined {
  for (const path of pathsIn(form)) {
    if (path === 'total_count' && page === 'search') continue
    if (path.split('.').length > 4) {
      return refusal(400, 'You cannot expand more than 4 levels of a property.', { param: 'expand' })
    }
    if (page && path === 'data') continue
    const inner = page ? /^data\.(.+)$/.exec(path)?.[1] : path
    if (inner === undefined || !isExpandable(type, inner)) {
      return refusal(400, `This property cannot be expanded (${path}).`, { param: 'expand' })
    }
  }
  return undefined
}

/** The body of a response with the requested fields expanded. */
export function expanded (account: Expandables, { page }: Returned, body: StandInObject, form: Form): StandInObject {
  return pathsIn(form).filter((path) => path !== 'total_count' && path !== 'data').reduce(
    (object, path) =>
      page
        ? withPage(object, (item) => withExpanded(account, item, path.replace(/^data\./, '')))
        : withExpanded(account, object, path),
    body
  )
}

function pathsIn ({ expand = {} }: Form): readonly string[] {
  return (typeof expand === 'string' ? [expand] : Object.values(expand)).map(String)
}

/** The first field of a path, its type, and the rest of the path. */
function firstOf (type: string, path: string): readonly [name: string, type: string, rest: string] | undefined {
  const found = Object.entries(EXPANDABLE[type] ?? {}).find(([name]) => path === name || path.startsWith(`${name}.`))
  return found && [...found, path.slice(found[0].length + 1)]
}

function isExpandable (type: string, path: string): boolean {
  const found = firstOf(type, path)
  if (!found) return false
  const [, inner, rest] = found
  if (inner === 'line_items') {
    return rest === '' || rest === 'data' || (rest.startsWith('data.') && isExpandable('item', rest.slice(5)))
  }
  return rest === '' || inner === '' || inner === 'list' || isExpandable(inner, rest)
}

function withExpanded (account: Expandables, object: StandInObject, path: string): StandInObject {
  const found = firstOf(String(object.object), path)
  if (!found) return object
  const [name, type, rest] = found
  const value = objectAt(account, object, name, type)
  return value === undefined
    ? object
    : { ...object, [name]: rest === '' || type === 'line_items' ? value : withExpanded(account, value, rest) }
}

function objectAt (
  { customers, intents, lineItems }: Expandables,
  object: StandInObject,
  name: string,
  type: string
): StandInObject | undefined {
  // Already expanded by an earlier path.
  if (typeof object[name] === 'object' && object[name] !== null) return object[name] as StandInObject
  if (type === 'customer') return customers.get(String(object[name]))
  if (type === 'payment_intent') return intents.get(String(object[name]))
  if (type === 'list') return emptyList(`/v1/customers/${object.id}/${name}`) as StandInObject
  if (type !== 'line_items') return undefined
  const items = [...lineItems.get(object.id)?.values() ?? []].reverse()
  return {
    ...emptyList(`/v1/checkout/sessions/${object.id}/line_items`),
    has_more: items.length > 10,
    data: items.slice(0, 10)
  } as unknown as StandInObject
}

function emptyList (url: string): object {
  return { object: 'list', url, has_more: false, data: [] }
}

function withPage (body: StandInObject, expand: (item: StandInObject) => StandInObject): StandInObject {
  return { ...body, data: (body.data as StandInObject[]).map(expand) }
}
