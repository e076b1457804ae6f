import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  contractFromApp,
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding,
  type Contract
} from '../../../src/contract/index.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { search, type SearchEndpoint } from '../../../src/extensions/search/index.ts'
import { sets, type ToolSet } from '../../../src/extensions/sets/index.ts'
import { build } from '../../build.ts'
import { scratch } from '../../contract/scratch.ts'

/** An app: its tools with their tags, and where they are served. */
interface Shape {
  readonly tools?: Readonly<Record<string, readonly string[]>>
  readonly path?: string
  readonly sets?: Readonly<Record<string, ToolSet>>
  readonly search?: readonly SearchEndpoint[]
  /** The tools whose calls each shows. */
  readonly skills?: Readonly<Record<string, readonly string[]>>
}

const tools = { list_tags: ['tags'], update_tag: ['tags'], list_orders: ['orders'] }
const only = (...names: ReadonlyArray<keyof typeof tools>): NonNullable<Shape['tools']> =>
  Object.fromEntries(names.map((name) => [name, tools[name]]))
const tags = { path: '/mcp/tags', tags: ['tags'] }
const orders = { path: '/mcp/orders', tags: ['orders'] }
const find = { path: '/mcp/find' }

function skillText (name: string, calls: readonly string[]): string {
  const shown = calls.map((call) => `\n\`\`\`json mcp-call\n${JSON.stringify({ name: call })}\n\`\`\`\n`)
  return `---\nname: ${name}\ndescription: What ${name} is for.\n---\n${shown.join('')}`
}

/** What the file would hold of an app, as it reads back. */
async function contractOf (t: Test, shape: Shape): Promise<Contract> {
  const { tools: routes = tools, path, sets: some = {}, search: endpoints = [], skills: texts } = shape
  const folder = texts && t.testdir(Object.fromEntries(
    Object.entries(texts).map(([name, calls]) => [name, { 'SKILL.md': skillText(name, calls) }])
  ))
  const app = await build(t, (app) => {
    for (const [operationId, tags] of Object.entries(routes)) {
      const schema = { operationId, description: `What ${operationId} is for.`, tags: ['mcp', ...tags] }
      app.get(`/${operationId}`, { schema }, async () => ({}))
    }
  }, {
    ...path !== undefined && { path },
    extensions: [
      ...Object.keys(some).length > 0 ? [sets(some)] : [],
      ...endpoints.length > 0 ? [search(...endpoints)] : [],
      ...folder === undefined ? [] : [skills(folder)]
    ]
  })
  await app.ready()
  return contractFromText(textFromContract(contractFromApp(app)!), 'the file')
}

