import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import ts from 'typescript'
import { startPayStandIn } from '../src/testing/index.ts'
import { formFrom } from '../src/testing/form.ts'
import { listResponse } from '../src/testing/list.ts'
import * as parameters from '../src/testing/parameters.ts'
import { accounts, exchangesWith, secretKey } from './exchanges.ts'

const library = join(dirname(fileURLToPath(import.meta.resolve('stripe'))), 'resources')

/** The members of an interface of the provider's library. */
function membersOf (file: string, name: string): ReadonlyArray<{ readonly name: string, readonly isOptional: boolean }> {
  const source = ts.createSourceFile(file, readFileSync(join(library, `${file}.d.ts`), 'utf8'), ts.ScriptTarget.Latest)
  const [found] = source.statements.flatMap(function interfaces (statement): ts.InterfaceDeclaration[] {
    if (ts.isModuleDeclaration(statement) && statement.body && ts.isModuleBlock(statement.body)) return statement.body.statements.flatMap(interfaces)
    return ts.isInterfaceDeclaration(statement) && statement.name.text === name ? [statement] : []
  })
  if (!found) throw new Error(`${file} has no ${name}`)
  const inherited = found.heritageClauses?.[0]?.types[0]?.expression.getText(source)
  return [
    ...found.members.map(member => ({ name: member.name?.getText(source) ?? '', isOptional: 'questionToken' in member && member.questionToken !== undefined })),
    ...inherited?.endsWith('PaginationParams') ? ['ending_before', 'limit', 'starting_after'].map(name => ({ name, isOptional: true })) : []
  ]
}

const namesIn = (file: string, name: string): readonly string[] => membersOf(file, name).map(({ name }) => name)

t.test('the stand-in knows the parameters that the provider\'s library knows', async t => {
  for (const [names, file, name, ...more] of [
    [parameters.customerCreate, 'Customers', 'CustomerCreateParams'],
    [parameters.customerUpdate, 'Customers', 'CustomerUpdateParams'],
    [parameters.customerList, 'Customers', 'CustomerListParams'],
    [parameters.customerSearch, 'Customers', 'CustomerSearchParams'],
    [parameters.intentCreate, 'PaymentIntents', 'PaymentIntentCreateParams', 'payment_method_types'],
    [parameters.intentConfirm, 'PaymentIntents', 'PaymentIntentConfirmParams', 'payment_method_types'],
    [parameters.intentRetrieve, 'PaymentIntents', 'PaymentIntentRetrieveParams'],
    [parameters.intentList, 'PaymentIntents', 'PaymentIntentListParams'],
    [parameters.intentSearch, 'PaymentIntents', 'PaymentIntentSearchParams'],
    [parameters.sessionCreate, 'Checkout/Sessions', 'SessionCreateParams', 'payment_method_types'],
    [parameters.sessionList, 'Checkout/Sessions', 'SessionListParams'],
    [parameters.onlyExpand, 'Customers', 'CustomerRetrieveParams'],
    [parameters.onlyExpand, 'Checkout/Sessions', 'SessionExpireParams'],
    [parameters.lineItemList, 'Checkout/Sessions', 'SessionListLineItemsParams']
  ] as ReadonlyArray<readonly [readonly string[], string, string, ...string[]]>) {
    t.strictSame(names.toSorted(), [...new Set([...namesIn(file, name), ...more])].toSorted(), name)
  }
  t.strictSame(parameters.noParameters, [])
})

t.test('a value out of its bounds is refused as the provider refuses it, one within is not', async t => {
  const names = ['amount', 'limit', 'expires_at', 'created', 'metadata', 'name', 'description', 'starting_after', 'ending_before']
  const integer = 'parameter_invalid_integer'
  const keys = (count: number): string => Array.from({ length: count }, (_, index) => `metadata[k${index}]=v`).join('&')
  for (const [form, code, param, message] of [
    ['limit=1'], ['limit=100'], ['amount=1'], ['amount=999999999999999'], ['created=5'], ['created[gt]=1&created[gte]=-2&created[lt]=3&created[lte]=4'],
    [keys(50)], [`metadata[${'k'.repeat(40)}]=v`], [`metadata[k]=${'v'.repeat(500)}`], ['metadata='], [`description=${'x'.repeat(5000)}`], [`name=${'x'.repeat(256)}`], ['starting_after=a'], ['ending_before=a'],
    ['limit=0', integer, 'limit', 'This value must be greater than or equal to 1.'],
    ['limit=101', integer, 'limit', 'This value must be less than or equal to 100.'],
    ['amount=0', integer, 'amount', 'This value must be greater than or equal to 1.'],
    ['amount=1.5', integer, 'amount', 'Invalid integer: 1.5'],
    ['limit=ten', integer, 'limit', 'Invalid integer: ten'],
    ['expires_at=soon', integer, 'expires_at', 'Invalid integer: soon'],
    ['amount[a]=1', integer, 'amount', 'Invalid integer: object'],
    ['created=then', integer, 'created', 'Invalid integer: then'],
    ['created[lte]=then', integer, 'created[lte]', 'Invalid integer: then'],
    ['created[after]=1', 'parameter_unknown', 'created[after]', 'Received unknown parameter: created[after]'],
    ['colour=red', 'parameter_unknown', 'colour', 'Received unknown parameter: colour'],
    ['colour=red&size=1', 'parameter_unknown', 'colour', 'Received unknown parameters: colour, size'],
    ['starting_after=a&ending_before=b', undefined, undefined, 'Received both starting_after and ending_before parameters. Please pass in only one.'],
    [keys(51), undefined, 'metadata', 'Metadata can have up to 50 keys.'],
    [`metadata[${'k'.repeat(41)}]=v`, undefined, 'metadata', 'Metadata keys can have up to 40 characters, but you passed in a key that is 41 characters.'],
    [`metadata[k]=${'v'.repeat(501)}`, undefined, 'metadata[k]', 'Metadata values can have up to 500 characters, but you passed in a value that is 501 characters.'],
    ['metadata[k][l]=v', undefined, 'metadata[k]', 'Metadata values must be strings.'],
    [`description=${'x'.repeat(5001)}`, 'parameter_invalid_string', 'description', 'Invalid string: must be at most 5000 characters'],
    [`name=${'x'.repeat(257)}`, 'parameter_invalid_string', 'name', 'Invalid string: must be at most 256 characters']
  ] as ReadonlyArray<readonly [form: string, code?: string, param?: string, message?: string]>) {
    const docs = code !== undefined && { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }
    t.strictSame(parameters.parameterFault(formFrom(form), { names }), message === undefined
      ? undefined
      : { status: 400, body: { error: { type: 'invalid_request_error', message, ...docs, ...param !== undefined && { param } } } }, form.slice(0, 80))
  }
  for (const form of ['', 'amount=']) {
    t.match(parameters.parameterFault(formFrom(form), { names, required: ['amount'] }), { status: 400, body: { error: { message: 'Missing required param: amount.', code: 'parameter_missing', param: 'amount' } } })
  }
})

