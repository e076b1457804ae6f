import t from 'tap'
import { excerpt } from '../shared/excerpt.ts'
import {
  contentRange,
  isString,
  listQueryFrom,
  pageFrom,
  type ListRules,
  type RawQuery
} from '../shared/list-grammar.ts'

const rules: ListRules = {
  fields: {
    text: { kind: 'string' },
    word: { kind: 'string', words: ['on', 'off'] },
    note: { kind: 'string', nullable: true },
    uuid: { kind: 'uuid' },
    count: { kind: 'integer' },
    open: { kind: 'boolean' },
    time: { kind: 'instant', nullable: true },
    tags: { kind: 'strings' },
    id: { kind: 'string' },
    details: { kind: 'object' }
  },
  conditions: { q: { kind: 'string' }, since: { kind: 'instant' }, like: { kind: 'object' } },
  defaultLimit: 3,
  maxLimit: 5,
  refuse: (path, message) => new RangeError(`${path.join('.')} ${message}`)
}
const MAX_SKIP = 1_000_000_000
const uuid = '3f0c1d2e-0000-4000-8000-00000000000a'
const text = 'a string of at most 255 characters, without NUL and lone surrogates'
const object = 'a JSON object of at most 32 levels, without NUL and lone surrogates'
const levels = (count: number): string => `${'{"a":'.repeat(count)}1${'}'.repeat(count)}`

t.test('pages', async (t) => {
  for (
    const [query, skip, limit] of [
      [{}, 0, 3],
      [{ skip: '0', limit: '1' }, 0, 1],
      [{ skip: String(MAX_SKIP), limit: '5' }, MAX_SKIP, 5],
      [{ range: '[0,0]' }, 0, 1],
      [{ range: '[3,7]' }, 3, 5],
      [{ range: `[${MAX_SKIP},${MAX_SKIP}]` }, MAX_SKIP, 1],
      [{ filter: '{"id":["a","b"]}' }, 0, 3],
      [{ filter: '{"id":["a","b","c","d"]}' }, 0, 4],
      [{ filter: '{"id":["a","b","c","d"]}', limit: '2' }, 0, 2],
      [{ filter: '{"text":["a","b","c","d"]}' }, 0, 3]
    ] as const
  ) t.match(listQueryFrom(query, rules), { skip, limit }, JSON.stringify(query))
  t.strictSame(pageFrom({}, rules), { skip: 0, limit: 3 })
  t.strictSame(pageFrom({}, rules, 5), { skip: 0, limit: 5 })
})

t.test('filters', async (t) => {
  for (
    const [filter, read] of [
      ['{}', {}],
      ['{"text":"a"}', { text: ['a'] }],
      ['{"text":["a","b","c","d","e"]}', { text: ['a', 'b', 'c', 'd', 'e'] }],
      [JSON.stringify({ text: 'x'.repeat(255) }), { text: ['x'.repeat(255)] }],
      ['{"text":""}', { text: [''] }],
      ['{"word":["on","off"]}', { word: ['on', 'off'] }],
      ['{"note":[null,"a"]}', { note: [null, 'a'] }],
      [`{"uuid":"${uuid.toUpperCase()}"}`, { uuid: [uuid] }],
      ['{"count":[0,-7]}', { count: [0, -7] }],
      ['{"open":[true,false]}', { open: [true, false] }],
      ['{"time":["2026-01-31T12:00:00+01:00",null]}', { time: ['2026-01-31T11:00:00.000Z', null] }],
      ['{"tags":["a"]}', { tags: ['a'] }],
      ['{"details":{"a":[1,null,true,"b"]}}', { details: { a: [1, null, true, 'b'] } }],
      [`{"details":${levels(32)}}`, { details: JSON.parse(levels(32)) }],
      ['{"q":"a","since":"2026-01-31T12:00:00Z"}', { q: 'a', since: '2026-01-31T12:00:00.000Z' }]
    ] as const
  ) t.strictSame(listQueryFrom({ filter }, rules), { skip: 0, limit: 3, filter: read, sort: null }, filter.slice(0, 80))
  const longest = JSON.stringify({ details: { a: '' } })
  const filter = longest.replace('""', `"${'x'.repeat(65_536 - longest.length)}"`)
  t.equal(filter.length, 65_536)
  t.strictSame(listQueryFrom({ filter }, rules).filter, JSON.parse(filter))
  t.throws(() => listQueryFrom({ filter: `${filter} ` }, rules), { message: 'filter must be a JSON object' })
})

t.test('sorts', async (t) => {
  for (
    const [sort, field, descending] of [
      ['text', 'text', false],
      ['-text', 'text', true],
      ['["text","ASC"]', 'text', false],
      ['["text","desc"]', 'text', true]
    ] as const
  ) t.strictSame(listQueryFrom({ sort }, rules).sort, { field, descending }, sort)
})

const sorts = 'sort must be one of text, word, note, uuid, count, open, time, id, with a minus for descending'
const pair = 'sort must be a field, or ["field", "ASC" or "DESC"]'
const range = 'range must be [first, last], such as [0, 24]'

