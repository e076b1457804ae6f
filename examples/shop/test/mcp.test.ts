import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import t from 'tap'
import { machineToken } from '../src/demo/keys.ts'
import { INSTANT, UUID } from './build.ts'
import { clientLines, connect, rowsOf, type ToolAnswer } from './mcp-clients.ts'
import { call, seededData, readDemo, start } from './process.ts'
import { toolNames } from './tool-names.ts'

const settings = await seededData(t)
await start(t, 'demo/start', settings)
const { mcp_url: mcpUrl, base_url: baseUrl, shops: [shopA, shopB], idp } = readDemo(settings.DATA_DIR)
const [here, elsewhere] = [shopA!.id, shopB!.id]
const key = { 'x-api-key': shopA!.api_key }
const machine = { authorization: `Bearer ${await machineToken(idp)}` }

/** For each resource: its tools and path, what it is created from, a change, and how to find it in a list. */
const resources = [
  {
    one: 'product',
    many: 'products',
    created: { name: 'Agent Made Kettle', price_amount: 4200, metadata: { by: 'agent' } },
    changed: { status: 'active', description: 'Whistles.' },
    found: { q: 'agent made', status: ['active'] }
  },
  {
    one: 'category',
    many: 'categories',
    created: { name: 'Agent Made Things', position: 7 },
    changed: { description: 'Made by agents' },
    found: { slug: ['agent-made-things'] }
  },
  {
    one: 'tag',
    many: 'tags',
    created: { name: 'Agent Made' },
    changed: { name: 'Agent-made' },
    found: { slug: ['agent-made'] }
  },
  {
    one: 'attribute',
    many: 'attributes',
    created: { name: 'Agent', type: 'select', options: ['A', 'B'] },
    changed: { options: ['A', 'B', 'C'] },
    found: { code: ['agent'] }
  }
]

const saidBy = ({ content }: ToolAnswer): string => content.map(({ text }) => text).join('\n')

