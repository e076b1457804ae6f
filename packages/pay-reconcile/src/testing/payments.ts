import {
  missing,
  newId,
  nulls,
  ok,
  refusal,
  seconds,
  stringIn,
  stringsOrNull,
  type StandInResponse,
  type StandInObject,
  type StandInRequest,
  type Form
} from './response.ts'
import { metadataFrom } from './customers.ts'

export function createIntent (intents: Map<string, StandInObject>, { form }: StandInRequest): StandInResponse {
  const intent = intentFrom(form)
  return ok(stored(intents, form.confirm === 'true' ? confirmed(intent) : intent))
}

export function confirmIntent (intents: Map<string, StandInObject>, id: string): StandInResponse {
  const intent = intents.get(id)
  if (!intent) return missing('payment_intent', id)
  if (intent.status !== 'succeeded') return ok(stored(intents, confirmed(intent)))
  return refusal(
    400,
    'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.',
    {
      code: 'payment_intent_unexpected_state'
    }
  )
}

/** Checkout sessions, and the line items of each by its id. */
interface Sessions {
  readonly sessions: Map<string, StandInObject>
  readonly lineItems: Map<string, ReadonlyMap<string, StandInObject>>
}

export function createSession ({ sessions, lineItems }: Sessions, { form, origin }: StandInRequest): StandInResponse {
  const items = itemsFrom(form)
  const session = sessionFrom(form, items, origin)
  lineItems.set(session.id, new Map([...items].reverse().map((item) => [item.id, item])))
  return ok(stored(sessions, session))
}

export function expireSession (sessions: Map<string, StandInObject>, id: string): StandInResponse {
  const session = sessions.get(id)
  if (!session) return missing('checkout.session', id)
  if (session.status === 'open') return ok(stored(sessions, { ...session, status: 'expired', url: null }))
  return refusal(
    400,
    'Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ' +
      `${String(session.status)}.`
  )
}

/** What a browser does on the provider's page: pays immediately and returns to the shop. */
export function visitSession (sessions: Map<string, StandInObject>, id: string): StandInResponse {
  const session = sessions.get(id)
  if (session?.status !== 'open') return missing('checkout.session', id)
  stored(sessions, { ...session, status: 'complete', payment_status: 'paid', url: null })
  const location = typeof session.success_url === 'string'
    ? session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', id)
    : undefined
  return location === undefined ? ok({ paid: id }) : { status: 303, body: '', headers: { location } }
}

export function retrieved (kind: string, objects: ReadonlyMap<string, StandInObject>, id: string): StandInResponse {
  const object = objects.get(id)
  return object ? ok(object) : missing(kind, id)
}

function stored (objects: Map<string, StandInObject>, object: StandInObject): StandInObject {
  objects.set(object.id, object)
  return object
}

function confirmed (intent: StandInObject): StandInObject {
  return { ...intent, status: 'succeeded', amount_received: intent.amount }
}

function intentFrom (form: Form): StandInObject {
  const id = newId('pi')
  return {
    id,
    object: 'payment_intent',
    amount: Number(stringIn(form, 'amount')),
    amount_capturable: 0,
    amount_received: 0,
    capture_method: 'automatic',
    client_secret: `${id}_secret_standin`,
    confirmation_method: 'automatic',
    created: seconds(),
    currency: stringIn(form, 'currency'),
    livemode: false,
    metadata: metadataFrom(form),
    payment_method_options: {},
    payment_method_types: ['card'],
    status: 'requires_payment_method',
    ...stringsOrNull(form, [
      'customer',
      'description',
      'receipt_email',
      'statement_descriptor',
      'statement_descriptor_suffix',
      'transfer_group'
    ]),
    ...nulls(
      'allowed_payment_method_types application application_fee_amount automatic_payment_methods canceled_at ' +
        'cancellation_reason'
    ),
    ...nulls(
      'customer_account excluded_payment_method_types last_payment_error latest_charge managed_payments ' +
        'next_action on_behalf_of'
    ),
    ...nulls(
      'payment_method payment_method_configuration_details payment_record processing review setup_future_usage ' +
        'shipping source transfer_data'
    )
  }
}

/** Line items with prices from the request: the stand-in stores no prices. */
function itemsFrom ({ line_items: lines = {} }: Form): readonly StandInObject[] {
  return Object.values(lines).flatMap((line) => {
    if (typeof line !== 'object' || typeof line.price_data !== 'object') return []
    const { price_data: price } = line
    const quantity = Number(stringIn(line, 'quantity') ?? 1)
    const amount = Number(stringIn(price, 'unit_amount') ?? 0) * quantity
    return [{
      id: newId('li'),
      object: 'item',
      adjustable_quantity: null,
      amount_discount: 0,
      amount_subtotal: amount,
      amount_tax: 0,
      amount_total: amount,
      currency: stringIn(price, 'currency') ?? 'usd',
      description: (typeof price.product_data === 'object' && stringIn(price.product_data, 'name')) || null,
      metadata: null,
      price: null,
      quantity
    }]
  })
}

function sessionFrom (form: Form, items: readonly StandInObject[], origin: string): StandInObject {
  const id = newId('cs_test')
  const created = seconds()
  const amount = items.reduce((sum, item) => sum + Number(item.amount_total), 0)
  return {
    id,
    object: 'checkout.session',
    amount_subtotal: amount,
    amount_total: amount,
    automatic_tax: { enabled: false, ...nulls('liability provider status') },
    created,
    currency: items[0]?.currency ?? stringIn(form, 'currency') ?? null,
    custom_fields: [],
    custom_text: nulls('after_submit shipping_address submit terms_of_service_acceptance'),
    discounts: [],
    expires_at: Number(stringIn(form, 'expires_at') ?? created + 24 * 3600),
    livemode: false,
    metadata: metadataFrom(form),
    mode: stringIn(form, 'mode') ?? 'payment',
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_status: 'unpaid',
    shipping_options: [],
    status: 'open',
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${origin}/pay/${id}`,
    ...stringsOrNull(form, ['cancel_url', 'client_reference_id', 'customer', 'customer_email', 'success_url']),
    ...nulls(
      'adaptive_pricing after_expiration allow_promotion_codes allowed_payment_method_types ' +
        'billing_address_collection client_secret'
    ),
    ...nulls(
      'collected_information consent consent_collection currency_conversion customer_account customer_creation ' +
        'customer_details'
    ),
    ...nulls(
      'integration_identifier invoice invoice_creation locale managed_payments origin_context payment_intent ' +
        'payment_link'
    ),
    ...nulls(
      'payment_method_collection payment_method_configuration_details permissions recovered_from ' +
        'saved_payment_method_options'
    ),
    ...nulls('setup_intent shipping_address_collection shipping_cost submit_type subscription wallet_options')
  }
}
