import t from 'tap'
import { commandFrom } from '../../src/cli/arguments.ts'
import { waitFrom } from '../../src/testing/cases/ask.ts'
import { endpointFrom } from '../../src/testing/cases/endpoint.ts'
import { casesFrom } from '../../src/testing/cases/file.ts'
import { faultsOf, isNamed } from '../../src/testing/cases/judge.ts'
import { checkKnown } from '../../src/testing/cases/known.ts'
import { clientSdk } from '../../src/testing/sdk.ts'

const ONE = { says: 'Hi', calls: [{ tool: 'a' }] }

t.test('what a file of cases says', async (t) => {
  const rest = { never: [], repeats: 1, share: 1, steps: 1, person: undefined, headers: {} }
  for (
    const [given, wanted] of [
      [[ONE], { path: undefined, cases: [{ ...rest, ...ONE }] }],
      [
        { path: '/mcp/notes', repeats: 3, never: ['b'], cases: [ONE, { says: 'Ho', repeats: 2, person: 'accept' }] },
        {
          path: '/mcp/notes',
          cases: [
            { ...rest, ...ONE, repeats: 3, never: ['b'] },
            { ...rest, says: 'Ho', calls: [], repeats: 2, never: ['b'], person: 'accept' }
          ]
        }
      ]
    ] as const
  ) t.strictSame(casesFrom(given, 'c.json'), wanted)
})

t.test('a wrong file names the file, the case and the field', async (t) => {
  const second = (one: object): object => ({ cases: [ONE, { ...ONE, ...one }] })
  for (
    const [given, message] of [
      ['x', 'must be an object with never, repeats, share, steps, person, headers, cases, path'],
      [{}, 'cases must be an array with at least one case'],
      [[], 'cases must be an array with at least one case'],
      [{ cases: [ONE], path: 'mcp' }, 'path must start with a slash and have no parameters'],
      [{ cases: [ONE], repeats: 0 }, 'repeats must be a whole number from 1 to 100'],
      [{ cases: [ONE], model: 'x' }, /^c\.json: model is unknown\. There are never, repeats, /],
      [
        { cases: [ONE, 'x'] },
        'case 2: must be an object with never, repeats, share, steps, person, headers, says, calls'
      ],
      [{ cases: [ONE, {}] }, 'case 2: says must be what the person says, a string'],
      [second({ repeats: 1.5 }), 'case 2 ("Hi"): repeats must be a whole number from 1 to 100'],
      [second({ share: 0 }), 'case 2 ("Hi"): share must be a number above 0 and up to 1'],
      [second({ share: 1.1 }), 'case 2 ("Hi"): share must be a number above 0 and up to 1'],
      [second({ steps: 21 }), 'case 2 ("Hi"): steps must be a whole number from 1 to 20'],
      [second({ person: 'yes' }), "case 2 (\"Hi\"): person must be 'accept', 'decline' or 'cancel'"],
      [second({ headers: { a: 1 } }), 'case 2 ("Hi"): headers must be an object of strings'],
      [second({ never: 'delete' }), 'case 2 ("Hi"): never must be an array of tool names, such as [\'delete_*\']'],
      [second({ call: [] }), /^c\.json: case 2 \("Hi"\): call is unknown\. There are .*calls$/],
      [second({ __proto__: null, toString: 1 }), /^c\.json: case 2 \("Hi"\): toString is unknown/],
      [second({ calls: {} }), 'case 2 ("Hi"): calls must be an array of calls'],
      [second({ calls: ['a'] }), 'case 2 ("Hi"): calls[0].must be an object with tool, arguments, schema'],
      [second({ calls: [{ tool: '' }] }), 'case 2 ("Hi"): calls[0].tool must be the name of a tool'],
      [second({ calls: [{ name: 'a' }] }), /calls\[0\]\.name is unknown\. There are tool, arguments, schema$/],
      [second({ calls: [{ tool: 'a', arguments: [] }] }), 'case 2 ("Hi"): calls[0].arguments must be an object'],
      [second({ calls: [{ tool: 'a', schema: true }] }), 'case 2 ("Hi"): calls[0].schema must be a JSON Schema'],
      [
        second({ calls: [] }),
        'case 2 ("Hi"): has neither calls nor never, so it cannot fail. For no call at all, write never: [\'*\']'
      ]
    ] as const
  ) {
    t.throws(() => casesFrom(given, 'c.json'), {
      code: 'MCP_FROM_ROUTES_CASES_FILE',
      message: typeof message === 'string' ? `c.json: ${message}` : message
    })
  }
})

