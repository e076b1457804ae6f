import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { Uuid } from '../http/schemas.ts'
import { recordRoutes } from '../records/routes.ts'
import { attributeRepository } from './attribute-repository.ts'
import { Attribute, AttributeChanges, AttributeInput, list } from './attribute-schemas.ts'
import { askBeforeDeletion } from './deletion.ts'

/** What describes the products of a shop. */
export const attributes: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = attributeRepository(knex)
  recordRoutes(app, {
    one: 'attribute',
    several: 'attributes',
    id: Uuid(),
    schemas: { Input: AttributeInput, Changes: AttributeChanges, Record: Attribute },
    list,
    repository,
    operations: {
      list: {
        operationId: 'list_attributes',
        summary: 'List attributes',
        description: 'List the attributes that products of a shop can have.'
      },
      create: {
        operationId: 'create_attribute',
        summary: 'Create an attribute',
        description: 'Create an attribute, such as a size or a material. Type select requires options.'
      },
      get: { operationId: 'get_attribute', summary: 'Get an attribute', description: 'Get one attribute of a shop.' },
      update: {
        operationId: 'update_attribute',
        summary: 'Update an attribute',
        description:
          'Change some fields of an attribute; others stay. A change of type or options is rejected if values ' +
          'of products do not fit it.'
      },
      delete: {
        operationId: 'delete_attribute',
        summary: 'Delete an attribute',
        description: 'Delete an attribute, with its values on products. People can restore it.'
      }
    },
    mayConflict: true,
    tools: {
      listed: ['id', 'name', 'code', 'type', 'unit', 'options'],
      asking: askBeforeDeletion(knex, 'attribute', repository)
    }
  })
}
