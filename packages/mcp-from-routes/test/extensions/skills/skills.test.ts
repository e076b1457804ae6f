import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import {
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding
} from '../../../src/contract/index.ts'
import type { McpFromRoutesOptions } from '../../../src/index.ts'
import { readSkills } from '../../../src/extensions/skills/skills.ts'
import { skills } from '../../../src/extensions/skills/index.ts'
import { build, CLIENTS, connect, listen, post } from '../../build.ts'
import { runProgram } from '../../program.ts'

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {}
}
type Folder = NonNullable<Parameters<Test['testdir']>[0]>
interface Answer {
  readonly result?: Record<string, unknown>
  readonly error?: { code: number, message: string }
}

async function ask (
  url: URL,
  method: string,
  params: { uri?: string, cursor?: string } = {},
  headers: Record<string, string> = {}
): Promise<Answer> {
  const { body } = await post(url, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: MODERN } }, {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...params.uri !== undefined && { 'mcp-name': params.uri },
    ...headers
  })
  return body as Answer
}

const front = (name: string): string => `---\nname: ${name}\ndescription: What ${name} is for.\n---\n`
const shown = (call: unknown): string =>
  `\n\`\`\`json mcp-call\n${typeof call === 'string' ? call : JSON.stringify(call)}\n\`\`\`\n`
const skill = (name: string, text = ''): Folder => ({ [name]: { 'SKILL.md': front(name) + text } })

/** One tool that takes some of everything. */
function route (app: FastifyInstance): void {
  app.post('/shops/:shop_id/items', {
    schema: {
      operationId: 'create_item',
      description: 'Create an item.',
      tags: ['mcp'],
      body: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: ['mug', 'cup'] },
          count: { type: 'integer', minimum: 1 },
          on: { type: 'string', format: 'date' },
          prices: {
            type: 'array',
            uniqueItems: true,
            items: {
              type: 'object',
              properties: { amount: { type: 'integer' }, currency: { type: 'string' } },
              required: ['amount'],
              additionalProperties: false
            }
          }
        },
        required: ['kind']
      }
    }
  }, async () => 'x')
  app.get('/secret', { schema: { operationId: 'read_secret', description: 'Read.', tags: ['mcp'] } }, async () => 'x')
}
const implied: Partial<McpFromRoutesOptions> = { impliedArguments: { shop_id: () => undefined } }

t.test('the program of the documentation runs: the official client verifies its skill, and one that knows no skills reads it as a resource', async (t) => {
  const line = await runProgram(t, 'skills')
  const url = new URL(line.slice(line.indexOf('http')))
  for (const which of CLIENTS) {
    const client = await connect(t, which, url) as unknown as ConstructorParameters<typeof SkillsClient>[0]
    t.match((await client.listResources()).resources, [{
      uri: 'skill://water-plants/SKILL.md',
      name: 'water-plants',
      mimeType: 'text/markdown'
    }], which)
    t.match(await client.readResource({ uri: 'skill://water-plants/references/notes.md' }), {
      contents: [{ text: 'Watered the ficus on 3 March.\n' }]
    }, which)
    if (which === '1.x') continue
    const skills = new SkillsClient(client)
    t.equal(skills.supported, true)
    const listing = await skills.list()
    t.match(listing, {
      skills: [{ uri: 'skill://water-plants/SKILL.md', frontmatter: { name: 'water-plants' } }],
      invalid: []
    }, which)
    const [entry] = listing.skills
    t.strictSame((await skills.get(entry!.uri)).skill, entry)
    t.match(await skills.read(entry!), {
      verified: true,
      frontmatter: { name: 'water-plants' },
      body: /^\n# Water plants/
    })
    t.match(await skills.read(entry!, 'references/notes.md'), {
      verified: true,
      text: 'Watered the ficus on 3 March.\n'
    })
    await t.rejects(skills.get('skill://none/SKILL.md'), { code: -32602 })
  }
})

