import t from 'tap'
import {
  contractFromText,
  contractFromTools,
  diffContracts,
  textFromContract,
  textOfFinding,
  type Contract,
  type ContractTool
} from '../../src/contract/index.ts'
import type { JsonSchema } from '../../src/index.ts'
import { build } from '../build.ts'

const update: ContractTool = {
  description: 'Change a tag.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' } },
    required: ['id'],
    additionalProperties: false
  },
  outputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
}
const contract = (tools: Record<string, ContractTool>): Contract => new Map(Object.entries(tools))
const hinted = (hints: object): ContractTool => ({ ...update, annotations: { ...update.annotations, ...hints } })
const declared = (more: object): ContractTool => ({
  ...update,
  declaredOutput: { type: 'object', properties: { id: { type: 'string', ...more } }, required: ['id'] }
})
const { outputSchema, ...silent } = update

const cases: Array<
  [
    title: string,
    before: Record<string, ContractTool>,
    after: Record<string, ContractTool>,
    findings: readonly string[]
  ]
> = [
  ['nothing changed', { update }, { update }, []],
  ['a new tool', {}, { update }, ['minor update: none → new tool: callers that do not know it ignore it']],
  ['a tool is gone', { update }, {}, ['major update: tool → removed: callers and agents that use it by name fail']],
  ...([[undefined, 30, 'none → 30', 'cannot tell, so taken as breaking: '], [
    30,
    undefined,
    '30 → none',
    'cannot tell, so taken as breaking: '
  ], [30, 50, '30 → 50', '']] as const).map(
    (
      [was, is, change, unsure]
    ): [string, Record<string, ContractTool>, Record<string, ContractTool>, readonly string[]] => {
      const limited = (value: number | undefined): ContractTool => ({
        ...update,
        inputSchema: {
          type: 'object',
          properties: { limit: { type: 'integer', ...value !== undefined && { default: value } } }
        }
      })
      return [`a default becomes another: ${change}`, { update: limited(was) }, { update: limited(is) }, [
        `major update input.limit: default ${change}: ${unsure}calls that leave it out may mean something else now`
      ]]
    }
  ),
  ['a tool is renamed', { update }, { change: { ...update, description: 'Edit a tag.' } }, [
    'major update: tool → removed, probably renamed to change: callers and agents that use it by name fail',
    'minor change: none → new tool: callers that do not know it ignore it'
  ]],
  ['two parts that stay are enough for a new name', { update }, {
    change: { ...hinted({ openWorldHint: true }), description: 'Edit a tag.' }
  }, [
    'major update: tool → removed, probably renamed to change: callers and agents that use it by name fail',
    'minor change: none → new tool: callers that do not know it ignore it'
  ]],
  ['one is not', { update }, {
    list: { inputSchema: { type: 'object' }, annotations: { ...update.annotations }, description: 'List.' }
  }, [
    'major update: tool → removed: callers and agents that use it by name fail',
    'minor list: none → new tool: callers that do not know it ignore it'
  ]],
  ['a tool is gone, and another one is new', { update }, {
    list: { inputSchema: { type: 'object' }, description: 'List.' }
  }, [
    'major update: tool → removed: callers and agents that use it by name fail',
    'minor list: none → new tool: callers that do not know it ignore it'
  ]],
  ['the output schema is gone', { update }, { update: silent }, [
    'major update output: schema → none: callers that read the structured result find none, or one of any shape'
  ]],
  ['an output schema', { update: silent }, { update }, [
    'minor update output: none → schema: nothing was promised until now'
  ]],
  ['not read-only any more', { update: hinted({ readOnlyHint: true }) }, { update }, [
    'major update annotations.readOnlyHint: true → false: clients that call it without asking, or repeat a ' +
    'call, may now do harm'
  ]],
  ['destructive', { update }, { update: hinted({ destructiveHint: true }) }, [
    'major update annotations.destructiveHint: false → true: clients that call it without asking, or repeat a ' +
    'call, may now do harm'
  ]],
  ['not idempotent any more', { update }, { update: hinted({ idempotentHint: false }) }, [
    'major update annotations.idempotentHint: true → false: clients that call it without asking, or repeat a ' +
    'call, may now do harm'
  ]],
  ['a hint left out means what the protocol says', { update: hinted({ destructiveHint: true }) }, {
    update: hinted({ destructiveHint: undefined })
  }, []],
  ['read-only now', { update }, { update: hinted({ readOnlyHint: true }) }, [
    'minor update annotations.readOnlyHint: false → true: clients may ask more or less often'
  ]],
  ['idempotency on a tool that only reads', { update: hinted({ readOnlyHint: true }) }, {
    update: hinted({ readOnlyHint: true, idempotentHint: false })
  }, ['patch update annotations.idempotentHint: true → false: it means nothing on a tool that only reads']],
  ['a tool that only reads now, whatever its other hints', { update }, {
    update: hinted({ readOnlyHint: true, idempotentHint: false, destructiveHint: true })
  }, [
    'minor update annotations.readOnlyHint: false → true: clients may ask more or less often',
    'patch update annotations.destructiveHint: false → true: it means nothing on a tool that only reads',
    'patch update annotations.idempotentHint: true → false: it means nothing on a tool that only reads'
  ]],
  ['what is declared and not published', { update: declared({ enum: ['a', 'b'] }) }, {
    update: declared({ enum: ['a', 'c', 'd'] })
  }, [
    'patch update declaredOutput.id: "c", "d" added: the published schema says nothing of it, but callers may ' +
    'get values that were impossible until now'
  ]],
  ['a removed value that is declared and not published', { update: declared({ enum: ['a', 'b', 'c'] }) }, {
    update: declared({ enum: ['a'] })
  }, [
    'patch update declaredOutput.id: "b", "c" removed: the published schema says nothing of it, but callers get ' +
    'no values that were impossible until now'
  ]],
  ['a declaration where nothing but what is published was declared', { update }, {
    update: declared({ format: 'uuid' })
  }, ['patch update declaredOutput: as published → more than that: the published schema says nothing of it']],
  ['another description', { update }, { update: { ...update, description: 'Edit a tag.' } }, [
    'patch update description: "Change a tag." → "Edit a tag.": calls and results stay as they are'
  ]],
  ['another title', { update }, { update: { ...update, title: 'T' } }, [
    'patch update title: none → "T": calls and results stay as they are'
  ]],
  ['a person has to confirm, and clients that cannot ask are refused', { update }, {
    update: { ...update, confirm: 'refuse' }
  }, ['major update confirm: none → refuse: calls of clients that cannot ask a person are refused']],
  ['a person has to confirm, and clients that cannot ask call twice', { update }, {
    update: { ...update, confirm: 'token' }
  }, ['major update confirm: none → token: clients that cannot ask a person have to call twice']],
  ['a person has to confirm, where the client can ask', { update }, { update: { ...update, confirm: 'allow' } }, [
    'minor update confirm: none → allow: clients that can ask a person do, and calls of other clients run as before'
  ]],
  ['clients that cannot ask are let in', { update: { ...update, confirm: 'refuse' } }, {
    update: { ...update, confirm: 'allow' }
  }, ['minor update confirm: refuse → allow: calls of clients that cannot ask a person run at once']],
  ['clients that cannot ask get a token', { update: { ...update, confirm: 'refuse' } }, {
    update: { ...update, confirm: 'token' }
  }, ['minor update confirm: refuse → token: calls that were refused run with a token']],
  ['clients that cannot ask are refused now', { update: { ...update, confirm: 'token' } }, {
    update: { ...update, confirm: 'refuse' }
  }, ['major update confirm: token → refuse: calls of clients that cannot ask a person are refused']],
  ['nobody is asked any more', { update: { ...update, confirm: 'allow' } }, { update }, [
    'major update confirm: allow → none: people who let their client run it because they are asked first are no ' +
    'longer asked'
  ]],
  ['a call may become a task', { update }, { update: { ...update, execution: { taskSupport: 'optional' } } }, [
    'minor update execution: none → optional: clients that support tasks get one for work that is still running'
  ]],
  ['no call becomes a task any more', { update: { ...update, execution: { taskSupport: 'optional' } } }, { update }, [
    'major update execution: optional → none: clients that request a task are refused, and tasks already ' +
    'started are unknown'
  ]],
  ['input and output at once', { update }, {
    update: {
      ...update,
      inputSchema: { ...update.inputSchema, required: [] },
      outputSchema: { type: 'object', properties: { id: { type: 'string' } } }
    }
  }, [
    'major update output.id: required → optional: callers may get values that were impossible until now',
    'minor update input.id: required → optional: all calls that were valid until now still are'
  ]]
]