const findingsOf = (before: Contract, after: Contract): readonly string[] =>
  diffContracts(before, after).findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`)

const REMOVED = 'callers and agents that use it by name fail'
const NEW = 'callers that do not know it ignore it'
const CALL = 'clients of this endpoint that use it fail'
const SEARCH_TOOLS = ['call_reading_tool', 'call_writing_tool', 'describe_tools', 'search_tools']

const cases: ReadonlyArray<readonly [title: string, before: Shape, after: Shape, findings: readonly string[]]> = [
  ['nothing changes', { sets: { tags }, search: [find] }, { sets: { tags }, search: [find] }, []],
  // An endpoint as a whole
  ['the option path changes', {}, { path: '/api/mcp' }, [
    'major /mcp: endpoint → moved to /api/mcp: clients that connect to the old path fail'
  ]],
  ['path gets a slash at its end', {}, { path: '/mcp/' }, []],
  ['the option path changes, and a tool is new', { tools: only('list_tags') }, { path: '/api/mcp' }, [
    'major /mcp: endpoint → moved to /api/mcp: clients that connect to the old path fail',
    `minor list_orders: none → new tool: ${NEW}`,
    `minor update_tag: none → new tool: ${NEW}`
  ]],
  ['a set is new', {}, { sets: { tags } }, [
    'minor /mcp/tags: none → new endpoint: clients that do not know it ignore it'
  ]],
  ['a set vanishes', { sets: { tags, orders } }, { sets: { orders } }, [
    'major /mcp/tags: endpoint → removed: clients that connect to it fail'
  ]],
  ['a set moves', { sets: { tags } }, { sets: { tags: { ...tags, path: '/tags' } } }, [
    'major /mcp/tags: endpoint → moved to /tags: clients that connect to the old path fail'
  ]],
  ['a set moves, and one of its tools is renamed', { sets: { tags } }, {
    tools: { ...only('list_tags', 'list_orders'), change_tag: ['tags'] },
    sets: { tags: { ...tags, path: '/tags' } }
  }, [
    `major update_tag: tool → removed, probably renamed to change_tag: ${REMOVED}`,
    'major /mcp/tags: endpoint → moved to /tags: clients that connect to the old path fail',
    `minor change_tag: none → new tool: ${NEW}`
  ]],
  ['a set moves, and a tool leaves it', { sets: { tags } }, {
    tools: { ...tools, update_tag: [] },
    sets: { tags: { ...tags, path: '/tags' } }
  }, [
    'major /mcp/tags: endpoint → removed: clients that connect to it fail',
    'minor /tags: none → new endpoint: clients that do not know it ignore it'
  ]],
  ['path and a set move at once', { sets: { tags } }, {
    path: '/v2/mcp',
    sets: { tags: { ...tags, path: '/v2/mcp/tags' } }
  }, [
    'major /mcp: endpoint → moved to /v2/mcp: clients that connect to the old path fail',
    'major /mcp/tags: endpoint → moved to /v2/mcp/tags: clients that connect to the old path fail'
  ]],
  ['path moves to where a set was', { sets: { tags } }, { path: '/mcp/tags' }, [
    'major /mcp: endpoint → removed: clients that connect to it fail',
    `minor /mcp/tags list_orders: not listed → listed: ${NEW}`
  ]],
  ['two sets swap their paths', { sets: { tags, orders } }, {
    sets: { tags: { ...tags, path: orders.path }, orders: { ...orders, path: tags.path } }
  }, [
    `major /mcp/orders list_orders: listed → not listed: ${CALL}; it is still at /mcp, /mcp/tags`,
    `major /mcp/tags list_tags: listed → not listed: ${CALL}; it is still at /mcp, /mcp/orders`,
    `major /mcp/tags update_tag: listed → not listed: ${CALL}; it is still at /mcp, /mcp/orders`,
    `minor /mcp/orders list_tags: not listed → listed: ${NEW}`,
    `minor /mcp/orders update_tag: not listed → listed: ${NEW}`,
    `minor /mcp/tags list_orders: not listed → listed: ${NEW}`
  ]],
  ['a set gets another name, and other tags for the same tools', { sets: { tags } }, {
    tools: { list_tags: ['labels'], update_tag: ['labels'], list_orders: ['orders'] },
    sets: { labels: { ...tags, tags: ['labels'] } }
  }, []],
  // The tools of an endpoint
  ['a tool leaves a set', { sets: { tags } }, {
    tools: { ...tools, update_tag: [] },
    sets: { tags }
  }, [`major /mcp/tags update_tag: listed → not listed: ${CALL}; it is still at /mcp`]],
  ['a tool joins a set', { tools: { ...tools, update_tag: [] }, sets: { tags } }, { sets: { tags } }, [
    `minor /mcp/tags update_tag: not listed → listed: ${NEW}`
  ]],
  ['a tool of a set is removed altogether', { sets: { tags } }, {
    tools: only('list_tags', 'list_orders'),
    sets: { tags }
  }, [
    `major update_tag: tool → removed: ${REMOVED}`
  ]],
  ['a tool of a set is renamed', { sets: { tags } }, {
    tools: { ...only('list_tags', 'list_orders'), change_tag: ['tags'] },
    sets: { tags }
  }, [
    `major update_tag: tool → removed, probably renamed to change_tag: ${REMOVED}`,
    `minor change_tag: none → new tool: ${NEW}`
  ]],
  ['a tool of a set is new', { tools: only('list_tags', 'list_orders'), sets: { tags } }, { sets: { tags } }, [
    `minor update_tag: none → new tool: ${NEW}`
  ]],
  ['the only tool of a set is renamed', { sets: { orders } }, {
    tools: { ...only('list_tags', 'update_tag'), find_orders: ['orders'] },
    sets: { orders }
  }, [
    `major list_orders: tool → removed, probably renamed to find_orders: ${REMOVED}`,
    `minor find_orders: none → new tool: ${NEW}`
  ]],
  // Searches
  ['a search is new', {}, { search: [find] }, [
    ...SEARCH_TOOLS.map((name) => `minor ${name}: none → new tool: ${NEW}`),
    'minor /mcp/find: none → new endpoint: clients that do not know it ignore it'
  ]],
  ['the only search vanishes', { search: [find] }, {}, [
    ...SEARCH_TOOLS.map((name) => `major ${name}: tool → removed: ${REMOVED}`),
    'major /mcp/find: endpoint → removed: clients that connect to it fail'
  ]],
  ['one of two searches vanishes', { search: [find, { ...orders }] }, { search: [find] }, [
    'major /mcp/orders: endpoint → removed: clients that connect to it fail'
  ]],
  ['a search moves', { search: [find] }, { search: [{ path: '/find' }] }, [
    'major /mcp/find: endpoint → moved to /find: clients that connect to the old path fail'
  ]],
  ['a search of all tools gets tags', { search: [find] }, { search: [{ ...find, tags: ['tags'] }] }, [
    `major /mcp/find list_orders: found by search → not found: ${CALL}; it is still at /mcp`
  ]],
  ['a search loses its tags', { search: [{ ...find, tags: ['tags'] }] }, { search: [find] }, [
    `minor /mcp/find list_orders: not found → found by search: ${NEW}`
  ]],
  ['a tool that is found is removed altogether', { search: [find] }, {
    tools: only('list_tags', 'update_tag'),
    search: [find]
  }, [`major list_orders: tool → removed: ${REMOVED}`]],
  ['a set becomes a search', { sets: { orders }, search: [find] }, { search: [find, orders] }, [
    'major /mcp/orders list_orders: listed → found by search: clients of this endpoint that take it from the list ' +
    'no longer see it; it is still at /mcp',
    ...SEARCH_TOOLS.map((name) => `minor /mcp/orders ${name}: not listed → listed: ${NEW}`)
  ]],
  ['a search becomes a set', { search: [find, orders] }, { sets: { orders }, search: [find] }, [
    ...SEARCH_TOOLS.map((name) => `major /mcp/orders ${name}: listed → not listed: ${CALL}; it is still at /mcp/find`),
    `minor /mcp/orders list_orders: found by search → listed: ${NEW}`
  ]],
  // The skills of an endpoint: those whose tools it has
  ['a skill shows a call of a tool that a set lacks', { sets: { tags }, skills: { tidy: ['list_tags'] } }, {
    sets: { tags },
    skills: { tidy: ['list_tags', 'list_orders'] }
  }, [
    `major /mcp/tags skill://tidy/SKILL.md: listed → not listed: ${CALL}; it is still at /mcp`,
    'patch skill://tidy/SKILL.md calls: ["list_tags"] → ["list_orders","list_tags"]: what is read stays as it is'
  ]],
  ['a tool leaves a set, and a skill with it', { sets: { tags }, skills: { tidy: ['list_tags', 'update_tag'] } }, {
    tools: { ...tools, update_tag: [] },
    sets: { tags },
    skills: { tidy: ['list_tags', 'update_tag'] }
  }, [
    `major /mcp/tags skill://tidy/SKILL.md: listed → not listed: ${CALL}; it is still at /mcp`,
    `major /mcp/tags update_tag: listed → not listed: ${CALL}; it is still at /mcp`
  ]],
  ['a skill joins a search', { search: [orders], skills: { tidy: ['list_tags'] } }, {
    search: [orders],
    skills: { tidy: ['list_orders'] }
  }, [
    `minor /mcp/orders skill://tidy/SKILL.md: not listed → listed: ${NEW}`,
    'patch skill://tidy/SKILL.md calls: ["list_tags"] → ["list_orders"]: what is read stays as it is'
  ]],
  ['a set with a skill moves, and the skill shows more', { sets: { tags }, skills: { tidy: ['list_tags'] } }, {
    sets: { tags: { ...tags, path: '/tags' } },
    skills: { tidy: ['list_tags', 'list_orders'] }
  }, [
    'major /mcp/tags: endpoint → moved to /tags: clients that connect to the old path fail',
    'patch skill://tidy/SKILL.md calls: ["list_tags"] → ["list_orders","list_tags"]: what is read stays as it is'
  ]],
  ['skills are removed and new', { sets: { tags }, skills: { tidy: ['list_tags'] } }, {
    sets: { tags },
    skills: { sell: ['list_orders', 'list_tags'], mark: ['update_tag'] }
  }, [
    'major skill://tidy/SKILL.md: skill → removed: clients that load it by its URI fail',
    'minor skill://mark/SKILL.md: none → new skill: clients that do not know it ignore it',
    'minor skill://sell/SKILL.md: none → new skill: clients that do not know it ignore it'
  ]]
]

