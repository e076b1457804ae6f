import type { PayStandIn } from '../src/testing/index.ts'

/** A request and what the stand-in answered. */
export interface Exchange {
  readonly title: string
  readonly method: string
  readonly path: string
  /** Status, and the code and parameter of an error. */
  readonly expected: string
  readonly outcome: string
  readonly status: number
  readonly body: Record<string, unknown>
}

type Row = readonly [
  outcome: string,
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  form?: string,
  headers?: Readonly<Record<string, string>>
]

export const secretKey = 'sk_test_exchanges'
export const accounts = {
  [secretKey]: {
    customers: [
      { id: 'cus_1', created: 1, name: 'Ada', email: 'ada@example.org', metadata: { account_id: 'a1' } },
      { id: 'cus_2', created: 2, name: 'Bob', email: 'bob@example.org', metadata: { account_id: 'a1' } },
      { id: 'cus_3', created: 3 },
      { id: 'cus_gone', deleted: true }
    ],
    connected: { acct_1: { customers: [{ id: 'cus_4' }] } }
  },
  rk_test_narrow: { permissions: [] },
  sk_test_busy: { requestsPerSecond: 0 }
}

const item = (quantity: number, name: string): string => {
  const line = `line_items[${quantity}]`
  const price = `${line}[price_data]`
  return `${line}[quantity]=${quantity}&${price}[currency]=eur&${price}[unit_amount]=500` +
    `&${price}[product_data][name]=${name}`
}
const search = (resource: string, query: string, more = ''): string =>
  `/v1/${resource}/search?query=${encodeURIComponent(query)}${more}`

/**
 * Every endpoint and every kind of refusal, with the status and the code and parameter of the error. `{payment_intent}`
 * and `{checkout.session}`: the last one created.
 */