t.test('which calls fit what is expected', async (t) => {
  const { mismatch } = await clientSdk()
  const call = (name: string, args?: object): Parameters<typeof faultsOf>[1][number] => ({
    id: '1',
    name,
    args: args as Record<string, unknown> | undefined,
    written: JSON.stringify(args) ?? '?'
  })
  const milk = { tool: 'add', schema: { properties: { text: { pattern: 'milk' } }, required: ['text'] } }
  for (
    const [expected, never, calls, faults] of [
      [[{ tool: 'a' }], [], [call('a', {})], []],
      [[{ tool: 'a' }], [], [call('b', {}), call('a', { x: 1 })], []],
      [[{ tool: 'a' }], [], [], ['no call of a']],
      [[{ tool: 'a' }], [], [call('a')], ['no call of a']],
      [[{ tool: 'a' }, { tool: 'a' }], [], [call('a', {})], ['no call of a']],
      [[{ tool: 'a' }, { tool: 'b' }], [], [call('b', {}), call('a', {})], []],
      [[{ tool: 'a', arguments: { x: { y: [1] } } }], [], [call('a', { x: { y: [1] }, z: 1 })], []],
      [[{ tool: 'a', arguments: { x: 1 } }], [], [call('a', { x: '1' })], ['no call of a with {"x":1}']],
      [[{ tool: 'a', arguments: { toString: 1 } }], [], [call('a', {})], ['no call of a with {"toString":1}']],
      // The first call fits both, the second one only the first: each has its own.
      [[{ tool: 'a' }, { tool: 'a', arguments: { x: 1 } }], [], [call('a', { x: 1 }), call('a', {})], []],
      [[milk], [], [call('add', { text: 'Buy milk' })], []],
      [[milk], [], [call('add', { text: 'Buy oats' })], [`no call of add that fits ${JSON.stringify(milk.schema)}`]],
      [[{ tool: 'a' }], ['b'], [call('a', {}), call('b', { x: 1 })], ['called b {"x":1}, never wanted']],
      [[{ tool: 'a', arguments: { x: 1 } }], ['a'], [call('a', { x: 1 })], []],
      [[{ tool: 'a', arguments: { x: 1 } }], ['a'], [call('a', { x: 1 }), call('a', { x: 2 })], [
        'called a {"x":2}, never wanted'
      ]],
      [[], ['*'], [], []],
      [[], ['*'], [call('z', {})], ['called z {}, never wanted']]
    ] as const
  ) t.strictSame(faultsOf({ calls: expected, never }, calls, mismatch), faults)
})

t.test('arguments that a tool does not name are known only if it takes no others', async (t) => {
  const { mismatch } = await clientSdk()
  const { cases: [one] } = casesFrom([{ says: 'Hi', calls: [{ tool: 'a', arguments: { x_1: 1 } }] }], 'c.json')
  for (
    const [inputSchema, isKnown] of [
      [{ type: 'object', properties: { x_1: {} }, additionalProperties: false }, true],
      [{ type: 'object', properties: { y: {} }, additionalProperties: false }, false],
      [{ type: 'object', additionalProperties: false }, false],
      [{ type: 'object', patternProperties: { '^x': {} }, additionalProperties: false }, true],
      [{ type: 'object', additionalProperties: { type: 'number' } }, true],
      [{ type: 'object' }, true]
    ] as const
  ) {
    const check = (): void =>
      checkKnown(one!, 0, 'c.json', { listed: [{ name: 'a', inputSchema }], names: [], mismatch })
    if (isKnown) t.doesNotThrow(check)
    else t.throws(check, { message: 'c.json: case 1 ("Hi"): calls[0].arguments has x_1, which a does not take' })
  }
})

t.test('a case that no call can pass, or that any call passes, is refused', async (t) => {
  const { mismatch } = await clientSdk()
  const inputSchema = {
    type: 'object' as const,
    properties: { id: { $ref: '#/$defs/id' }, text: { type: 'string' } },
    additionalProperties: false,
    $defs: { id: { type: 'string', pattern: '^[0-9]+$' } }
  }
  for (
    const [call, wrong] of [
      [
        { arguments: { id: '7' }, schema: { properties: { text: { pattern: 'milk' } }, required: ['text'] } },
        undefined
      ],
      [{ arguments: { id: 7 } }, /calls\[0\]\.arguments\.id is not what a takes: .*string/],
      [{ arguments: { id: 'x' } }, /calls\[0\]\.arguments\.id is not what a takes: .*pattern/],
      [{ schema: { properties: { txt: { pattern: 'milk' } } } }, /calls\[0\]\.schema has txt, which a does not take/],
      [{ schema: { required: ['txt'] } }, /calls\[0\]\.schema has txt, which a does not take/]
    ] as const
  ) {
    const { cases: [one] } = casesFrom([{ says: 'Hi', calls: [{ tool: 'a', ...call }] }], 'c.json')
    const check = (): void =>
      checkKnown(one!, 0, 'c.json', { listed: [{ name: 'a', inputSchema }], names: [], mismatch })
    if (wrong === undefined) t.doesNotThrow(check)
    else t.throws(check, { message: wrong }, String(wrong))
  }
})

