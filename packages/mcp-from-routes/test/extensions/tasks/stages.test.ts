import t from 'tap'
import { paramsFromLocation } from '../../../src/extensions/tasks/location.ts'
import { messageFrom, pollFrom, stateFromResponse } from '../../../src/extensions/tasks/state.ts'

const NOW = Date.parse('2026-11-23T10:00:00Z')
const parts = [{ text: '/shops/' }, { param: 'shop', optional: false }, { text: '/jobs/' }, {
  param: 'id',
  optional: false
}]
const from = { hosts: ['shop.example', 'localhost:3000'], url: '/shops/s1/jobs?x=1', maxParamLength: 100 }

t.test('a Location leads to the status route, or nowhere', async (t) => {
  const good: Array<[string, string, string]> = [
    ['/shops/s1/jobs/7', 's1', '7'],
    ['http://shop.example/shops/s1/jobs/7', 's1', '7'],
    ['https://shop.example/shops/s1/jobs/7', 's1', '7'],
    ['https://shop.example:443/shops/s1/jobs/7', 's1', '7'],
    ['http://localhost:3000/shops/s1/jobs/7', 's1', '7'],
    ['//shop.example/shops/s1/jobs/7', 's1', '7'],
    ['jobs/7', 's1', '7'],
    ['./jobs/7', 's1', '7'],
    ['../s2/jobs/7', 's2', '7'],
    ['/shops/s1/jobs/a%20b', 's1', 'a b'],
    ['/shops/s1/jobs/%C3%BC', 's1', 'ü'],
    ['/shops/s1/jobs/ü', 's1', 'ü'],
    // What is decoded is encoded again, so it stays one segment.
    ['/shops/s1/jobs/..%2F..%2Fsecrets', 's1', '../../secrets'],
    ['/shops/s1/jobs/7%3Fadmin=1', 's1', '7?admin=1'],
    ['/shops/s1/jobs/%252e%252e', 's1', '%2e%2e'],
    ['/secrets/../shops/s1/jobs/7', 's1', '7']
  ]
  for (const [location, shop, id] of good) {
    t.strictSame(
      paramsFromLocation(location, parts, from) && Object.fromEntries(paramsFromLocation(location, parts, from) ?? []),
      { shop, id },
      location
    )
  }
  const bad = [
    '',
    '/',
    '/secrets/1',
    '/shops/s1/jobs',
    '/shops/s1/jobs/',
    '/shops/s1/jobs/7/',
    '/shops/s1/jobs/7/report',
    '/Shops/s1/jobs/7',
    '/shops/s1//jobs/7',
    '//shops/s1/jobs/7',
    'http://evil.example/shops/s1/jobs/7',
    '//evil.example/shops/s1/jobs/7',
    'https://shop.example.evil.example/shops/s1/jobs/7',
    'http://shop.example:81/shops/s1/jobs/7',
    'http://shop.example@evil.example/shops/s1/jobs/7',
    'http://kim@shop.example/shops/s1/jobs/7',
    'http://kim:pw@shop.example/shops/s1/jobs/7',
    'ftp://shop.example/shops/s1/jobs/7',
    'file:///shops/s1/jobs/7',
    'javascript:alert(1)',
    'data:,x',
    '/shops/s1/jobs/7?admin=1',
    '/shops/s1/jobs/7#x',
    '/shops/s1/jobs/..',
    '/shops/s1/jobs/.',
    '/shops/s1/jobs/%2e%2e',
    '/shops/s1/jobs/%2E',
    '/shops/../jobs/7',
    '/shops/s1/jobs/../../../secrets/1',
    '\\\\evil.example/shops/s1/jobs/7',
    '/\\evil.example/shops/s1/jobs/7',
    '/shops/s1\\..\\jobs/7',
    '/shops/s1/jobs/7\n',
    '\t/shops/s1/jobs/7',
    ' /shops/s1/jobs/7',
    '/shops/s1/jo\rbs/7',
    '/shops/s1/jobs/7\u0000',
    '/shops/s1/jobs/%zz',
    '/shops/s1/jobs/%ff',
    '/shops/s1/jobs/%ED%A0%80',
    `/shops/s1/jobs/${'x'.repeat(101)}`,
    `/shops/s1/jobs/${'x'.repeat(5000)}`
  ]
  for (const location of bad) {
    t.equal(paramsFromLocation(location, parts, from), undefined, JSON.stringify(location).slice(0, 80))
  }
  for (const location of [undefined, 7, ['/shops/s1/jobs/7'], {}]) {
    t.equal(paramsFromLocation(location, parts, from), undefined)
  }
  t.equal(paramsFromLocation('/shops/s1/jobs/7', parts, { ...from, hosts: ['no host at all'] }), undefined)
  t.equal(paramsFromLocation('/shops/s1/jobs/7', parts, { ...from, hosts: [] }), undefined)
})