t.test('an entry names every file with the digest and size of what is served: text, bytes, odd names and nested skills', async (t) => {
  const files: Folder = {
    'SKILL.md': '\ufeff---\r\nname: pictures\r\ndescription: "Pictures: how to"\r\nmetadata:\r\n  version: ' +
      '"1.0"\r\n---\r\nText\r\n',
    'a b&c.csv': 'x,y\n',
    'logo.png': Buffer.from([0x89, 0x50, 0xff]),
    'data.bin': Buffer.from([0, 255]),
    'run.sh': 'echo\n',
    '.env': 'SECRET=1',
    inner: { 'SKILL.md': front('inner') }
  }
  const folder = t.testdir({ pictures: files, 'README.md': 'Not a skill.', '.git': { config: 'secret' } })
  const { url, app } = await listen(t, route, { extensions: [skills(folder)], cacheTtl: 7 })
  const { result } = await ask(url, 'skills/list')
  const { skills: listed, ...hints } = result as {
    skills: ReadonlyArray<
      { uri: string, frontmatter: object, resources: ReadonlyArray<{ uri: string, digest: string, size: number }> }
    >
  }
  t.match(hints, { ttlMs: 7, cacheScope: 'private', resultType: 'complete' })
  t.match(listed.map(({ uri }) => uri), ['skill://pictures/SKILL.md', 'skill://pictures/inner/SKILL.md'])
  t.strictSame(listed[0]!.frontmatter, {
    name: 'pictures',
    description: 'Pictures: how to',
    metadata: { version: '1.0' }
  })
  t.strictSame(app.mcpSkills[0]!.files, ['SKILL.md', 'a b&c.csv', 'data.bin', 'inner/SKILL.md', 'logo.png', 'run.sh'])
  for (const { uri, digest, size } of listed[0]!.resources) {
    const { contents: [content] } = (await ask(url, 'resources/read', { uri })).result as {
      contents: ReadonlyArray<{ text?: string, blob?: string, mimeType: string }>
    }
    const bytes = content?.text === undefined ? Buffer.from(content?.blob ?? '', 'base64') : Buffer.from(content.text)
    t.strictSame(
      [`sha256:${createHash('sha256').update(bytes).digest('hex')}`, bytes.length],
      [digest, size],
      `${uri} as ${content?.mimeType}`
    )
  }
  t.match((await ask(url, 'server/discover')).result, {
    capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } }
  })
  t.match((await ask(url, 'skills/list', { cursor: 'x' })).error, { code: -32602 })
  const { body } = await post(url, {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  })
  t.match(body, { result: { capabilities: { resources: {} } } })
})

t.test('without the option, nothing says that there are skills, and resources are what they were', async (t) => {
  const { url, app } = await listen(t, route)
  t.notMatch(JSON.stringify(await ask(url, 'server/discover')), /skills|resources/)
  t.match((await ask(url, 'skills/list')).error, { code: -32601 })
  t.notOk(app.hasDecorator('mcpSkills'))
})

t.test('nothing outside of a skill can be read, and nothing that came into the folder later', async (t) => {
  const folder = t.testdir({
    secret: 'secret',
    skills: { ...skill('one') as object, two: { 'SKILL.md': front('two') } }
  })
  const { url } = await listen(t, route, { extensions: [skills(join(folder, 'skills'))] })
  for (
    const uri of [
      'skill://one/../../secret',
      'skill://one/%2e%2e/%2e%2e/secret',
      'skill://one/..%2f..%2fsecret',
      'skill://../secret',
      'skill:///secret',
      'skill://one',
      'skill://one/',
      'skill://one/SKILL.md/',
      'skill://one/./SKILL.md',
      'skill://one//SKILL.md',
      'SKILL://one/SKILL.md',
      'skill://one/SKILL%2emd',
      'skill://one/SKILL.md?x',
      `file://${folder}/secret`,
      'skill://one\\..\\SKILL.md',
      'skill://__proto__/SKILL.md'
    ]
  ) {
    t.match((await ask(url, 'resources/read', { uri })).error, { code: -32602 }, uri)
    t.match((await ask(url, 'skills/get', { uri })).error, { code: -32602 }, uri)
  }
  t.match((await ask(url, 'skills/get', { uri: 'skill://one/SKILL.md' })).result, {
    skill: { uri: 'skill://one/SKILL.md' }
  })
})

