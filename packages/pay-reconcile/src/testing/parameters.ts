import { refusal, type StandInResponse, type Form } from './response.ts'

/**
 * The provider's parameters for a request, whether or not the stand-in uses them, and `payment_method_types`, which
 * clients of earlier API versions send.
 */
export interface Parameters {
  readonly names: readonly string[]
  readonly required?: readonly string[]
  /** Those that must be e-mail addresses. */
  readonly emails?: readonly string[]
}

const PAGING = ['ending_before', 'expand', 'limit', 'starting_after'] as const
const SEARCHING = ['expand', 'limit', 'page', 'query'] as const

export const NO_PARAMETERS = [] as const
export const ONLY_EXPAND = ['expand'] as const
export const CUSTOMER_CREATE = [
  'address',
  'balance',
  'business_name',
  'cash_balance',
  'description',
  'email',
  'expand',
  'individual_name',
  'invoice_prefix',
  'invoice_settings',
  'metadata',
  'name',
  'next_invoice_sequence',
  'payment_method',
  'phone',
  'preferred_locales',
  'shipping',
  'source',
  'tax',
  'tax_exempt',
  'tax_id_data',
  'test_clock',
  'validate'
] as const
export const CUSTOMER_UPDATE = [
  'address',
  'balance',
  'business_name',
  'cash_balance',
  'default_source',
  'description',
  'email',
  'expand',
  'individual_name',
  'invoice_prefix',
  'invoice_settings',
  'metadata',
  'name',
  'next_invoice_sequence',
  'phone',
  'preferred_locales',
  'shipping',
  'source',
  'tax',
  'tax_exempt',
  'validate'
] as const
export const customerList = [...PAGING, 'created', 'email', 'test_clock'] as const
export const customerSearch = SEARCHING
export const eventList = [...PAGING, 'created', 'delivery_success', 'type', 'types'] as const
export const INTENT_CREATE = [
  'allowed_payment_method_types',
  'amount',
  'amount_details',
  'application_fee_amount',
  'automatic_payment_methods',
  'capture_method',
  'confirm',
  'confirmation_method',
  'confirmation_token',
  'currency',
  'customer',
  'customer_account',
  'description',
  'error_on_requires_action',
  'excluded_payment_method_types',
  'expand',
  'hooks',
  'mandate',
  'mandate_data',
  'metadata',
  'off_session',
  'on_behalf_of',
  'payment_details',
  'payment_method',
  'payment_method_configuration',
  'payment_method_data',
  'payment_method_options',
  'payment_method_types',
  'radar_options',
  'receipt_email',
  'return_url',
  'setup_future_usage',
  'shipping',
  'statement_descriptor',
  'statement_descriptor_suffix',
  'transfer_data',
  'transfer_group',
  'use_stripe_sdk'
] as const
export const INTENT_CONFIRM = [
  'allowed_payment_method_types',
  'amount_details',
  'amount_to_confirm',
  'capture_method',
  'confirmation_token',
  'error_on_requires_action',
  'excluded_payment_method_types',
  'expand',
  'hooks',
  'mandate',
  'mandate_data',
  'off_session',
  'payment_details',
  'payment_method',
  'payment_method_data',
  'payment_method_options',
  'payment_method_types',
  'radar_options',
  'receipt_email',
  'return_url',
  'setup_future_usage',
  'shipping',
  'use_stripe_sdk'
] as const
export const INTENT_RETRIEVE = ['client_secret', 'expand'] as const
export const intentList = [...PAGING, 'created', 'customer', 'customer_account'] as const
export const intentSearch = SEARCHING
export const SESSION_CREATE = [
  'adaptive_pricing',
  'after_expiration',
  'allow_promotion_codes',
  'allowed_payment_method_types',
  'automatic_tax',
  'billing_address_collection',
  'branding_settings',
  'cancel_url',
  'client_reference_id',
  'consent_collection',
  'currency',
  'custom_fields',
  'custom_text',
  'customer',
  'customer_account',
  'customer_creation',
  'customer_email',
  'customer_update',
  'discounts',
  'excluded_payment_method_types',
  'expand',
  'expires_at',
  'integration_identifier',
  'invoice_creation',
  'line_items',
  'locale',
  'managed_payments',
  'metadata',
  'mode',
  'name_collection',
  'optional_items',
  'origin_context',
  'payment_intent_data',
  'payment_method_collection',
  'payment_method_configuration',
  'payment_method_data',
  'payment_method_options',
  'payment_method_types',
  'permissions',
  'phone_number_collection',
  'redirect_on_completion',
  'return_url',
  'saved_payment_method_options',
  'setup_intent_data',
  'shipping_address_collection',
  'shipping_options',
  'submit_type',
  'subscription_data',
  'success_url',
  'tax_id_collection',
  'ui_mode',
  'wallet_options'
] as const
export const sessionList = [
  ...PAGING,
  'created',
  'customer',
  'customer_account',
  'customer_details',
  'payment_intent',
  'payment_link',
  'status',
  'subscription'
] as const
export const lineItemList = PAGING

