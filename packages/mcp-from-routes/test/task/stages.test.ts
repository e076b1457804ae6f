import t from 'tap'
import { taskOf } from '../../src/endpoint/tasks/status.ts'
import { taskConfig } from '../../src/task/config.ts'
import { hasWholeSegments, paramsFromLocation } from '../../src/task/location.ts'
import { bodyOf, isKnownWord, messageFrom, pollFrom, stateFromResponse, timeFrom } from '../../src/task/state.ts'
import { partsFromPath } from '../../src/tool/path.ts'
import type { PathPart } from '../../src/tool/path.ts'

const NOW = Date.parse('2026-11-23T10:00:00Z')
const parts = partsFromPath('/shops/:shop/jobs/:id') as readonly PathPart[]
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
  for (const [location, shop, id] of good) t.strictSame(paramsFromLocation(location, parts, from) && Object.fromEntries(paramsFromLocation(location, parts, from) ?? []), { shop, id }, location)
  const bad = [
    '', '/', '/secrets/1', '/shops/s1/jobs', '/shops/s1/jobs/', '/shops/s1/jobs/7/', '/shops/s1/jobs/7/report', '/Shops/s1/jobs/7', '/shops/s1//jobs/7', '//shops/s1/jobs/7',
    'http://evil.example/shops/s1/jobs/7', '//evil.example/shops/s1/jobs/7', 'https://shop.example.evil.example/shops/s1/jobs/7', 'http://shop.example:81/shops/s1/jobs/7',
    'http://shop.example@evil.example/shops/s1/jobs/7', 'http://kim@shop.example/shops/s1/jobs/7', 'http://kim:pw@shop.example/shops/s1/jobs/7',
    'ftp://shop.example/shops/s1/jobs/7', 'file:///shops/s1/jobs/7', 'javascript:alert(1)', 'data:,x',
    '/shops/s1/jobs/7?admin=1', '/shops/s1/jobs/7#x', '/shops/s1/jobs/..', '/shops/s1/jobs/.', '/shops/s1/jobs/%2e%2e', '/shops/s1/jobs/%2E', '/shops/../jobs/7', '/shops/s1/jobs/../../../secrets/1',
    '\\\\evil.example/shops/s1/jobs/7', '/\\evil.example/shops/s1/jobs/7', '/shops/s1\\..\\jobs/7', '/shops/s1/jobs/7\n', '\t/shops/s1/jobs/7', ' /shops/s1/jobs/7', '/shops/s1/jo\rbs/7', '/shops/s1/jobs/7\u0000',
    '/shops/s1/jobs/%zz', '/shops/s1/jobs/%ff', '/shops/s1/jobs/%ED%A0%80', `/shops/s1/jobs/${'x'.repeat(101)}`, `/shops/s1/jobs/${'x'.repeat(5000)}`
  ]
  for (const location of bad) t.equal(paramsFromLocation(location, parts, from), undefined, JSON.stringify(location).slice(0, 80))
  for (const location of [undefined, 7, ['/shops/s1/jobs/7'], {}]) t.equal(paramsFromLocation(location, parts, from), undefined)
  t.equal(paramsFromLocation('/shops/s1/jobs/7', parts, { ...from, hosts: ['no host at all'] }), undefined)
  t.equal(paramsFromLocation('/shops/s1/jobs/7', parts, { ...from, hosts: [] }), undefined)
})

t.test('a Location and each of its parameters may have a length, and no more', async (t) => {
  const to = (id: string): string => `/shops/s1/jobs/${id}`
  for (const [id, maxParamLength, found] of [['x'.repeat(100), 100, true], ['x'.repeat(101), 100, false], ['x'.repeat(4096 - to('').length), 5000, true], ['x'.repeat(4097 - to('').length), 5000, false]] as const) {
    t.equal(paramsFromLocation(to(id), parts, { ...from, maxParamLength })?.get('id'), found ? id : undefined)
  }
})