t.test('a folder that breaks the rules of the format stops the start', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, index) => [`${index}.txt`, '']))
  const cases: ReadonlyArray<readonly [folder: Folder, message: RegExp]> = [
    [{}, /no skills found/],
    [{ one: { 'skill.md': front('one') } }, /did you mean SKILL\.md/],
    [skill('One'), /must be 1-64 lowercase letters/],
    [{ one: { 'SKILL.md': front('two') } }, /must match the last path segment "one"/],
    [{ one: { 'SKILL.md': 'No frontmatter' } }, /must begin with a "---" line/],
    [{ one: { 'SKILL.md': '---\nname: one\n---\n' } }, /must contain string "name" and "description"/],
    [{ one: { 'SKILL.md': '---\nname: one\ndescription: a: b\n---\n' } }, /line 3: a plain value cannot contain/],
    [
      { one: { 'SKILL.md': front('one'), link: t.fixture('symlink', '../../secret') }, secret: 'x' },
      /one[/\\]link: symlinks and other special files are not followed/
    ],
    [{ one: { 'SKILL.md': front('one'), folder: t.fixture('symlink', '/etc') } }, /symlinks/],
    [{ one: { 'SKILL.md': t.fixture('symlink', '../two.md') }, 'two.md': front('one') }, /symlinks/],
    [{ one: { ...many, 'SKILL.md': front('one') } }, /512/],
    [{ one: { 'SKILL.md': front('one'), 'large.bin': Buffer.alloc(16 * 1024 * 1024) } }, /16777216|16 MiB/]
  ]
  for (const [index, [folder, message]] of cases.entries()) {
    await t.rejects(readSkills(t.testdir({ [index]: folder }) + `/${index}`), {
      code: 'MCP_FROM_ROUTES_INVALID_SKILLS',
      message
    })
  }
  await t.rejects(build(t, route, { extensions: [skills('/nowhere/at/all')] }), {
    code: 'MCP_FROM_ROUTES_INVALID_SKILLS',
    message: /cannot be listed/
  })
  for (const wrong of ['', null, [null]]) {
    await t.rejects(build(t, route, { extensions: [skills(wrong as never)] }), {
      code: 'MCP_FROM_ROUTES_INVALID_OPTION'
    })
  }
})

