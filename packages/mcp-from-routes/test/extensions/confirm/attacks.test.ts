import { createHmac } from 'node:crypto'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { sealerFrom } from '../../../src/extensions/confirm/seal.ts'
import { memoryStore } from '../../../src/extensions/confirm/store.ts'
import { confirm, type ConfirmOptions, type ConfirmStore } from '../../../src/extensions/confirm/index.ts'
import type { McpFromRoutesOptions } from '../../../src/index.ts'
import { call, having } from '../../build.ts'
import { asked, callOf, round, told, YES, type Said } from './rounds.ts'

const SECRET = 'a secret that two replicas share.'
const { build, listen } = having(confirm())
const NEXT = 'the secret that they share next..'
const KIM = { 'x-api-key': 'kim' }

/** Two tools that ask, and how often either ran. */
async function server (
  t: Parameters<typeof listen>[0],
  { fallback, secret, store, ...options }: ConfirmOptions & Partial<McpFromRoutesOptions> = {}
): Promise<{ url: URL, ran: () => number }> {
  let count = 0
  const { url } = await listen(t, (app) => {
    for (const name of ['drop', 'erase']) {
      app.post(`/${name}`, {
        schema: {
          operationId: name,
          description: 'D.',
          tags: ['mcp'],
          body: {
            type: 'object',
            properties: {
              id: { type: 'string' },
              more: { type: 'object', properties: { a: {}, b: {} } },
              n: { type: 'number' }
            }
          }
        },
        config: { mcp: { confirm: () => 'Sure?' } }
      }, async () => {
        count += 1
        return 'done'
      })
    }
  }, {
    ...options,
    extensions: [
      confirm({ ...fallback && { fallback }, ...secret !== undefined && { secret }, ...store && { store } })
    ]
  })
  return { url, ran: () => count }
}

const ARGS = { id: '1', more: { a: [1, null], b: 'x' } }
const CALL = { args: ARGS, headers: KIM }

async function stateOf (url: URL, name = 'drop', more: Parameters<typeof round>[2] = {}): Promise<string> {
  const said = await round(url, name, { ...CALL, ...more })
  if (said.requestState === undefined) throw new TypeError(`nobody was asked: ${JSON.stringify(said)}`)
  return said.requestState
}