const config = {
  field: ['status'],
  words: new Map([['uploading', 'working'], ['banned', 'failed'], ['done', 'working']] as const)
}
const json = (body: unknown): { statusCode: number, headers: Record<string, string>, body: string } => ({
  statusCode: 200,
  headers: {},
  body: JSON.stringify(body)
})

t.test('a response of the status route is the state of the work', async (t) => {
  const cases: Array<[string, Parameters<typeof stateFromResponse>[0], object]> = [
    ['202', { statusCode: 202, headers: {}, body: '' }, { status: 'working' }],
    ['202 that says done', { ...json({ status: 'done' }), statusCode: 202 }, { status: 'working' }],
    ['202 with a time', { statusCode: 202, headers: { 'retry-after': '3' }, body: '' }, {
      status: 'working',
      poll: 3000
    }],
    ['303', { statusCode: 303, headers: { location: '/r' }, body: '' }, { status: 'completed', location: '/r' }],
    ['302', { statusCode: 302, headers: { location: '/r' }, body: '' }, { status: 'completed', location: '/r' }],
    ['303 to nowhere', { statusCode: 303, headers: {}, body: '' }, {
      status: 'unreadable',
      why: 'The status route answered 303 See Other.'
    }],
    ['307', { statusCode: 307, headers: { location: '/r' }, body: '' }, { status: 'unreadable' }],
    ['304', { statusCode: 304, headers: {}, body: '' }, { status: 'unreadable' }],
    ['204', { statusCode: 204, headers: {}, body: '' }, { status: 'completed' }],
    ['200 without a body', { statusCode: 200, headers: {}, body: '' }, { status: 'completed' }],
    ['200 that is no JSON', { statusCode: 200, headers: {}, body: 'done' }, { status: 'completed' }],
    ['200 that is an array', json(['pending']), { status: 'completed' }],
    ['200 without a status', json({ a: 1 }), { status: 'completed' }],
    ['a strange word', json({ status: 'shiny' }), { status: 'completed' }],
    ['a strange word, and a time to ask again', { ...json({ status: 'shiny' }), headers: { 'retry-after': '1' } }, {
      status: 'working',
      poll: 1000
    }],
    ['no word, and a time to ask again', { ...json({}), headers: { 'retry-after': '1' } }, { status: 'working' }],
    ['done, and a time to ask again', { ...json({ status: 'finished' }), headers: { 'retry-after': '1' } }, {
      status: 'completed'
    }],
    ['a word of the prototype', json({ status: 'constructor' }), { status: 'completed' }],
    ['a word of the app', json({ status: 'uploading' }), { status: 'working' }],
    ['another', json({ status: 'Banned' }), { status: 'failed' }],
    ['a known word that means something else here', json({ status: 'done' }), { status: 'working' }],
    ...['pending', 'queued', 'running', 'IN_PROGRESS', 'In Progress', 'in-progress', ' working '].map((
      status
    ): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'working' }]),
    ...['completed', 'Succeeded', 'success'].map((
      status
    ): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), {
      status: 'completed'
    }]),
    ...['failed', 'ERROR', 'timed out'].map((
      status
    ): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'failed' }]),
    ...['cancelled', 'canceled', 'aborted'].map((
      status
    ): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), {
      status: 'cancelled'
    }]),
    ['404', { statusCode: 404, headers: {}, body: '' }, { status: 'unknown' }],
    ['410', { statusCode: 410, headers: {}, body: '' }, { status: 'unknown' }],
    ['401', { statusCode: 401, headers: {}, body: '' }, { status: 'refused' }],
    ['403', { statusCode: 403, headers: {}, body: '' }, { status: 'refused' }],
    ['429', { statusCode: 429, headers: { 'retry-after': '7' }, body: '' }, {
      status: 'working',
      poll: 7000,
      message: 'The status cannot be read now: 429 Too Many Requests'
    }],
    ['503 with a time', { statusCode: 503, headers: { 'retry-after': '7' }, body: '' }, {
      status: 'working',
      poll: 7000
    }],
    ['503', { statusCode: 503, headers: {}, body: '' }, {
      status: 'unreadable',
      why: 'The status route answered 503 Service Unavailable.'
    }],
    ['500', { statusCode: 500, headers: {}, body: '' }, {
      status: 'unreadable',
      why: 'The status route answered 500 Internal Server Error.'
    }],
    ['400', { statusCode: 400, headers: {}, body: '' }, { status: 'unreadable' }],
    ['a time of the status', {
      ...json({ status: 'running' }),
      headers: { 'last-modified': 'Mon, 23 Nov 2026 09:59:00 GMT' }
    }, { status: 'working', at: NOW - 60_000 }]
  ]
  for (const [title, response, state] of cases) t.match(stateFromResponse(response, config, NOW), state, title)
  const inside = { field: ['job', 'done'], words: new Map([['true', 'completed'], ['false', 'working']] as const) }
  t.match(stateFromResponse(json({ job: { done: false } }), inside, NOW), { status: 'working' })
  t.match(stateFromResponse(json({ job: { done: true } }), inside, NOW), { status: 'completed' })
  t.match(stateFromResponse(json({ job: 'x' }), inside, NOW), { status: 'completed' })
})

