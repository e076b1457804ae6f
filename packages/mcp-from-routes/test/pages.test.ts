import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { listen, post } from './build.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e']
const routes = (app: FastifyInstance): void => {
  for (const name of NAMES) {
    app.get(`/${name}`, { schema: { operationId: name, description: 'D.', tags: ['mcp'] } }, async () => name)
  }
}
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' }
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

interface Listed {
  readonly result?: { readonly tools: ReadonlyArray<{ readonly name: string }>, readonly nextCursor?: string }
  readonly error?: object
}

async function list (url: URL, cursor?: string, headers: Record<string, string> = {}): Promise<Listed> {
  const params = {
    ...cursor !== undefined && { cursor },
    ...headers['mcp-method'] !== undefined && { _meta: ENVELOPE }
  }
  return (await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/list', params }, headers)).body as Listed
}

/** The names on each page, by the cursors that the server gives. */
async function walk (url: URL, headers?: Record<string, string>): Promise<readonly string[]> {
  const pages: string[] = []
  for (let cursor: string | undefined;;) {
    const { result } = await list(url, cursor, headers)
    pages.push(result?.tools.map(({ name }) => name).join('') ?? '?')
    cursor = result?.nextCursor
    if (cursor === undefined || pages.length > NAMES.length) return pages
  }
}

t.test('every client that follows its cursors sees each tool once, however often and in which order pages are asked for', async (t) => {
  for (
    const [pageSize, pages] of [[1, NAMES], [2, ['ab', 'cd', 'e']], [4, ['abcd', 'e']], [5, ['abcde']], [6, [
      'abcde'
    ]]] as const
  ) {
    const { url } = await listen(t, routes, { pageSize })
    const second = (await list(url)).result?.nextCursor
    for (const headers of [{}, MODERN, {}]) t.strictSame(await walk(url, headers), pages, `${pageSize} on a page`)
    if (second !== undefined) t.equal((await list(url, second)).result?.tools[0]?.name, NAMES[pageSize])
  }
})

t.test('a cursor that a client makes up is refused, or leads to what comes after its name', async (t) => {
  const { url } = await listen(t, routes, { pageSize: 2 })
  const cursor = (text: string): string => Buffer.from(text).toString('base64url')
  for (const [name, names] of [['aa', 'bc'], ['A', 'ab'], ['d', 'e'], ['zz', '']] as const) {
    for (let times = 0; times < 2; times++) {
      t.equal((await list(url, cursor(`after ${name}`))).result?.tools.map((tool) => tool.name).join(''), names, name)
    }
  }
  for (const foreign of ['nonsense', cursor('after '), cursor('before a'), cursor('a'), `${cursor('after a')}=`]) {
    t.match(await list(url, foreign), { error: { code: -32602 } }, foreign)
  }
  t.strictSame(await walk(url), ['ab', 'cd', 'e'])
})

t.test('no client is sent what another one sees', async (t) => {
  const chosen = await listen(t, routes, {
    canUse: ({ name }, { headers }) => String(headers['x-tools']).includes(name)
  })
  for (const tools of ['ab', 'cde', 'ab', '']) t.strictSame(await walk(chosen.url, { 'x-tools': tools }), [tools])
  const properties = { shop: { type: 'string' }, user: { type: 'string' } }
  const { url } = await listen(t, (app) => {
    app.get('/shops/:shop/users/:user', {
      schema: { operationId: 'get_user', description: 'D.', tags: ['mcp'], params: { type: 'object', properties } }
    }, async () => '')
  }, {
    impliedArguments: {
      shop: ({ headers }) => headers.shop as string | undefined,
      user: ({ headers }) => headers.user as string | undefined
    }
  })
  for (const implied of [['shop'], [], ['user'], ['shop', 'user'], ['shop'], []]) {
    const { result } = await list(url, undefined, Object.fromEntries(implied.map((name) => [name, 'x'])))
    const [tool] = result?.tools as unknown as Array<{ inputSchema: { required?: readonly string[] } }>
    t.strictSame(
      tool?.inputSchema.required ?? [],
      ['shop', 'user'].filter((name) => !implied.includes(name)),
      implied.join()
    )
  }
})
