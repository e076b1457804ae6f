import { Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build } from './build.ts'

// The seed makes a failure repeatable; set FUZZ_SEED to try others, and FUZZ_RUNS for more of them, as .ci/run does.
const SEED = Number(process.env.FUZZ_SEED ?? 20_260_728)
const RUNS = Number(process.env.FUZZ_RUNS ?? 125)

/** mulberry32: numbers from 0 to 1, the same ones for the same seed. */
function numbers (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6D2B79F5) | 0
    let n = Math.imul(state ^ (state >>> 15), 1 | state)
    n = (n + Math.imul(n ^ (n >>> 7), 61 | n)) ^ n
    return ((n ^ (n >>> 14)) >>> 0) / 4_294_967_296
  }
}

const STRINGS = [
  '',
  ' ',
  '.',
  '..',
  '...',
  '../admin',
  '..%2fadmin',
  '%2e%2e',
  '%2E%2E/',
  '%252e%252e',
  './',
  '/',
  '//',
  '\\',
  '\\..\\admin',
  'admin',
  'me',
  'a/../../admin',
  ';',
  'a;b',
  '?',
  'a?x=1',
  '#',
  'a#b',
  '&',
  '=',
  '%',
  '%0',
  '%zz',
  '%00',
  '\0',
  '\r\nx-evil: 1',
  '\n',
  '\u2028',
  'é',
  '日本',
  '🦆',
  '\ud800',
  '\udc00x',
  'a\u0301',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'true',
  '0',
  '-1',
  '1e999',
  'NaN',
  '*',
  ':id',
  '$' + '{x}',
  '{{x}}',
  'x'.repeat(100),
  'x'.repeat(101),
  'x'.repeat(70_000),
  'http://evil.example.com',
  '//evil.example.com',
  '\ufeff'
]
const NUMBERS = [0, -0, 1, -1, 1.5, 1e21, 1e-7, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 2, -1e308]
const KEYS = [
  'id',
  'other',
  'q',
  'tags',
  'filter',
  'name',
  'size',
  'body',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'authorization',
  'host',
  'x-api-key',
  'content-type',
  '',
  ' ',
  'ID',
  'é'
]