t.test('names and patterns', async (t) => {
  for (
    const [name, pattern, wanted] of [
      ['delete_note', 'delete_note', true],
      ['delete_note', 'delete', false],
      ['delete_note', 'delete_*', true],
      ['delete_note', '*_note', true],
      ['delete_note', 'd*e_n*e', true],
      ['delete_note', '*', true],
      ['aa', 'a*a', true],
      ['a', 'a*a', false],
      ['abc', 'a*b*b*c', false],
      ['delete_note', 'create_*', false]
    ] as const
  ) t.equal(isNamed(name, pattern), wanted, `${name} ${pattern}`)
})

t.test('where the model is, by options or the environment', async (t) => {
  const url = 'https://model.example/v1/messages'
  const env = { CASES_URL: url, CASES_MODEL: 'm', CASES_KEY: 'k' }
  const none = { url: undefined, model: undefined, timeout: 1 }
  t.match(endpointFrom(none, env), { url: new URL(url), dialect: { name: 'Messages API' }, model: 'm', key: 'k' })
  t.match(endpointFrom({ url: 'http://localhost:1/x/chat/completions?v=1', model: 'n', timeout: 2 }, env), {
    dialect: { name: 'Chat Completions API' },
    model: 'n',
    timeout: 2
  })
  const noUrl = /^the endpoint of the model must be a URL that ends with \/messages or \/chat\/completions/
  for (
    const [options, changed, message] of [
      [none, { CASES_URL: undefined }, noUrl],
      [none, { CASES_URL: 'https://model.example/v1' }, noUrl],
      [none, { CASES_URL: 'ftp://model.example/v1/messages' }, noUrl],
      [{ ...none, url: '/v1/messages' }, {}, noUrl],
      [none, { CASES_URL: 'https://me:pw@model.example/v1/messages' }, /^the URL of the endpoint must not have a user/],
      [none, { CASES_MODEL: '' }, /^there is no model/],
      [none, { CASES_KEY: undefined }, /^there is no key .* Nothing was sent$/],
      [none, { CASES_KEY: 'secret\n' }, /^CASES_KEY must be printable ASCII, without spaces or line breaks$/],
      [none, { CASES_KEY: '…' }, /^CASES_KEY must be printable ASCII/]
    ] as const
  ) {
    t.throws(() => endpointFrom(options, { ...env, ...changed }), { code: 'MCP_FROM_ROUTES_CASES_MODEL', message })
  }
})

t.test('how long to wait before a request is sent again', async (t) => {
  const now = Date.UTC(2026, 0, 1)
  for (
    const [status, header, attempt, wanted] of [
      [429, '2', 1, 2000],
      [429, '0', 3, 0],
      [429, 'Thu, 01 Jan 2026 00:00:30 GMT', 1, 30_000],
      [429, 'Wed, 31 Dec 2025 00:00:00 GMT', 1, 0],
      [429, null, 1, 1000],
      [429, null, 3, 4000],
      [429, '', 1, 1000],
      [429, 'soon', 2, 2000],
      [503, '5', 1, 5000],
      [529, '1', 1, 1000],
      [503, null, 1, undefined],
      [500, 'soon', 1, undefined],
      [400, '1', 1, undefined]
    ] as const
  ) t.equal(waitFrom(status, header, attempt, now), wanted, `${status} ${header}`)
})

t.test('what a command line of cases means', async (t) => {
  const common = {
    action: 'cases',
    file: 'c.json',
    module: 'a.js',
    url: undefined,
    model: undefined,
    only: '',
    atOnce: 4,
    timeout: 120_000,
    json: false
  }
  for (
    const [argv, wanted] of [
      [['c.json', 'a.js'], common],
      [
        ['c.json', 'a.js', '--url', 'u', '--model', 'm', '--only', 'x', '--at-once', '1', '--timeout', '0.5', '--json'],
        {
          ...common,
          url: 'u',
          model: 'm',
          only: 'x',
          atOnce: 1,
          timeout: 500,
          json: true
        }
      ],
      [['--help'], undefined]
    ] as const
  ) t.strictSame(commandFrom(['cases', ...argv]), wanted)
  for (
    const [argv, message] of [
      [['c.json'], /^cases takes a file of cases and a module that exports the app/],
      [['a', 'b', 'c'], /^cases takes a file/],
      [['a', 'b', '--at-once', '0'], '--at-once takes a whole number from 1 to 32'],
      [['a', 'b', '--at-once', 'x'], '--at-once takes a whole number from 1 to 32'],
      [['a', 'b', '--timeout', '0'], '--timeout takes a number of seconds, up to 3600'],
      [['a', 'b', '--key', 'x'], /Unknown option '--key'/]
    ] as const
  ) {
    t.throws(() => commandFrom(['cases', ...argv]), { code: 'MCP_FROM_ROUTES_CONTRACT_USAGE', message })
  }
})