t.test('a call that a skill shows, and no tool takes, stops the start with file and line', async (t) => {
  const call = (args: object): string => `\n# One${shown({ name: 'create_item', arguments: args })}`
  const cases: ReadonlyArray<readonly [text: string, problem: RegExp | undefined]> = [
    [call({ kind: 'mug' }), undefined],
    [call({ kind: 'mug', shop_id: 's1', count: 1, prices: [{ amount: 1, currency: 'EUR' }] }), undefined],
    [
      call({ kind: '<mug or cup>', count: '<how many>', on: '<a day>', prices: [{ amount: '<new price>' }] }),
      undefined
    ],
    [call({ kind: 'mug', prices: ['<a price>', '<another>'] }), undefined],
    [call({ kind: 'mug', prices: '<all>' }), undefined],
    [shown({ name: 'delete_item' }), /one[/\\]SKILL\.md:7: there is no tool "delete_item"$/],
    [call({ kind: 'mug', colour: 'red' }), /SKILL\.md:8: create_item takes no colour\. It takes /],
    [call({ kind: 'mug', colour: '<any>' }), /takes no colour/],
    [call({ kind: 'mug', prices: [{ amount: 1, curency: '<x>' }] }), /create_item takes no prices\.0\.curency$/],
    [
      call({ kind: 'plate' }),
      /SKILL\.md:8: kind of create_item must be equal to one of the allowed values: "mug", "cup"$/
    ],
    [call({ kind: 'mug', count: 0 }), /count of create_item must be >= 1$/],
    [call({ kind: 'mug', count: '1' }), /count of create_item must be integer$/],
    [call({ kind: 'mug', on: 'soon' }), /on of create_item must match format "date"$/],
    [call({}), /create_item requires kind$/],
    [call({ kind: 'mug', prices: [{ currency: 'EUR' }] }), /create_item requires prices\.0\.amount$/],
    [
      '\n~~~json mcp-call\n{ "name": "create_item",\n\n  "arguments": {\n    "kind":\n "plate" } }\n~~~\n',
      /SKILL\.md:10: kind of create_item/
    ],
    [shown('{ "name": }'), /SKILL\.md:6: the call is not JSON/],
    [shown('[]'), /SKILL\.md:6: a call must be \{ "name"/],
    [shown({ name: 'create_item', args: {} }), /a call must be/],
    [shown({ name: 'create_item', arguments: [] }), /a call must be/],
    ['\n```mcp-call\n{}\n```\n', /SKILL\.md:6: a call must be in a block of json mcp-call, not of mcp-call/],
    ['\n```json mcp_call\n{}\n```\n', /must be in a block of/],
    ...['> ', '- ', '1. ', '> * '].map((before) =>
      [
        `\n${before}\`\`\`json mcp-call\n{ "name": "other" }\n\`\`\`\n`,
        /SKILL\.md:6: a call must be in a block that begins its line$/
      ] as const
    ),
    ['\n```json\n{ "name": "other" }\n```\n', undefined],
    ['\n````md\n```json mcp-call\n{ "name": "other" }\n```\n````\n', undefined],
    ['\n   ````json mcp-call\n   { "name": "other" }\n   ````\n', /no tool "other"/],
    ['\n```json mcp-call\n{ "name": "other" }', /no tool "other"/]
  ]
  for (const [index, [text, problem]] of cases.entries()) {
    const app = build(t, route, {
      ...implied,
      extensions: [skills(t.testdir({ [index]: skill('one', text) }) + `/${index}`)]
    }).then(
      async (app) => await app.ready()
    )
    if (problem === undefined) await t.resolves(app, text)
    else await t.rejects(app, { code: 'MCP_FROM_ROUTES_INVALID_SKILLS', message: problem }, text)
  }
  const several = t.testdir({
    one: {
      'SKILL.md': front('one') + shown({ name: 'a' }),
      'more.md': shown({ name: 'b' }),
      'more.txt': shown({ name: 'c' }),
      'other.MD': `\ufeff${shown({ name: 'd' }).trimStart()}`
    }
  })
  await t.rejects(build(t, route, { extensions: [skills(several)] }).then(async (app) => await app.ready()), {
    message:
      /^the skills cannot be served:\n- .+SKILL\.md:7: there is no tool "a"\n- .+more\.md:3: there is no tool "b"\n- .+other\.MD:2: there is no tool "d"$/
  })
})

t.test('a skill whose calls a client cannot make is hidden from it, with its files', async (t) => {
  const folder = t.testdir({
    ...skill('open') as object,
    one: { 'SKILL.md': front('one') + shown({ name: 'read_secret' }), 'more.txt': 'more' }
  })
  const { url } = await listen(t, route, {
    extensions: [skills(folder)],
    canUse: ({ name }, { headers: { authorization } }) =>
      name !== 'read_secret' || (authorization === 'maybe' ? 'unlisted' : authorization === 'staff')
  })
  const uris = async (method: string, authorization: string): Promise<unknown> =>
    (Object.values((await ask(url, method, {}, { authorization })).result ?? {}).find(Array.isArray) as Array<
      { uri: string }
    >).map(({ uri }) => uri)
  for (const method of ['skills/list', 'resources/list']) {
    t.strictSame(await uris(method, 'staff'), ['skill://one/SKILL.md', 'skill://open/SKILL.md'])
    t.strictSame(await uris(method, 'maybe'), ['skill://open/SKILL.md'])
    t.strictSame(await uris(method, 'ann'), ['skill://open/SKILL.md'])
  }
  for (
    const [method, uri] of [['skills/get', 'skill://one/SKILL.md'], ['resources/read', 'skill://one/SKILL.md'], [
      'resources/read',
      'skill://one/more.txt'
    ]] as const
  ) {
    t.match((await ask(url, method, { uri }, { authorization: 'ann' })).error, { code: -32602 }, `${method} ${uri}`)
    t.ok((await ask(url, method, { uri }, { authorization: 'maybe' })).result)
  }
  const broken = await listen(t, route, {
    extensions: [skills(folder)],
    canUse: () => {
      throw new Error('secret')
    }
  })
  t.match((await ask(broken.url, 'skills/list')).error, { code: -32603, message: 'Internal error' })
})

t.test('several folders are one list, and none may repeat a skill', async (t) => {
  const folder = t.testdir({ a: skill('two'), b: skill('one'), c: skill('two') })
  const { app } = await listen(t, route, { extensions: [skills([join(folder, 'a'), join(folder, 'b')])] })
  t.strictSame(app.mcpSkills.map(({ name }) => name), ['one', 'two'])
  await t.rejects(build(t, route, { extensions: [skills([join(folder, 'a'), join(folder, 'c')])] }), {
    code: 'MCP_FROM_ROUTES_INVALID_SKILLS',
    message: /skill:\/\/two\/SKILL\.md is in another folder too/
  })
})

t.test('a batch holds one request', async (t) => {
  const { url } = await listen(t, (app) => {
    app.get('/x', { schema: { operationId: 'x', description: 'X.', tags: ['mcp'] } }, async () => 'x')
  }, { extensions: [skills(t.testdir(skill('one')))] })
  const { body } = await post(url, [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'skills/list' })))
  t.match(body, { error: { message: /a batch may hold one request/ } })
})

