import t from 'tap'
import { resultFor, resultFromResponse } from '../src/call/result.ts'
import { toolFromRoute, type Tool } from '../src/tool/tool.ts'

function tool (schema: Record<string, unknown> = {}, method = 'POST'): Tool {
  const route = {
    method,
    url: '/things/:id',
    schema: { operationId: 'a', description: 'A.', ...schema },
    config: {},
    constraints: {},
    websocket: false,
    keepsToSchema: true,
    shared: {}
  }
  return toolFromRoute(route, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1, resultHeaders: ['link'] })
}

const plain = tool({
  querystring: { type: 'object', properties: { limit: {}, filter: {}, sort: {} } },
  body: { type: 'object', properties: { name: { type: 'string' } } }
})
const whole = tool({ body: { type: 'array' } })
const object = tool({ response: { 200: { type: 'object', properties: { a: {} } } } })
const reading = tool({ response: { 200: { type: 'object', properties: { a: {} } } } }, 'GET')
const array = tool({ response: { 200: { type: 'array' } } })
const requiring = tool({ response: { 200: { type: 'object', properties: { a: {} }, required: ['a'] } } })
const either = tool({ response: { 200: { type: ['object', 'array'] } } })
const several = tool({
  response: {
    200: { type: 'object', properties: { a: {} } },
    201: { content: { 'application/vnd.a+json': { schema: { type: 'object', properties: { b: {} } } } } }
  }
})
const ranged = tool({
  response: {
    '2XX': { type: 'object', properties: { a: {} } },
    201: { content: { 'application/json': { schema: { type: 'object' } } } },
    default: { type: 'object' }
  }
})
const UNDECLARED = 'The call succeeded, so do not repeat it. The route answered'
const CONTEXT = {
  requestId: 'req-7',
  url: () => 'http://api.example.com/things/1',
  resultHeaders: ['content-range', 'retry-after'],
  maxResultBytes: 1000,
  open: ''
}
const OPEN = { open: ' The call may have been carried out: check before you try again.' }

const text = (...texts: string[]): unknown[] => texts.map((text) => ({ type: 'text', text }))
const json = (
  value: unknown,
  headers: Record<string, string> = {}
): { headers: Record<string, string>, body: string } => ({
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(value)
})

interface Case {
  title: string
  tool?: Tool
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  cut?: boolean
  open?: string
  gives: Record<string, unknown>
}

