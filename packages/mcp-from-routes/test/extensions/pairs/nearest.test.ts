import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { search } from '../../../src/extensions/search/index.ts'
import { sets } from '../../../src/extensions/sets/index.ts'
import { editsBetween } from '../../../../../shared/nearest.ts'
import { nearestOf } from '../../../src/endpoint/nearest.ts'
import type { ToolAccess } from '../../../src/index.ts'
import type { Tool } from '../../../src/model.ts'
import { call, listen, post } from '../../build.ts'

/* An unknown name is answered with the tool that may be meant, if the caller may use it. */

const named = (...names: readonly string[]): readonly Tool[] =>
  names.map((name) => ({ public: { name } }) as unknown as Tool)

const cases: ReadonlyArray<readonly [asked: string, tools: readonly string[], nearest: readonly string[]]> = [
  ['creat_note', ['create_note', 'delete_note'], ['create_note']],
  ['create_ntoe', ['create_note'], ['create_note']],
  ['createNote', ['create_note'], ['create_note']],
  ['create-note', ['create_note'], ['create_note']],
  ['create_notes', ['create_note', 'create_notes_2'], ['create_note', 'create_notes_2']],
  ['list_tags', ['list_tabs', 'list_tag', 'get_tag'], ['list_tabs', 'list_tag']],
  ['remove_note', ['create_note'], []],
  ['b', ['a'], []],
  ['', ['a'], []],
  ['__', ['a'], []],
  ['create_note'.repeat(10), ['create_note'], []],
  ['𝒄reate_note', ['create_note'], ['create_note']]
]
for (const [asked, tools, nearest] of cases) {
  t.test(`${asked.slice(0, 20)} of ${tools.join(', ')}`, async (t) => {
    t.strictSame(nearestOf(named(...tools), asked).map(({ public: { name } }) => name), nearest)
  })
}

t.test('edits are counted as far as they matter', async (t) => {
  t.equal(editsBetween('kitten', 'sitting', 3), 3)
  t.equal(editsBetween('kitten', 'sitting', 2), 3)
  t.equal(editsBetween('ab', 'ba', 2), 1)
  t.equal(editsBetween('', 'abc', 3), 3)
})

const NAMES = ['create_note', 'create_notes', 'delete_note', 'list_notes']

function routes (app: FastifyInstance): void {
  for (const name of NAMES) {
    const schema = { operationId: name, description: name, tags: ['mcp', name === 'list_notes' ? 'lists' : 'notes'] }
    app.get(`/${name}`, { schema }, async () => ({}))
  }
}

async function unknown (url: URL, name: string, modern = false): Promise<string> {
  const params = {
    name,
    ...modern && {
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'a', version: '1' }
      }
    }
  }
  const headers = modern
    ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
    : {}
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
  const { error } = body as { error: { code: number, message: string } }
  t.equal(error.code, -32602)
  return error.message
}

t.test('the error names the nearest tool of the endpoint, in both revisions', async (t) => {
  const { url } = await listen(t, routes, {
    extensions: [sets({ lists: { path: '/mcp/lists', tags: ['lists'] } }), search({ path: '/mcp/search' })]
  })
  for (const modern of [false, true]) {
    t.equal(await unknown(url, 'creat_note', modern), 'Unknown tool: creat_note. Did you mean create_note?')
    t.equal(await unknown(url, 'pay_invoice', modern), 'Unknown tool: pay_invoice')
    t.equal(await unknown(new URL('/mcp/lists', url), 'creat_note', modern), 'Unknown tool: creat_note')
  }
  const searched = new URL('/mcp/search', url)
  t.match(await call(searched, 'call_reading_tool', { name: 'list_note' }), {
    content: [{ text: 'Unknown tool: list_note. Did you mean list_notes? Find tools with search_tools' }]
  })
  t.match(await call(searched, 'describe_tools', { names: ['list_note'] }), {
    content: [{ text: 'Unknown tool: list_note. Did you mean list_notes? Find tools with search_tools' }]
  })
})

t.test('what is offered depends on nothing that the caller cannot see', async (t) => {
  /** What an application says whose caller sees these, and one that has no others. */
  const said = async (access: Readonly<Record<string, ToolAccess>>, isThere: boolean): Promise<readonly unknown[]> => {
    const asked: string[] = []
    const { url } = await listen(t, (app) => {
      for (const name of NAMES.filter((name) => isThere || access[name] === true)) {
        app.get(`/${name}`, { schema: { operationId: name, description: name, tags: ['mcp'] } }, async () => ({}))
      }
    }, {
      canUse: ({ name }) => {
        asked.push(name)
        return access[name] ?? false
      }
    })
    const texts: string[] = []
    for (const name of ['create_note', 'creat_note', 'create_notess', 'delete_notes', 'constructor']) {
      asked.length = 0
      if (access[name] === true) continue
      texts.push(await unknown(url, name))
      t.ok(asked.length > 0 && asked.length <= NAMES.length, `${name}: no more than for a list`)
    }
    return texts
  }
  for (
    const access of [
      { create_notes: true, list_notes: true },
      { list_notes: true },
      { delete_note: true, list_notes: true },
      { create_note: false, delete_note: true, list_notes: true, create_notes: false }
    ] as const
  ) t.strictSame(await said(access, true), await said(access, false), JSON.stringify(access))
})

t.test('a tool that is not listed is not offered', async (t) => {
  const { url } = await listen(t, routes, { canUse: ({ name }) => name === 'create_note' ? 'unlisted' : true })
  t.equal(await unknown(url, 'creat_note'), 'Unknown tool: creat_note. Did you mean create_notes?')
})

t.test('if canUse throws, the client gets an internal error', async (t) => {
  const { url } = await listen(t, routes, {
    canUse: () => {
      throw new Error('secret')
    }
  })
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'creat_note' } })
  t.strictSame(body, { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Internal error' } })
})