for (const [title, before, after, findings] of cases) {
  t.test(title, async (t) => {
    t.strictSame(findingsOf(await contractOf(t, before), await contractOf(t, after)), findings)
  })
}

// The file

t.test('the file holds what each endpoint lists, and no names where it lists all', async (t) => {
  const contract = await contractOf(t, { sets: { tags }, search: [find, orders] })
  const text = textFromContract(contract)
  t.equal(
    text.slice(text.indexOf('  "endpoints"'), text.indexOf('  "tools": {')),
    `  "endpoints": {
    "/mcp": {
      "tools": "all"
    },
    "/mcp/find": {
      "finds": "all",
      "tools": ["call_reading_tool", "call_writing_tool", "describe_tools", "search_tools"]
    },
    "/mcp/orders": {
      "finds": ["list_orders"],
      "tools": ["call_reading_tool", "call_writing_tool", "describe_tools", "search_tools"]
    },
    "/mcp/tags": {
      "tools": ["list_tags", "update_tag"]
    }
  },
`
  )
  t.equal(textFromContract(contractFromText(text, 'f')), text)
  const every = await contractOf(t, { sets: { tags: { ...tags, tags: ['mcp'] } } })
  t.strictSame(
    every.endpoints?.get('/mcp/tags'),
    { tools: Object.keys(tools).sort() },
    'a set has the tools with its tags, even if all have them'
  )
})