class Fuzz {
  readonly #next: () => number
  constructor (seed: number) {
    this.#next = numbers(seed)
  }
  below (n: number): number {
    return Math.floor(this.#next() * n)
  }
  of<T> (list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }

  /** A JSON text, written by hand so that it may hold what no object can: duplicate keys and `__proto__`. */
  json (depth = 0): string {
    switch (this.below(depth > 4 ? 5 : 9)) {
      case 0:
        return 'null'
      case 1:
        return this.of(['true', 'false'])
      case 2:
        return JSON.stringify(this.of(NUMBERS))
      case 3:
      case 4:
        return JSON.stringify(this.of(STRINGS))
      case 5:
        return `[${this.many((n) => this.json(depth + n), depth)}]`
      case 6:
        return this.nested()
      default:
        return this.object(depth)
    }
  }

  object (depth = 0): string {
    return `{${this.many(() => `${JSON.stringify(this.of(KEYS))}:${this.json(depth + 1)}`, depth)}}`
  }

  many (make: (n: number) => string, depth: number): string {
    return Array.from({ length: this.below(6 - Math.min(depth, 4)) }, () => make(1)).join()
  }

  /** More elements than a call of a function may have arguments. */
  giant (): string {
    return `[${Array(130_000).fill(this.of(['1', 'null', '"a"', '{}', '[]'])).join()}]`
  }

  nested (): string {
    const depth = this.of([2, 50, 5000, 100_000])
    return this.of([0, 1]) === 0
      ? `${'['.repeat(depth)}${']'.repeat(depth)}`
      : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  }
}

interface Seen {
  strays: string[]
  calls: number
}

/** Tools beside routes that are none, where a wrong URL would lead. */
function routes (app: FastifyInstance, seen: Seen): void {
  const tool = (operationId: string, more: Record<string, unknown>): { schema: Record<string, unknown> } => ({
    schema: { operationId, description: 'D.', tags: ['mcp'], ...more }
  })
  const ran = async (): Promise<unknown> => {
    seen.calls += 1
    return { ok: true }
  }
  app.get('/users/:id', tool('get_user', { params: Type.Object({ id: Type.String() }) }), ran)
  app.get(
    '/users/:id/items/:other',
    tool('get_item', {
      querystring: Type.Object({
        q: Type.Optional(Type.Integer()),
        tags: Type.Optional(Type.Array(Type.String())),
        filter: Type.Optional(Type.Unknown())
      })
    }),
    ran
  )
  app.get('/range/:id-:other', tool('get_range', {}), ran)
  app.put(
    '/users/:id',
    tool('put_user', {
      body: Type.Object({
        name: Type.String({ minLength: 1 }),
        size: Type.Optional(Type.Number()),
        filter: Type.Optional(Type.Array(Type.Object({ a: Type.Unknown() })))
      }, { additionalProperties: false })
    }),
    ran
  )
  app.post('/bulk', tool('bulk', { body: Type.Array(Type.Unknown()) }), ran)
  app.delete('/users/:id', tool('delete_user', {}), ran)
  const stray = async ({ method, url }: { method: string, url: string }): Promise<unknown> => {
    seen.strays.push(`${method} ${url}`)
    return { stray: true }
  }
  for (
    const url of [
      '/',
      '/admin',
      '/users',
      '/users/',
      '/users/me',
      '/users/admin',
      '/users/:id/items',
      '/users/:id/admin',
      '/items/:other'
    ]
  ) app.route({ method: ['GET', 'PUT', 'POST', 'DELETE'], url, handler: stray })
}

const NAMES = ['get_user', 'get_item', 'get_range', 'put_user', 'bulk', 'delete_user']
const MODERN =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'

/** Members of a message that are of no type that they should be. */
const ODD = [
  'null',
  'true',
  '-1',
  '1e999',
  '""',
  '[]',
  '[[]]',
  '{}',
  '{"toString":1}',
  '{"toString":null,"valueOf":null}',
  '{"constructor":{"prototype":1}}',
  '{"length":1e9}',
  '{"then":1}',
  '{"toJSON":1}'
]

t.test(`whatever the shape, no 5xx (seed ${SEED})`, async (t) => {
  const app = await build(t, (app) => routes(app, { strays: [], calls: 0 }), {}, { bodyLimit: 4_000_000 })
  const fuzz = new Fuzz(SEED + 2)
  async function asked (payload: string): Promise<void> {
    // The revision makes no difference to what is large.
    const revisions = [{ 'mcp-protocol-version': '2024-11-05' }, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'get_item'
    }]
    for (const headers of [{}, ...payload.length < 1000 ? revisions : []]) {
      const { statusCode, body } = await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
        payload
      })
      if (
        statusCode >= 500 || body.includes('The route failed with status') || body.includes('The route did not answer')
      ) t.fail(`${statusCode} to ${payload.slice(0, 300)}`, { headers, body: body.slice(0, 500) })
    }
  }
  const call = (args: string, name = 'get_item'): string =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
  for (const name of ['q', 'tags', 'filter', 'id', 'unknown']) {
    await asked(call(`{"id":"a","other":"b","${name}":${fuzz.giant()}}`))
  }
  for (
    const [name, args] of [['bulk', `{"body":${fuzz.giant()}}`], [
      'put_user',
      `{"id":"a","name":"n","filter":${fuzz.giant()}}`
    ], ['put_user', `{"id":"a","name":${fuzz.giant()}}`]]
  ) await asked(call(args ?? '', name))
  await asked(call(`{${Array.from({ length: 130_000 }, (_, n) => `"a${n}":1`).join()}}`))
  await asked(fuzz.giant())
  for (const name of ['id', 'method', 'params']) {
    await asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","${name}":${fuzz.giant()}}`)
  }
  for (const odd of ODD) {
    for (const name of ['jsonrpc', 'id', 'method', 'params']) {
      const members = {
        jsonrpc: '"2.0"',
        id: '1',
        method: '"tools/call"',
        params: '{"name":"get_item","arguments":{"id":"a","other":"b"}}',
        [name]: odd
      }
      const message = `{${Object.entries(members).map(([name, value]) => `"${name}":${value}`).join()}}`
      await asked(message)
      await asked(`[${message}]`)
      await asked(`[{"jsonrpc":"2.0","method":"notifications/initialized"},${message},${odd}]`)
    }
    for (const name of ['name', 'arguments', '_meta', 'cursor']) {
      await asked(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_item","${name}":${odd}}}`)
    }
    for (
      const name of [
        'progressToken',
        'io.modelcontextprotocol/protocolVersion',
        'io.modelcontextprotocol/clientCapabilities'
      ]
    ) {
      await asked(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_item","_meta":{"${name}":${odd}}}}`
      )
    }
    await asked(
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":${odd},"capabilities":${odd},"clientInfo":${odd}}}`
    )
  }
  t.pass('no 5xx')
})