const INTEGERS = ['amount', 'expires_at', 'limit'] as const
const BOUNDS = ['gt', 'gte', 'lt', 'lte']

/** The provider's error for parameters that it would reject, or undefined. */
export function parameterFault (
  form: Form,
  { names, required = [], emails = [] }: Parameters
): StandInResponse | undefined {
  const unknown = Object.keys(form).filter((name) => !names.includes(name))
  if (typeof form.created === 'object') {
    unknown.push(
      ...Object.keys(form.created).filter((name) => !BOUNDS.includes(name)).map((name) => `created[${name}]`)
    )
  }
  if (unknown.length > 0) {
    return refusal(400, `Received unknown parameter${unknown.length > 1 ? 's' : ''}: ${unknown.join(', ')}`, {
      code: 'parameter_unknown',
      param: unknown[0]!
    })
  }
  const absent = required.find((name) => (form[name] ?? '') === '')
  if (absent !== undefined) {
    return refusal(400, `Missing required param: ${absent}.`, { code: 'parameter_missing', param: absent })
  }
  if (form.starting_after !== undefined && form.ending_before !== undefined) {
    return refusal(400, 'Received both starting_after and ending_before parameters. Please pass in only one.')
  }
  return numberFault(form) ?? metadataFault(form) ?? lengthFault(form) ?? emailFault(form, emails)
}

function numberFault (form: Form): StandInResponse | undefined {
  const created = typeof form.created === 'object'
    ? Object.entries(form.created).map(([name, value]) => [`created[${name}]`, value] as const)
    : [['created', form.created] as const]
  const numbers = [...INTEGERS.map((name) => [name, form[name]] as const), ...created]
  const [param, wrong] =
    numbers.find(([, value]) => value !== undefined && !(typeof value === 'string' && /^-?\d{1,15}$/.test(value))) ?? []
  if (param !== undefined) {
    return refusal(400, `Invalid integer: ${typeof wrong === 'string' ? wrong : 'object'}`, {
      code: 'parameter_invalid_integer',
      param
    })
  }
  const tooSmall = ['limit', 'amount'].find((name) => Number(form[name] ?? 1) < 1)
  if (tooSmall) {
    return refusal(400, 'This value must be greater than or equal to 1.', {
      code: 'parameter_invalid_integer',
      param: tooSmall
    })
  }
  const isTooLarge = Number(form.limit ?? 10) > 100
  return isTooLarge
    ? refusal(400, 'This value must be less than or equal to 100.', {
      code: 'parameter_invalid_integer',
      param: 'limit'
    })
    : undefined
}

/** @see [Stripe: metadata](https://docs.stripe.com/metadata): 50 keys of 40 characters, values of 500 */
function metadataFault ({ metadata }: Form): StandInResponse | undefined {
  if (typeof metadata !== 'object') return undefined
  const entries = Object.entries(metadata)
  if (entries.length > 50) return refusal(400, 'Metadata can have up to 50 keys.', { param: 'metadata' })
  for (const [key, value] of entries) {
    if (key.length > 40) {
      return refusal(
        400,
        `Metadata keys can have up to 40 characters, but you passed in a key that is ${key.length} characters.`,
        { param: 'metadata' }
      )
    }
    if (typeof value !== 'string') {
      return refusal(400, 'Metadata values must be strings.', { param: `metadata[${key}]` })
    }
    if (value.length > 500) {
      return refusal(
        400,
        `Metadata values can have up to 500 characters, but you passed in a value that is ${value.length} characters.`,
        { param: `metadata[${key}]` }
      )
    }
  }
  return undefined
}

function lengthFault (form: Form): StandInResponse | undefined {
  const longest = (name: string): number => LENGTHS[name] ?? 5000
  const [param] =
    Object.entries(form).find(([name, value]) => typeof value === 'string' && value.length > longest(name)) ?? []
  return param === undefined
    ? undefined
    : refusal(400, `Invalid string: must be at most ${longest(param)} characters`, {
      code: 'parameter_invalid_string',
      param
    })
}

/** In characters. Other strings may have 5000. */
const LENGTHS: Readonly<Record<string, number>> = { name: 256, email: 512, customer_email: 800, phone: 20 }

/** An empty address removes the one that is stored. */
function emailFault (form: Form, emails: readonly string[]): StandInResponse | undefined {
  const param = emails.find((name) => typeof form[name] === 'string' && form[name] !== '' && !isEmail(form[name]))
  return param === undefined
    ? undefined
    : refusal(400, `Invalid email address: ${String(form[param])}`, { code: 'email_invalid', param })
}

/** One `@`, a domain with a dot, and no blanks: `typo@gmail` is refused. */
function isEmail (value: string): boolean {
  const [local, domain = '', ...more] = value.split('@')
  return local !== '' && more.length === 0 && !/\s/.test(value) && domain.split('.').length > 1 &&
    domain.split('.').every((label) => label !== '')
}