const cases: Case[] = [
  {
    title: 'a JSON object is structured content and text',
    ...json({ a: 1 }),
    gives: { content: text('{"a":1}'), structuredContent: { a: 1 } }
  },
  {
    title: 'an array is wrapped',
    tool: array,
    ...json([1]),
    gives: { content: text('[1]'), structuredContent: { result: [1] } }
  },
  {
    title: 'a scalar without an output schema is wrapped',
    ...json(5),
    gives: { content: text('5'), structuredContent: { result: 5 } }
  },
  { title: 'null is JSON', ...json(null), gives: { content: text('null'), structuredContent: { result: null } } },
  {
    title: 'problem+json and the like are JSON',
    headers: { 'content-type': 'application/vnd.api+json' },
    body: '{"a":1}',
    gives: { content: text('{"a":1}'), structuredContent: { a: 1 } }
  },
  {
    title: 'headers come back in _meta, as text, and in the structure',
    ...json({ a: 1 }, { 'content-range': 'things 0-1/9', etag: '"1"' }),
    gives: {
      content: text('{"a":1}', 'content-range: things 0-1/9'),
      structuredContent: { a: 1, headers: { 'content-range': 'things 0-1/9' } },
      _meta: { 'mcp-from-routes/headers': { 'content-range': 'things 0-1/9' } }
    }
  },
  {
    title: 'and beside what is wrapped',
    tool: array,
    ...json([1], { 'content-range': 'things 0-1/9' }),
    gives: {
      content: text('[1]', 'content-range: things 0-1/9'),
      structuredContent: { result: [1], headers: { 'content-range': 'things 0-1/9' } },
      _meta: { 'mcp-from-routes/headers': { 'content-range': 'things 0-1/9' } }
    }
  },
  {
    title: 'the spaces around a media type mean nothing',
    headers: { 'content-type': ' application/json ; charset=utf-8' },
    body: '{"a":1}',
    gives: { content: text('{"a":1}'), structuredContent: { a: 1 } }
  },
  {
    title: 'text is text',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: 'grüße',
    gives: { content: text('grüße') }
  },
  {
    title: 'text in another encoding is read',
    headers: { 'content-type': 'text/plain; charset="ISO-8859-1"' },
    body: Buffer.from([0xe9]),
    gives: { content: text('é') }
  },
  {
    title: 'in two bytes a character, of which ASCII looks like UTF-8',
    headers: { 'content-type': 'text/csv;header=present; charset=UTF-16' },
    body: Buffer.from('\ufeffab', 'utf16le'),
    gives: { content: text('ab') }
  },
  {
    title: 'and in the other order',
    headers: { 'content-type': 'text/csv; charset=utf-16' },
    body: Buffer.from('\ufeffab', 'utf16le').swap16(),
    gives: { content: text('ab') }
  },
  ...['text/plain', 'text/plain; charset=utf-8', 'text/plain; charset=klingon', ''].map((type) => ({
    title: `bytes that are no text are not called so: ${type}`,
    headers: { 'content-type': type },
    body: Buffer.from([0x61, 0xe9]),
    gives: {
      content: [{
        type: 'resource',
        resource: {
          uri: 'http://api.example.com/things/1',
          mimeType: type === '' ? 'application/octet-stream' : 'text/plain',
          blob: 'Yek='
        }
      }]
    }
  })),
  {
    title: 'a 204 is said in words',
    status: 204,
    gives: { content: text('204 No Content: done, and there is nothing to return.') }
  },
  {
    title: 'an image is an image',
    headers: { 'content-type': 'image/png' },
    body: Buffer.from([137, 80]),
    gives: { content: [{ type: 'image', data: 'iVA=', mimeType: 'image/png' }] }
  },
  {
    title: 'audio is audio',
    headers: { 'content-type': 'audio/wav' },
    body: Buffer.from([1]),
    gives: { content: [{ type: 'audio', data: 'AQ==', mimeType: 'audio/wav' }] }
  },
  {
    title: 'other bytes are a resource',
    headers: { 'content-type': 'application/pdf' },
    body: Buffer.from([0xff]),
    gives: {
      content: [{
        type: 'resource',
        resource: { uri: 'http://api.example.com/things/1', mimeType: 'application/pdf', blob: '/w==' }
      }]
    }
  },
  {
    title: 'broken JSON is text',
    headers: { 'content-type': 'application/json' },
    body: '{',
    gives: { content: text('{') }
  },
  {
    title: 'what the response schema does not declare is an error, because clients throw it away',
    tool: object,
    status: 204,
    gives: {
      content: text(
        'The call succeeded, so do not repeat it. The route answered 204 No Content with no body, for which it ' +
          'has no 2xx response schema.',
        '204 No Content: done, and there is nothing to return.'
      ),
      isError: true
    }
  },
  {
    title: 'nor is JSON of a status without a schema what was promised; it is kept as text',
    tool: object,
    status: 202,
    ...json({ queued: true }, { 'retry-after': '1' }),
    gives: {
      content: text(
        `${UNDECLARED} 202 Accepted with application/json, for which it has no 2xx response schema.`,
        '{"queued":true}',
        'retry-after: 1'
      ),
      isError: true,
      _meta: { 'mcp-from-routes/headers': { 'retry-after': '1' } }
    }
  },
  {
    title: 'nor of a media type without one, where several statuses have schemas',
    tool: several,
    status: 201,
    ...json({ b: 1 }),
    gives: {
      content: text(
        `${UNDECLARED} 201 Created with application/json, for which it has no 2xx response schema.`,
        '{"b":1}'
      ),
      isError: true
    }
  },
  {
    title: 'the media type of one status is none of another',
    tool: several,
    headers: { 'content-type': 'application/vnd.a+json; charset=utf-8' },
    body: '{"a":1}',
    gives: { content: text('{"a":1}'), structuredContent: { result: { a: 1 } } }
  },
  {
    title: 'a schema of a media type is for that type, whatever its parameters',
    tool: several,
    status: 201,
    headers: { 'content-type': 'Application/VND.a+json; charset=utf-8' },
    body: '{"b":1}',
    gives: { content: text('{"b":1}'), structuredContent: { result: { b: 1 } } }
  },
  {
    title: 'a schema of all 2xx is for those without their own',
    tool: ranged,
    status: 202,
    ...json({ a: 1 }),
    gives: { content: text('{"a":1}'), structuredContent: { result: { a: 1 } } }
  },
  {
    title: 'and not for those with one',
    tool: ranged,
    status: 201,
    headers: { 'content-type': 'application/ld+json' },
    body: '{"a":1}',
    gives: {
      content: text(
        `${UNDECLARED} 201 Created with application/ld+json, for which it has no 2xx response schema.`,
        '{"a":1}'
      ),
      isError: true
    }
  },
  {
    title: 'a body without a content type is one all the same',
    tool: object,
    body: 'a',
    gives: {
      content: text(
        `${UNDECLARED} 200 OK with a body without a content type, for which it has no 2xx response schema.`,
        'a'
      ),
      isError: true
    }
  },
  {
    title: 'and none with one is none',
    tool: object,
    status: 205,
    headers: { 'content-type': 'application/json' },
    gives: {
      content: text(
        `${UNDECLARED} 205 Reset Content with no body, for which it has no 2xx response schema.`,
        '205 Reset Content: done, and there is nothing to return.'
      ),
      isError: true
    }
  },
  {
    title: 'a list where an object is promised is an error, because clients throw it away',
    tool: object,
    ...json([1]),
    gives: {
      content: text(`${UNDECLARED} 200 OK with application/json that does not fit its response schema.`, '[1]'),
      isError: true
    }
  },
  {
    title: 'an object where a list is promised too',
    tool: array,
    ...json({ data: [1] }),
    gives: {
      content: text(
        `${UNDECLARED} 200 OK with application/json that does not fit its response schema.`,
        '{"data":[1]}'
      ),
      isError: true
    }
  },
  {
    title: 'and one without what is required',
    tool: requiring,
    ...json({ data: { a: 1 } }),
    gives: {
      content: text(
        `${UNDECLARED} 200 OK with application/json that does not fit its response schema.`,
        '{"data":{"a":1}}'
      ),
      isError: true
    }
  },
  {
    title: 'one with all that is required and more is none',
    tool: requiring,
    ...json({ a: 1, b: 2 }),
    gives: { content: text('{"a":1,"b":2}'), structuredContent: { a: 1, b: 2 } }
  },
  {
    title: 'a list or an object, where both are promised',
    tool: either,
    ...json([1]),
    gives: { content: text('[1]'), structuredContent: { result: [1] } }
  },
  {
    title: 'a redirect is an error that says where to',
    status: 302,
    ...OPEN,
    headers: { location: '/login?next=%2F', 'content-range': 'x' },
    gives: {
      content: text(
        'The route answered 302 Found and points to /login?next=%2F, which is not followed. The call may have ' +
          'been carried out: check before you try again.',
        'content-range: x'
      ),
      isError: true,
      _meta: { 'mcp-from-routes/headers': { 'content-range': 'x' } }
    }
  },
  {
    title: 'so is one with a body, of a tool that reads and has an output schema',
    tool: reading,
    status: 303,
    ...json({ a: 1 }, { location: '/things/1' }),
    gives: {
      content: text('The route answered 303 See Other and points to /things/1, which is not followed.'),
      isError: true
    }
  },
  {
    title: 'a 304 is no result',
    status: 304,
    gives: { content: text('The route answered 304 Not Modified, and nothing else.'), isError: true }
  },
  {
    title: 'too large a result says what narrows it',
    tool: plain,
    ...json('x'.repeat(999)),
    gives: {
      content: text(
        'The result has 1001 bytes, more than the 1000 that one call may return. Narrow it with limit, filter.'
      ),
      isError: true
    }
  },
  {
    title: 'too large a result of a tool without such arguments',
    ...json('x'.repeat(999)),
    gives: {
      content: text(
        'The result has 1001 bytes, more than the 1000 that one call may return. This tool has no argument that ' +
          'narrows it.'
      ),
      isError: true
    }
  },
  {
    title: 'a result that is just not too large',
    ...json('x'.repeat(998)),
    gives: { content: text(`"${'x'.repeat(998)}"`), structuredContent: { result: 'x'.repeat(998) } }
  },
  {
    title: 'too large a result of a write does not invite to write again',
    tool: plain,
    status: 201,
    ...OPEN,
    ...json('x'.repeat(999)),
    gives: {
      content: text(
        'The call succeeded, so do not repeat it. The route answered 201 Created. The result has 1001 bytes, ' +
          'more than the 1000 that one call may return.'
      ),
      isError: true
    }
  },
  {
    title: 'nor does a stream of a write that was cut off',
    tool: plain,
    ...OPEN,
    ...json('x'.repeat(999)),
    cut: true,
    gives: {
      content: text(
        'The result has at least 1001 bytes, more than the 1000 that one call may return. The call may have ' +
          'been carried out: check before you try again.'
      ),
      isError: true
    }
  },
  {
    title: 'a route of a write that fails may have written',
    status: 503,
    ...OPEN,
    gives: {
      content: text(
        'The route failed with status 503 Service Unavailable. The call may have been carried out: check before ' +
          'you try again. The request id is req-7.'
      ),
      isError: true
    }
  },
  {
    title: 'nor does 304 tell',
    status: 304,
    ...OPEN,
    gives: {
      content: text(
        'The route answered 304 Not Modified, and nothing else. The call may have been carried out: check ' +
          'before you try again.'
      ),
      isError: true
    }
  },
  {
    title: 'a byte order mark is no part of JSON',
    tool: object,
    headers: { 'content-type': 'application/json' },
    body: '\ufeff{"a":1}',
    gives: { content: text('{"a":1}'), structuredContent: { a: 1 } }
  },
  {
    title: 'of a result that was cut off only a part was counted',
    ...json('x'.repeat(999)),
    cut: true,
    gives: {
      content: text(
        'The result has at least 1001 bytes, more than the 1000 that one call may return. This tool has no ' +
          'argument that narrows it.'
      ),
      isError: true
    }
  },
  {
    title: 'SVG is text',
    headers: { 'content-type': 'image/svg+xml' },
    body: '<svg/>',
    gives: { content: text('<svg/>') }
  },
  {
    title: 'an empty content type is none',
    headers: { 'content-type': '' },
    body: '{}',
    gives: { content: text('{}') }
  },
  {
    title: 'a 300 is no result either',
    status: 300,
    body: 'x',
    gives: { content: text('The route answered 300 Multiple Choices, and nothing else.'), isError: true }
  },
  {
    title: '4xx carries status, message and code',
    status: 404,
    ...json({ statusCode: 404, code: 'NO_THING', error: 'Not Found', message: 'no thing 1' }),
    gives: { content: text('404 Not Found: no thing 1 (NO_THING)'), isError: true }
  },
  {
    title: 'validation speaks of arguments',
    tool: plain,
    status: 400,
    ...json({
      statusCode: 400,
      code: 'FST_ERR_VALIDATION',
      error: 'Bad Request',
      message: 'body/name must be string, querystring/limit must be >= 1, params/id must match, body must have ' +
        "required property 'x'"
    }),
    gives: {
      content: text(
        '400 Bad Request: name must be string, limit must be >= 1, id must match, arguments must have required ' +
          "property 'x' (FST_ERR_VALIDATION)"
      ),
      isError: true
    }
  },
  {
    title: 'a whole body keeps its name',
    tool: whole,
    status: 422,
    ...json({ message: 'body/0/name must be string, body must be array' }),
    gives: { content: text('422 Unprocessable Entity: body/0/name must be string, body must be array'), isError: true }
  },
  {
    title: 'other fields of an error body are kept, with argument names',
    tool: plain,
    status: 422,
    ...json({ message: 'bad', errors: [{ field: 'body/name', text: 'anybody must know' }] }),
    gives: {
      content: text('422 Unprocessable Entity: bad\n{"errors":[{"field":"name","text":"anybody must know"}]}'),
      isError: true
    }
  },
  {
    title: 'problem details',
    status: 409,
    headers: { 'content-type': 'application/problem+json' },
    body: '{"type":"about:blank","title":"Conflict","status":409,"detail":"taken"}',
    gives: { content: text('409 Conflict: taken'), isError: true }
  },
  {
    title: 'problem details of a kind',
    status: 409,
    headers: { 'content-type': 'application/problem+json' },
    body: '{"type":"https://example.com/taken","title":"Taken","status":409,"detail":"thing 1 is"}',
    gives: {
      content: text('409 Conflict: thing 1 is\n{"type":"https://example.com/taken","title":"Taken"}'),
      isError: true
    }
  },
  {
    title: 'message and code may be in an object error',
    status: 409,
    ...json({ error: { code: 'quota_exceeded', message: 'Your plan allows 3 projects', limit: 3, status: 409 } }),
    gives: {
      content: text('409 Conflict: Your plan allows 3 projects (quota_exceeded)\n{"error":{"limit":3}}'),
      isError: true
    }
  },
  {
    title: 'and be all of it',
    status: 409,
    ...json({ error: { code: 'quota_exceeded', message: 'Your plan allows 3 projects' } }),
    gives: { content: text('409 Conflict: Your plan allows 3 projects (quota_exceeded)'), isError: true }
  },
  {
    title: 'several messages are one',
    tool: plain,
    status: 400,
    ...json({ statusCode: 400, error: 'Bad Request', message: ['body/name must be a string', 'age must be positive'] }),
    gives: { content: text('400 Bad Request: name must be a string; age must be positive'), isError: true }
  },
  {
    title: 'a code may be a number, and what the sentence does not say is kept',
    status: 409,
    ...json({ code: 4711, message: 'x', type: 'E_LIMIT', title: 'zzz', status: 'failed' }),
    gives: {
      content: text('409 Conflict: x (4711)\n{"type":"E_LIMIT","title":"zzz","status":"failed"}'),
      isError: true
    }
  },
  {
    title: 'so are messages that are no texts',
    status: 422,
    ...json({ message: [{ field: 'name' }], error: {}, code: '' }),
    gives: { content: text('422 Unprocessable Entity\n{"message":[{"field":"name"}],"code":""}'), isError: true }
  },
  ...([
    [{ title: 'Taken' }, ': Taken'],
    [{ title: 'Taken', detail: 'by 1' }, ': by 1\n{"title":"Taken"}'],
    [{ error: 'taken' }, ': taken'],
    [{ error: { detail: 'by 1', title: 'Taken' } }, ': by 1\n{"error":{"title":"Taken"}}'],
    [{ error: { title: 'Taken', code: 7 } }, ': Taken (7)'],
    [{ code: 'E', error: { code: 'F', message: 'x' } }, ': x (E)\n{"error":{"code":"F"}}'],
    [{ message: [] }, '\n{"message":[]}'],
    [{ message: ['a', ''] }, '\n{"message":["a",""]}'],
    [{ message: '', detail: 'x' }, ': x\n{"message":""}'],
    [{ message: 'x', status: '409', statusCode: 409 }, ': x'],
    [{ message: 'x', status: 400 }, ': x\n{"status":400}'],
    [{ message: 'x', limit: 409 }, ': x\n{"limit":409}'],
    [{ message: 'x', other: 'about:blank' }, ': x\n{"other":"about:blank"}'],
    [{ message: 'x', other: 'x' }, ': x\n{"other":"x"}'],
    [{ message: 'x', other: { message: 'x' } }, ': x\n{"other":{"message":"x"}}'],
    [{ message: 'x', type: 'about:blank', error: 'Conflict' }, ': x'],
    [{}, '']
  ] as const).map(([body, says]): Case => ({
    title: `the sentence of ${JSON.stringify(body)}`,
    status: 409,
    ...json(body),
    gives: { content: text(`409 Conflict${says}`), isError: true }
  })),
  {
    title: 'an error body that is no object',
    status: 409,
    ...json(['x']),
    gives: { content: text('409 Conflict: ["x"]'), isError: true }
  },
  {
    title: 'an error as long as one may be',
    status: 400,
    headers: { 'content-type': 'text/plain' },
    body: 'x'.repeat(3983),
    gives: { content: text(`400 Bad Request: ${'x'.repeat(3983)}`), isError: true }
  },
  {
    title: 'a longer error is cut',
    status: 400,
    headers: { 'content-type': 'text/plain' },
    body: 'x'.repeat(3984),
    gives: { content: text(`400 Bad Request: ${'x'.repeat(3983)}…`), isError: true }
  },
  {
    title: 'what is nested too deeply to be written is left out',
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: `{"message":"bad","code":"E","a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    gives: { content: text('400 Bad Request: bad (E)'), isError: true }
  },
  {
    title: 'so are errors in errors',
    status: 400,
    headers: { 'content-type': 'application/json' },
    body: `{"message":"bad","error":${'{"error":'.repeat(20_000)}1${'}'.repeat(20_000)}}`,
    gives: { content: text('400 Bad Request: bad'), isError: true }
  },
  {
    title: 'an error in plain text',
    status: 400,
    headers: { 'content-type': 'text/plain' },
    body: 'no',
    gives: { content: text('400 Bad Request: no'), isError: true }
  },
  {
    title: 'an error page is not passed on',
    status: 400,
    headers: { 'content-type': 'text/html' },
    body: '<h1>',
    gives: { content: text('400 Bad Request'), isError: true }
  },
  {
    title: 'when to retry is passed on',
    status: 429,
    ...json({ message: 'slow down' }, { 'retry-after': '30' }),
    gives: {
      content: text('429 Too Many Requests: slow down', 'retry-after: 30'),
      isError: true,
      _meta: { 'mcp-from-routes/headers': { 'retry-after': '30' } }
    }
  },
  {
    title: 'a status without a name is its number alone',
    status: 599,
    gives: { content: text('The route failed with status 599. The request id is req-7.'), isError: true }
  },
  { title: 'also of a success', status: 299, gives: { content: text('299: done, and there is nothing to return.') } },
  {
    title: 'of one that was not promised',
    tool: object,
    status: 299,
    body: 'x',
    gives: {
      content: text(
        `${UNDECLARED} 299 with a body without a content type, for which it has no 2xx response schema.`,
        'x'
      ),
      isError: true
    }
  },
  {
    title: 'of a redirect',
    status: 399,
    gives: { content: text('The route answered 399, and nothing else.'), isError: true }
  },
  {
    title: 'and of a refusal',
    status: 499,
    ...json({ message: 'x' }),
    gives: { content: text('499: x'), isError: true }
  },
  {
    title: 'so it is for a route that fails, and each header has its line',
    status: 503,
    headers: { 'retry-after': '30', 'content-range': 'x' },
    gives: {
      content: text(
        'The route failed with status 503 Service Unavailable. The request id is req-7.',
        'content-range: x\nretry-after: 30'
      ),
      isError: true,
      _meta: { 'mcp-from-routes/headers': { 'content-range': 'x', 'retry-after': '30' } }
    }
  },
  {
    title: '5xx tells the request id and nothing else',
    status: 500,
    ...json({ message: 'password of db is x' }),
    gives: {
      content: text('The route failed with status 500 Internal Server Error. The request id is req-7.'),
      isError: true
    }
  }
]

const allowed = [
  ['an enum', 'querystring/sort must be equal to one of the allowed values', 'sort must be one of "name", "-name"'],
  ['a constant', 'params/kind must be equal to constant', 'kind must be one of 1'],
  [
    'constants as alternatives, once',
    'body/size must be equal to constant, body/size must be equal to constant, body/size must match a schema in ' +
    'anyOf, body/name must be string',
    'size must be one of "s", "l", null, name must be string'
  ],
  [
    'an enum in an item of a definition',
    'body/list/7/a~1b must be equal to one of the allowed values',
    'list/7/a/b must be one of true'
  ],
  ['an item of a tuple', 'body/pair/1 must be equal to constant', 'pair/1 must be one of "y"'],
  [
    'many values',
    'body/many must be equal to one of the allowed values',
    `many must be one of ${Array.from({ length: 50 }, (_, i) => i).join(', ')}, …`
  ],
  [
    'fifty values',
    'body/fifty must be equal to one of the allowed values',
    `fifty must be one of ${Array.from({ length: 50 }, (_, i) => i).join(', ')}`
  ],
  ['none where the value has another type', 'querystring/sort must be string', 'sort must be string'],
  [
    'an item of what may be an object, too',
    'body/both/0 must be equal to constant, body/both/a must be equal to constant',
    'both/0 must be one of 2, both/a must be one of 1'
  ],
  [
    'constants and lists as alternatives',
    'body/either must match exactly one schema in oneOf',
    'either must be one of "s", "l", "m"'
  ],
  ['an item behind a tuple', 'body/pair/2 must be equal to one of the allowed values', 'pair/2 must be one of "z"'],
  ['a name with a tilde', 'body/a~0b must be equal to constant', 'a~b must be one of 7'],
  [
    'no values that are known',
    'body/open must match a schema in anyOf, body/nothing must be equal to constant',
    'open must match a schema in anyOf, nothing must be equal to constant'
  ]
] as const
const choosing = toolFromRoute({
  method: 'PUT',
  url: '/:kind',
  config: {},
  constraints: {},
  websocket: false,
  keepsToSchema: true,
  shared: {
    Item: {
      $id: 'Item',
      type: 'object',
      properties: { 'a/b': { enum: [true] }, kids: { type: 'array', items: { $ref: '#' } } }
    }
  },
  schema: {
    operationId: 'a',
    description: 'A.',
    params: { type: 'object', properties: { kind: { const: 1 } } },
    querystring: { type: 'object', properties: { sort: { type: 'string', enum: ['name', '-name'] } } },
    body: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        size: { anyOf: [{ const: 's' }, { const: 'l' }, { type: 'null' }] },
        list: { type: 'array', items: { $ref: 'Item#' } },
        either: { oneOf: [{ const: 's' }, { enum: ['l', 'm'] }] },
        'a~b': { const: 7 },
        pair: { type: 'array', items: [{ const: 'x' }, { const: 'y' }], additionalItems: { enum: ['z'] } },
        many: { enum: Array.from({ length: 60 }, (_, i) => i) },
        fifty: { enum: Array.from({ length: 50 }, (_, i) => i) },
        both: { properties: { a: { const: 1 } }, items: { const: 2 } },
        open: { anyOf: [{ const: 1 }, { type: 'string' }] }
      }
    }
  }
}, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1 })

for (const [title, message, says] of allowed) {
  t.test(`the values that are allowed are named: ${title}`, async (t) => {
    const result = resultFromResponse(choosing, { statusCode: 400, ...json({ message }) }, CONTEXT)
    t.strictSame(result.content, text(`400 Bad Request: ${says}`))
  })
}

const renamed = toolFromRoute({
  method: 'POST',
  url: '/',
  config: {
    mcp: {
      arguments: {
        querystring: { name: { name: 'label' } },
        body: { name: { name: 'title' }, size: { name: 'width' } }
      }
    }
  },
  constraints: {},
  websocket: false,
  keepsToSchema: true,
  shared: {},
  schema: {
    operationId: 'a',
    description: 'A.',
    querystring: { type: 'object', properties: { name: {}, limit: {} } },
    body: { type: 'object', properties: { name: {}, size: {}, color: {} } }
  }
}, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1 })
const fixed = toolFromRoute({
  method: 'PATCH',
  url: '/:id',
  config: { mcp: { arguments: { body: { name: { value: 'a' } } } } },
  constraints: {},
  websocket: false,
  keepsToSchema: true,
  shared: {},
  schema: {
    operationId: 'a',
    description: 'A.',
    body: { type: 'object', properties: { name: {}, size: {}, color: {} }, minProperties: 2 }
  }
}, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1 })
const names: Array<[from: Tool, message: string, says: string]> = [
  [renamed, 'body/name must be string, querystring/name must be string', 'title must be string, label must be string'],
  [
    renamed,
    "body must have required property 'name', querystring must have required property 'name'",
    "arguments must have required property 'title', arguments must have required property 'label'"
  ],
  [renamed, "body must have required property 'other'", "arguments must have required property 'other'"],
  [
    renamed,
    'body must have properties name, color when property size is present',
    'arguments must have properties title, color when property width is present'
  ],
  [
    renamed,
    'body must have property name when property color is present',
    'arguments must have property title when property color is present'
  ],
  [renamed, 'body/name must be string, querystring must be object', 'title must be string, arguments must be object'],
  [renamed, 'nobody/name and anybody must know', 'nobody/name and anybody must know'],
  [renamed, 'body must NOT have fewer than 1 properties', 'arguments must have at least one of title, width, color'],
  [
    renamed,
    'body must NOT have fewer than 2 properties, querystring must NOT have fewer than 1 properties',
    'arguments must have at least 2 of title, width, color, arguments must have at least one of label, limit'
  ],
  [renamed, 'body/name must NOT have fewer than 1 properties', 'title must NOT have fewer than 1 properties'],
  [fixed, 'body must NOT have fewer than 2 properties', 'arguments must have at least one of size, color'],
  [whole, 'body must NOT have fewer than 1 properties', 'body must NOT have fewer than 1 properties'],
  [
    whole,
    'body must NOT have more than 1 properties, body must match a schema in anyOf',
    'body must NOT have more than 1 properties, body must match a schema in anyOf'
  ],
  [whole, "body must have required property 'name'", "body must have required property 'name'"],
  [whole, "params must have required property 'id'", "arguments must have required property 'id'"],
  [whole, 'params must be object', 'arguments must be object']
]
for (const [from, message, says] of names) {
  t.test(`in names of arguments: ${says}`, async (t) => {
    t.strictSame(
      resultFromResponse(from, { statusCode: 400, ...json({ message }) }, CONTEXT).content,
      text(`400 Bad Request: ${says}`)
    )
  })
}

t.test('a very long error is read no further than to twice the length that is passed on', async (t) => {
  const body = 'querystring/a,'.repeat(1000)
  const result = resultFromResponse(
    plain,
    { statusCode: 400, headers: { 'content-type': 'text/plain' }, body },
    CONTEXT
  )
  t.strictSame(result.content, text(`400 Bad Request: ${body}`.slice(0, 8000).replaceAll('querystring/', '')))
})

for (
  const { title, tool: from = tool(), status = 200, headers = {}, body = '', gives, cut = false, open = '' } of cases
) {
  t.test(title, async (t) => {
    const result = resultFromResponse(from, { statusCode: status, headers, body: Buffer.from(body), cut }, {
      ...CONTEXT,
      open
    })
    t.equal(result.statusCode, status)
    t.strictSame(resultFor(result), gives)
  })
}

t.test('only a 401 or 403 with a challenge has one', async (t) => {
  for (
    const [status, headers, challenge] of [
      [401, { 'www-authenticate': 'Bearer' }, { statusCode: 401, authenticate: 'Bearer' }],
      [403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }, {
        statusCode: 403,
        authenticate: 'Bearer error="insufficient_scope"'
      }],
      [403, { 'www-authenticate': 'Bearer' }, undefined],
      [400, { 'www-authenticate': 'Bearer error="insufficient_scope"' }, undefined],
      [400, { 'www-authenticate': 'Bearer' }, undefined],
      [500, { 'www-authenticate': 'Bearer' }, undefined],
      [401, {}, undefined]
    ] as const
  ) t.strictSame(resultFromResponse(plain, { statusCode: status, headers, body: '' }, CONTEXT).challenge, challenge)
})
