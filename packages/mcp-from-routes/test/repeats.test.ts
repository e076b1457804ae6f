import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { fencesOf } from '../../../test/docs/fences.ts'
import type { ToolCallEvent } from '../src/index.ts'
import { build, call, listen, post } from './build.ts'
import { logs } from './logs.ts'
import { runProgram } from './program.ts'

/* Writes that may be repeated: what an agent is told when it cannot know what became of one. */

const LOOK = 'The call may have been carried out: check before you try again.'
const again = (argument: string): string =>
  `The call may have been carried out. To be sure, call again with the same arguments, ${argument} included: it is ` +
  'not carried out twice.'

/** A tool whose route ends as its argument says, and takes a key under a name of its own. */
function order (
  header: string,
  method: 'GET' | 'POST' = 'POST',
  description?: string
): (app: FastifyInstance) => void {
  return (app) => {
    app.route<{ Querystring: { end?: string } }>({
      method,
      url: '/orders',
      schema: {
        operationId: 'order',
        description: 'Order.',
        tags: ['mcp'],
        headers: { type: 'object', properties: { [header]: { type: 'string' } } },
        querystring: { type: 'object', properties: { end: { type: 'string' } } }
      },
      config: {
        mcp: {
          arguments: { headers: { [header]: { name: 'own_key', ...description !== undefined && { description } } } }
        }
      },
      handler: async ({ query: { end } }, reply) => {
        if (end === 'late') await once(reply.raw, 'close')
        if (end === 'broken') reply.raw.destroy()
        if (end === 'moved') return reply.redirect('/elsewhere', 303)
        if (end === 'invalid') return reply.code(400).send({ message: 'Not that' })
        if (end === 'large') return { text: 'x'.repeat(3000) }
        throw new Error('x')
      }
    })
  }
}

async function told (url: URL, args: object, more: object = {}): Promise<string> {
  const params = { name: 'order', arguments: args, ...more }
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const [{ text }] = (body as { result: { content: [{ text: string }] } }).result.content
  return text.replace(/ The request id is \S+\.$/, '')
}

for (const header of ['Idempotency-Key', 'X-Idempotency-Key']) {
  t.test(`a call with a key can be repeated, and one without cannot: ${header}`, async (t) => {
    const { url } = await listen(t, order(header), { toolTimeout: 50, maxResultBytes: 2000 })
    for (const more of [{}, { extra: 1 }]) {
      for (
        const [args, said] of [[{ own_key: 'k' }, again('own_key')], [{}, LOOK], [{ own_key: null }, LOOK]] as const
      ) {
        t.equal(await told(url, { ...args, end: 'late' }, more), `The route did not answer within 50 ms. ${said}`)
        t.equal(await told(url, { ...args, end: 'broken' }, more), `The route did not answer. ${said}`)
        t.equal(await told(url, args, more), `The route failed with status 500 Internal Server Error. ${said}`)
        t.equal(
          await told(url, { ...args, end: 'moved' }, more),
          `The route answered 303 See Other and points to /elsewhere, which is not followed. ${said}`
        )
        t.equal(await told(url, { ...args, end: 'invalid' }, more), '400 Bad Request: Not that')
        t.match(await told(url, { ...args, end: 'large' }, more), /^The call succeeded, so do not repeat it\./)
      }
    }
  })
}

t.test('only a key makes a write safe to repeat, and a tool that reads is safe without', async (t) => {
  const { url } = await listen(t, order('If-Match'))
  t.equal(await told(url, { own_key: 'k' }), `The route failed with status 500 Internal Server Error. ${LOOK}`)
  const { url: reading } = await listen(t, order('Idempotency-Key', 'GET'))
  t.equal(await told(reading, { own_key: 'k' }), 'The route failed with status 500 Internal Server Error.')
})

const LONG = "body must have required property 'x'. ".repeat(300)

