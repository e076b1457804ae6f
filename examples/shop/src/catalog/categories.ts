import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Defaulted, Deleted, Description, Name, Nullable, ShopParams, ShopRecord, Slug, Uuid } from '../http/schemas.ts'
import { anyOf, search } from '../lists/filters.ts'
import { listQuerySchema, listRules, sendPage } from '../lists/list.ts'
import { recordRepository } from '../shops/record-repository.ts'
import { slugFromName } from '../shops/slug.ts'
import { refuseCycle } from './category-tree.ts'

const CategoryParams = Type.Object({ ...ShopParams.properties, category_id: Uuid('The category') })

const Parent = Nullable(Uuid('Parent category; null at the top level'))
const Position = Type.Integer({ minimum: 0, maximum: 1_000_000, description: 'Place among its siblings, lowest first' })

const CategoryInput = Type.Object({
  name: Name,
  slug: Defaulted(Slug, 'Derived from the name'),
  description: Type.Optional(Description),
  parent_id: Type.Optional(Parent),
  position: Type.Optional(Position)
}, { additionalProperties: false })

const CategoryChanges = Type.Partial(Type.Object({ ...CategoryInput.properties, slug: Slug }), { additionalProperties: false })

const Category = ShopRecord({
  name: Name,
  slug: Slug,
  description: Description,
  parent_id: Parent,
  position: Position
})

const list = listRules(Category, {
  sort: 'name',
  filters: {
    q: search(['name', 'slug']),
    parent_id: anyOf('parent_id', Parent, 'Only direct children of these categories; null matches the top level')
  }
})

/** The tree of categories that products are in. */
export const categories: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = recordRepository<Static<typeof Category>>(knex, {
    table: 'categories',
    noun: 'category',
    ...list,
    dependents: [
      { table: 'products', link: 'product_categories', from: 'product_id', to: 'category_id' },
      { table: 'categories', link: 'categories', from: 'id', to: 'parent_id' }
    ]
  })

  app.get('/', {
    schema: {
      operationId: 'list_categories',
      summary: 'List categories',
      description: 'List the categories of a shop, a page at a time. parent_id makes them a tree.',
      tags: ['categories', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Category), ...readProblems }
    }
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
    }
  }, async ({ shop, body }, reply) => {
    const category = await repository.insert(shop, { ...body, slug: body.slug ?? slugFromName(body.name) })
    return await reply.code(201).header('location', `/shops/${shop.id}/categories/${category.id}`).send(category)
  })

  app.get('/:category_id', {
    schema: {
      operationId: 'get_category',
      summary: 'Get a category',
      description: 'Get one category of a shop.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      response: { 200: Category, ...readProblems }
    }
  }, async ({ shop, params }) => await repository.get(shop, params.category_id))

  app.patch('/:category_id', {
    schema: {
      operationId: 'update_category',
      summary: 'Update a category',
      description: 'Change some fields of a category, or move it with parent_id; fields left out stay as they are.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      body: CategoryChanges,
      response: { 200: Category, ...conflictProblems }
    }
  }, async ({ shop, params, body }) => await knex.transaction(async (trx) => {
    if (body.parent_id != null) await refuseCycle(trx, shop, params.category_id, body.parent_id)
    return await repository.update(shop, params.category_id, body, trx)
  }))

  app.delete('/:category_id', {
    schema: {
      operationId: 'delete_category',
      summary: 'Delete a category',
      description: 'Delete a category permanently. Its products stay; the categories below it move to the top level.',
      tags: ['categories', 'mcp'],
      params: CategoryParams,
      response: { 204: Deleted, ...writeProblems }
    }
  }, async ({ shop, params }, reply) => {
    await repository.remove(shop, params.category_id)
    return await reply.code(204).send(null)
  })
}
