import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import t, { type Test } from 'tap'
import { search } from '../../../src/extensions/search/index.ts'
import { sets } from '../../../src/extensions/sets/index.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { CLIENTS, connect, listen, post } from '../../build.ts'

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}

async function ask (url: URL, method: string, params: { readonly uri?: string } = {}): Promise<object> {
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MODERN } }, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...params.uri !== undefined && { 'mcp-name': params.uri }
  })
  return body as object
}

const front = (name: string): string => `---\nname: ${name}\ndescription: What ${name} is for.\n---\n`
const shown = (call: object): string => `\n\`\`\`json mcp-call\n${JSON.stringify(call)}\n\`\`\`\n`
const skill = (name: string, text = ''): NonNullable<Parameters<Test['testdir']>[0]> => ({
  [name]: { 'SKILL.md': front(name) + text }
})

t.test('an endpoint has the skills whose tools it has, all of them', async (t) => {
  const folder = t.testdir({
    ...skill('about') as object,
    orders: { 'SKILL.md': front('orders') + shown({ name: 'list_orders' }), 'more.txt': 'more' },
    both: { 'SKILL.md': front('both') + shown({ name: 'list_orders' }), 'tags.md': shown({ name: 'list_tags' }) }
  })
  const { url } = await listen(t, (app) => {
    for (const name of ['orders', 'tags', 'shops']) {
      const schema = { operationId: `list_${name}`, description: 'D.', tags: ['mcp', name] }
      app.get(`/${name}`, { schema }, async () => [])
    }
  }, {
    canUse: ({ name }, { headers }) => name !== 'list_orders' || headers['authorization'] !== 'nobody',
    extensions: [
      skills(folder),
      sets({
        orders: { path: '/mcp/orders', tags: ['orders'] },
        both: { path: '/mcp/both', tags: ['orders', 'tags'] },
        shops: { path: '/mcp/shops', tags: ['shops'] }
      }),
      search({ path: '/mcp/find' }, { path: '/mcp/find-orders', tags: ['orders'] })
    ]
  })
  const every = ['about', 'both', 'orders']
  for (
    const [path, names] of [
      ['/mcp', every],
      ['/mcp/orders', ['about', 'orders']],
      ['/mcp/both', every],
      ['/mcp/shops', ['about']],
      ['/mcp/find', every],
      ['/mcp/find-orders', ['about', 'orders']]
    ] as const
  ) {
    const at = new URL(path, url)
    const uris = names.map((name) => `skill://${name}/SKILL.md`)
    const hidden = every.filter((name) => !(names as readonly string[]).includes(name))
    for (const which of CLIENTS) {
      const client = await connect(t, which, at) as unknown as ConstructorParameters<typeof SkillsClient>[0]
      t.strictSame((await client.listResources()).resources.map(({ uri }) => uri), uris, `${which} at ${path}`)
      for (const uri of uris) t.match((await client.readResource({ uri })).contents, [{ uri }])
      for (const name of hidden) {
        await t.rejects(client.readResource({ uri: `skill://${name}/SKILL.md` }), { message: /not found/ })
      }
      if (which === '1.x') continue
      const list = new SkillsClient(client)
      t.strictSame((await list.list()).skills.map(({ uri }) => uri), uris, `skills/list, ${which} at ${path}`)
      for (const name of hidden) await t.rejects(list.get(`skill://${name}/SKILL.md`), { code: -32602 })
    }
  }
  const nobody = await connect(t, '1.x', new URL('/mcp/both', url), { authorization: 'nobody' }) as unknown as {
    listResources: () => Promise<{ resources: ReadonlyArray<{ uri: string }> }>
  }
  t.strictSame((await nobody.listResources()).resources.map(({ uri }) => uri), ['skill://about/SKILL.md'])
  const more = { uri: 'skill://orders/more.txt' }
  t.match(await ask(new URL('/mcp/orders', url), 'resources/read', more), { result: { contents: [{ text: 'more' }] } })
  t.match(await ask(new URL('/mcp/shops', url), 'resources/read', more), { error: { code: -32602 } })
})

t.test('an endpoint that has the tools of no skill says nothing of skills', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/secret', { schema: { operationId: 'read_secret', description: 'R.', tags: ['mcp'] } }, async () => 'x')
    app.get('/x', { schema: { operationId: 'x', description: 'X.', tags: ['mcp', 'some'] } }, async () => 'x')
  }, {
    extensions: [
      skills(t.testdir(skill('one', shown({ name: 'read_secret' })))),
      sets({ some: { path: '/some', tags: ['some'] } })
    ]
  })
  const some = new URL('/some', url)
  t.notMatch(JSON.stringify(await ask(some, 'server/discover')), /skills|resources/)
  t.match(await ask(some, 'skills/list'), { error: { code: -32601 } })
})