t.test('a route of a task has parameters that are whole segments', async (t) => {
  for (const [path, whole] of [
    ['/jobs', true], ['/jobs/:id', true], ['/jobs/:id/report', true], ['/shops/:shop/jobs/:id', true], ['/:id', true],
    ['/jobs/:id.json', false], ['/jobs/:from-:to', false], ['/jobs/x:id', false], ['/jobs/:id?', false], ['/:shop.s/jobs', false]
  ] as const) t.equal(hasWholeSegments(partsFromPath(path) as readonly PathPart[]), whole, path)
})

const config = taskConfig('GET /x', { status: 'GET /x', words: { Uploading: 'working', banned: 'failed', done: 'working' } })
const json = (body: unknown): { statusCode: number, headers: Record<string, string>, body: string } => ({ statusCode: 200, headers: {}, body: JSON.stringify(body) })

t.test('a response of the status route is the state of the work', async (t) => {
  if (config === undefined) throw new TypeError('no config')
  const cases: Array<[string, Parameters<typeof stateFromResponse>[0], object]> = [
    ['202', { statusCode: 202, headers: {}, body: '' }, { status: 'working' }],
    ['202 that says done', { ...json({ status: 'done' }), statusCode: 202 }, { status: 'working' }],
    ['202 with a time', { statusCode: 202, headers: { 'retry-after': '3' }, body: '' }, { status: 'working', poll: 3000 }],
    ['303', { statusCode: 303, headers: { location: '/r' }, body: '' }, { status: 'completed', location: '/r' }],
    ['302', { statusCode: 302, headers: { location: '/r' }, body: '' }, { status: 'completed', location: '/r' }],
    ['303 to nowhere', { statusCode: 303, headers: {}, body: '' }, { status: 'unreadable', why: 'The status route answered 303 See Other.' }],
    ['307', { statusCode: 307, headers: { location: '/r' }, body: '' }, { status: 'unreadable' }],
    ['304', { statusCode: 304, headers: {}, body: '' }, { status: 'unreadable' }],
    ['204', { statusCode: 204, headers: {}, body: '' }, { status: 'completed' }],
    ['200 without a body', { statusCode: 200, headers: {}, body: '' }, { status: 'completed' }],
    ['200 that is no JSON', { statusCode: 200, headers: {}, body: 'done' }, { status: 'completed' }],
    ['200 that is an array', json(['pending']), { status: 'completed' }],
    ['200 without a status', json({ a: 1 }), { status: 'completed' }],
    ['a strange word', json({ status: 'shiny' }), { status: 'completed' }],
    ['a strange word, and a time to ask again', { ...json({ status: 'shiny' }), headers: { 'retry-after': '1' } }, { status: 'working', poll: 1000 }],
    ['no word, and a time to ask again', { ...json({}), headers: { 'retry-after': '1' } }, { status: 'working' }],
    ['done, and a time to ask again', { ...json({ status: 'finished' }), headers: { 'retry-after': '1' } }, { status: 'completed' }],
    ['a word of the prototype', json({ status: 'constructor' }), { status: 'completed' }],
    ['a word of the app', json({ status: 'uploading' }), { status: 'working' }],
    ['another', json({ status: 'Banned' }), { status: 'failed' }],
    ['a known word that means something else here', json({ status: 'done' }), { status: 'working' }],
    ...['pending', 'queued', 'running', 'IN_PROGRESS', 'In Progress', 'in-progress', ' working '].map((status): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'working' }]),
    ...['completed', 'Succeeded', 'success'].map((status): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'completed' }]),
    ...['failed', 'ERROR', 'timed out'].map((status): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'failed' }]),
    ...['cancelled', 'canceled', 'aborted'].map((status): [string, Parameters<typeof stateFromResponse>[0], object] => [status, json({ status }), { status: 'cancelled' }]),
    ['404', { statusCode: 404, headers: {}, body: '' }, { status: 'unknown' }],
    ['410', { statusCode: 410, headers: {}, body: '' }, { status: 'unknown' }],
    ['401', { statusCode: 401, headers: {}, body: '' }, { status: 'refused' }],
    ['403', { statusCode: 403, headers: {}, body: '' }, { status: 'refused' }],
    ['429', { statusCode: 429, headers: { 'retry-after': '7' }, body: '' }, { status: 'working', poll: 7000, message: 'The status cannot be read now: 429 Too Many Requests' }],
    ['503 with a time', { statusCode: 503, headers: { 'retry-after': '7' }, body: '' }, { status: 'working', poll: 7000 }],
    ['503', { statusCode: 503, headers: {}, body: '' }, { status: 'unreadable', why: 'The status route answered 503 Service Unavailable.' }],
    ['500', { statusCode: 500, headers: {}, body: '' }, { status: 'unreadable', why: 'The status route answered 500 Internal Server Error.' }],
    ['400', { statusCode: 400, headers: {}, body: '' }, { status: 'unreadable' }],
    ['a time of the status', { ...json({ status: 'running' }), headers: { 'last-modified': 'Mon, 23 Nov 2026 09:59:00 GMT' } }, { status: 'working', at: NOW - 60_000 }]
  ]
  for (const [title, response, state] of cases) t.match(stateFromResponse(response, config, NOW), state, title)
  const inside = taskConfig('GET /x', { status: 'GET /x', field: 'job.done', words: { true: 'completed', false: 'working' } })
  if (inside === undefined) throw new TypeError('no config')
  t.match(stateFromResponse(json({ job: { done: false } }), inside, NOW), { status: 'working' })
  t.match(stateFromResponse(json({ job: { done: true } }), inside, NOW), { status: 'completed' })
  t.match(stateFromResponse(json({ job: 'x' }), inside, NOW), { status: 'completed' })
})