for (const line of clientLines) {
  for (const url of [mcpUrl, `${mcpUrl}/`]) {
    t.test(`${line} lists exactly the tools of the contract at ${new URL(url).pathname}`, async (t) => {
      const { tools } = await (await connect(t, line, url, machine)).listTools()
      t.strictSame(tools.map(({ name }) => name), toolNames)
      const { tools: ofKey } = await (await connect(t, line, url, key)).listTools() as any
      const withShop = ofKey.map((tool: any) => ({
        ...tool,
        inputSchema: { ...tool.inputSchema, required: ['shop_id', ...tool.inputSchema.required ?? []] }
      }))
      t.strictSame(
        withShop,
        JSON.parse(JSON.stringify(tools, (name, value) => name === 'x-mcp-header' ? undefined : value)),
        'the same for a key, which need not say its shop, in a header neither'
      )
      const ajv = formats.default(new Ajv2020({ strict: false }))
      for (const tool of tools) {
        const { name, description, annotations, inputSchema, outputSchema, _meta } = tool as any
        t.ok(description.length > 20, `${name} has a description`)
        t.ok(ajv.validateSchema(inputSchema), `the input of ${name} is a valid schema`)
        t.match(inputSchema, {
          type: 'object',
          additionalProperties: false,
          properties: { shop_id: { type: 'string', format: 'uuid' } }
        })
        if (name.startsWith('list_')) {
          t.strictSame(inputSchema.required, ['shop_id'], 'all else of a list may be left out')
        } else t.ok(inputSchema.required.includes('shop_id'))
        if (!name.startsWith('create_')) {
          t.notMatch(JSON.stringify(tool), /when left out/, `${name} does not speak of new records`)
        }
        t.equal(
          _meta?.['mcp-from-routes/large'],
          name.startsWith('list_') ? true : undefined,
          `${name} is large or not`
        )
        t.strictSame(Object.keys(annotations).filter((hint) => hint.endsWith('Hint')).toSorted(), [
          'destructiveHint',
          'idempotentHint',
          'openWorldHint',
          'readOnlyHint'
        ])
        t.equal(annotations.readOnlyHint, /^(list|get)_/.test(name))
        t.equal(
          annotations.destructiveHint,
          /^(update|delete|cancel|import)_/.test(name),
          `${name} replaces or deletes, or does neither`
        )
        if (/^(list|get)_/.test(name)) t.ok(ajv.validateSchema(outputSchema), `the output of ${name} is a valid schema`)
        else t.notOk(outputSchema, `${name} returns nothing, or what the tool that gets it describes`)
      }
      const { inputSchema: { properties } } = tools.find(({ name }) => name === 'list_products') as any
      t.match(properties, {
        skip: { type: 'integer', minimum: 0, default: 0 },
        limit: { type: 'integer', minimum: 1, maximum: 200, default: 25 },
        sort: { type: 'string', default: 'name' },
        filter: {
          type: 'object',
          additionalProperties: false,
          properties: { status: { type: 'array', items: { enum: ['draft', 'active', 'archived'] } } }
        }
      })
    })
  }

  for (const { one, many, created, changed, found } of resources) {
    t.test(`${line} manages a ${one}, and REST sees the same`, async (t) => {
      const agent = await connect(t, line, mcpUrl, key)
      const tool = async (name: string, args: object): Promise<ToolAnswer> =>
        await agent.callTool({ name, arguments: { shop_id: here, ...args } })

      const made = await tool(`create_${one}`, created)
      t.notOk(made.isError, saidBy(made))
      t.match(made.structuredContent, { ...created, id: UUID, shop_id: here, created_at: INSTANT })
      const { headers, ...record } = made.structuredContent
      t.strictSame(JSON.parse(made.content[0]!.text), record, 'the text says the same')
      const { id } = record
      const rest = `${baseUrl}/shops/${here}/${many}/${id}`
      t.match(saidBy(made), `location: /shops/${here}/${many}/${id}`)
      t.strictSame(headers, { location: `/shops/${here}/${many}/${id}` }, 'also to clients that show nothing else')
      t.strictSame((await call('GET', rest, { headers: key })).body, record)

      t.strictSame((await tool(`get_${one}`, { [`${one}_id`]: id })).structuredContent, record)

      const updated = await tool(`update_${one}`, { [`${one}_id`]: id, ...changed })
      t.match(updated.structuredContent, { ...created, ...changed, id })
      t.strictSame((await call('GET', rest, { headers: key })).body, updated.structuredContent)

      const listed = await tool(`list_${many}`, { filter: found, sort: '-created_at', limit: 5 })
      t.strictSame(rowsOf(listed), [updated.structuredContent])
      t.match(saidBy(listed), `content-range: ${many} 0-5/1`, 'the paging is told, too')
      t.strictSame(
        listed.structuredContent.headers,
        { 'content-range': `${many} 0-5/1` },
        'also to clients that show nothing else'
      )

      const everywhere = await connect(t, line, mcpUrl, machine)
      t.match(await everywhere.callTool({ name: `get_${one}`, arguments: { shop_id: elsewhere, [`${one}_id`]: id } }), {
        isError: true,
        content: [{ text: /404 Not Found/ }]
      })
      t.match(
        await everywhere.callTool({
          name: `update_${one}`,
          arguments: { shop_id: elsewhere, [`${one}_id`]: id, name: 'Stolen' }
        }),
        { isError: true, content: [{ text: /404 Not Found/ }] }
      )
      t.match(
        await everywhere.callTool({ name: `delete_${one}`, arguments: { shop_id: elsewhere, [`${one}_id`]: id } }),
        { isError: true, content: [{ text: /404 Not Found/ }] }
      )
      t.strictSame(
        (await call('GET', rest, { headers: key })).body,
        updated.structuredContent,
        'another shop changed nothing'
      )

      t.strictSame(rowsOf(await tool(`list_${many}`, { filter: found, fields: ['id', 'name'] })), [{
        id,
        name: updated.structuredContent.name
      }], 'of the fields that it wants')

      t.notOk((await tool(`delete_${one}`, { [`${one}_id`]: id })).isError)
      t.match(await tool(`get_${one}`, { [`${one}_id`]: id }), { isError: true, content: [{ text: /404 Not Found/ }] })
      t.equal((await call('GET', rest, { headers: key })).status, 404)
    })
  }

  t.test(`${line} is told which argument is wrong`, async (t) => {
    const agent = await connect(t, line, mcpUrl, key)
    for (
      const [name, args, said] of [
        ['create_product', {}, /422 .*\bname is required/],
        ['create_product', { name: 5 }, /422 .*\bname must be text, not 5/],
        ['create_product', { name: 'a', status: 'gone' }, /422 .*\bstatus must be one of draft, active, archived/],
        ['create_product', { name: 'a', price_amount: -1 }, /422 .*\bprice_amount must be >= 0/],
        ['create_product', { name: 'a', colour: 'red' }, /"colour"/],
        [
          'create_product',
          { name: 'a', attributes: [{ attribute_id: here, value: 1 }] },
          /422 .*\battributes\/0\/attribute_id names something that is not in this shop/
        ],
        ['get_product', { product_id: 'first' }, /422 .*\bproduct_id must match format "uuid"/],
        ['get_product', { product_id: '../tags' }, /\bproduct_id\b/],
        ['get_product', { product_id: '..' }, /\bproduct_id must not be/],
        ['get_product', {}, /\bproduct_id is missing/],
        ['list_products', { limit: 1000 }, /422 .*\blimit must be an integer from 1 to 200/],
        ['list_products', { filter: { colour: 'red' } }, /422 .*\bfilter\/colour is not a known field/],
        ['list_products', { sort: 'colour' }, /422 .*\bsort must be one of/],
        [
          'list_tags',
          { fields: ['colour'] },
          /^Unknown field "colour"\. The fields of list_tags are id, shop_id, name, slug, created_at, updated_at$/
        ],
        ['create_tag', { name: 'New' }, /409 .*\bslug is taken/]
      ] as const
    ) {
      const answer = await agent.callTool({ name, arguments: { shop_id: here, ...args } })
      t.equal(answer.isError, true, `${name} ${JSON.stringify(args)}`)
      t.match(saidBy(answer), said)
    }
    await t.rejects(
      agent.callTool({ name: 'list_orders', arguments: {} }),
      { code: -32602 },
      'a tool that there is not'
    )
  })
}