t.test('what is refused, and how', async (t) => {
  const table: ReadonlyArray<readonly [message: string, queries: readonly RawQuery[]]> = [
    ['skip must be an integer from 0 to 1000000000', [{ skip: '-1' }, { skip: String(MAX_SKIP + 1) }, { skip: 1 }]],
    ['limit must be an integer from 1 to 5', [{ limit: '0' }, { limit: '6' }, { limit: '' }]],
    ['range cannot be combined with skip or limit', [{ range: '[0,1]', skip: '0' }, { range: '[0,1]', limit: '1' }]],
    ['range must be JSON', [{ range: '0-24' }]],
    ['range must be given once', [{ range: ['[0,1]', '[0,1]'] }]],
    [range, [
      { range: '{}' },
      { range: '[0]' },
      { range: '[0,1,2]' },
      { range: '[1,0]' },
      { range: '[-1,0]' },
      { range: '[0.5,1]' },
      { range: `[${MAX_SKIP},${MAX_SKIP + 1}]` },
      { range: '["0",1]' }
    ]],
    ['range must not hold more than 5 records', [{ range: '[0,5]' }]],
    ['filter must be JSON', [{ filter: '{' }]],
    ['filter must be given once', [{ filter: ['{}', '{}'] }]],
    ['filter must be a JSON object', [{ filter: '[]' }, { filter: 'null' }, { filter: '"a"' }]],
    ['filter.other is not a known field', [{ filter: '{"other":1}' }]],
    ['filter.toString is not a known field', [{ filter: '{"toString":1}' }]],
    [`filter.${'x'.repeat(199)}… is not a known field`, [{ filter: `{"${'x'.repeat(201)}":1}` }]],
    ['filter.text must have 1 to 5 values', [
      { filter: '{"text":[]}' },
      { filter: '{"text":["a","b","c","d","e","f"]}' }
    ]],
    [`filter.text must be ${text}`, [
      { filter: '{"text":1}' },
      { filter: '{"text":null}' },
      { filter: JSON.stringify({ text: 'x'.repeat(256) }) },
      { filter: '{"text":"\\u0000"}' },
      { filter: '{"text":"\\ud800"}' }
    ]],
    ['filter.word must be one of on, off', [{ filter: '{"word":"half"}' }, { filter: '{"word":1}' }]],
    [`filter.note must be ${text}, or null`, [{ filter: '{"note":1}' }]],
    ['filter.uuid must be a UUID', [{ filter: '{"uuid":"a"}' }, { filter: '{"uuid":1}' }]],
    ['filter.count must be an integer', [{ filter: '{"count":1.5}' }]],
    ['filter.open must be true or false', [{ filter: '{"open":"true"}' }]],
    ['filter.time must be a date and time such as 2026-01-31T12:00:00Z, or null', [
      { filter: '{"time":"2026-01-31"}' },
      { filter: '{"time":"2026-02-31T25:00:00Z"}' },
      { filter: '{"time":1}' }
    ]],
    [`filter.tags must be ${text}`, [{ filter: '{"tags":1}' }]],
    [`filter.details must be ${object}`, [
      { filter: '{"details":[]}' },
      { filter: '{"details":null}' },
      { filter: `{"details":${levels(33)}}` },
      { filter: '{"details":{"\\u0000":1}}' },
      { filter: '{"details":{"a":"\\u0000"}}' },
      { filter: '{"details":{"a":1e999}}' }
    ]],
    [`filter.q must be ${text}`, [{ filter: '{"q":["a"]}' }]],
    ['sort must be given once', [{ sort: ['text', 'text'] }]],
    [sorts, [{ sort: '' }, { sort: 'other' }, { sort: 'tags' }, { sort: 'details' }, { sort: '["other","ASC"]' }]],
    ['sort must be JSON', [{ sort: '[' }]],
    [pair, [{ sort: '["text"]' }, { sort: '[1,"ASC"]' }, { sort: '["text","up"]' }, { sort: '["text","ASC","DESC"]' }]]
  ]
  for (const [message, queries] of table) {
    for (const query of queries) {
      t.throws(() => listQueryFrom(query, rules), { name: 'RangeError', message }, JSON.stringify(query).slice(0, 80))
    }
  }
})

t.test('Content-Range is {unit} {skip}-{skip+limit}/{count}, or where the next page starts', async (t) => {
  for (
    const [skip, limit, count, length, range] of [
      [0, 10, 30, 10, '0-10/30'],
      [20, 10, 25, 5, '20-30/25'],
      [20, 10, 30, 10, '20-30/30'],
      [40, 10, 30, 0, '40-50/30'],
      [0, 10, 0, 0, '0-10/0'],
      [20, 10, 40, 7, '20-27/40'],
      [20, 10, 25, 4, '20-24/25']
    ] as const
  ) t.equal(contentRange('items', { skip, limit }, count, length), `items ${range}`)
})

t.test('a string that the database can hold', async (t) => {
  for (
    const [value, is] of [['', true], ['x'.repeat(255), true], ['x'.repeat(256), false], ['\0', false], [
      '\ud800',
      false
    ], ['\ud83d\ude00', true]] as const
  ) t.equal(isString(value), is)
})

t.test('an excerpt has at most 200 characters, and no half of one', async (t) => {
  t.equal(excerpt('x'.repeat(200)), 'x'.repeat(200))
  t.equal(excerpt('x'.repeat(201)), `${'x'.repeat(199)}…`)
  t.equal(excerpt(`${'x'.repeat(198)}\u{1F511}xx`), `${'x'.repeat(198)}…`)
  t.equal(excerpt(`${'x'.repeat(197)}\u{1F511}xx`), `${'x'.repeat(197)}\u{1F511}…`)
})
