import t from 'tap'
import { forwardedNames } from '../src/call/headers.ts'
import { isRefusal, requestFromCall } from '../src/call/request.ts'
import type { InnerRequest } from '../src/types.ts'
import { toolFromRoute, type Tool } from '../src/tool/tool.ts'

function tool (
  method: string,
  url: string,
  schema: Record<string, unknown> = {},
  constraints: Record<string, unknown> = {}
): Tool {
  const route = {
    method,
    url,
    schema: { operationId: 'a', description: 'A.', ...schema },
    config: {},
    constraints,
    websocket: false,
    keepsToSchema: true,
    shared: {}
  }
  return toolFromRoute(route, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1 })
}

const CALLER = { headers: { host: 'api.example.com' }, forwardHeaders: new Set<string>(), maxParamLength: 100 }
const get = tool('GET', '/shops/:shop/things/:id')
const list = tool('GET', '/things', {
  querystring: {
    type: 'object',
    properties: { q: { type: 'string' }, ids: { type: 'array' }, filter: { type: 'object' }, 'a b': {} }
  }
})
const defaults = tool('GET', '/things', {
  querystring: {
    type: 'object',
    properties: { ids: { type: 'array', default: [] }, some: { type: 'array', default: ['a'] } }
  }
})
const objects = tool('GET', '/things', {
  querystring: {
    type: 'object',
    properties: {
      a: { type: 'object', nullable: true },
      b: { oneOf: [{ type: 'object' }, { type: 'null' }] },
      c: { allOf: [{ type: 'object' }, {}] },
      d: { anyOf: [{ type: 'object' }, { type: 'array' }] }
    }
  }
})
const put = tool('PUT', '/things/:id', { body: { type: 'object', properties: { name: { type: 'string' }, more: {} } } })
const whole = tool('POST', '/things', { body: { type: 'array' } })
const needy = tool('PUT', '/things/:id', {
  querystring: { type: 'object', properties: { q: { type: 'array' } }, required: ['q'] },
  body: { type: 'object', properties: { name: { type: 'string' }, more: {} }, required: ['name'] }
})
const twice = toolFromRoute({
  method: 'PUT',
  url: '/things/:id',
  schema: {
    operationId: 'a',
    description: 'A.',
    body: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string' } }, required: ['id'] }
  },
  config: { mcp: { arguments: { body: { id: { name: 'id' } } } } },
  constraints: {},
  websocket: false,
  keepsToSchema: true,
  shared: {}
}, { exposedTag: 'mcp', forwardHeaders: [], maxResultBytes: 1 })
const optional = tool('GET', '/a/:b?')
const range = tool('GET', '/near/:lat-:lng/at::now/:hour(^\\d{2})h.:kind')

const requests: Array<{ title: string, tool: Tool, args: Record<string, unknown>, url: string, body?: string }> = [
  {
    title: 'path values are encoded',
    tool: get,
    args: { shop: 'a/b', id: 'ü ?#%2e' },
    url: '/shops/a%2Fb/things/%C3%BC%20%3F%23%252e'
  },
  {
    title: 'a path value as long as the router takes',
    tool: get,
    args: { shop: 'x'.repeat(100), id: 1 },
    url: `/shops/${'x'.repeat(100)}/things/1`
  },
  { title: 'numbers and booleans in the path', tool: get, args: { shop: 7, id: false }, url: '/shops/7/things/false' },
  {
    title: 'parts of a path segment',
    tool: range,
    args: { lat: '1.5', lng: 2, hour: '09', kind: 'x' },
    url: '/near/1.5-2/at:now/09h.x'
  },
  { title: 'an optional parameter given', tool: optional, args: { b: 'x' }, url: '/a/x' },
  { title: 'an optional parameter left out', tool: optional, args: {}, url: '/a' },
  {
    title: 'the query string is encoded',
    tool: list,
    args: { q: 'a&b=c d', 'a b': 'é' },
    url: '/things?q=a%26b%3Dc%20d&a%20b=%C3%A9'
  },
  {
    title: 'an array repeats its name',
    tool: list,
    args: { ids: ['a', 1, true] },
    url: '/things?ids=a&ids=1&ids=true'
  },
  {
    title: 'an object is its JSON text',
    tool: list,
    args: { filter: { price: { gt: 5 } } },
    url: '/things?filter=%7B%22price%22%3A%7B%22gt%22%3A5%7D%7D'
  },
  {
    title: 'an array where an object belongs is JSON text',
    tool: list,
    args: { filter: [{ a: 1 }] },
    url: '/things?filter=%5B%7B%22a%22%3A1%7D%5D'
  },
  { title: 'so is an empty one', tool: list, args: { filter: [] }, url: '/things?filter=%5B%5D' },
  {
    title: 'also beside null, or in alternatives',
    tool: objects,
    args: { a: [], b: [], c: [] },
    url: '/things?a=%5B%5D&b=%5B%5D&c=%5B%5D'
  },
  { title: 'an empty array is left out where the default is one', tool: defaults, args: { ids: [] }, url: '/things' },
  { title: 'null is left out of the query string', tool: list, args: { q: null }, url: '/things' },
  {
    title: 'body fields are collected, and null stays',
    tool: put,
    args: { id: '1', name: 'n', more: null },
    url: '/things/1',
    body: '{"name":"n","more":null}'
  },
  { title: 'a body without fields is an empty object', tool: put, args: { id: '1' }, url: '/things/1', body: '{}' },
  { title: 'a whole body', tool: whole, args: { body: [1, { a: 2 }] }, url: '/things', body: '[1,{"a":2}]' }
]