t.test('the contract holds the skills: one that goes is a major change, other words are none', async (t) => {
  let count = 0
  const of = async (folder: Folder) => {
    const app = await build(t, route, {
      ...implied,
      extensions: [skills(t.testdir({ [++count]: folder }) + `/${count}`)]
    })
    await app.ready()
    return contractFromTools(app.mcpTools, { skills: app.mcpSkills })
  }
  const before = await of({ ...skill('one', shown({ name: 'read_secret' })) as object, ...skill('two') as object })
  t.match(textFromContract(before), /"skill:\/\/one\/SKILL\.md": \{/)
  t.strictSame(diffContracts(contractFromText(textFromContract(before), 'x'), before).findings, [])
  t.strictSame(
    diffContracts(
      before,
      await of({
        ...skill('one', `Other words.${shown({ name: 'create_item', arguments: { kind: 'mug' } })}`) as object,
        ...skill('three') as object
      })
    ).findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`),
    [
      'major skill://two/SKILL.md: skill → removed: clients that load it by its URI fail',
      'minor skill://three/SKILL.md: none → new skill: clients that do not know it ignore it',
      'patch skill://one/SKILL.md calls: ["read_secret"] → ["create_item"]: what is read stays as it is'
    ]
  )
  const named = (name: string, description: string, text = ''): Folder => ({
    [name]: { 'SKILL.md': `---\nname: ${name}\ndescription: ${description}\n---\n${text}` }
  })
  const call = shown({ name: 'read_secret' })
  const renamed = 'major skill://one/SKILL.md: skill → renamed to skill://uno/SKILL.md: clients that load it by its ' +
    'URI fail'
  for (
    const [title, after, wanted] of [
      ['with its description', named('uno', 'What one is for.'), [renamed]],
      ['with its calls', named('uno', 'Another.', call), [renamed]],
      ['beside a new one', { ...named('uno', 'Another.', call) as object, ...named('due', 'Two.', call) as object }, [
        'major skill://one/SKILL.md: skill → renamed to skill://due/SKILL.md: clients that load it by its URI fail',
        'minor skill://uno/SKILL.md: none → new skill: clients that do not know it ignore it'
      ]],
      ['beside one that is more like it', {
        ...named('uno', 'What one is for.', call) as object,
        ...named('due', 'Two.', call) as object
      }, [renamed, 'minor skill://due/SKILL.md: none → new skill: clients that do not know it ignore it']]
    ] as const
  ) {
    t.strictSame(
      diffContracts(await of(named('one', 'What one is for.', call)), await of(after)).findings.map((finding) =>
        `${finding.bump} ${textOfFinding(finding)}`
      ),
      wanted,
      `a skill is renamed, ${title}`
    )
  }
})
