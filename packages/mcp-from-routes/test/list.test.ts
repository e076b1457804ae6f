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

const namesIn = ({ result }: Listed): string | undefined => result?.tools.map(({ name }) => name).join('')

t.test('the list is one page, and no cursor leads into it', async (t) => {
  const { url } = await listen(t, routes)
  for (const headers of [{}, MODERN, {}]) {
    for (const cursor of [undefined, '']) {
      const listed = await list(url, cursor, headers)
      t.equal(namesIn(listed), 'abcde')
      t.notOk(Object.hasOwn(listed.result!, 'nextCursor'))
    }
    for (const cursor of ['nonsense', Buffer.from('after a').toString('base64url')]) {
      t.match(await list(url, cursor, headers), { error: { code: -32602 } }, cursor)
    }
  }
})

t.test('no client is sent what another one sees', async (t) => {
  const chosen = await listen(t, routes, {
    canUse: ({ name }, { headers }) => String(headers['x-tools']).includes(name)
  })
  for (const tools of ['ab', 'cde', 'ab', '']) {
    t.equal(namesIn(await list(chosen.url, undefined, { 'x-tools': tools })), tools)
  }
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

t.test('the bytes of a list do not move: from call to call, and from one server to the next', async (t) => {
  const address = {
    $id: 'address',
    type: 'object',
    properties: { street: { type: 'string' }, city: { type: 'string' } }
  }
  const schemas = ['from', 'to', 'copy'].map((name) => ({
    operationId: `send_${name}`,
    description: 'D.',
    tags: ['mcp'],
    body: { type: 'object', properties: { one: { $ref: 'address#' }, two: { $ref: 'address#' } }, required: ['one'] },
    response: { 200: { type: 'object', properties: { at: { $ref: 'address#' }, by: { $ref: 'address#' } } } }
  }))
  const server = async (isReversed: boolean): Promise<URL> =>
    (await listen(t, (app) => {
      app.addSchema(address)
      for (const schema of isReversed ? schemas.toReversed() : schemas) {
        app.post(`/${schema.operationId}`, { schema }, async () => ({}))
      }
    }, { canUse: async ({ name }, { headers }) => name !== headers['x-hidden'] })).url
  const urls = [await server(false), await server(true)]
  for (const headers of [{}, MODERN] as ReadonlyArray<Record<string, string>>) {
    const seen = new Set<string>()
    const params = headers['mcp-method'] === undefined ? {} : { _meta: ENVELOPE }
    for (let count = 0; count < 100; count++) {
      const answer = await fetch(urls[count % 2]!, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-hidden': 'send_to',
          ...headers
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params })
      })
      seen.add(await answer.text())
    }
    t.equal(seen.size, 1)
    t.match([...seen][0], /send_copy.*send_from/)
  }
})