for (const { title, tool, args, url, body } of requests) {
  t.test(title, async (t) => {
    const request = requestFromCall(tool, args, CALLER)
    t.match(request, { method: tool.public.route.method, url })
    t.equal((request as InnerRequest).body, body)
    t.strictSame((request as InnerRequest).headers, {
      accept: 'application/json, */*;q=0.8',
      host: 'api.example.com',
      ...body !== undefined && { 'content-type': 'application/json' }
    })
  })
}

const deep = JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))
const refusals: Array<{ title: string, tool: Tool, args: Record<string, unknown>, says: string }> = [
  {
    title: 'an unknown argument',
    tool: list,
    args: { q: 'x', limit: 1 },
    says: 'Unknown argument "limit". This tool takes q, ids, filter, a b'
  },
  {
    title: 'several unknown arguments',
    tool: tool('GET', '/x'),
    args: { a: 1, b: 2 },
    says: 'Unknown arguments "a", "b". This tool takes no arguments'
  },
  {
    title: 'all that is wrong at once',
    tool: get,
    args: { shop: '..', x: 1 },
    says: 'Unknown argument "x". This tool takes shop, id\nshop must not be ".."\nid is missing'
  },
  {
    title: 'and what else a call lacks',
    tool: needy,
    args: { x: 1 },
    says: 'Unknown argument "x". This tool takes id, q, name, more\nid is missing\nq is missing\nname is missing'
  },
  {
    title: 'in the body as in the query string',
    tool: needy,
    args: { id: '1', q: [null], more: Infinity, '': 1 },
    says: 'Unknown argument "". This tool takes id, q, name, more\nq must not hold null, which a query string ' +
      'cannot\nname is missing\nmore is too large for a number. Send it as a string, if this tool takes one'
  },
  {
    title: 'an argument with two places once',
    tool: twice,
    args: { x: 1 },
    says: 'Unknown argument "x". This tool takes id, name\nid is missing'
  },
  {
    title: 'an unknown argument with a long name',
    tool: tool('GET', '/x'),
    args: { [`${'x'.repeat(198)}\u{1f600}yy`]: 1 },
    says: `Unknown argument "${'x'.repeat(198)}…". This tool takes no arguments`
  },
  {
    title: 'ten unknown arguments',
    tool: tool('GET', '/x'),
    args: Object.fromEntries([...'abcdefghij'].map((name) => [name, 1])),
    says: 'Unknown arguments "a", "b", "c", "d", "e", "f", "g", "h", "i", "j". This tool takes no arguments'
  },
  {
    title: 'more unknown arguments',
    tool: tool('GET', '/x'),
    args: Object.fromEntries([...'abcdefghijk'].map((name) => [name, 1])),
    says: 'Unknown arguments "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", …. This tool takes no arguments'
  },
  {
    title: 'an unknown argument whose name is just not too long',
    tool: tool('GET', '/x'),
    args: { ['x'.repeat(200)]: 1 },
    says: `Unknown argument "${'x'.repeat(200)}". This tool takes no arguments`
  },
  {
    title: '__proto__',
    tool: list,
    args: JSON.parse('{"__proto__":{"q":"x"}}'),
    says: 'Unknown argument "__proto__". This tool takes q, ids, filter, a b'
  },
  {
    title: 'constructor',
    tool: list,
    args: { constructor: 1 },
    says: 'Unknown argument "constructor". This tool takes q, ids, filter, a b'
  },
  {
    title: 'a header',
    tool: list,
    args: { authorization: 'Bearer x' },
    says: 'Unknown argument "authorization". This tool takes q, ids, filter, a b'
  },
  { title: 'a missing path value', tool: get, args: { shop: 'a' }, says: 'id is missing' },
  {
    title: 'a missing path value before an optional one',
    tool: tool('GET', '/x/:a/:b?'),
    args: {},
    says: 'a is missing'
  },
  { title: 'an inherited path value', tool: tool('GET', '/:toString'), args: {}, says: 'toString is missing' },
  { title: 'an empty path value', tool: get, args: { shop: '', id: 'x' }, says: 'shop must not be empty' },
  { title: 'a dot', tool: get, args: { shop: '.', id: 'x' }, says: 'shop must not be "."' },
  { title: 'two dots', tool: get, args: { shop: '..', id: 'x' }, says: 'shop must not be ".."' },
  {
    title: 'a path value longer than the router takes',
    tool: get,
    args: { shop: 'x'.repeat(101), id: 'x' },
    says: 'shop must not be longer than 100 characters'
  },
  {
    title: 'an object in the path',
    tool: get,
    args: { shop: { toString: 'x' }, id: 'x' },
    says: 'shop must be a string, a number or a boolean'
  },
  {
    title: 'null in the path',
    tool: get,
    args: { shop: null, id: 'x' },
    says: 'shop must be a string, a number or a boolean'
  },
  {
    title: 'half a surrogate pair in the path',
    tool: get,
    args: { shop: '\ud800', id: 'x' },
    says: 'shop is not valid Unicode'
  },
  {
    title: 'half a surrogate pair in the query string',
    tool: list,
    args: { q: '\udfff' },
    says: 'q is not valid Unicode'
  },
  {
    title: 'an empty array in the query string',
    tool: list,
    args: { ids: [] },
    says: 'ids must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
  },
  {
    title: 'an empty array for a text',
    tool: list,
    args: { q: [] },
    says: 'q must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
  },
  {
    title: 'an empty array where an object or an array belongs',
    tool: objects,
    args: { d: [] },
    says: 'd must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
  },
  {
    title: 'an empty array where the default is another',
    tool: defaults,
    args: { some: [] },
    says: 'some must not be an empty array, which a query string cannot hold. Leaving it out may mean something else'
  },
  {
    title: 'an array of null in the query string',
    tool: list,
    args: { ids: [null] },
    says: 'ids must not hold null, which a query string cannot'
  },
  {
    title: 'an array with null between others',
    tool: list,
    args: { ids: ['x', null, 'y'] },
    says: 'ids must not hold null, which a query string cannot'
  },
  { title: 'a body nested too deeply', tool: whole, args: { body: deep }, says: 'The arguments are nested too deeply' },
  {
    title: 'a BigInt of the parser of the host in the body',
    tool: whole,
    args: { body: { id: 1n } },
    says: 'The arguments hold an integer that is too large for JSON. Send it as a string'
  },
  {
    title: 'a query value nested too deeply',
    tool: list,
    args: { filter: { deep } },
    says: 'filter is nested too deeply'
  }
]