t.test('the words of status routes', async (t) => {
  const words = {
    working: 'accepted cancelling canceling in_progress initializing not_started pending processing queued retrying running scheduled started starting submitted waiting working',
    completed: 'complete completed done finished ok ready succeeded success successful',
    failed: 'error errored failed failure timed_out',
    cancelled: 'aborted cancelled canceled'
  }
  const plain = taskConfig('GET /x', { status: 'GET /x' })
  if (plain === undefined) throw new TypeError('no config')
  for (const [status, list] of Object.entries(words)) {
    for (const word of list.split(' ')) {
      t.match(stateFromResponse(json({ status: word }), plain, NOW), { status }, word)
      t.ok(isKnownWord(word))
    }
  }
  for (const word of ['timedOut', 'Timed Out', 'TIMED-OUT']) t.ok(isKnownWord(word), word)
  for (const word of ['', 'shiny', 'constructor']) t.notOk(isKnownWord(word), word)
})

t.test('all that a response says of the work', async (t) => {
  if (config === undefined) throw new TypeError('no config')
  const modified = 'Mon, 23 Nov 2026 09:59:00 GMT'
  const said = { message: 'Reading: 1 of 2', at: NOW - 60_000 }
  const body = { message: 'Reading', progress: 1, total: 2 }
  for (const [response, state] of [
    [{ ...json({ ...body, status: 'running' }), headers: { 'last-modified': modified, 'retry-after': '2' } }, { status: 'working', ...said, poll: 2000 }],
    [{ ...json({ ...body, status: 'running' }), headers: {} }, { status: 'working', message: said.message, at: undefined, poll: undefined }],
    [{ ...json({ ...body, status: 'finished' }), headers: { 'last-modified': modified, 'retry-after': '2' } }, { status: 'completed', ...said }],
    [{ ...json({ ...body, status: 'failed' }), headers: { 'last-modified': modified, location: '/r' } }, { status: 'failed', ...said }],
    [{ statusCode: 303, headers: { location: '/r', 'retry-after': '2' }, body: '' }, { status: 'completed', location: '/r' }],
    [{ statusCode: 429, headers: {}, body: '' }, { status: 'working', message: 'The status cannot be read now: 429 Too Many Requests', poll: undefined, isPutOff: true }],
    [{ statusCode: 503, headers: { 'retry-after': '1' }, body: '' }, { status: 'working', message: 'The status cannot be read now: 503 Service Unavailable', poll: 1000, isPutOff: true }],
    [{ statusCode: 300, headers: { location: '/r' }, body: '' }, { status: 'unreadable', why: 'The status route answered 300 Multiple Choices.' }],
    [{ statusCode: 199, headers: {}, body: '' }, { status: 'unreadable', why: 'The status route answered 199.' }],
    [{ statusCode: 299, headers: {}, body: '' }, { status: 'completed', message: undefined, at: undefined }],
    [{ statusCode: 404, headers: {}, body: '{}' }, { status: 'unknown' }]
  ] as Array<[Parameters<typeof stateFromResponse>[0], object]>) t.strictSame(stateFromResponse(response, config, NOW), state)
})

