import t from 'tap'
import * as errors from '../src/errors.ts'

/** By their status, without the prefix. */
const codes = {
  400: ['NO_CUSTOMER_ID', 'NO_SECRET_KEY', 'WEBHOOK_REFUSED'],
  403: ['RUN_FORBIDDEN'],
  404: ['ACCOUNT_NOT_FOUND', 'RUN_NOT_FOUND', 'SHOP_NOT_FOUND', 'SNAPSHOT_NOT_FOUND'],
  409: ['CUSTOMER_AMBIGUOUS', 'CUSTOMER_TAKEN', 'CUSTOMER_CHANGED', 'RUN_ACTIVE'],
  422: ['VALIDATION'],
  500: ['INVALID_OPTION', 'DETAILS_NOT_OBJECT', 'STORE_FAILED'],
  502: [
    'PROVIDER_CUSTOMER_NOT_FOUND', 'PROVIDER_KEY_REJECTED', 'PROVIDER_KEY_FORBIDDEN', 'PROVIDER_KEY_MISMATCH', 'PROVIDER_RATE_LIMITED', 'PROVIDER_TIMEOUT', 'PROVIDER_UNREACHABLE', 'PROVIDER_ERROR', 'PROVIDER_REFUSED',
    'PROVIDER_UNEXPECTED_OBJECT', 'PROVIDER_LIST_REPEATS', 'PROVIDER_UNAVAILABLE', 'ABORTED'
  ]
}

t.test('each error has its name as code, and a status', async t => {
  const found = Object.entries(errors).flatMap(([name, Made]) => {
    if (!name.startsWith('PAY_RECONCILE_')) return []
    const { code, statusCode, message } = new (Made as new (...args: string[]) => Error & { code: string, statusCode: number })('one', 'two')
    t.ok(message.length > 2, name)
    return [`${name} ${code} ${statusCode}`]
  })
  t.strictSame(found.sort(), Object.entries(codes).flatMap(([status, names]) => names.map(name => `PAY_RECONCILE_${name} PAY_RECONCILE_${name} ${status}`)).sort())
})

t.test('an error of the provider has the facts that may be shown, and no others', async t => {
  for (const [facts, wanted] of [
    [{}, {}],
    [{ requestId: 'req_1', retryAfter: 0, replayed: true, retryable: false, missingPermission: 'rak_x' }, { provider_request_id: 'req_1', retryAfter: 0, replayed: true, retryable: false, missing_permission: 'rak_x' }],
    [{ param: 'email', providerCode: 'email_invalid' }, { provider_param: 'email', provider_code: 'email_invalid' }],
    [{ requestId: null, replayed: false, retryable: true }, {}]
  ] as const) {
    const { code: _, name: __, message: ___, statusCode: ____, ...own } = { ...errors.providerError('error', facts) }
    t.strictSame(own, { fault: 'error', ...wanted })
  }
  for (const [value, is] of [
    [errors.providerError('timeout'), true], [new errors.PAY_RECONCILE_PROVIDER_TIMEOUT(), false], [Object.assign(new Error('odd'), { fault: 'toString' }), false], [Object.assign(new Error('odd'), { fault: 'odd' }), false], [{ fault: 'timeout' }, false], [null, false]
  ] as const) t.equal(errors.isProviderError(value), is)
})

t.test('an error says what it is about', async t => {
  t.match(errors.runActiveError('r', 's'), { code: 'PAY_RECONCILE_RUN_ACTIVE', run_id: 'r', shop_id: 's', message: 'The reconciliation run r is still processing the shop s' })
  t.match(errors.validationError('limit', 'limit is wrong'), { code: 'PAY_RECONCILE_VALIDATION', field: 'limit', message: 'limit is wrong' })
})