for (const { title, tool, args, says } of refusals) {
  t.test(`refused: ${title}`, async (t) => {
    const request = requestFromCall(tool, args, CALLER)
    t.ok(isRefusal(request))
    t.strictSame(request, { refusal: says })
  })
}

t.test('of the headers only those named and those of identity travel', async (t) => {
  const travelling = {
    'user-agent': 'agent/1',
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'shop.example.com',
    'x-forwarded-port': '443',
    'x-real-ip': '203.0.113.9',
    forwarded: 'for=203.0.113.9',
    authorization: 'Bearer a',
    'x-api-key': 'k'
  }
  const others = {
    ':authority': 'api.example.com',
    cookie: 'session=1',
    'accept-encoding': 'gzip',
    'if-none-match': '"1"',
    'content-length': '999',
    connection: 'keep-alive',
    'mcp-protocol-version': '2026-07-28'
  }
  const headers = { ...travelling, ...others, baggage: ['a=1', 'b=2'] }
  const versioned = tool('GET', '/v', {}, { version: '1.2.0' })
  t.strictSame(
    (requestFromCall(versioned, {}, {
      ...CALLER,
      headers,
      forwardHeaders: forwardedNames(['authorization', 'x-api-key', 'traceparent', 'baggage'])
    }) as InnerRequest).headers,
    {
      accept: 'application/json, */*;q=0.8',
      ...travelling,
      baggage: 'a=1, b=2',
      host: 'api.example.com',
      'accept-version': '1.2.0'
    }
  )
})