t.test('a status may be a number, and is nothing else', async (t) => {
  const numbers = taskConfig('GET /x', { status: 'GET /x', field: 'job.state', words: { 1: 'working' } })
  if (numbers === undefined) throw new TypeError('no config')
  t.match(stateFromResponse(json({ job: { state: 1 } }), numbers, NOW), { status: 'working' })
  for (const state of [null, [1], { 1: 1 }]) t.match(stateFromResponse(json({ job: { state } }), numbers, NOW), { status: 'completed' })
  t.match(stateFromResponse(json({ job: [] }), numbers, NOW), { status: 'completed' })
})

t.test('the body of a response, where it is an object', async (t) => {
  for (const [body, object] of [['', {}], ['{', {}], ['[1]', {}], ['null', {}], ['{"a":1}', { a: 1 }], [Buffer.from('{"a":1}'), { a: 1 }]] as const) t.strictSame(bodyOf({ body }), object)
})

t.test('a time in HTTP', async (t) => {
  for (const [date, time] of [
    ['Mon, 23 Nov 2026 10:00:00 GMT', NOW], ['Mon, 99 Nov 2026 10:00:00 GMT', undefined], ['2026-11-23T10:00:00Z', undefined], [' Mon, 23 Nov 2026 10:00:00 GMT', undefined], ['2026', undefined], [undefined, undefined], [5, undefined], [['Mon, 23 Nov 2026 10:00:00 GMT'], undefined]
  ] as Array<[Parameters<typeof timeFrom>[0], number | undefined]>) t.equal(timeFrom(date), time, String(date))
})

t.test('what config.mcp.task must be', async (t) => {
  const status = 'GET /imports/:id'
  t.equal(taskConfig('POST /imports', undefined), undefined)
  t.strictSame(taskConfig('POST /imports', { status }), { status, cancel: true, result: undefined, field: ['status'], words: new Map(), ttl: 86_400_000 })
  t.strictSame(taskConfig('POST /imports', { status, cancel: false, result: 'GET /r', field: 'job.state', words: { 'In Progress': 'working', tooLate: 'cancelled', 'gave-up': 'failed', DONE: 'completed' }, ttl: 1 }),
    { status, cancel: false, result: 'GET /r', field: ['job', 'state'], words: new Map([['in_progress', 'working'], ['too_late', 'cancelled'], ['gave_up', 'failed'], ['done', 'completed']]), ttl: 1 })
  const object = "task must be an object with status, the route that returns the status of the work: { status: 'GET /imports/:id' }"
  for (const [task, rule] of [
    [null, object], ['GET /imports/:id', object], [{}, object], [{ status: ' ' }, object], [{ status: 5 }, object], [[], object],
    [{ status, ttls: 5 }, 'task.ttls is not known. task has status, cancel, result, field, words, ttl'],
    ...[null, 'no', 0].map((cancel) => [{ status, cancel }, 'task.cancel must be a boolean']),
    ...[null, '', 5].map((result) => [{ status, result }, "task.result must be a route: 'GET /imports/:id/report'"]),
    ...['', 'a..b', '.a', 'a.', 5].map((field) => [{ status, field }, 'task.field must be the name of a field, or several with dots between them']),
    ...[[], 'x', null].map((words) => [{ status, words }, 'task.words must be an object']),
    [{ status, words: { ready: 'done' } }, 'task.words.ready must be one of working, completed, failed, cancelled'],
    ...[0, -1, 1.5, '5', null, Infinity].map((ttl) => [{ status, ttl }, 'task.ttl must be a positive integer, in milliseconds'])
  ] as Array<[unknown, string]>) {
    t.throws(() => taskConfig('POST /imports', task), { code: 'MCP_FROM_ROUTES_INVALID_CONFIG', message: `POST /imports has a wrong config.mcp: ${rule}` }, JSON.stringify(task))
  }
})