t.test('a state of another caller, tool or arguments asks again, and runs nothing', async (t) => {
  const { url, ran } = await server(t)
  const state = await stateOf(url)
  const cases: Array<[string, string, Parameters<typeof round>[2]]> = [
    ['another key', 'drop', { headers: { 'x-api-key': 'eve' } }],
    ['the same key in another header', 'drop', { headers: { authorization: 'kim' } }],
    ['no key', 'drop', { headers: {} }],
    ['another tool', 'erase', {}],
    ['another id', 'drop', { args: { ...ARGS, id: '2' } }],
    ['no id', 'drop', { args: { more: ARGS.more } }],
    ['one more argument', 'drop', { args: { ...ARGS, n: 0 } }],
    ['an object in the place of a list', 'drop', { args: { id: '1', more: { a: { 0: 1, 1: null }, b: 'x' } } }],
    ['another value inside', 'drop', { args: { id: '1', more: { a: [null, 1], b: 'x' } } }]
  ]
  for (const [title, name, more] of cases) {
    t.equal(asked(await round(url, name, { ...CALL, ...more, state, answer: YES })), 'Sure?', title)
  }
  t.equal(
    told(await round(url, 'drop', { ...CALL, args: { ...ARGS, id: 1 }, state, answer: YES })),
    'id must be string, not integer'
  )
  t.equal(ran(), 0)
  const reordered = { more: { b: 'x', a: [1, null] }, id: '1' }
  t.equal(
    told(
      await round(url, 'drop', {
        ...CALL,
        args: reordered,
        headers: { ...KIM, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
        state,
        answer: YES
      })
    ),
    'done',
    'what means the same is the same'
  )
  t.equal(ran(), 1)
})

t.test('forwarded headers say who calls, except those that differ from call to call', async (t) => {
  const { url } = await server(t, {
    forwardHeaders: [
      'authorization',
      'x-tenant',
      'idempotency-key',
      'x-request-id',
      'x-correlation-id',
      'baggage',
      'x-b3-traceid'
    ]
  })
  const at = (more: Record<string, string>): { headers: Record<string, string> } => ({
    headers: {
      authorization: 'Bearer kim',
      'x-tenant': 'a',
      'idempotency-key': '1',
      'x-request-id': '1',
      baggage: 'a=1',
      ...more
    }
  })
  const state = await stateOf(url, 'drop', at({}))
  t.equal(asked(await round(url, 'drop', { ...CALL, ...at({ 'x-tenant': 'b' }), state, answer: YES })), 'Sure?')
  t.equal(
    told(
      await round(url, 'drop', {
        ...CALL,
        ...at({
          'idempotency-key': '2',
          'x-request-id': '2',
          'x-correlation-id': '2',
          'x-b3-traceid': '2',
          baggage: 'a=2'
        }),
        state,
        answer: YES
      })
    ),
    'done'
  )
})

t.test('a state that is not of this server is an error of the protocol', async (t) => {
  const { url, ran } = await server(t, { secret: SECRET })
  const elsewhere = await server(t, { secret: `${SECRET} Another.` })
  const nameless = await server(t, { secret: SECRET, serverInfo: { name: 'another', version: '1' } })
  const state = await stateOf(url)
  const [version = '', body = '', mac = ''] = state.split('.')
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { p: { until: number } }
  const longer = Buffer.from(JSON.stringify({ ...payload, p: { ...payload.p, until: payload.p.until + 1 } })).toString(
    'base64url'
  )
  const rejected = { code: -32602, message: 'Invalid or expired requestState' }
  const forged: Array<[string, unknown]> = [
    ['of another key', await stateOf(elsewhere.url)],
    ['with more time', `${version}.${longer}.${mac}`],
    [
      'signed with a guess',
      `v1.${longer}.${createHmac('sha256', 'x'.repeat(32)).update(`v1.${longer}`).digest('base64url')}`
    ],
    ['without a signature', `${version}.${body}.`],
    [
      'with another first letter of the signature',
      `${version}.${body}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`
    ],
    ['empty', ''],
    ['text', 'yes'],
    ['long', 'v1.'.repeat(20_000)],
    ['a number', 7],
    ['an object', { until: Infinity }]
  ]
  for (const [title, state] of forged) {
    t.match(
      await round(url, 'drop', { ...CALL, state, answer: YES }),
      title === 'a number' || title === 'an object' ? { code: -32602 } : rejected,
      title
    )
  }
  t.equal(
    asked(await round(url, 'drop', { ...CALL, state: await stateOf(nameless.url), answer: YES })),
    'Sure?',
    'of a server with another name and the same key'
  )
  t.equal(asked(await round(url, 'drop', { ...CALL, answer: YES })), 'Sure?', 'an answer without a state')
  t.equal(ran(), 0)
})

t.test('a state counts once, also in two calls at the same time', async (t) => {
  const { url, ran } = await server(t)
  const state = await stateOf(url)
  const both = await Promise.all([1, 2, 3, 4].map(async () => round(url, 'drop', { ...CALL, state, answer: YES })))
  t.equal(both.filter((said) => told(said) === 'done').length, 1)
  t.equal(both.filter((said) => asked(said) === 'Sure?').length, 3)
  t.equal(asked(await round(url, 'drop', { ...CALL, state, answer: YES })), 'Sure?')
  t.equal(ran(), 1)
})

t.test('an answer after two minutes asks again, and one after an hour is an error', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  t.teardown(() => mock.timers.reset())
  const { url, ran } = await server(t)
  const [early, late] = [await stateOf(url), await stateOf(url)]
  mock.timers.tick(120_000)
  t.equal(told(await round(url, 'drop', { ...CALL, state: early, answer: YES })), 'done')
  mock.timers.tick(1)
  t.equal(asked(await round(url, 'drop', { ...CALL, state: early, answer: YES })), 'Sure?')
  t.equal(asked(await round(url, 'drop', { ...CALL, state: late, answer: YES })), 'Sure?')
  mock.timers.tick(3_600_999 - 120_001)
  t.equal(asked(await round(url, 'drop', { ...CALL, state: late, answer: YES })), 'Sure?')
  mock.timers.tick(1)
  t.match(await round(url, 'drop', { ...CALL, state: late, answer: YES }), { code: -32602 })
  t.equal(ran(), 1)
})

/** The token in what the model is told. */
async function tokenFor (
  url: URL,
  args: Record<string, unknown>,
  headers: Record<string, string> = KIM,
  name = 'drop'
): Promise<string> {
  return /confirm_token "([\w-]+)"/.exec(told(await call(url, name, args, headers) as Said) ?? '')?.[1] ?? ''
}

