import t from 'tap'
import {
  arrayOf,
  BOOLEAN,
  FUNCTION,
  integer,
  isFilled,
  OBJECT,
  oneOf,
  settingsByTables,
  type Table,
  TEXT
} from '../shared/option-table.ts'

interface Options {
  readonly name: string
  readonly limit: number
  readonly mode: 'fast' | 'slow'
  readonly tags: readonly string[]
  readonly token: string | undefined
  readonly hook: (() => void) | undefined
  readonly config: object | undefined
  readonly debug: boolean
}

const TABLE: Table<Options> = {
  name: { ...TEXT, required: true },
  limit: { ...integer(1, 10), default: 5 },
  mode: { ...oneOf('fast', 'slow'), default: 'fast' },
  tags: { ...arrayOf(isFilled, 'tags'), default: [] },
  token: { ...TEXT, secret: true },
  hook: FUNCTION,
  config: OBJECT,
  debug: { ...BOOLEAN, default: false }
}

const settingsBy = settingsByTables((option, rule) => new Error(`${option} ${rule}`))

t.test('a default replaces undefined', async (t) => {
  t.strictSame(settingsBy(TABLE, { name: 'x', limit: undefined, debug: true }), {
    name: 'x',
    limit: 5,
    mode: 'fast',
    tags: [],
    token: undefined,
    hook: undefined,
    config: undefined,
    debug: true
  })
})

t.test('a message names the option, its rule and the value', async (t) => {
  const circle: unknown[] = []
  circle.push(circle)
  for (
    const [options, message, name] of [
      [undefined, 'options must be an object (got undefined)', 'options'],
      [[], 'options must be an object (got an array)', 'options'],
      ['sk_live_1', 'options must be an object (got a string)', 'options'],
      [{}, 'name must be a non-empty string (got undefined)'],
      [{ name: '' }, "name must be a non-empty string (got '')"],
      [{ name: null }, 'clients[0].name must be a non-empty string (got null)', 'clients[0]'],
      [{ name: 'x', limit: '5' }, "limit must be an integer from 1 to 10 (got '5')"],
      [{ name: 'x', limit: NaN }, 'limit must be an integer from 1 to 10 (got NaN)'],
      [{ name: 'x', mode: 'quick' }, "mode must be 'fast' or 'slow' (got 'quick')"],
      [{ name: 'x', tags: ['a', 5, { b: 1 }] }, "tags must be an array of tags (got [ 'a', 5, [Object] ])"],
      [{ name: 'x', tags: circle }, 'tags must be an array of tags (got [ [Array] ])'],
      [{ name: 'x', hook: 'x'.repeat(90) }, `hook must be a function (got '${'x'.repeat(80)}'... 10 more characters)`],
      [{ name: 'x', config: () => {} }, 'config must be an object (got [Function: config])'],
      [{ name: 'x', debug: null }, 'debug must be true or false (got null)']
    ] as const
  ) t.throws(() => settingsBy(TABLE, options, name), { message }, message)
})

t.test('a message shows no secret, opens no object, and no URL shows who it is for', async (t) => {
  for (
    const [options, got] of [
      [{ token: ['hunter2'] }, 'an array'],
      [{ token: { a: 'hunter2' } }, 'an object'],
      [{ token: 12345 }, 'a number'],
      [{ token: () => 'hunter2' }, 'a function'],
      [{ token: '' }, "''"],
      [{ token: null }, 'null'],
      [{ hook: { password: 'hunter2' } }, '[Object]'],
      [{ hook: Object.assign(() => {}, { password: 'hunter2' }), limit: 0 }, '0'],
      [{ config: Object.assign(() => {}, { password: 'hunter2' }) }, '[Function]'],
      [{ limit: new URL('https://kim:hunter2@example.com') }, 'URL {}'],
      [{ limit: 'postgres://kim:hun/ter@2@db:5432/x' }, "'postgres://…@db:5432/x'"],
      [{ limit: `postgres://kim:${'hunter2'.repeat(20)}@db` }, "'postgres://…@db'"],
      [{ tags: [{ a: 'hunter2' }, 'amqp://kim:hunter2@b', 5] }, "[ [Object], 'amqp://…@b', 5 ]"]
    ] as const
  ) {
    t.throws(() => settingsBy(TABLE, { name: 'x', ...options }), {
      message: new RegExp(`^\\w+ must be [^(]+ \\(got ${got.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\)$`)
    }, got)
  }
})

t.test('a name that is not in the table is refused first, with the one that may be meant', async (t) => {
  for (
    const [options, message, name] of [
      [{ nmae: 'x' }, 'nmae is not an option. Did you mean name?'],
      [
        { 'max-limit': 5, limits: 5 },
        'max-limit is not an option. Known: name, limit, mode, tags, token, hook, ' +
        'config, debug'
      ],
      [{ Debug: undefined }, 'rooms.a.Debug is not an option. Did you mean debug?', 'rooms.a'],
      [{ toString: 1 }, 'toString is not an option. Known: name, limit, mode, tags, token, hook, config, debug'],
      [
        JSON.parse('{ "__proto__": 1 }'),
        '__proto__ is not an option. Known: name, limit, mode, tags, token, hook, ' +
        'config, debug'
      ]
    ] as const
  ) t.throws(() => settingsBy(TABLE, options, name), { message }, message)
})