t.test('a contract that does not know its endpoints has lost none, and none is new', async (t) => {
  const known = await contractOf(t, { sets: { tags } })
  const { endpoints, ...more } = JSON.parse(textFromContract(known)) as Record<string, unknown>
  const unknown = contractFromText(JSON.stringify(more), 'f')
  t.equal(unknown.endpoints, undefined)
  t.strictSame(findingsOf(unknown, known), [])
  t.strictSame(findingsOf(known, unknown), [])
  t.notMatch(textFromContract(unknown), /endpoints/)
  const app = await build(t, () => {})
  await app.ready()
  t.equal(contractFromTools(app.mcpTools).endpoints, undefined)
  t.strictSame(
    findingsOf(contractFromText(JSON.stringify({ ...more, endpoints: {} }), 'f'), known),
    ['/mcp', '/mcp/tags'].map((path) => `minor ${path}: none → new endpoint: clients that do not know it ignore it`),
    'one that has none is another matter'
  )
})

t.test('endpoints that cannot be read are refused', async (t) => {
  for (
    const wrong of [
      null,
      [],
      'all',
      { '/mcp': 'all' },
      { '/mcp': {} },
      { '/mcp': { tools: 'some' } },
      { '/mcp': { tools: [1] } },
      { '/mcp': { tools: 'all', finds: null } }
    ]
  ) {
    t.throws(() => contractFromText(JSON.stringify({ contract: 1, tools: {}, endpoints: wrong }), 'f'), {
      code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE',
      message: /^f cannot be read as a contract: "endpoints" is not an object of objects with "tools" and maybe "finds"/
    })
  }
})

// The command

const built = (file: string): string => JSON.stringify(new URL(`../../../dist/${file}`, import.meta.url).href)
const APP = `
import { readFileSync } from 'node:fs'
import Fastify from ${JSON.stringify(import.meta.resolve('fastify'))}
import mcpFromRoutes from ${built('index.js')}
import { sets } from ${built('extensions/sets/index.js')}
export default async () => {
  const app = Fastify()
  const { tools, sets: some } = JSON.parse(readFileSync(new URL('app.json', import.meta.url), 'utf8'))
  await app.register(mcpFromRoutes, { serverInfo: { name: 'notes', version: '1.0.0' }, extensions: [sets(some)] })
  for (const [operationId, tags] of Object.entries(tools)) {
    app.get('/' + operationId, { schema: { operationId, description: 'D.', tags: ['mcp', ...tags] } }, async () => [])
  }
  return app
}
`
const FILE = 'contract/tools.json'
const LEFT = `/mcp/tags update_tag: listed → not listed: ${CALL}; it is still at /mcp`

/** A repository whose app has a set, on a branch that starts there. */
function repository (t: Test) {
  const repo = scratch(t, 'contract-endpoints-')
  repo.git('init', '-q')
  repo.write('package.json', '{ "name": "notes", "version": "1.4.2", "type": "module" }')
  // A process loads a module once, so the app reads its tools whenever it is made.
  repo.write('app.js', APP)
  const app = (shape: Shape): void => repo.write('app.json', JSON.stringify({ tools, sets: { tags }, ...shape }))
  app({})
  return {
    ...repo,
    app,
    check: async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
      await repo.run(['check', './app.js', ...args], { env }),
    store: async () => await repo.run(['write', './app.js']),
    text: () => readFileSync(join(repo.folder, FILE), 'utf8'),
    edit: (change: (contract: Record<string, unknown>) => object): void => {
      const contract = JSON.parse(readFileSync(join(repo.folder, FILE), 'utf8')) as Record<string, unknown>
      repo.write(FILE, `${JSON.stringify(change(contract), null, 2)}\n`)
    },
    begin: (): void => {
      repo.commit()
      repo.git('checkout', '-qb', 'change')
    }
  }
}