t.test('a token is for one caller, tool and arguments, once, within two minutes', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  t.teardown(() => mock.timers.reset())
  const { url, ran } = await server(t, { fallback: 'token' })
  const use = async (
    token: unknown,
    { args = ARGS, headers = KIM, name = 'drop' }: {
      args?: Record<string, unknown>,
      headers?: Record<string, string>,
      name?: string
    } = {}
  ): Promise<string> => told(await call(url, name, { ...args, confirm_token: token }, headers) as Said) ?? ''
  const token = await tokenFor(url, ARGS)
  const [time = '', mac = ''] = token.split(/-(.*)/)
  const state = await stateOf(url)
  const wrong: Array<[string, unknown, Parameters<typeof use>[1]?]> = [
    ['another caller', token, { headers: { 'x-api-key': 'eve' } }],
    ['another tool', token, { name: 'erase' }],
    ['another argument', token, { args: { ...ARGS, id: '2' } }],
    ['more time', `${(Number.parseInt(time, 36) + 60_000).toString(36)}-${mac}`],
    ['all the time', `zzzzzzzzzz-${mac}`],
    ['another digest', `${time}-${'A'.repeat(22)}`],
    ['half a digest', `${time}-${mac.slice(0, 11)}`],
    ['what a question carries', state],
    ['nothing', ''],
    ['true', true],
    ['a list', [token]]
  ]
  for (const [title, token, more] of wrong) t.match(await use(token, more), /was not run yet/, title)
  t.equal(ran(), 0)
  mock.timers.tick(120_000)
  t.equal(await use(token), 'done')
  t.match(await use(token), /was not run yet/, 'twice')
  const late = await tokenFor(url, ARGS)
  mock.timers.tick(120_001)
  t.match(await use(late), /was not run yet/, 'too late')
  t.equal(ran(), 1)
  t.match(await round(url, 'drop', { ...CALL, state: late, answer: YES }), { code: -32602 }, 'a token is no state')
})

t.test('replicas of the next release know the questions of this one', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 1_800_000_000_000 })
  t.teardown(() => mock.timers.reset())
  const { verify, isFor, isToken } = sealerFrom({
    secret: SECRET,
    serverInfo: { name: 'test', version: '1' },
    callerOf: () => [['kim']]
  })
  const subject = {
    outer: {} as FastifyRequest,
    tool: 'drop',
    args: { id: '1', more: [null, { b: 1, a: 2 }] },
    question: 'Sure?'
  }
  // Sealed by an earlier build.
  const state = 'v1.eyJwIjp7ImlkIjoiQnpkSU9kSDJOZTJwS3dUS19MNERFZyIsIm9mIjoibzN4bFpJTHdUQ1IzQmw2aUFleDVCREttcUFmQzlfV' +
    '0N6TW9QSnhnb2lhMCIsInVudGlsIjoxODAwMDAwMTIwMDAwfSwiZXhwIjoxODAwMDAzNjAwfQ.56j_EQf5xmSv2Mv59UavKa3WiI' +
    'F0fverDAyKV7EVECA'
  t.ok(isFor(await verify(state, {} as Parameters<typeof verify>[1]), subject))
  t.ok(isToken('mywplhhc-1csfTDJhldRcTE-JVH7oE2', subject))
})

t.test('replicas with one secret know the questions of each other, and one that has restarted its own', async (t) => {
  const used = new Set<string>()
  const lifetimes: number[] = []
  const store: ConfirmStore = {
    use: async (id, ttl) => {
      lifetimes.push(ttl)
      return !used.has(id) && used.add(id).size > 0
    }
  }
  const options = { secret: SECRET, store }
  const [one, two] = [await server(t, options), await server(t, options)]
  const state = await stateOf(one.url)
  t.equal(told(await round(two.url, 'drop', { ...CALL, state, answer: YES })), 'done')
  t.equal(asked(await round(one.url, 'drop', { ...CALL, state, answer: YES })), 'Sure?', 'once for both')
  t.strictSame([...new Set(lifetimes)], [120_000])
  t.ok([...used].every((id) => id.length <= 64))
  const another = await server(t)
  t.match(await round(another.url, 'drop', { ...CALL, state, answer: YES }), { code: -32602 }, 'without the secret')
})

/**
 * The replicas while a secret is replaced, half a step apart: the secrets of one that is a step ahead, and of another.
 */
const STEPS: ReadonlyArray<readonly [ahead: readonly [string, ...string[]], behind: readonly [string, ...string[]]]> = [
  [[SECRET, NEXT], [SECRET]],
  [[NEXT, SECRET], [SECRET, NEXT]],
  [[NEXT], [NEXT, SECRET]]
]

