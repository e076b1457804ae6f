import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Defaulted, Deleted, Name, Nullable, ShopParams, ShopRecord, Uuid } from '../http/schemas.ts'
import { holding, search } from '../lists/filters.ts'
import { listQuerySchema, listRules, sendPage } from '../lists/list.ts'
import { recordRepository } from '../shops/record-repository.ts'
import { slugFromName } from '../shops/slug.ts'
import { attributeTypes, refuseLoss, requireOptions } from './attribute-values.ts'

const AttributeParams = Type.Object({ ...ShopParams.properties, attribute_id: Uuid('The attribute') })

const Code = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: '^[a-z0-9]+(_[a-z0-9]+)*$',
  description: 'Unique in the shop: lower-case letters, digits and single underscores'
})
const AttributeType = Type.Unsafe<typeof attributeTypes[number]>({ type: 'string', enum: attributeTypes, description: 'Type of its values' })
const Unit = Nullable(Type.String({ minLength: 1, maxLength: 20, description: 'Unit of the values, such as cm, g or L' }))
const Options = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
  maxItems: 500, uniqueItems: true, description: 'The values to choose from; for type select only'
})

const AttributeInput = Type.Object({
  name: Name,
  code: Defaulted(Code, 'Derived from the name'),
  type: AttributeType,
  unit: Type.Optional(Unit),
  options: Type.Optional(Options)
}, { additionalProperties: false })

const AttributeChanges = Type.Partial(Type.Object({ ...AttributeInput.properties, code: Code }), { additionalProperties: false })

const Attribute = ShopRecord({
  name: Name,
  code: Code,
  type: AttributeType,
  unit: Unit,
  options: Options
})

const list = listRules(Attribute, {
  sort: 'name',
  filters: { q: search(['name', 'code']), options: holding('options', Options.items, 'jsonb') }
})

/** What describes the products of a shop. */
export const attributes: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = recordRepository<Static<typeof Attribute>>(knex, {
    table: 'attributes', noun: 'attribute', ...list, dependents: [{ table: 'products', link: 'product_attributes', from: 'product_id', to: 'attribute_id' }]
  })

  app.get('/', {
    schema: {
      operationId: 'list_attributes',
      summary: 'List attributes',
      description: 'List the attributes that products of a shop can have, a page at a time.',
      tags: ['attributes', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Attribute), ...readProblems }
    }
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
    }
  }, async ({ shop, body }, reply) => {
    const { options = [], ...fields } = body
    requireOptions(body.type, options)
    const attribute = await repository.insert(shop, {
      ...fields, code: body.code ?? slugFromName(body.name, 'code', '_'), options: JSON.stringify(options)
    })
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
    }
  }, async ({ shop, params, body }) => await knex.transaction(async (trx) => {
    const { options, ...fields } = body
    const attribute = await repository.update(shop, params.attribute_id, {
      ...fields, ...(options && { options: JSON.stringify(options) })
    }, trx)
    requireOptions(attribute.type, attribute.options)
    await refuseLoss(trx, shop, attribute)
    return attribute
  }))

  app.delete('/:attribute_id', {
    schema: {
      operationId: 'delete_attribute',
      summary: 'Delete an attribute',
      description: 'Delete an attribute permanently, with its values on products.',
      tags: ['attributes', 'mcp'],
      params: AttributeParams,
      response: { 204: Deleted, ...writeProblems }
    }
  }, async ({ shop, params }, reply) => {
    await repository.remove(shop, params.attribute_id)
    return await reply.code(204).send(null)
  })
}