t.test('the objects of the stand-in have the fields that the provider\'s library requires, and no others', async t => {
  const standIn = await startPayStandIn({ accounts, log: () => {} })
  t.teardown(() => standIn.close())
  const objects = (await exchangesWith(standIn)).filter(({ status }) => status === 200).flatMap(({ body }) => [body, ...Array.isArray(body.data) ? body.data : []])
  for (const [object, file, name, ...more] of [
    ['customer', 'Customers', 'Customer', 'business_name', 'individual_name'],
    ['payment_intent', 'PaymentIntents', 'PaymentIntent'],
    ['checkout.session', 'Checkout/Sessions', 'Session'],
    ['item', 'LineItems', 'LineItem']
  ] as const) {
    const members = membersOf(file, name)
    const parts: Readonly<Record<string, string>> = {
      customer: { invoice_settings: 'InvoiceSettings' },
      'checkout.session': { total_details: 'TotalDetails', automatic_tax: 'AutomaticTax', custom_text: 'CustomText' }
    }[object as string] ?? {}
    const found = objects.filter(one => one.object === object && one.deleted !== true) as ReadonlyArray<Record<string, unknown>>
    t.ok(found.length > 0, object)
    for (const one of found) {
      t.strictSame(members.filter(member => !member.isOptional && member.name !== 'deleted' && !(member.name in one)).map(({ name }) => name), [], `${object} lacks`)
      for (const [part, partName] of Object.entries(parts)) {
        if (!(part in one)) continue
        t.strictSame(membersOf(file, partName).filter(member => !member.isOptional && !(member.name in (one[part] as object))).map(({ name }) => name), [], `${object}.${part} lacks`)
      }
      t.strictSame(Object.keys(one).filter(key => !members.some(member => member.name === key) && !(more as readonly string[]).includes(key)), [], `${object} has`)
    }
  }
})

t.test('the stand-in keeps the strings that it is sent', async t => {
  const standIn = await startPayStandIn({ accounts, log: () => {} })
  t.teardown(() => standIn.close())
  const created = async (path: string, strings: Readonly<Record<string, string>>, more = {}) => {
    const response = await fetch(`${standIn.url}/v1/${path}`, { method: 'POST', headers: { authorization: `Bearer ${secretKey}` }, body: new URLSearchParams({ ...strings, ...more }) })
    const body = await response.json() as Record<string, unknown>
    t.strictSame(Object.fromEntries(Object.keys(strings).map(name => [name, body[name]])), strings, path)
  }
  const filled = (...names: string[]) => Object.fromEntries(names.map(name => [name, name.endsWith('email') ? `${name}@example.org` : `a ${name}`]))
  await created('customers', filled('name', 'email', 'phone', 'description', 'business_name', 'individual_name'))
  await created('payment_intents', { customer: 'cus_1', currency: 'eur', ...filled('description', 'receipt_email', 'statement_descriptor', 'statement_descriptor_suffix', 'transfer_group') }, { amount: '100' })
  await created('checkout/sessions', { customer: 'cus_1', mode: 'setup', currency: 'chf', ...filled('cancel_url', 'client_reference_id', 'customer_email', 'success_url') })
})

t.test('a page has more only if there is more', async t => {
  const objects = new Map(['a', 'b', 'c'].map(id => [id, { id }]))
  const source = { kind: 'thing', url: '/v1/things', objects }
  for (const [form, ids, hasMore] of [
    ['', 'cba', false], ['limit=3', 'cba', false], ['limit=2', 'cb', true], ['limit=2&starting_after=c', 'ba', false], ['limit=1&starting_after=c', 'b', true],
    ['starting_after=a', '', false], ['limit=2&ending_before=a', 'cb', false], ['limit=1&ending_before=a', 'b', true]
  ] as const) {
    t.match(listResponse(source, formFrom(form)), { status: 200, body: { object: 'list', url: '/v1/things', has_more: hasMore, data: [...ids].map(id => ({ id })) } }, form)
  }
})
