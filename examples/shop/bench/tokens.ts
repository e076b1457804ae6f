// npm run tokens -w examples/shop: what `tools/list` costs a model that reads all of it, in tokens of the encoding
// o200k_base, for the shop and for generated resources. Other models count a little differently.
import Fastify, { type FastifyInstance } from 'fastify'
import mcpFromRoutes, { type McpFromRoutesOptions, type McpTool } from 'mcp-from-routes'
import appOfContract from '../src/contract.ts'
import { tokensIn } from './tokenizer.ts'

/** Tools of one resource: list, get, create, update and delete. */
const TOOLS = 5

const record = {
  type: 'object',
  properties: {
    id: { type: 'string', format: 'uuid', description: 'Set by the server' },
    name: { type: 'string', minLength: 1, maxLength: 200, description: 'Display name' },
    note: { type: ['string', 'null'], maxLength: 2000, description: 'Plain text' },
    amount: { type: 'integer', minimum: 0, description: 'In minor units of the currency' },
    status: { type: 'string', enum: ['open', 'paid', 'void'] },
    created_at: { type: 'string', format: 'date-time' }
  },
  required: ['id', 'name', 'note', 'amount', 'status', 'created_at']
}
const { id, created_at: _, ...fields } = record.properties
const params = { type: 'object', properties: { id }, required: ['id'] }

function addResource (app: FastifyInstance, noun: string): void {
  const answer = async (): Promise<object> => ({})
  const tags = ['mcp']
  app.get(`/${noun}s`, {
    schema: {
      operationId: `list_${noun}s`,
      description: `List ${noun}s, a page at a time.`,
      tags,
      querystring: {
        type: 'object',
        properties: {
          skip: { type: 'integer', minimum: 0 },
          limit: { type: 'integer', maximum: 100 },
          status: fields.status
        }
      },
      response: { 200: { type: 'array', items: record } }
    }
  }, answer)
  app.get(`/${noun}s/:id`, {
    schema: { operationId: `get_${noun}`, description: `Get one ${noun}.`, tags, params, response: { 200: record } }
  }, answer)
  app.post(`/${noun}s`, {
    schema: {
      operationId: `create_${noun}`,
      description: `Create a ${noun}.`,
      tags,
      body: { type: 'object', properties: fields, required: ['name'] },
      response: { 201: record }
    }
  }, answer)
  app.patch(`/${noun}s/:id`, {
    schema: {
      operationId: `update_${noun}`,
      description: `Change some fields of a ${noun}.`,
      tags,
      params,
      body: { type: 'object', properties: fields },
      response: { 200: record }
    }
  }, answer)
  app.delete(`/${noun}s/:id`, {
    schema: {
      operationId: `delete_${noun}`,
      description: `Delete a ${noun}.`,
      tags,
      params,
      response: { 204: { type: 'null' } }
    }
  }, answer)
}

async function generated (tools: number, output: McpFromRoutesOptions['output'] & {}): Promise<FastifyInstance> {
  const app = Fastify()
  await app.register(mcpFromRoutes, { serverInfo: { name: 'generated', version: '1.0.0' }, output })
  for (let n = 0; n < tools / TOOLS; n++) addResource(app, `thing_${n}`)
  return app
}

async function measured (app: FastifyInstance): Promise<Record<string, number>> {
  await app.ready()
  const tools = app.mcpTools.map(({ route, implied, ...tool }) => tool)
  await app.close()
  const of = (part: keyof McpTool & keyof typeof tools[number]): number =>
    tools.reduce((sum, tool) => sum + tokensIn(tool[part]), 0)
  const all = tokensIn({ tools })
  return {
    tools: tools.length,
    tokens: all,
    'per tool': Math.round(all / tools.length),
    'of it inputs': of('inputSchema'),
    outputs: of('outputSchema')
  }
}

const table: Record<string, Record<string, number>> = { shop: await measured(await appOfContract()) }
for (const tools of [200, 1000]) {
  for (const output of ['full', 'brief', false] as const) {
    table[`${tools} tools, output: ${JSON.stringify(output)}`] = await measured(await generated(tools, output))
  }
}
console.log('tools/list in tokens (o200k_base)')
console.table(table)