t.test('while a secret is replaced, replicas a step apart know the questions and tokens of each other', async (t) => {
  for (const steps of STEPS) {
    for (const [of, at] of [steps, [...steps].reverse()] as const) {
      const options = { store: memoryStore() }
      const [one, two] = [
        await server(t, { ...options, secret: of! }),
        await server(t, { ...options, secret: at! })
      ]
      const state = await stateOf(one.url)
      t.equal(
        asked(await round(two.url, 'drop', { ...CALL, headers: { 'x-api-key': 'eve' }, state, answer: YES })),
        'Sure?',
        'for their caller'
      )
      t.equal(told(await round(two.url, 'drop', { ...CALL, state, answer: YES })), 'done')
      const [sealing, verifying] = [of!, at!].map((secret) =>
        sealerFrom({
          secret,
          serverInfo: { name: 'test', version: '1' },
          callerOf: () => [['kim']]
        })
      )
      const subject = { outer: {} as FastifyRequest, tool: 'drop', args: {}, question: 'Sure?' }
      t.ok(verifying!.isToken(sealing!.token(subject), subject))
      t.notOk(verifying!.isToken(sealing!.token(subject), { ...subject, tool: 'erase' }))
    }
  }
})

t.test('what a dropped secret signed is rejected', async (t) => {
  const [old, ...rest] = [
    await server(t, { secret: SECRET }),
    await server(t, { secret: [NEXT] }),
    await server(t, { secret: [NEXT, `${SECRET} Another.`] })
  ]
  for (const { url, ran } of rest) {
    t.match(await round(url, 'drop', { ...CALL, state: await stateOf(old!.url), answer: YES }), {
      code: -32602,
      message: 'Invalid or expired requestState'
    })
    t.equal(ran(), 0)
  }
  const [of, at] = [SECRET, NEXT].map((secret) =>
    sealerFrom({ secret, serverInfo: { name: 'test', version: '1' }, callerOf: () => [['kim']] })
  )
  const subject = { outer: {} as FastifyRequest, tool: 'drop', args: {}, question: 'Sure?' }
  t.notOk(at!.isToken(of!.token(subject), subject))
})

t.test('the memory of what was used forgets after a lifetime, and not earlier', async (t) => {
  mock.timers.enable({ apis: ['Date'], now: 0 })
  t.teardown(() => mock.timers.reset())
  const { use } = memoryStore()
  t.equal(use('a', 100), true)
  mock.timers.tick(99)
  t.equal(use('b', 100), true)
  t.equal(use('a', 100), false)
  mock.timers.tick(2)
  t.equal(use('c', 100), true, 'at 101: a and b are older')
  t.equal(use('b', 100), false)
  mock.timers.tick(98)
  t.equal(use('b', 100), false, 'at 199: b is known for 100')
  mock.timers.tick(2)
  t.equal(use('b', 100), true, 'at 201: forgotten')
  t.equal(use('c', 100), false)
  mock.timers.tick(200)
  t.equal(use('b', 100), true, 'all at once')
  t.equal(use('c', 100), true)
  mock.timers.tick(100)
  t.equal(use('d', 100), true)
  mock.timers.tick(100)
  t.equal(use('e', 100), true)
  t.equal(use('d', 100), false, 'known for a lifetime')
  t.equal(use('c', 100), true)
})

t.test('of 1,000 questions that wait, nothing is kept', async (t) => {
  const held: Array<WeakRef<object>> = []
  const app = await build(t, (app) => {
    app.post('/drop', {
      schema: {
        operationId: 'drop',
        description: 'D.',
        tags: ['mcp'],
        body: { type: 'object', properties: { id: { type: 'string' } } }
      },
      config: {
        mcp: {
          confirm: (args, request) => {
            held.push(new WeakRef(args), new WeakRef(request), new WeakRef(request.raw))
            return 'Sure?'
          }
        }
      }
    }, async () => 'done')
  })
  const question = callOf('drop', { args: { id: '1' } })
  for (let i = 0; i < 1000; i++) {
    const { body } = await app.inject({
      method: 'POST',
      url: '/mcp',
      headers: question.headers,
      payload: question.message
    })
    if (!body.includes('Sure?')) throw new TypeError(body)
  }
  t.equal(held.length, 3000)
  // Collects garbage without a flag of the process.
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What a WeakRef gave is alive until the job ends.
  await sleep(0)
  collect()
  const alive = held.filter((ref) => ref.deref() !== undefined).length
  t.ok(alive < 30, `${alive} of 3000 objects are alive`)
})
