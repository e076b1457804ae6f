import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { askBeforeDeletion } from './deletion.ts'
import { attributeRepository } from './attribute-repository.ts'
import { Attribute, AttributeChanges, AttributeInput, list } from './attribute-schemas.ts'

const AttributeParams = Type.Object({ ...ShopParams.properties, attribute_id: Uuid() })

/** What describes the products of a shop. */
export const attributes: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = attributeRepository(knex)
  const asking = askBeforeDeletion(knex, 'attribute', repository)

  app.get('/', {
    schema: {
      operationId: 'list_attributes',
      summary: 'List attributes',
      description: 'List the attributes that products of a shop can have.',
      tags: ['attributes', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Attribute), ...readProblems }
    },
    config: { mcp: { output: ['id', 'name', 'code', 'type', 'unit', 'options'] } }
  }, async ({ shop, query }, reply) => sendPage(reply, 'attributes', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_attribute',
      summary: 'Create an attribute',
      description: 'Create an attribute, such as a size or a material. Type select requires options.',
      tags: ['attributes', 'mcp'],
      params: ShopParams,
      body: AttributeInput,
      response: { 201: Attribute, ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async ({ shop, body }, reply) => {
    const attribute = await repository.create(shop, body)
    return await reply.code(201).header('location', `/shops/${shop.id}/attributes/${attribute.id}`).send(attribute)
  })

  app.get('/:attribute_id', {
    schema: {
      operationId: 'get_attribute',
      summary: 'Get an attribute',
      description: 'Get one attribute of a shop.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      response: { 200: Attribute, ...readProblems }
    }
  }, async ({ shop, params }) => await repository.get(shop, params.attribute_id))

  app.patch('/:attribute_id', {
    schema: {
      operationId: 'update_attribute',
      summary: 'Update an attribute',
      description: 'Change some fields of an attribute; those left out stay as they are. ' +
        'A change of type or options is rejected if values of products do not fit it.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      body: AttributeChanges,
      response: { 200: Attribute, ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async ({ shop, params, body }) => await repository.update(shop, params.attribute_id, body))

  app.delete('/:attribute_id', {
    schema: {
      operationId: 'delete_attribute',
      summary: 'Delete an attribute',
      description: 'Delete an attribute, with its values on products. People can restore it.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      response: { 204: Deleted, ...conflictProblems, ...writeProblems }
    },
    config: { mcp: { confirm: asking.confirm } }
  }, async (request, reply) => {
    await repository.remove(request.shop, request.params.attribute_id, knex, asking.holder(request))
    return await reply.code(204).send(null)
  })
}
