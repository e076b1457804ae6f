import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
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
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/attributes/${attribute.id}`), attribute)
  })

  app.get('/:attribute_id', {
    schema: {
      operationId: 'get_attribute',
      summary: 'Get an attribute',
      description: 'Get one attribute of a shop.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      response: { ...readRecord(Attribute), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.attribute_id)))

  app.patch('/:attribute_id', {
    schema: {
      operationId: 'update_attribute',
      summary: 'Update an attribute',
      description: 'Change some fields of an attribute; others stay. ' +
        'A change of type or options is rejected if values of products do not fit it.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      headers: IfMatch,
      body: AttributeChanges,
      response: { 200: Attribute, ...changedMeanwhile(Attribute), ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async (request, reply) => {
    const { shop, params: { attribute_id: id }, body } = request
    return sendRecord(reply, await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => await repository.update(shop, id, body, on)))
  })

  app.delete('/:attribute_id', {
    schema: {
      operationId: 'delete_attribute',
      summary: 'Delete an attribute',
      description: 'Delete an attribute, with its values on products. People can restore it.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Attribute), ...conflictProblems, ...writeProblems }
    },
    config: { mcp: { confirm: asking.confirm } }
  }, async (request, reply) => {
    const { shop, params: { attribute_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => { await repository.remove(shop, id, on, asking.holder(request)) })
    return await reply.code(204).send(null)
  })
}
