import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { accessTo } from '../src/endpoint/access.ts'
import { sealerFrom } from '../src/confirm/seal.ts'
import { answerWriter } from '../src/endpoint/answer.ts'
import { definitionWriter, pageOf, writtenPages } from '../src/endpoint/list.ts'
import type { Pages } from '../src/endpoint/list.ts'
import { settingsFromOptions } from '../src/options.ts'
import type { McpFromRoutesOptions } from '../src/options.ts'
import { taskSealer } from '../src/task/seal.ts'
import { toolFromRoute } from '../src/tool/tool.ts'
import type { Tool } from '../src/tool/tool.ts'
import { SERVER_INFO } from './build.ts'

const REQUEST = {} as FastifyRequest
const NAMES = ['a', 'b', 'c', 'd', 'e']
const after = (name: string): string => Buffer.from(`after ${name}`).toString('base64url')

function tool (name: string): Tool {
  const schema = { operationId: name, description: 'D.' }
  return toolFromRoute({ method: 'GET', url: `/${name}`, schema, config: {}, constraints: {}, websocket: false, keepsToSchema: true, shared: {} }, { exposedTag: 'mcp', largeTag: 'large', forwardHeaders: [], maxResultBytes: 1 })
}

/** The pages of five tools, and how often one has been written. */
function pagesOf (options: Partial<McpFromRoutesOptions> = {}): { pages: Pages, writes: () => number } {
  const settings = settingsFromOptions({ serverInfo: SERVER_INFO, ...options })
  const tools = new Map(NAMES.map((name) => [name, tool(name)]))
  const write = answerWriter(settings, definitionWriter())
  let writes = 0
  const call = async (): Promise<never> => { throw new TypeError('nothing is called') }
  const shared = { call, verifyState: sealerFrom(settings).verify, rules: () => new Map(), sealer: taskSealer(settings), follower: { progress: call, cancel: call } }
  return { pages: writtenPages(accessTo(() => tools, settings, shared), (era, page) => { writes += 1; return write.list(era, page) }), writes: () => writes }
}

t.test('a page that clients come by is written once per era', async (t) => {
  const { pages, writes } = pagesOf({ pageSize: 2 })
  const walk = async (): Promise<unknown[]> => Promise.all([undefined, after('b'), after('d')].map((cursor) => pages('legacy', cursor, REQUEST)))
  const first = await walk()
  t.equal(writes(), 3)
  t.ok((await walk()).every((page, index) => page === first[index]))
  t.equal(writes(), 3)
  t.not(await pages('modern', undefined, REQUEST), first[0])
  t.equal(writes(), 4)
})

t.test('cursors that a client makes up are answered, and nothing is kept of them', async (t) => {
  const { pages } = pagesOf()
  // Of a name that is no tool's, and of every tool: with all tools on one page each would keep the rest of the list.
  for (const name of ['aa', 'a', 'b', 'c', 'zz']) {
    const [one, two] = [await pages('legacy', after(name), REQUEST), await pages('legacy', after(name), REQUEST)]
    t.strictSame(one, two)
    t.not(one, two, name)
  }
  const all = await pages('legacy', undefined, REQUEST)
  t.equal(await pages('legacy', after('A'), REQUEST), all, 'one that leads to a page that is kept takes that')
  t.equal(await pages('legacy', 'nonsense', REQUEST), undefined)
  const { pages: single } = pagesOf({ pageSize: 1 })
  t.not(await single('legacy', after('zz'), REQUEST), await single('legacy', after('zz'), REQUEST))
})

t.test('the list of one caller is never kept', async (t) => {
  for (const options of [{ canUse: () => true }, { impliedArguments: { id: () => 'x' } }]) {
    const { pages } = pagesOf(options)
    t.not(await pages('legacy', undefined, REQUEST), await pages('legacy', undefined, REQUEST), String(Object.keys(options)))
  }
})

t.test('a page begins after the tool that its cursor names', async (t) => {
  const tools = NAMES.map(tool)
  const cursor = (text: string): string => Buffer.from(text).toString('base64url')
  for (const [given, size, names, next] of [
    [undefined, 2, 'ab', 'b'], ['', 2, 'ab', 'b'], [undefined, 4, 'abcd', 'd'], [undefined, 5, 'abcde', undefined], [undefined, 6, 'abcde', undefined],
    [after('b'), 2, 'cd', 'd'], [after('c'), 2, 'de', undefined], [after('bb'), 1, 'c', 'c'], [after('e'), 2, '', undefined]
  ] as const) {
    const page = pageOf(tools, given, size)
    t.equal(page?.tools.map((tool) => tool.public.name).join(''), names)
    t.strictSame(page?.nextCursor, next && after(next))
    t.equal('nextCursor' in Object(page), next !== undefined)
  }
  t.strictSame(pageOf([], undefined, 2), { tools: [] })
  for (const foreign of ['nonsense', cursor('after '), cursor('before a'), cursor('a'), `${after('a')}=`]) t.equal(pageOf(tools, foreign, 2), undefined, foreign)
})

t.test('a definition is written once per era', async (t) => {
  const define = definitionWriter()
  let reads = 0
  const read = { ...tool('a'), get public () { reads += 1; return tool('a').public } }
  t.equal(define(read, 'legacy'), define(read, 'legacy'))
  t.equal(reads, 1)
  define(read, 'modern')
  t.equal(reads, 2)
})
