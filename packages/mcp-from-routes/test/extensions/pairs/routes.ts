import type { FastifyInstance } from 'fastify'
import type { McpFromRoutesOptions, McpRouteConfig } from '../../../src/index.ts'
import type { Described, RouteName } from '../described.ts'

/** The application: its routes, with what extensions have them say. */
export function routes (app: FastifyInstance, described: readonly Described[]): void {
  const says = (name: RouteName): { tags: string[], config: { mcp: McpRouteConfig } } => {
    const all = described.flatMap(({ routes }) => routes?.[name] ?? [])
    return {
      tags: all.flatMap(({ tags = [] }) => tags),
      config: { mcp: Object.assign({}, ...all.map(({ mcp }) => mcp)) as McpRouteConfig }
    }
  }
  const add = (
    name: RouteName,
    [method, url]: readonly ['GET' | 'POST', string],
    tags: readonly string[],
    description: string,
    schema: object,
    handler: Parameters<FastifyInstance['route']>[0]['handler']
  ): void => {
    const said = says(name)
    app.route({
      method,
      url,
      schema: { operationId: name, description, tags: [...tags, ...said.tags], ...schema },
      config: said.config,
      handler
    })
  }
  const parcel = { type: 'object', properties: { id: { type: 'integer' }, text: { type: 'string' } } }
  const list = { response: { 200: { type: 'array', items: { ...parcel, required: ['id', 'text'] } } } }
  const big = (id: number): object => ({ id, text: 'a'.repeat(1200) })
  const body = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] }
  add('orders', ['GET', '/orders'], ['mcp', 'large', 'shop'], 'Lists orders.', list, async () => [big(1), big(2)])
  add('ship', ['POST', '/parcels'], ['mcp', 'shop'], 'Sends a parcel.', { ...list, body }, async (request, reply) => {
    const { id } = request.body as { id: number }
    return id === 9 ? reply.code(409).send({ message: 'It is on its way.' }) : [{ id, text: 'sent' }]
  })
  add('build', ['POST', '/reports'], ['mcp', 'shop'], 'Starts a report.', {
    response: { 202: { type: 'object', properties: { id: { type: 'string' } } } }
  }, async (_, reply) => reply.code(202).headers({ location: '/reports/1', 'retry-after': 1 }).send({ id: '1' }))
  add('report', ['GET', '/reports/:id'], ['mcp'], 'Reads a report.', {
    params: { type: 'object', properties: { id: { type: 'string' } } },
    response: { 200: { type: 'object', properties: { status: { type: 'string' }, text: { type: 'string' } } } }
  }, async ({ params }, reply) =>
    (params as { id: string }).id === '9'
      ? reply.code(404).send({ message: 'No such report.' })
      : { status: 'done', text: 'All is well.' })
  add('other', ['GET', '/other'], ['mcp'], 'Is of no set.', {}, async () => 'other')
  add('extra', ['POST', '/extra'], [], 'Has no tag.', {
    response: { 200: { type: 'object', properties: { isExtra: { type: 'boolean' } } } }
  }, async () => ({ isExtra: true }))
  add('page', ['GET', '/page'], [], 'Shows orders.', {
    response: { 200: { content: { 'text/html': { schema: { type: 'string' } } } } }
  }, async (_, reply) => reply.type('text/html').send('<!doctype html>'))
}

/** A guest may use neither the view nor the tool that the skill shows. */
export const canUse: NonNullable<McpFromRoutesOptions['canUse']> = ({ route: { method, url } }, { headers }) =>
  headers['x-guest'] === undefined || !['GET /page', 'POST /reports'].includes(`${method} ${url}`)
