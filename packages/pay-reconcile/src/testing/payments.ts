import { missing, newId, ok, refusal, seconds, type StandInAnswer, type StandInRequest } from './answer.ts'
import type { StandInCustomer } from './customers.ts'
import { textIn, textsIn, type Form } from './form.ts'

export type StandInObject = Readonly<Record<string, unknown>> & { readonly id: string }

/** `/v1/payment_intents`: create, retrieve and confirm. */
export function answerIntents (
  intents: Map<string, StandInObject>, customers: ReadonlyMap<string, StandInCustomer>, { method, path: [, id, verb], form }: StandInRequest
): StandInAnswer | undefined {
  if (id === undefined) {
    const unknown = unknownCustomer(customers, form)
    return method === 'POST' ? unknown ?? ok(stored(intents, intentFrom(form))) : undefined
  }
  const intent = intents.get(id)
  if (!intent) return missing('payment_intent', id)
  if (method === 'GET') return ok(intent)
  return verb === 'confirm' ? ok(stored(intents, { ...intent, status: 'succeeded', amount_received: intent.amount })) : undefined
}

/** `/v1/checkout/sessions`: create, retrieve and expire. */
export function answerSessions (
  sessions: Map<string, StandInObject>, customers: ReadonlyMap<string, StandInCustomer>, request: StandInRequest
): StandInAnswer | undefined {
  const { method, path: [, , id, verb], form, origin } = request
  if (id === undefined) {
    const unknown = unknownCustomer(customers, form)
    return method === 'POST' ? unknown ?? ok(stored(sessions, sessionFrom(form, origin))) : undefined
  }
  const session = sessions.get(id)
  if (!session) return missing('checkout.session', id)
  if (method === 'GET') return ok(session)
  return verb === 'expire' ? ok(stored(sessions, { ...session, status: 'expired', url: null })) : undefined
}

/** What a visitor's browser does at the provider's page: pays at once and goes back to the shop. */
export function visitSession (sessions: Map<string, StandInObject>, id: string): StandInAnswer {
  const session = sessions.get(id)
  if (session?.status !== 'open') return missing('checkout.session', id)
  stored(sessions, { ...session, status: 'complete', payment_status: 'paid', url: null })
  const location = typeof session.success_url === 'string' ? session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', id) : undefined
  return location === undefined ? ok({ paid: id }) : { status: 303, body: '', headers: { location } }
}

function unknownCustomer (customers: ReadonlyMap<string, StandInCustomer>, form: Form): StandInAnswer | undefined {
  const id = textIn(form, 'customer')
  if (id === undefined || (customers.has(id) && customers.get(id)?.deleted !== true)) return undefined
  return refusal(400, 'invalid_request_error', `No such customer: '${id}'`, 'resource_missing')
}

function stored (objects: Map<string, StandInObject>, object: StandInObject): StandInObject {
  objects.set(object.id, object)
  return object
}

function intentFrom (form: Form): StandInObject {
  const id = newId('pi')
  return {
    id,
    object: 'payment_intent',
    amount: Number(textIn(form, 'amount') ?? 0),
    amount_received: 0,
    client_secret: `${id}_secret_standin`,
    created: seconds(),
    currency: textIn(form, 'currency') ?? 'usd',
    customer: textIn(form, 'customer') ?? null,
    livemode: false,
    metadata: textsIn(form, 'metadata'),
    status: 'requires_payment_method'
  }
}

function sessionFrom (form: Form, origin: string): StandInObject {
  const id = newId('cs_test')
  const lines = typeof form.line_items === 'object' ? Object.values(form.line_items) : []
  const prices = lines.flatMap(line => typeof line === 'object' ? [{ line, price: line.price_data }] : [])
    .flatMap(({ line, price }) => typeof price === 'object' ? [{ price, quantity: Number(textIn(line, 'quantity') ?? 1) }] : [])
  return {
    id,
    object: 'checkout.session',
    amount_total: prices.reduce((sum, { price, quantity }) => sum + Number(textIn(price, 'unit_amount') ?? 0) * quantity, 0),
    cancel_url: textIn(form, 'cancel_url') ?? null,
    client_reference_id: textIn(form, 'client_reference_id') ?? null,
    created: seconds(),
    currency: prices[0] ? textIn(prices[0].price, 'currency') ?? null : null,
    customer: textIn(form, 'customer') ?? null,
    livemode: false,
    metadata: textsIn(form, 'metadata'),
    mode: textIn(form, 'mode') ?? 'payment',
    payment_intent: null,
    payment_status: 'unpaid',
    status: 'open',
    success_url: textIn(form, 'success_url') ?? null,
    url: `${origin}/pay/${id}`
  }
}
