import type { FastifyInstance } from 'fastify'
import type {} from 'mcp-from-routes'

/** A route that says which of its inputs are arguments of its tool. */
export default async function things (app: FastifyInstance): Promise<void> {
  app.put('/things/:id', {
    schema: {
      operationId: 'put_thing',
      description: 'Replace a thing.',
      tags: ['mcp'],
      querystring: { type: 'object', properties: { version: { type: 'integer' }, q: { type: 'string' } } },
      body: { type: 'object', properties: { id: { type: 'string' } } }
    },
    config: {
      mcp: {
        arguments: {
          body: { id: { name: 'id' } }, // The id in the path and in the body: one argument fills both.
          // A fixed value; another name, and words for models.
          querystring: { version: { value: 2 }, q: { name: 'search', description: 'Words that the name contains' } },
          headers: { 'x-tenant': { value: 'acme' } } // With a name, it would be an argument.
        }
      }
    }
  }, async ({ params, query, body, headers }) => ({ params, query, body, tenant: headers['x-tenant'] }))
}