const rows: readonly Row[] = [
  [
    '200',
    'POST',
    '/v1/customers',
    'name=Cid&email=cid@example.org&metadata[account_id]=c1&phone=1&description=d&business_name=b&individual_name=i'
  ],
  ['200', 'POST', '/v1/customers', 'name=Dan', { 'idempotency-key': 'k1' }],
  ['200', 'POST', '/v1/customers', 'name=Dan', { 'idempotency-key': 'k1' }],
  ['400', 'POST', '/v1/customers', 'name=Eve', { 'idempotency-key': 'k1' }],
  ['400 parameter_unknown colour', 'POST', '/v1/customers', 'colour=red'],
  ['400 metadata[a]', 'POST', '/v1/customers', `metadata[a]=${'x'.repeat(501)}`],
  ['400 parameter_invalid_string name', 'POST', '/v1/customers', `name=${'x'.repeat(5001)}`],
  ['200', 'GET', '/v1/customers/cus_1'],
  [
    '200',
    'GET',
    '/v1/customers/cus_1?expand[]=sources&expand[]=subscriptions&expand[]=tax_ids' +
    '&expand[]=invoice_settings.default_payment_method'
  ],
  ['400 expand', 'GET', '/v1/customers/cus_1?expand[]=name'],
  ['200', 'GET', '/v1/customers/cus_gone'],
  ['404 resource_missing id', 'GET', '/v1/customers/cus_none'],
  ['200', 'POST', '/v1/customers/cus_1', 'name=&metadata[tier]=gold&metadata[account_id]='],
  ['404 resource_missing id', 'POST', '/v1/customers/cus_none', 'name=x'],
  ['200', 'GET', '/v1/customers'],
  ['200', 'GET', '/v1/customers?limit=2'],
  ['200', 'GET', '/v1/customers?limit=1&starting_after=cus_3'],
  ['200', 'GET', '/v1/customers?limit=1&ending_before=cus_1&expand[]=data.sources'],
  ['200', 'GET', '/v1/customers?created[gte]=2&created[lt]=3&email=bob@example.org'],
  ['400 resource_missing starting_after', 'GET', '/v1/customers?starting_after=cus_none'],
  ['400', 'GET', '/v1/customers?starting_after=cus_1&ending_before=cus_2'],
  ['400 parameter_invalid_integer limit', 'GET', '/v1/customers?limit=101'],
  ['400 parameter_invalid_integer limit', 'GET', '/v1/customers?limit=0'],
  ['400 parameter_invalid_integer limit', 'GET', '/v1/customers?limit=ten'],
  ['400 parameter_unknown created[after]', 'GET', '/v1/customers?created[after]=1'],
  ['400 parameter_invalid_integer created[gt]', 'GET', '/v1/customers?created[gt]=yesterday'],
  ['200', 'GET', search('customers', "metadata['account_id']:'c1'")],
  ['200', 'GET', search('customers', "email:'bob@example.org'", '&limit=1&expand[]=total_count')],
  ['200', 'GET', search('customers', "email:'nobody@example.org'")],
  ['200', 'GET', search('customers', "metadata['account_id']:'c1' AND email:'cid@example.org'")],
  ['400 query', 'GET', search('customers', "email:'a@example.org' AND ")],
  ['400 query', 'GET', search('customers', "email:'a@example.org' AND colour:'red'")],
  ['400 query', 'GET', search('customers', 'whatever')],
  ['400 query', 'GET', search('customers', "colour:'red'")],
  ['400 page', 'GET', search('customers', "name:'Bob'", '&page=none')],
  ['400 parameter_missing query', 'GET', '/v1/customers/search'],
  ['200', 'DELETE', '/v1/customers/cus_2'],
  ['404 resource_missing id', 'DELETE', '/v1/customers/cus_2'],
  ['200', 'POST', '/v1/payment_intents', 'amount=100&currency=eur&customer=cus_1&metadata[order]=1'],
  ['200', 'POST', '/v1/payment_intents', 'amount=100&currency=eur&confirm=true'],
  ['400 parameter_missing amount', 'POST', '/v1/payment_intents', 'currency=eur'],
  ['400 parameter_invalid_integer amount', 'POST', '/v1/payment_intents', 'amount=0&currency=eur'],
  ['400 resource_missing customer', 'POST', '/v1/payment_intents', 'amount=100&currency=eur&customer=cus_none'],
  ['200', 'POST', '/v1/payment_intents', 'amount=100&currency=eur&customer=cus_3'],
  ['200', 'GET', '/v1/payment_intents/{payment_intent}'],
  ['200', 'GET', '/v1/payment_intents/{payment_intent}?expand[]=customer&expand[]=customer.sources'],
  ['200', 'POST', '/v1/payment_intents/{payment_intent}/confirm'],
  ['400 payment_intent_unexpected_state', 'POST', '/v1/payment_intents/{payment_intent}/confirm'],
  ['200', 'GET', '/v1/payment_intents?limit=1&expand[]=data.customer'],
  ['200', 'GET', '/v1/payment_intents?customer=cus_1'],
  ['200', 'GET', search('payment_intents', "status:'succeeded'", '&limit=1')],
  ['404 resource_missing id', 'GET', '/v1/payment_intents/pi_none'],
  [
    '200',
    'POST',
    '/v1/checkout/sessions',
    `mode=payment&success_url=https://shop.example/&customer=cus_1&${item(1, 'A')}&${
      item(2, 'B')
    }&expand[]=line_items&expand[]=customer`
  ],
  ['200', 'GET', '/v1/checkout/sessions/{checkout.session}'],
  ['200', 'GET', '/v1/checkout/sessions/{checkout.session}/line_items?limit=1'],
  ['200', 'GET', '/v1/checkout/sessions?status=open&expand[]=data.line_items'],
  ['200', 'POST', '/v1/checkout/sessions/{checkout.session}/expire'],
  ['400', 'POST', '/v1/checkout/sessions/{checkout.session}/expire'],
  ['404 resource_missing id', 'GET', '/v1/checkout/sessions/cs_none'],
  ['404 resource_missing id', 'GET', '/v1/checkout/sessions/cs_none/line_items'],
  ['404', 'GET', '/v1/products'],
  ['200', 'GET', '/v1/customers', '', { 'stripe-account': 'acct_1' }],
  ['403 account_invalid', 'GET', '/v1/customers', '', { 'stripe-account': 'acct_2' }],
  ['401', 'GET', '/v1/customers', '', { authorization: '' }],
  ['401', 'GET', '/v1/customers', '', { authorization: 'Bearer sk_test_unknown' }],
  ['401', 'GET', '/v1/customers', '', { authorization: 'Bearer sk_live_real' }],
  ['403', 'GET', '/v1/customers', '', { authorization: 'Bearer rk_test_narrow' }],
  ['429 rate_limit', 'GET', '/v1/customers', '', { authorization: 'Bearer sk_test_busy' }]
]

/** Sends every request to a stand-in that was started with `accounts`. */
export async function exchangesWith ({ url: origin }: PayStandIn): Promise<readonly Exchange[]> {
  const last: Record<string, string> = {}
  const exchanges: Exchange[] = []
  for (const [expected, method, template, form = '', headers = {}] of rows) {
    const url = template.replace(/\{(.+?)\}/g, (_, type: string) => last[type] ?? type)
    const response = await fetch(`${origin}${url}`, {
      method,
      headers: {
        authorization: `Bearer ${secretKey}`,
        'content-type': 'application/x-www-form-urlencoded',
        ...headers
      },
      ...(method === 'POST' && { body: form })
    })
    const body = await response.json() as Record<string, unknown>
    if (response.ok && method === 'POST') last[String(body.object)] = String(body.id)
    const { code, param } = (body.error ?? {}) as { code?: string, param?: string }
    exchanges.push({
      title: `${method} ${template.slice(0, 120)} ${form.slice(0, 60)}`.trim(),
      method,
      path: url.replace(/\?.*/, ''),
      expected,
      outcome: [response.status, code, param].filter(Boolean).join(' '),
      status: response.status,
      body
    })
  }
  return exchanges
}