for (const [title, before, after, wanted] of cases) {
  t.test(title, async (t) => {
    const { bump, findings } = diffContracts(contract(before), contract(after))
    t.strictSame(findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`), wanted)
    t.equal(bump, wanted[0]?.split(' ')[0] ?? 'none')
  })
}

t.test('changes of what is declared and not published count where that is wanted', async (t) => {
  const of = (before: object, after: object): readonly string[] =>
    diffContracts(contract({ update: declared(before) }), contract({ update: declared(after) }), {
      countDeclared: true
    }).findings.map((finding) => `${finding.bump} ${textOfFinding(finding)}`)
  t.strictSame(of({ enum: ['a', 'b'] }, { enum: ['a'] }), [
    'major update declaredOutput.id: "b" removed: callers that wait for it wait forever'
  ])
  t.strictSame(of({ enum: ['a'] }, { enum: ['a', 'b'] }), [
    'major update declaredOutput.id: "b" added: callers may get values that were impossible until now'
  ])
  t.strictSame(of({ maxLength: 9 }, { maxLength: 5 }), [
    'minor update declaredOutput.id: maxLength 9 → 5: callers get no values that were impossible until now'
  ])
})

t.test('the contract of an app keeps what its routes declare of their results', async (t) => {
  const app = await build(t, (app) => {
    const id = { type: 'string', enum: ['a', 'b'], pattern: '^[a-z]$' }
    app.get('/list', {
      schema: { operationId: 'list', description: 'D.', tags: ['mcp'], response: { 200: { type: 'array', items: id } } }
    }, async () => [])
    app.get('/plain', {
      schema: {
        operationId: 'plain',
        description: 'D.',
        tags: ['mcp'],
        response: { 200: { type: 'object', properties: { id: { type: 'string', description: 'I.' } } } }
      }
    }, async () => ({}))
    app.get('/odd', {
      schema: {
        operationId: 'odd',
        description: 'D.',
        tags: ['mcp'],
        response: { 200: { type: 'object', properties: { id: { type: 'string', maxLength: 3, pattern: '\\_' } } } }
      }
    }, async () => ({}))
    app.get('/unpublished', {
      schema: {
        operationId: 'unpublished',
        description: 'D.',
        tags: ['mcp'],
        response: { 200: { type: 'object', properties: { id } } }
      },
      config: { mcp: { output: false } }
    }, async () => ({}))
    app.get('/none', {
      schema: { operationId: 'none', description: 'D.', tags: ['mcp'], response: { 204: { type: 'null' } } }
    }, async () => null)
  })
  await app.ready()
  const tools = contractFromTools(app.mcpTools)
  t.strictSame(tools.get('list')?.declaredOutput, {
    type: 'object',
    properties: { result: { type: 'array', items: { type: 'string', enum: ['a', 'b'], pattern: '^[a-z]$' } } },
    required: ['result']
  })
  t.equal(tools.get('plain')?.declaredOutput, undefined, 'all of it is published')
  t.strictSame(tools.get('odd')?.declaredOutput, {
    type: 'object',
    properties: { id: { type: 'string', maxLength: 3 } }
  }, 'a pattern that cannot be read is left out')
  t.strictSame(tools.get('unpublished')?.declaredOutput, {
    type: 'object',
    properties: { id: { type: 'string', enum: ['a', 'b'], pattern: '^[a-z]$' } }
  }, 'as it is')
  t.equal(tools.get('none')?.declaredOutput, undefined)
})

t.test('a list of types and the anyOf that says the same are one contract', async (t) => {
  const schema = (x: object): JsonSchema => ({ type: 'object', properties: { x } })
  const [listed, written] = [
    schema({ type: ['string', 'null'] }),
    schema({ anyOf: [{ type: 'string' }, { type: 'null' }] })
  ]
  for (const part of ['inputSchema', 'outputSchema', 'declaredOutput']) {
    const textOf = (x: JsonSchema): string => textFromContract(contract({ t: { inputSchema: schema({}), [part]: x } }))
    t.equal(textOf(listed), textOf(written), part)
    t.match(textOf(listed), '"anyOf"', part)
  }
  const kept = (outputSchema: JsonSchema, output: JsonSchema): unknown =>
    contractFromTools([
      { name: 't', description: 'D.', inputSchema: schema({}), outputSchema, route: { output } } as never
    ]).get('t')?.declaredOutput
  t.equal(kept(listed, written), undefined)
  t.equal(kept(written, listed), undefined)
  t.strictSame(kept(written, schema({ type: 'string' })), schema({ type: 'string' }))
})

t.test('300 tools of 60 arguments, of which some changed, are compared to the last one', async (t) => {
  const of = (more: object): Contract =>
    contract(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`tool_${n}`, {
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from(
            { length: 60 },
            (_, m) => [`argument_${m}`, { type: 'string', minLength: 1, description: 'D', ...m % 20 === 0 && more }]
          )
        ),
        additionalProperties: false
      },
      outputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          Array.from(
            { length: 10 },
            (_, m) => [`field_${m}`, { anyOf: [{ type: 'string' }, { type: 'null' }], ...m % 20 === 0 && more }]
          )
        )
      }
    }])))
  const { bump, findings } = diffContracts(of({ maxLength: 50 }), of({ maxLength: 20 }))
  t.equal(bump, 'major')
  t.equal(
    findings.filter(({ path, change, certain }) =>
      /^input\.argument_(0|20|40)$/.test(path) && change === 'maxLength 50 → 20' && certain
    ).length,
    900
  )
  t.equal(findings.length, 1200)
})

t.test('a union of a hundred branches, of which one changed, is told apart', async (t) => {
  for (const keyword of ['anyOf', 'oneOf']) {
    const of = (more: object): Contract =>
      contract({
        t: {
          inputSchema: {
            type: 'object',
            properties: {
              a: {
                [keyword]: Array.from(
                  { length: 100 },
                  (_, n) => ({
                    type: 'object',
                    properties: { kind: { const: `k${n}` }, name: { type: 'string', ...n === 50 && more } },
                    required: ['kind']
                  })
                )
              }
            },
            additionalProperties: false
          }
        }
      })
    const { bump, findings } = diffContracts(of({ maxLength: 50 }), of({ maxLength: 80 }))
    t.equal(bump, 'minor', findings.map(textOfFinding).join('; '))
    t.equal(diffContracts(of({ maxLength: 80 }), of({ maxLength: 50 })).bump, 'major')
  }
})

t.test('certain is what an example shows', async (t) => {
  const of = (schema: object): Contract =>
    contract({ t: { inputSchema: { type: 'object', properties: { a: schema }, additionalProperties: false } } })
  for (
    const [before, after, certain] of [
      [{ type: 'string' }, { type: 'string', maxLength: 3 }, true],
      [{ type: 'string', pattern: '^a{3}$' }, { type: 'string', pattern: '^a{3}$', maxLength: 5 }, false],
      [{ type: 'string', pattern: '^a*$' }, { type: 'string', pattern: '^a*$', maxLength: 5 }, true],
      [{ type: 'string', format: 'uuid' }, { type: 'string', format: 'uuid', maxLength: 20 }, true],
      [{ type: 'string', format: 'ulid' }, { type: 'string', format: 'ulid', maxLength: 30 }, false],
      [{ type: 'number', multipleOf: 10, maximum: 95 }, { type: 'number', multipleOf: 10, maximum: 92 }, false],
      [{ type: 'number', multipleOf: 10, maximum: 95 }, { type: 'number', multipleOf: 10, maximum: 82 }, true],
      [{ type: 'string', not: { minLength: 5 } }, { type: 'string', not: { minLength: 5 }, maxLength: 8 }, false],
      [{ oneOf: [{ type: 'string' }, { type: 'string', minLength: 3 }] }, { type: 'string', maxLength: 8 }, false],
      [{ type: 'string', pattern: '^a' }, { type: 'string', pattern: '^b' }, true],
      // Trying it would take ages.
      [{ type: 'string', pattern: '^(a|a)*b?c$', maxLength: 40 }, {
        type: 'string',
        pattern: '^(a|a)*b?c$',
        maxLength: 35
      }, false],
      [{ type: 'string', minLength: 39, maxLength: 40 }, {
        type: 'string',
        minLength: 39,
        maxLength: 40,
        pattern: '^(a|a)*b?c$'
      }, false],
      [{ type: 'string' }, { type: 'integer' }, true]
    ] as const
  ) {
    const [finding] = diffContracts(of(before), of(after)).findings
    t.equal(finding?.bump, 'major', JSON.stringify([before, after]))
    t.equal(finding?.certain, certain, JSON.stringify([before, after]))
  }
})

const lines: Array<[title: string, before: unknown, after: unknown, line: string]> = [
  [
    'a renamed argument',
    { channel: { type: 'string', maxLength: 9 } },
    { channel_id: { type: 'string', maxLength: 9 } },
    't input.channel: argument → removed, probably renamed to channel_id: calls that pass it are refused, or it ' +
    'is ignored'
  ],
  [
    'a limit deep inside',
    { filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string', maxLength: 9 } } } } },
    { filter: { type: 'object', properties: { tags: { type: 'array', items: { type: 'string', maxLength: 5 } } } } },
    't input.filter.tags[]: maxLength 9 → 5: calls that were valid until now are refused'
  ],
  [
    'a limit in the branch of a union that takes the same type',
    { a: { anyOf: [{ type: 'boolean' }, { type: 'string', maxLength: 9 }] } },
    { a: { anyOf: [{ type: 'boolean' }, { type: 'string', maxLength: 5 }, { type: 'array' }] } },
    't input.a: maxLength 9 → 5: calls that were valid until now are refused'
  ],
  [
    'a name that is no word',
    { 'x y': { type: 'string' } },
    { 'x y': { type: 'integer' } },
    't input["x y"]: type "string" → "integer": calls that were valid until now are refused'
  ],
  [
    'every value that went',
    { a: { enum: ['a', 'b', 'c', 'd'] } },
    { a: { enum: ['b'] } },
    't input.a: "a", "c", "d" removed: calls that were valid until now are refused'
  ],
  [
    'an argument that leaves a branch',
    {
      a: {
        anyOf: [{ type: 'object', properties: { k: { const: 1 }, x: { type: 'string' } } }, {
          type: 'object',
          properties: { k: { const: 2 }, x: { type: 'string' } }
        }]
      }
    },
    {
      a: {
        anyOf: [{ type: 'object', properties: { k: { const: 1 } } }, {
          type: 'object',
          properties: { k: { const: 2 }, x: { type: 'string' } }
        }]
      }
    },
    't input.a.x: argument → removed from a branch of its union: calls of that branch that pass it are refused, ' +
    'or it is ignored'
  ],
  [
    'a pattern',
    { a: { type: 'string', pattern: '^a' } },
    { a: { type: 'string', pattern: '^a?' } },
    't input.a: pattern "^a" → "^a?": cannot tell, so taken as breaking: calls that were valid until now are refused'
  ]
]
for (const [title, before, after, line] of lines) {
  t.test(`one line says it: ${title}`, async (t) => {
    const of = (properties: unknown): Contract =>
      contract({ t: { inputSchema: { type: 'object', properties, additionalProperties: false } } })
    t.ok(
      diffContracts(of(before), of(after)).findings.map(textOfFinding).includes(line),
      diffContracts(of(before), of(after)).findings.map(textOfFinding).join('\n')
    )
  })
}

t.test('a schema that doubles at every level is compared in bounded time', async (t) => {
  const doubling = (leaf: unknown): Contract => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, n) => [
        `L${n}`,
        n === 0
          ? leaf
          : { type: 'object', properties: { a: { $ref: `#/$defs/L${n - 1}` }, b: { $ref: `#/$defs/L${n - 1}` } } }
      ])
    )
    return contract({ t: { inputSchema: { $ref: '#/$defs/L59', $defs } } })
  }
  t.equal(diffContracts(doubling({ type: 'string' }), doubling({ type: 'string', maxLength: 3 })).bump, 'major')
})

