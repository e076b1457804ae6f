import t from 'tap'
import { redactedFields, redactor } from '../src/http/redaction.ts'
import { loggerOptions, requestIdOf } from '../src/operations/logging.ts'

const redact = redactor('shop')
const KEY = `shop_${'aB3_x-'.repeat(8)}`
const JWT = `eyJhbGciOiJSUzI1NiJ9.${'eyJzdWIiOiIxIn0'}.c2lnbmF0dXJl`

const lines = [
  [
    'a field of JSON in a text',
    JSON.stringify({ msg: JSON.stringify({ pay_secret_key: 'canary', name: 'seen' }) }),
    '{"msg":"{\\"pay_secret_key\\":\\"[redacted]\\",\\"name\\":\\"seen\\"}"}'
  ],
  [
    'a field of an object that was not looked through',
    '{"error":{"headers":{"Authorization":"opaque-canary"}}}',
    '{"error":{"headers":{"Authorization":"[redacted]"}}}'
  ],
  ['a key in a message', JSON.stringify({ msg: `no such key ${KEY}!` }), '{"msg":"no such key [redacted]!"}'],
  ['a token in a stack', JSON.stringify({ stack: `Error: ${JWT}\n at x` }), '{"stack":"Error: [redacted]\\n at x"}'],
  [
    'a payment key',
    '{"msg":"Invalid API Key provided: sk_test_canary123"}',
    '{"msg":"Invalid API Key provided: [redacted]"}'
  ],
  [
    'a key of which the end was cut off',
    '{"msg":"shop_aB3… is not a known field"}',
    '{"msg":"[redacted] is not a known field"}'
  ],
  [
    'a token of which the end was cut off',
    '{"msg":"eyJhbGci…","more":"Basic QWxh…"}',
    '{"msg":"[redacted]","more":"Basic [redacted]"}'
  ],
  ['a token behind another word', '{"msg":"x-eyJhbGciOiJub25lIn0.e30. y"}', '{"msg":"x-[redacted] y"}'],
  ['a scheme', '{"msg":"got Bearer opaque.canary/123="}', '{"msg":"got Bearer [redacted]"}'],
  [
    'a query string in a text',
    '{"msg":"GET /cb?code=canary&state=1 failed"}',
    '{"msg":"GET /cb?code=[redacted]&state=1 failed"}'
  ],
  [
    'the password of a URL',
    '{"msg":"connect to postgres://shop:canary@db/shop, https://a:b@c, http://host:8080/x@y"}',
    '{"msg":"connect to postgres://shop:[redacted]@db/shop, https://a:[redacted]@c, http://host:8080/x@y"}'
  ],
  [
    'only what is secret',
    '{"level":30,"msg":"keys of shop_members: secretary, tokens, eyJust","token_use":"access"}',
    '{"level":30,"msg":"keys of shop_members: secretary, tokens, eyJust","token_use":"access"}'
  ]
] as const

for (const [what, line, expected] of lines) {
  t.test(`redacts ${what}`, async (t) => {
    t.equal(redact(line), expected)
  })
}

t.test('redacts fields of objects at any depth', async (t) => {
  t.strictSame(
    redactedFields({
      a: [{
        b: {
          headers: {
            Authorization: 'canary',
            'x-api-key': ['canary'],
            cookie: 'canary',
            'set-cookie': ['canary'],
            host: 'seen'
          }
        }
      }],
      password: 'a"canary\\',
      pay_secret_key: 'canary',
      client_secret: null,
      access_token: { canary: true },
      token_use: 'seen',
      n: 1
    }, 8),
    {
      a: [{
        b: {
          headers: {
            Authorization: '[redacted]',
            'x-api-key': '[redacted]',
            cookie: '[redacted]',
            'set-cookie': '[redacted]',
            host: 'seen'
          }
        }
      }],
      password: '[redacted]',
      pay_secret_key: '[redacted]',
      client_secret: '[redacted]',
      access_token: '[redacted]',
      token_use: 'seen',
      n: 1
    }
  )
  const endless: Record<string, unknown> = {}
  endless['self'] = endless
  t.strictSame(redactedFields(endless, 2), { self: { self: '[redacted]' } })
})

t.test('long strings of objects are cut', async (t) => {
  t.strictSame(redactedFields({ a: ['x'.repeat(600)], b: `${'x'.repeat(498)}\u{1f600}yy` }, 8), {
    a: [`${'x'.repeat(499)}…`],
    b: `${'x'.repeat(498)}…`
  })
})

t.test('an error of the caller is cut short, a fault of the server keeps what follows its statement', async (t) => {
  const { err } = loggerOptions({ LOG_LEVEL: 'info', API_KEY_MARKER: 'shop' }).serializers
  const statement = `insert ${'x'.repeat(5000)} - relation does not exist`
  for (
    const [error, message] of [
      [Object.assign(new Error('y'.repeat(9000)), { statusCode: 422 }), `${'y'.repeat(499)}…`],
      [new Error(statement), statement],
      [new Error('z'.repeat(9000)), `${'z'.repeat(7999)}…`]
    ] as const
  ) {
    const logged = err(error)
    t.equal(logged.message, message)
    t.ok(logged.stack.startsWith(`Error: ${message}\n    at `))
  }
})

t.test('a line stays JSON, however hostile', async (t) => {
  const hostile = JSON.stringify({
    x: '"token":"'.repeat(5000),
    y: 'eyJ'.repeat(20_000),
    z: `Bearer ${'a'.repeat(50_000)}`,
    w: `${'\\'.repeat(9)}"token${'\\'.repeat(999)}":"`
  })
  t.type(JSON.parse(redact(hostile)), 'object')
  t.notMatch(redact(hostile), /Bearer a/)
})

t.test('a request id is taken when it is well-formed', async (t) => {
  t.equal(requestIdOf({ headers: { 'x-request-id': 'a1b2:C-3_d.4' } }), 'a1b2:C-3_d.4')
  for (const bad of ['', 'a b', 'x'.repeat(129), 'ü', 'a\nb', '"']) {
    t.match(requestIdOf({ headers: { 'x-request-id': bad } }), /^[0-9a-f-]{36}$/, JSON.stringify(bad))
  }
  t.match(requestIdOf({ headers: {} }), /^[0-9a-f-]{36}$/)
})