t.test('a task was updated when its status route answered, and never before it began', async (t) => {
  const [created, until] = [Date.parse('2027-01-15T08:00:00Z'), Date.parse('2027-01-15T09:00:00Z')]
  const sealed = { tool: 'start_job', params: {}, created, until }
  for (const [at, updated] of [[created - 1, '2027-01-15T08:00:00.000Z'], [created + 1, '2027-01-15T08:00:00.001Z']] as const) {
    const common = { taskId: 'i', status: 'completed', createdAt: '2027-01-15T08:00:00.000Z', lastUpdatedAt: updated }
    t.strictSame(taskOf('legacy', 'i', sealed, 'completed', { at }), { ...common, ttl: 3_600_000 })
    t.strictSame(taskOf('modern', 'i', sealed, 'completed', { at, why: 'No more' }), { ...common, statusMessage: 'No more', ttlMs: 3_600_000 })
  }
})

t.test('Retry-After is a time to wait, within bounds', async (t) => {
  const cases: Array<[string | number | undefined, number | undefined]> = [
    ['3', 3000], [3, 3000], ['0', 100], ['999999', 3_600_000], ['Mon, 23 Nov 2026 10:00:30 GMT', 30_000], ['Mon, 23 Nov 2026 09:00:00 GMT', 100],
    [undefined, undefined], ['', undefined], ['soon', undefined], ['-1', undefined], ['1.5', undefined], ['1e3', undefined], ['2026', 2_026_000], ['9'.repeat(400), undefined]
  ]
  for (const [text, poll] of cases) t.equal(pollFrom(text, NOW), poll, String(text).slice(0, 40))
})

t.test('a message says what the status route says, and how much is done', async (t) => {
  const cases: Array<[Record<string, unknown>, string | undefined]> = [
    [{}, undefined], [{ message: ' Reading ' }, 'Reading'], [{ progress: 3 }, '3'], [{ processed: 3, total: 10 }, '3 of 10'], [{ message: 'Reading', progress: 3, total: 10 }, 'Reading: 3 of 10'],
    [{ total: 10 }, undefined], [{ progress: '3' }, undefined], [{ progress: null, processed: 1 }, '1'], [{ message: '', detail: 'x' }, 'x'], [{ message: {} }, undefined], [{ message: 'x'.repeat(2000) }, 'x'.repeat(1000)],
    [{ message: `${'x'.repeat(999)}\u{1f600}` }, 'x'.repeat(999)], [{ progress: 3, total: '10' }, '3'], [{ progress: 0, processed: 5, total: 0 }, '0 of 0'], [{ progress: Infinity, processed: 2 }, '2'],
    [{ statusMessage: 'a', status_message: 'b', message: 'c', detail: 'd' }, 'a'], [{ statusMessage: ' ', status_message: 'b', message: 'c', detail: 'd' }, 'b'], [{ message: 'c', detail: 'd' }, 'c']
  ]
  for (const [body, message] of cases) t.equal(messageFrom(body), message)
})
