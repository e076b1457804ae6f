import t from 'tap'
import {
  contractFromApp,
  contractFromText,
  diffContracts,
  textFromContract,
  textOfFinding,
  type Contract,
  type ContractTool
} from '../../src/contract/index.ts'
import { build } from '../build.ts'

/* What a rename means for those who call a tool by its name. */

const tool = (description: string, more: Partial<ContractTool> = {}): ContractTool => ({
  description,
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, additionalProperties: false },
  ...more
})
const tag = tool('Change a tag.')
const formerly = (...names: readonly string[]): Partial<ContractTool> => ({ formerly: names })
const narrow = { type: 'object', properties: {}, additionalProperties: false }

type Tools = Readonly<Record<string, ContractTool>>
const cases: ReadonlyArray<readonly [title: string, before: Tools, after: Tools, findings: readonly string[]]> = [
  [
    'a rename with the old name',
    { update_tag: tag },
    { change_tag: { ...tag, ...formerly('update_tag') } },
    ['minor update_tag: tool → renamed to change_tag: the old name still works']
  ],
  [
    'a rename without it',
    { update_tag: tag },
    { change_tag: tag },
    [
      'major update_tag: tool → removed, probably renamed to change_tag: callers and agents that use it by name fail',
      'minor change_tag: none → new tool: callers that do not know it ignore it'
    ]
  ],
  [
    'a renamed tool that also breaks',
    { update_tag: tag },
    { change_tag: { ...tag, ...formerly('update_tag'), inputSchema: narrow } },
    [
      'major update_tag input.id: argument → removed: calls that pass it are refused, or it is ignored',
      'minor update_tag: tool → renamed to change_tag: the old name still works'
    ]
  ],
  [
    'a second rename that keeps the first name',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    { set_tag: { ...tag, ...formerly('change_tag', 'update_tag') } },
    ['minor change_tag: tool → renamed to set_tag: the old name still works']
  ],
  [
    'a second rename that loses the first name',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    { set_tag: { ...tag, ...formerly('change_tag') } },
    [
      'major change_tag formerly.update_tag: old name → removed: callers that still use it fail',
      'minor change_tag: tool → renamed to set_tag: the old name still works'
    ]
  ],
  [
    'a rename that is taken back',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    { update_tag: { ...tag, ...formerly('change_tag') } },
    ['minor change_tag: tool → renamed to update_tag: the old name still works']
  ],
  [
    'the end of an old name',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    { change_tag: tag },
    ['major change_tag formerly.update_tag: old name → removed: callers that still use it fail']
  ],
  [
    'a new tool takes an old name',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    { change_tag: tag, update_tag: tool('Update all tags.') },
    [
      'major change_tag formerly.update_tag: old name → that of update_tag: callers that still use it call ' +
      'another tool',
      'minor update_tag: none → new tool: callers that do not know it ignore it'
    ]
  ],
  [
    'another tool takes an old name for one of its own',
    { change_tag: { ...tag, ...formerly('update_tag') }, list_tags: tool('List tags.') },
    { change_tag: tag, list_tags: tool('List tags.', formerly('update_tag')) },
    [
      'major change_tag formerly.update_tag: old name → that of list_tags: callers that still use it call another tool'
    ]
  ],
  [
    'a tool takes the name that another one left',
    { update_tag: tag },
    { update_tag: tool('Update all tags.'), change_tag: tag },
    [
      'major update_tag: tool → another tool; what it did is done by change_tag: cannot tell, so taken as breaking: ' +
      'callers that use it by name would do something else',
      'minor change_tag: none → new tool: callers that do not know it ignore it',
      'patch update_tag description: "Change a tag." → "Update all tags.": calls and results stay as they are'
    ]
  ],
  [
    'a tool with another description only',
    { update_tag: tag, list_tags: tool('List tags.') },
    { update_tag: tool('Change one tag.'), list_tags: tool('List tags.') },
    ['patch update_tag description: "Change a tag." → "Change one tag.": calls and results stay as they are']
  ],
  [
    'an old name for a tool that had none',
    { change_tag: tag },
    { change_tag: { ...tag, ...formerly('update_tag') } },
    ['minor change_tag formerly.update_tag: none → old name: callers that know the tool by it find it']
  ],
  [
    'a tool that is merged into another',
    { update_tag: tag, change_tag: tag },
    { change_tag: { ...tag, ...formerly('update_tag') } },
    ['minor update_tag: tool → renamed to change_tag: the old name still works']
  ],
  [
    'a tool that goes with its old name',
    { change_tag: { ...tag, ...formerly('update_tag') } },
    {},
    ['major change_tag: tool → removed: callers and agents that use it by name fail']
  ],
  [
    'a tool becomes deprecated, and its description says so',
    { update_tag: tag },
    { update_tag: { ...tool('Deprecated. Change a tag.'), deprecated: true } },
    [
      'minor update_tag deprecated: not deprecated → deprecated: calls and results stay as they are, and callers are ' +
      'told to look for another tool'
    ]
  ],
  [
    'a tool is no longer deprecated',
    { update_tag: { ...tool('Deprecated. Change a tag.'), deprecated: true } },
    { update_tag: tag },
    ['patch update_tag deprecated: deprecated → not deprecated: calls and results stay as they are']
  ]
]

