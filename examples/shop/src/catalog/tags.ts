import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { Uuid } from '../http/schemas.ts'
import { recordRoutes } from '../records/routes.ts'
import { askBeforeDeletion } from './deletion.ts'
import { tagRepository } from './tag-repository.ts'
import { list, Tag, TagChanges, TagInput } from './tag-schemas.ts'

/** Labels of products. */
export const tags: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = tagRepository(knex)
  recordRoutes(app, {
    one: 'tag',
    several: 'tags',
    id: Uuid(),
    schemas: { Input: TagInput, Changes: TagChanges, Record: Tag },
    list,
    repository,
    operations: {
      list: { operationId: 'list_tags', summary: 'List tags', description: 'List the tags of a shop.' },
      create: {
        operationId: 'create_tag',
        summary: 'Create a tag',
        description: 'Create a tag. create_product and update_product put it on products.'
      },
      get: { operationId: 'get_tag', summary: 'Get a tag', description: 'Get one tag of a shop.' },
      update: {
        operationId: 'update_tag',
        summary: 'Update a tag',
        description: 'Change some fields of a tag; others stay.'
      },
      delete: {
        operationId: 'delete_tag',
        summary: 'Delete a tag',
        description: 'Delete a tag, and remove it from every product. People can restore it.'
      }
    },
    mayConflict: true,
    tools: { listed: ['id', 'name', 'slug'], asking: askBeforeDeletion(knex, 'tag', repository) }
  })
}
