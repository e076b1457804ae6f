import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { askBeforeDeletion } from './deletion.ts'
import { categoryRepository } from './category-repository.ts'
import { Category, CategoryChanges, CategoryInput, list } from './category-schemas.ts'

const CategoryParams = Type.Object({ ...ShopParams.properties, category_id: Uuid() })

/** The tree of categories that products are in. */
export const categories: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = categoryRepository(knex)
  const asking = askBeforeDeletion(knex, 'category', repository)

  app.get('/', {
    schema: {
      operationId: 'list_categories',
      summary: 'List categories',
      description: 'List the categories of a shop. parent_id makes them a tree.',
      tags: ['categories', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Category), ...readProblems }
    },
    config: { mcp: { output: ['id', 'name', 'parent_id', 'position'] } }
  }, async ({ shop, query }, reply) => sendPage(reply, 'categories', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_category',
      summary: 'Create a category',
      description: 'Create a category, at the top level or below another one of the shop.',
      tags: ['categories', 'mcp'],
      params: ShopParams,
      body: CategoryInput,
      response: { 201: Category, ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async ({ shop, body }, reply) => {
    const category = await repository.create(shop, body)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/categories/${category.id}`), category)
  })

  app.get('/:category_id', {
    schema: {
      operationId: 'get_category',
      summary: 'Get a category',
      description: 'Get one category of a shop.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      response: { ...readRecord(Category), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.category_id)))

  app.patch('/:category_id', {
    schema: {
      operationId: 'update_category',
      summary: 'Update a category',
      description: 'Change some fields of a category, or move it with parent_id; other fields stay.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      headers: IfMatch,
      body: CategoryChanges,
      response: { 200: Category, ...changedMeanwhile(Category), ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async (request, reply) => {
    const { shop, params: { category_id: id }, body } = request
    return sendRecord(reply, await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => await repository.update(shop, id, body, on)))
  })

  app.delete('/:category_id', {
    schema: {
      operationId: 'delete_category',
      summary: 'Delete a category',
      description: 'Delete a category. Its products stay; the categories below it move to the top level. People can restore it.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Category), ...conflictProblems, ...writeProblems }
    },
    config: { mcp: { confirm: asking.confirm } }
  }, async (request, reply) => {
    const { shop, params: { category_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => { await repository.remove(shop, id, on, asking.holder(request)) })
    return await reply.code(204).send(null)
  })
}