t.test('a tool that leaves a set fails the check until the version says so', async (t) => {
  const { app, check, store, begin, text, run, commit } = repository(t)
  await store()
  begin()
  t.match(await check(), { code: 0, out: /^contract\/tools\.json matches the app: 3 tools\.\n\nNo change since \S+ / })
  app({ tools: { ...tools, update_tag: [] } })
  t.match(await check(['--bump', 'major']), {
    code: 1,
    out: `contract/tools.json does not match the app:\n  major  ${LEFT}\nIf intended, update it: npx`
  })
  t.match(await store(), { code: 0, out: `written: 3 tools, with these changes:\n  major  ${LEFT}\n` })
  const missing = await check()
  t.equal(missing.code, 1)
  t.match(missing.out, 'require major, but notes stays 1.4.2:\n')
  t.match(missing.out, `\n  major  ${LEFT}\nRaise the version of notes`)
  t.equal((await check(['--bump', 'minor'])).code, 1)
  t.equal((await check(['--bump', 'major'])).code, 0)
  t.match(JSON.parse((await check(['--json'])).out), {
    ok: false,
    drift: { ok: true, endpoints: true, findings: [] },
    version: { asked: 'major', endpoints: true, findings: [{ tool: '/mcp/tags', path: 'update_tag', bump: 'major' }] }
  })
  commit()
  const { out } = await check([], { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' })
  const [, line] = /^::error file=contract\/tools\.json,line=(\d+),.*Requires major, but notes gets none/m.exec(out) ??
    []
  t.equal(text().split('\n')[Number(line) - 1], '    "/mcp/tags": {', 'the pull request shows it at its endpoint')
  t.match(
    (await run(['changelog', './app.js'])).out,
    '### What callers must change\n\n- **/mcp/tags**\n  - `update_tag`: listed → not listed. Clients of this ' +
      'endpoint that use it fail; it is still at /mcp.\n'
  )
})

t.test('an accepted finding about an endpoint does not count', async (t) => {
  const { app, check, store, begin, edit } = repository(t)
  await store()
  begin()
  app({ sets: { tags: { ...tags, path: '/tags' } } })
  await store()
  const finding = '/mcp/tags: endpoint → moved to /tags'
  edit((contract) => ({ ...contract, accepted: [{ finding, reason: 'the proxy forwards it' }] }))
  t.match(await check(), {
    code: 0,
    out: `require nothing, and notes stays 1.4.2:\n  accepted: ${finding}: the proxy forwards it\n`
  })
})

t.test('a file without endpoints passes, and the report says that they are not guarded', async (t) => {
  const { app, check, store, begin, edit, commit, git } = repository(t)
  await store()
  edit(({ endpoints, ...older }) => older)
  begin()
  const UNGUARDED = 'Endpoints are NOT guarded yet: the file does not hold them. Add them: '
  t.match(await check(), {
    code: 0,
    out: 'contract/tools.json matches the app: 3 tools.\n' +
      `${UNGUARDED}npx mcp-from-routes contract write ./app.js\n\nNo change since `
  })
  t.match(await check([], { GITHUB_ACTIONS: 'true', GITHUB_BASE_REF: 'main' }), {
    code: 0,
    out: `::warning file=contract/tools.json,line=1,title=Tool contract::${UNGUARDED}mcp-from-routes contract write\n`
  })
  t.match(JSON.parse((await check(['--json'])).out), {
    ok: true,
    drift: { ok: true, endpoints: false },
    version: { endpoints: false }
  })
  app({ tools: { ...tools, update_tag: [] } })
  t.match(await check(), { code: 0, out: UNGUARDED }, 'what is not known is not compared')
  app({})
  t.match(await store(), { code: 0, out: 'contract/tools.json written: 3 tools.\n' })
  t.match(await check(), {
    code: 0,
    out:
      /^contract\/tools\.json matches the app: 3 tools\.\n\nNo change since (.+)\.\nEndpoints were not compared: the file does not hold them at \1\.\n$/
  })
  commit()
  git('branch', '-f', 'main', 'HEAD')
  app({ tools: { ...tools, update_tag: [] } })
  t.match(await check(), { code: 1, out: `  major  ${LEFT}\n` }, 'from then on they are guarded')
  app({})
  edit(({ endpoints, ...older }) => older)
  t.match(await check(), { code: 1, out: `does not match the app:\n${'If intended, update it'}` }, 'and stay guarded')
})