t.test('the file is the same for the same tools, one tool a block, and reads back', async (t) => {
  const app = await build(t, (app) => {
    for (const name of ['b', 'a']) {
      app.get(`/${name}/:id`, {
        schema: {
          operationId: name,
          description: 'D.',
          tags: ['mcp'],
          response: { 200: { type: 'object', properties: { id: { type: 'string' } } } }
        }
      }, async () => ({}))
    }
  })
  await app.ready()
  const text = textFromContract(contractFromTools(app.mcpTools))
  t.equal(
    text,
    `{
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
`
  )
  t.equal(textFromContract(contractFromText(text, 'f')), text)
  t.equal(textFromContract(contractFromText(text.replaceAll('\n', '\r\n'), 'f')), text)
  t.match(textFromContract(new Map()), /"tools": \{\}\n\}\n$/, 'without tools')
  for (
    const [broken, message] of [
      ['{', /^f cannot be read as a contract: it is not JSON/],
      ['[]', /no "tools"/],
      ['{"contract":2,"tools":{}}', /"contract" is 2/],
      ['{"contract":1,"tools":{"a":{}}}', /the tool a has no inputSchema/],
      ['{"contract":1,"tools":{"a":{"inputSchema":{},"outputSchema":1}}}', /the outputSchema of a is not an object/]
    ] as const
  ) t.throws(() => contractFromText(broken, 'f'), { code: 'MCP_FROM_ROUTES_CONTRACT_UNREADABLE', message })
})
