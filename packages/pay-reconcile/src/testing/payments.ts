import { missing, newId, ok, refusal, seconds, type StandInAnswer, type StandInObject, type StandInRequest } from './answer.ts'
import { metadataFrom } from './customers.ts'
import { textIn, type Form } from './form.ts'

export function createIntent (intents: Map<string, StandInObject>, { form }: StandInRequest): StandInAnswer {
  const intent = intentFrom(form)
  return ok(stored(intents, form.confirm === 'true' ? confirmed(intent) : intent))
}

export function confirmIntent (intents: Map<string, StandInObject>, id: string): StandInAnswer {
  const intent = intents.get(id)
  if (!intent) return missing('payment_intent', id)
  if (intent.status !== 'succeeded') return ok(stored(intents, confirmed(intent)))
  return refusal(400, 'You cannot confirm this PaymentIntent because it has already succeeded after being previously confirmed.', {
    code: 'payment_intent_unexpected_state'
  })
}

/** Checkout sessions, and what is bought in each of them by the id of the session. */
interface Sessions {
  readonly sessions: Map<string, StandInObject>
  readonly lineItems: Map<string, ReadonlyMap<string, StandInObject>>
}

export function createSession ({ sessions, lineItems }: Sessions, { form, origin }: StandInRequest): StandInAnswer {
  const items = itemsFrom(form)
  const session = sessionFrom(form, items, origin)
  lineItems.set(session.id, new Map([...items].reverse().map(item => [item.id, item])))
  return ok(stored(sessions, session))
}

export function expireSession (sessions: Map<string, StandInObject>, id: string): StandInAnswer {
  const session = sessions.get(id)
  if (!session) return missing('checkout.session', id)
  if (session.status === 'open') return ok(stored(sessions, { ...session, status: 'expired', url: null }))
  return refusal(400, `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${String(session.status)}.`)
}

/** What a visitor's browser does at the provider's page: pays at once and goes back to the shop. */
export function visitSession (sessions: Map<string, StandInObject>, id: string): StandInAnswer {
  const session = sessions.get(id)
  if (session?.status !== 'open') return missing('checkout.session', id)
  stored(sessions, { ...session, status: 'complete', payment_status: 'paid', url: null })
  const location = typeof session.success_url === 'string' ? session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', id) : undefined
  return location === undefined ? ok({ paid: id }) : { status: 303, body: '', headers: { location } }
}

export function retrieved (kind: string, objects: ReadonlyMap<string, StandInObject>, id: string): StandInAnswer {
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
    allowed_payment_method_types: null,
    amount: Number(textIn(form, 'amount')),
    amount_capturable: 0,
    amount_received: 0,
    application: null,
    application_fee_amount: null,
    automatic_payment_methods: null,
    canceled_at: null,
    cancellation_reason: null,
    capture_method: 'automatic',
    client_secret: `${id}_secret_standin`,
    confirmation_method: 'automatic',
    created: seconds(),
    currency: textIn(form, 'currency'),
    customer: textIn(form, 'customer') ?? null,
    customer_account: null,
    description: textIn(form, 'description') ?? null,
    excluded_payment_method_types: null,
    last_payment_error: null,
    latest_charge: null,
    livemode: false,
    managed_payments: null,
    metadata: metadataFrom(form),
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_record: null,
    processing: null,
    receipt_email: textIn(form, 'receipt_email') ?? null,
    review: null,
    setup_future_usage: null,
    shipping: null,
    source: null,
    statement_descriptor: textIn(form, 'statement_descriptor') ?? null,
    statement_descriptor_suffix: textIn(form, 'statement_descriptor_suffix') ?? null,
    status: 'requires_payment_method',
    transfer_data: null,
    transfer_group: textIn(form, 'transfer_group') ?? null
  }
}

/** Of prices that come with the request: the stand-in has none of its own. */
function itemsFrom ({ line_items: lines = {} }: Form): readonly StandInObject[] {
  return Object.values(lines).flatMap(line => {
    if (typeof line !== 'object' || typeof line.price_data !== 'object') return []
    const { price_data: price } = line
    const quantity = Number(textIn(line, 'quantity') ?? 1)
    const amount = Number(textIn(price, 'unit_amount') ?? 0) * quantity
    return [{
      id: newId('li'),
      object: 'item',
      adjustable_quantity: null,
      amount_discount: 0,
      amount_subtotal: amount,
      amount_tax: 0,
      amount_total: amount,
      currency: textIn(price, 'currency') ?? 'usd',
      description: (typeof price.product_data === 'object' && textIn(price.product_data, 'name')) || null,
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
    adaptive_pricing: null,
    after_expiration: null,
    allow_promotion_codes: null,
    allowed_payment_method_types: null,
    amount_subtotal: amount,
    amount_total: amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    cancel_url: textIn(form, 'cancel_url') ?? null,
    client_reference_id: textIn(form, 'client_reference_id') ?? null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created,
    currency: items[0]?.currency ?? textIn(form, 'currency') ?? null,
    currency_conversion: null,
    custom_fields: [],
    custom_text: { after_submit: null, shipping_address: null, submit: null, terms_of_service_acceptance: null },
    customer: textIn(form, 'customer') ?? null,
    customer_account: null,
    customer_creation: null,
    customer_details: null,
    customer_email: textIn(form, 'customer_email') ?? null,
    discounts: [],
    expires_at: Number(textIn(form, 'expires_at') ?? created + 24 * 3600),
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: false,
    locale: null,
    managed_payments: null,
    metadata: metadataFrom(form),
    mode: textIn(form, 'mode') ?? 'payment',
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: null,
    payment_method_configuration_details: null,
    payment_method_options: {},
    payment_method_types: ['card'],
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    success_url: textIn(form, 'success_url') ?? null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${origin}/pay/${id}`,
    wallet_options: null
  }
}