const contract = (tools: Tools): Contract => new Map(Object.entries(tools))
for (const [title, before, after, findings] of cases) {
  t.test(title, async (t) => {
    const read = (tools: Tools): Contract => contractFromText(textFromContract(contract(tools)), 'tools.json')
    t.strictSame(
      diffContracts(read(before), read(after)).findings.map((one) => `${one.bump} ${textOfFinding(one)}`),
      findings
    )
  })
}

t.test('endpoints and skills follow a rename', async (t) => {
  const at = (tools: Tools, held: readonly string[], calls: readonly string[]): Contract =>
    Object.assign(contract(tools), {
      endpoints: new Map([['/mcp', { tools: 'all' as const }], ['/mcp/tags', { tools: held }]]),
      skills: new Map([['skill://tags/SKILL.md', { name: 'tags', calls }]])
    })
  const before = at({ update_tag: tag }, ['update_tag'], ['update_tag'])
  const renamed = { change_tag: { ...tag, ...formerly('update_tag') } }
  const bumps = (after: Contract): readonly string[] =>
    diffContracts(before, after).findings.map((one) => `${one.bump} ${textOfFinding(one)}`)
  t.match(bumps(at(renamed, ['change_tag'], ['change_tag'])), [
    'minor update_tag: tool → renamed to change_tag: the old name still works',
    /^patch skill/
  ])
  t.match(
    bumps(at(renamed, [], ['change_tag'])).find((line) => line.startsWith('major /mcp/tags')),
    'change_tag: listed → not listed'
  )
})

t.test('the contract of an app holds old names, and one without them is written as before', async (t) => {
  const app = async (config: object, schema: object): Promise<Contract> => {
    const built = await build(t, (app) => {
      app.get('/tags', {
        schema: { operationId: 'list_tags', description: 'List tags.', tags: ['mcp'], ...schema },
        config
      }, async () => [])
    })
    await built.ready()
    return contractFromApp(built)!
  }
  const plain = textFromContract(await app({}, {}))
  t.notMatch(plain, /formerly|deprecated/)
  const text = textFromContract(await app({ mcp: { formerly: ['get_tags'] } }, { deprecated: true }))
  t.match(text, '"formerly": ["get_tags"]')
  t.match(text, '"deprecated": true')
  const { findings } = diffContracts(contractFromText(plain, 'old'), contractFromText(plain, 'old'))
  t.strictSame(findings, [])
  t.throws(() => contractFromText(text.replace('["get_tags"]', '[1]'), 'tools.json'), {
    code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE'
  })
})
