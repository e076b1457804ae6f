import Fastify from 'fastify'
import type { FastifySchema, FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import t from 'tap'
import { probesOf } from '../src/tool/probe.ts'

type Validator = FastifySchemaCompiler<FastifySchema>
type Serializer = FastifySerializerCompiler<FastifySchema>

const app = Fastify()
t.teardown(() => app.close())
const probes = probesOf(app)

t.test('each compiler is asked once, about a route as Fastify describes one', async (t) => {
  const asked: object[] = []
  const validator: Validator = ({ schema: _, ...route }) => { asked.push(route); return () => true }
  const serializer: Serializer = ({ schema: _, ...route }) => { asked.push(route); return () => '' }
  for (let times = 0; times < 2; times++) {
    probes.fillsDefaults(validator)
    probes.queryAcceptance({}, validator)('a')('array')
    probes.keepsToSchema(serializer, app)
  }
  t.strictSame(asked, [
    { method: 'POST', url: '/', httpPart: 'body' },
    { method: 'GET', url: '/', httpPart: 'querystring' },
    { method: 'GET', url: '/', httpPart: 'querystring' },
    { method: 'GET', url: '/', httpStatus: '200' }
  ])
})

t.test('what a validator says of a string where an array or an object belongs', async (t) => {
  for (const [title, result, accepts] of [
    ['true', true, true],
    ['a value', { value: {} }, true],
    ['no error', { error: undefined }, true],
    ['nothing', undefined, true],
    ['false', false, false],
    ['an error', new TypeError('no'), false],
    ['a result with an error', { error: new TypeError('no') }, false]
  ] as const) {
    for (const type of ['array', 'object'] as const) t.equal(probes.queryAcceptance({}, (() => () => result) as Validator)('a')(type), accepts, title)
  }
  const foreign: Validator = () => { throw new TypeError('not my kind of schema') }
  t.equal(probes.queryAcceptance({}, foreign)('a')('array'), undefined)
  t.equal(probes.queryAcceptance({}, undefined)('a')('array'), undefined)
  const onlyArrays: Validator = ({ schema }) => () => JSON.stringify(schema).includes('array')
  t.strictSame(['array', 'object'].map((type) => probes.queryAcceptance({}, onlyArrays)('a')(type as 'array')), [true, false])
})

t.test('whether a validator fills in defaults', async (t) => {
  const filling: Validator = () => (body: { a?: string }) => { body.a ??= 'x'; return true }
  t.strictSame([filling, () => () => true, () => { throw new TypeError('no') }, undefined].map((validator) => probes.fillsDefaults(validator as Validator)), [true, false, false, false])
})

t.test('whether a serializer writes as Fastify\'s does', async (t) => {
  const writes = (change: (body: unknown) => string): boolean => probes.keepsToSchema((() => change) as unknown as Serializer, app)
  const asFastify = (body: unknown): string => {
    if (Array.isArray(body)) return `["${body.join('","')}"]`
    if ((body as { a?: unknown }).a === undefined) throw new TypeError('"a" is required!')
    return '{"a":"1","b":2}'
  }
  t.equal(writes(asFastify), true)
  t.equal(probes.keepsToSchema(undefined, app), true)
  t.equal(writes((body) => JSON.stringify(body)), false)
  t.equal(writes((body) => Array.isArray(body) || (body as { a?: unknown }).a === undefined ? asFastify(body) : JSON.stringify(body)), false, 'not as the types say')
  t.equal(writes((body) => Array.isArray(body) ? JSON.stringify(body) : asFastify(body)), false, 'not large arrays')
  t.equal(writes((body) => { try { return asFastify(body) } catch { return '{}' } }), false, 'not what is required')
})

t.test('what a Standard Schema says of a string where an array belongs', async (t) => {
  const refusing = (issue: unknown) => (value: { a: unknown }): object => typeof value.a === 'string' ? { issues: [issue] } : { value }
  for (const [title, validate, accepts] of [
    ['it takes it', (value: unknown) => ({ value }), true],
    ['it refuses it', refusing({ path: ['a'] }), false],
    ['it refuses it, and names it by an object', refusing({ path: [{ key: 'a' }] }), false],
    ['it refuses another argument', refusing({ path: ['b'] }), true],
    ['it refuses another argument, and names it by an object', refusing({ path: [{ key: 'b' }] }), true],
    ['it refuses an element', refusing({ path: ['a', 0] }), true],
    ['it names nothing', refusing({}), true],
    ['it refuses an array as well', () => ({ issues: [{ path: ['a'] }] }), undefined],
    ['it answers later', async (value: unknown) => ({ value }), undefined],
    ['it answers nothing', () => undefined, undefined],
    ['it throws', () => { throw new TypeError('no') }, undefined],
    ['it throws for a string', (value: { a: unknown }) => { if (typeof value.a === 'string') throw new TypeError('no'); return { value } }, undefined]
  ] as const) t.equal(probes.queryAcceptance({ '~standard': { validate } }, undefined)('a')('array'), accepts, title)
  for (const schema of [undefined, null, 'x', () => 1, { '~standard': null }]) t.equal(probes.queryAcceptance(schema, undefined)('a')('array'), undefined, 'no Standard Schema')
  t.equal(probes.queryAcceptance(Object.assign(() => 1, { '~standard': { validate: refusing({ path: ['a'] }) } }), undefined)('a')('array'), false, 'a function may be one')
  t.equal(probes.queryAcceptance({ '~standard': { validate: true } }, (() => () => true) as Validator)('a')('array'), true, 'what validates nothing is no Standard Schema')
})