t.test('the words of status routes', async (t) => {
  const words = {
    working: 'accepted cancelling canceling in_progress initializing not_started pending processing queued retrying ' +
      'running scheduled started starting submitted waiting working',
    completed: 'complete completed done finished ok ready succeeded success successful',
    failed: 'error errored failed failure timed_out',
    cancelled: 'aborted cancelled canceled'
  }
  const plain = { field: ['status'], words: new Map() }
  for (const [status, list] of Object.entries(words)) {
    for (const word of list.split(' ')) {
      t.match(stateFromResponse(json({ status: word }), plain, NOW), { status }, word)
    }
  }
})

t.test('Retry-After is a time to wait, within bounds', async (t) => {
  const cases: Array<[string | number | undefined, number | undefined]> = [
    ['3', 3000],
    [3, 3000],
    ['0', 100],
    ['999999', 3_600_000],
    ['Mon, 23 Nov 2026 10:00:30 GMT', 30_000],
    ['Mon, 23 Nov 2026 09:00:00 GMT', 100],
    [undefined, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['2026', 2_026_000],
    ['9'.repeat(400), undefined]
  ]
  for (const [text, poll] of cases) t.equal(pollFrom(text, NOW), poll, String(text).slice(0, 40))
})

t.test('a message says what the status route says, and how much is done', async (t) => {
  const cases: Array<[Record<string, unknown>, string | undefined]> = [
    [{}, undefined],
    [{ message: ' Reading ' }, 'Reading'],
    [{ progress: 3 }, '3'],
    [{ processed: 3, total: 10 }, '3 of 10'],
    [{ message: 'Reading', progress: 3, total: 10 }, 'Reading: 3 of 10'],
    [{ total: 10 }, undefined],
    [{ progress: '3' }, undefined],
    [{ progress: null, processed: 1 }, '1'],
    [{ message: '', detail: 'x' }, 'x'],
    [{ message: {} }, undefined],
    [{ message: 'x'.repeat(2000) }, 'x'.repeat(1000)],
    [{ message: `${'x'.repeat(999)}\u{1f600}` }, 'x'.repeat(999)],
    [{ progress: 3, total: '10' }, '3'],
    [{ progress: 0, processed: 5, total: 0 }, '0 of 0'],
    [{ progress: Infinity, processed: 2 }, '2'],
    [{ statusMessage: 'a', status_message: 'b', message: 'c', detail: 'd' }, 'a'],
    [{ statusMessage: ' ', status_message: 'b', message: 'c', detail: 'd' }, 'b'],
    [{ message: 'c', detail: 'd' }, 'c']
  ]
  for (const [body, message] of cases) t.equal(messageFrom(body), message)
})
