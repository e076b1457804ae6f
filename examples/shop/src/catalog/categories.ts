import type { FastifyPluginAsync } from 'fastify'
import type { Knex } from 'knex'
import { Uuid } from '../http/schemas.ts'
import { recordRoutes } from '../records/routes.ts'
import { categoryRepository } from './category-repository.ts'
import { Category, CategoryChanges, CategoryInput, list } from './category-schemas.ts'
import { askBeforeDeletion } from './deletion.ts'

/** The tree of categories that products are in. */
export const categories: FastifyPluginAsync<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = categoryRepository(knex)
  recordRoutes(app, {
    one: 'category',
    several: 'categories',
    id: Uuid(),
    schemas: { Input: CategoryInput, Changes: CategoryChanges, Record: Category },
    list,
    repository,
    operations: {
      list: {
        operationId: 'list_categories',
        summary: 'List categories',
        description: 'List the categories of a shop. parent_id makes them a tree.'
      },
      create: {
        operationId: 'create_category',
        summary: 'Create a category',
        description: 'Create a category, at the top level or below another one of the shop.'
      },
      get: { operationId: 'get_category', summary: 'Get a category', description: 'Get one category of a shop.' },
      update: {
        operationId: 'update_category',
        summary: 'Update a category',
        description: 'Change some fields of a category, or move it with parent_id; other fields stay.'
      },
      delete: {
        operationId: 'delete_category',
        summary: 'Delete a category',
        description:
          'Delete a category. Its products stay; the categories below it move to the top level. People can restore it.'
      }
    },
    mayConflict: true,
    tools: { listed: ['id', 'name', 'parent_id', 'position'], asking: askBeforeDeletion(knex, 'category', repository) }
  })
}
