import t from 'tap'
import { contractFromText, contractFromTools, diffContracts, textFromContract, textOfFinding } from '../../src/contract/index.ts'
import type { Contract, ContractTool } from '../../src/contract/index.ts'
import { build } from '../build.ts'

const update: ContractTool = {
  description: 'Change a tag.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'], additionalProperties: false },
  outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
}
const contract = (tools: Record<string, ContractTool>): Contract => new Map(Object.entries(tools))
const hinted = (hints: object): ContractTool => ({ ...update, annotations: { ...update.annotations, ...hints } })
const { outputSchema, ...silent } = update

const cases: Array<[title: string, before: Record<string, ContractTool>, after: Record<string, ContractTool>, findings: readonly string[]]> = [
  ['nothing changed', { update }, { update }, []],
  ['a new tool', {}, { update }, ['minor update: none → new tool: callers that do not know it leave it']],
  ['a tool is gone', { update }, {}, ['major update: tool → removed: callers and agents that use it by name fail']],
  ['a tool is renamed', { update }, { change: { ...update, description: 'Edit a tag.' } }, [
    'major update: tool → removed, probably renamed to change: callers and agents that use it by name fail',
    'minor change: none → new tool: callers that do not know it leave it'
  ]],
  ['a tool is gone, and another one is new', { update }, { list: { inputSchema: { type: 'object' }, description: 'List.' } }, [
    'major update: tool → removed: callers and agents that use it by name fail',
    'minor list: none → new tool: callers that do not know it leave it'
  ]],
  ['the output schema is gone', { update }, { update: silent }, ['major update output: schema → none: callers that read the structured result find none, or any']],
  ['an output schema', { update: silent }, { update }, ['minor update output: none → schema: nothing was promised until now']],
  ['not read-only any more', { update: hinted({ readOnlyHint: true }) }, { update }, ['major update annotations.readOnlyHint: true → false: clients that were let do it without asking, or twice, now do harm']],
  ['destructive', { update }, { update: hinted({ destructiveHint: true }) }, ['major update annotations.destructiveHint: false → true: clients that were let do it without asking, or twice, now do harm']],
  ['not idempotent any more', { update }, { update: hinted({ idempotentHint: false }) }, ['major update annotations.idempotentHint: true → false: clients that were let do it without asking, or twice, now do harm']],
  ['a hint left out means what the protocol says', { update: hinted({ destructiveHint: true }) }, { update: hinted({ destructiveHint: undefined }) }, []],
  ['read-only now', { update }, { update: hinted({ readOnlyHint: true }) }, ['minor update annotations.readOnlyHint: false → true: clients may ask more or less often']],
  ['another description', { update }, { update: { ...update, description: 'Edit a tag.' } }, ['patch update description: "Change a tag." → "Edit a tag.": calls and results stay as they are']],
  ['another title', { update }, { update: { ...update, title: 'T' } }, ['patch update title: none → "T": calls and results stay as they are']],
  ['input and output at once', { update }, { update: { ...update, inputSchema: { ...update.inputSchema, required: [] }, outputSchema: { type: 'object', properties: { id: { type: 'string' } } } } }, [
    'major update output.id: required → optional: callers may get what could not be there until now',
    'minor update input.id: required → optional: all calls that were right until now still are'
  ]]
]