for (
  const [title, body, said] of [
    [
      'beside what the route says',
      {
        statusCode: 412,
        code: 'E_CHANGED',
        error: 'Precondition Failed',
        message: 'It has changed',
        current: { a: 1 }
      },
      '412 Precondition Failed: It has changed (E_CHANGED)\n{"current":{"a":1}}'
    ],
    [
      'whole, where it is long, and in its own words',
      { message: 'It has changed', current: { text: LONG } },
      `412 Precondition Failed: It has changed\n${JSON.stringify({ current: { text: LONG } })}`
    ],
    [
      'in a problem of RFC 9457',
      { type: 'about:blank', title: 'Changed', status: 412, detail: 'It has changed', current: { a: 1 } },
      '412 Precondition Failed: It has changed\n{"title":"Changed","current":{"a":1}}'
    ],
    [
      'as the body itself, whose title and code are none of an error',
      { title: 'Mug', code: 'M-1', status: 'draft' },
      '412 Precondition Failed\n{"title":"Mug","code":"M-1","status":"draft"}'
    ],
    [
      'not at all, so that it has to be read',
      undefined,
      '412 Precondition Failed: if_match does not hold. Read the record again before you decide what to do'
    ],
    ['not at all, in the words of the route', 'Somebody was faster', '412 Precondition Failed: Somebody was faster']
  ] as const
) {
  t.test(`after a 412 the model reads the record as it is now: ${title}`, async (t) => {
    const events: ToolCallEvent[] = []
    const { url } = await listen(t, (app) => {
      app.put('/things', {
        schema: {
          operationId: 'put_thing',
          description: 'P.',
          tags: ['mcp'],
          headers: { type: 'object', properties: { 'if-match': { type: 'string' } } }
        },
        config: { mcp: { arguments: { headers: { 'if-match': { name: 'if_match' } } } } }
      }, async (_, reply) => reply.code(412).header('etag', '"2"').send(body))
    }, {
      resultHeaders: ['etag'],
      onToolCall: (event) => {
        events.push(event)
      }
    })
    const { content, isError, structuredContent } = await call(url, 'put_thing', { if_match: '"1"' })
    t.strictSame(content, [{ type: 'text', text: said }, { type: 'text', text: 'etag: "2"' }])
    t.strictSame([isError, structuredContent], [true, undefined])
    t.equal(events[0]?.error, said.length > 4001 ? `${said.slice(0, 4001)}…` : said)
  })
}

for (
  const [header, resultHeaders, tools] of [
    ['If-Match', undefined, ['order']],
    ['If-None-Match', ['link'], ['order']],
    ['If-Match', ['ETag'], undefined],
    ['Idempotency-Key', undefined, undefined]
  ] as const
) {
  t.test(`the log names tools that take an ETag which no result shows: ${header}, ${resultHeaders}`, async (t) => {
    const { lines, logger } = logs('info')
    const app = await build(t, order(header), { ...resultHeaders && { resultHeaders } }, { logger })
    await app.ready()
    t.strictSame(lines.find(({ msg }) => /^these tools take the ETag/.test(String(msg)))?.tools, tools)
  })
}

t.test('a 412 ends where results do', async (t) => {
  const { url } = await listen(t, (app) => {
    app.put(
      '/things',
      { schema: { operationId: 'put_thing', description: 'P.', tags: ['mcp'] } },
      async (_, reply) => reply.code(412).send({ message: 'It has changed', current: LONG })
    )
  }, { maxResultBytes: 5000 })
  const { content: [{ text }] } = await call(url, 'put_thing') as unknown as { content: [{ text: string }] }
  t.equal(text.length, 5001)
})

t.test('the example of the documentation', async (t) => {
  const line = await runProgram(t, 'repeats')
  const url = new URL('/mcp', / at (\S+)\/mcp$/.exec(line)?.[1])
  const note = { text: 'Water the plants', idempotency_key: 'k-1' }
  const page = readFileSync(new URL('../docs/results.md', import.meta.url), 'utf8')
  const documented: unknown = JSON.parse(fencesOf(page)[0]!.text)
  for (let times = 0; times < 2; times++) {
    t.strictSame(await call(url, 'create_note', note), documented)
  }
  t.match(await call(url, 'create_note', { ...note, text: 'Buy milk' }), {
    content: [{ text: '422 Unprocessable Entity: This key belongs to another note' }]
  })
  t.match(await call(url, 'create_note', { text: 'Buy milk', idempotency_key: 'k-2' }), {
    structuredContent: { id: '2' }
  })
  const change = { id: '1', text: 'Water them today', if_match: '"1"' }
  t.match(await call(url, 'change_note', change), { content: [{}, { text: 'etag: "2"' }] })
  t.match(await call(url, 'change_note', change), {
    content: [{
      text: '412 Precondition Failed: Somebody changed it\n' +
        '{"current":{"id":"1","text":"Water them today","version":2}}'
    }, { text: 'etag: "2"' }]
  })
})

t.test('the log does not name a tool whose argument is described, as where the record has its version', async (t) => {
  const { lines, logger } = logs('info')
  const app = await build(t, order('If-Match', 'POST', 'updated_at as read'), {}, { logger })
  await app.ready()
  t.strictSame(lines.filter(({ msg }) => /ETag/.test(String(msg))), [])
})