t.test(`whatever the arguments, no 5xx and no other route (seed ${SEED})`, async (t) => {
  const seen: Seen = { strays: [], calls: 0 }
  const app = await build(t, (app) => routes(app, seen), {}, { bodyLimit: 4_000_000 })
  const fuzz = new Fuzz(SEED)
  for (let run = 0; run < RUNS; run++) {
    const name = fuzz.of(NAMES)
    const args = fuzz.object()
    const modern = fuzz.below(2) === 0
    const payload = `{"jsonrpc":"2.0","id":${run},"method":"tools/call","params":{"name":"${name}","arguments":${args}${
      modern ? `,${MODERN}` : ''
    }}}`
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...modern && { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
    }
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/mcp', headers, payload })
    const failed = body.includes('The route failed with status') || body.includes('The route did not answer')
    if (statusCode >= 500 || failed || seen.strays.length > 0) {
      t.strictSame({ statusCode, strays: seen.strays, failed, args: args.slice(0, 500), body: body.slice(0, 500) }, {
        statusCode: 200,
        strays: [],
        failed: false
      }, `${name}, run ${run}`)
      seen.strays.length = 0
    }
  }
  t.ok(seen.calls > RUNS / 100, `some calls went through: ${seen.calls}`)
})

t.test(`whatever the message, no 5xx (seed ${SEED})`, async (t) => {
  const app = await build(t, (app) => routes(app, { strays: [], calls: 0 }), {}, { bodyLimit: 4_000_000 })
  const fuzz = new Fuzz(SEED + 1)
  const member = (name: string, values: readonly string[]): string =>
    fuzz.below(8) === 0 ? '' : `"${name}":${fuzz.below(8) === 0 ? fuzz.json() : fuzz.of(values)}`
  for (let run = 0; run < RUNS; run++) {
    const params = `{${
      [
        member(
          'name',
          NAMES.map((name) => `"${name}"`)
        ),
        member('arguments', ['{}', '{"id":"x"}']),
        member('cursor', ['""', '"x"']),
        fuzz.below(2) === 0 ? MODERN : member('_meta', ['{}', '{"progressToken":1}'])
      ].filter(Boolean).join()
    }}`
    const message = `{${
      [
        member('jsonrpc', ['"2.0"']),
        member('id', ['1', '"a"', 'null']),
        member('method', [
          '"tools/list"',
          '"tools/call"',
          '"ping"',
          '"initialize"',
          '"server/discover"',
          '"notifications/cancelled"',
          '"resources/list"',
          '"subscriptions/x"'
        ]),
        member('params', [params])
      ].filter(Boolean).join()
    }}`
    const payload = fuzz.of([
      message,
      message,
      message,
      `[${message},${message}]`,
      message.slice(0, fuzz.below(message.length)),
      fuzz.json(),
      ''
    ])
    const headers: Record<string, string> = {
      'content-type': fuzz.of([
        'application/json',
        'application/json',
        'application/json',
        'text/plain',
        'application/json; charset=x',
        ''
      ]),
      accept: fuzz.of([
        'application/json, text/event-stream',
        'application/json, text/event-stream',
        '*/*',
        'text/event-stream',
        '',
        'image/png'
      ])
    }
    if (fuzz.below(2) === 0) {
      headers['mcp-protocol-version'] = fuzz.of(['2026-07-28', '2025-11-25', '2025-06-18', '1.0', ''])
    }
    if (fuzz.below(2) === 0) headers['mcp-method'] = fuzz.of(['tools/list', 'tools/call', 'x', ''])
    if (fuzz.below(2) === 0) headers['mcp-name'] = fuzz.of([...NAMES, '=?base64?eA==?=', '=?base64?!?='])
    const { statusCode, body } = await app.inject({ method: 'POST', url: '/mcp', headers, payload })
    if (statusCode >= 500) t.fail(`${statusCode} to ${payload.slice(0, 300)}`, { headers, body: body.slice(0, 500) })
  }
  t.pass('no 5xx')
})