for (const [title, before, after, wanted] of cases) {
  t.test(title, async (t) => {
    const { bump, findings } = diffContracts(contract(before), contract(after))
    t.strictSame(findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`), wanted)
    t.equal(bump, wanted[0]?.split(' ')[0] ?? 'none')
  })
}

const lines: Array<[title: string, before: unknown, after: unknown, line: string]> = [
  ['a renamed argument', { channel: { type: 'string', maxLength: 9 } }, { channel_id: { type: 'string', maxLength: 9 } }, 't input.channel: argument → removed, probably renamed to channel_id: calls that pass it are refused, or it is ignored'],
  ['a limit deep inside', { filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string', maxLength: 9 } } } } }, { filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string', maxLength: 5 } } } } }, 't input.filter.tags[]: maxLength 9 → 5: calls that were right until now are refused'],
  ['a limit in the branch of a union that takes the same type', { a: { anyOf: [{ type: 'boolean' }, { type: 'string', maxLength: 9 }] } }, { a: { anyOf: [{ type: 'boolean' }, { type: 'string', maxLength: 5 }, { type: 'array' }] } }, 't input.a: maxLength 9 → 5: calls that were right until now are refused'],
  ['a name that is no word', { 'x y': { type: 'string' } }, { 'x y': { type: 'integer' } }, 't input["x y"]: type "string" → "integer": calls that were right until now are refused'],
  ['a pattern', { a: { type: 'string', pattern: '^a' } }, { a: { type: 'string', pattern: '^a?' } }, 't input.a: pattern "^a" → "^a?": cannot tell, so taken as breaking: calls that were right until now are refused']
]
for (const [title, before, after, line] of lines) {
  t.test(`one line says it: ${title}`, async (t) => {
    const of = (properties: unknown): Contract => contract({ t: { inputSchema: { type: 'object', properties, additionalProperties: false } } })
    t.ok(diffContracts(of(before), of(after)).findings.map(textOfFinding).includes(line), diffContracts(of(before), of(after)).findings.map(textOfFinding).join('\n'))
  })
}

t.test('a schema that doubles at every level is compared in bounded time', async (t) => {
  const doubling = (leaf: unknown): Contract => {
    const $defs = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`L${n}`, n === 0 ? leaf : { type: 'object', properties: { a: { $ref: `#/$defs/L${n - 1}` }, b: { $ref: `#/$defs/L${n - 1}` } } }]))
    return contract({ t: { inputSchema: { $ref: '#/$defs/L59', $defs } } })
  }
  t.equal(diffContracts(doubling({ type: 'string' }), doubling({ type: 'string', maxLength: 3 })).bump, 'major')
})

t.test('the file is the same for the same tools, one tool a block, and reads back', async (t) => {
  const app = await build(t, (app) => {
    for (const name of ['b', 'a']) app.get(`/${name}/:id`, { schema: { operationId: name, description: 'D.', tags: ['mcp'], response: { 200: { type: 'object', properties: { id: { type: 'string' } } } } } }, async () => ({}))
  })
  await app.ready()
  const text = textFromContract(contractFromTools(app.mcpTools))
  t.equal(text, `{
  "contract": 1,
  "tools": {
    "a": {
      "annotations": { "destructiveHint": false, "idempotentHint": true, "openWorldHint": false, "readOnlyHint": true },
      "description": "D.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": { "id": { "minLength": 1, "type": "string" } },
        "required": ["id"],
        "type": "object"
      },
      "outputSchema": { "properties": { "id": { "type": "string" } }, "type": "object" }
    },
    "b": {
      "annotations": { "destructiveHint": false, "idempotentHint": true, "openWorldHint": false, "readOnlyHint": true },
      "description": "D.",
      "inputSchema": {
        "additionalProperties": false,
        "properties": { "id": { "minLength": 1, "type": "string" } },
        "required": ["id"],
        "type": "object"
      },
      "outputSchema": { "properties": { "id": { "type": "string" } }, "type": "object" }
    }
  }
}
`)
  t.equal(textFromContract(contractFromText(text, 'f')), text)
  t.equal(textFromContract(contractFromText(text.replaceAll('\n', '\r\n'), 'f')), text)
  for (const [broken, message] of [
    ['{', /^f cannot be read as a contract: it is not JSON/], ['[]', /no "tools"/], ['{"contract":2,"tools":{}}', /"contract" is 2/],
    ['{"contract":1,"tools":{"a":{}}}', /the tool a has no inputSchema/], ['{"contract":1,"tools":{"a":{"inputSchema":{},"outputSchema":1}}}', /the outputSchema of a is not an object/]
  ] as const) t.throws(() => contractFromText(broken, 'f'), { code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE', message })
})
