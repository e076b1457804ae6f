import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/versions.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { askBeforeDeletion } from './deletion.ts'
import { tagRepository } from './tag-repository.ts'
import { list, Tag, TagChanges, TagInput } from './tag-schemas.ts'

const TagParams = Type.Object({ ...ShopParams.properties, tag_id: Uuid() })

/** Labels of products. */
export const tags: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = tagRepository(knex)
  const asking = askBeforeDeletion(knex, 'tag', repository)

  app.get('/', {
    schema: {
      operationId: 'list_tags',
      summary: 'List tags',
      description: 'List the tags of a shop.',
      tags: ['tags', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Tag), ...readProblems }
    },
    config: { mcp: { output: ['id', 'name', 'slug'] } }
  }, async ({ shop, query }, reply) => sendPage(reply, 'tags', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_tag',
      summary: 'Create a tag',
      description: 'Create a tag. create_product and update_product put it on products.',
      tags: ['tags', 'mcp'],
      params: ShopParams,
      body: TagInput,
      response: { 201: Tag, ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async ({ shop, body }, reply) => {
    const tag = await repository.create(shop, body)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/tags/${tag.id}`), tag)
  })

  app.get('/:tag_id', {
    schema: {
      operationId: 'get_tag',
      summary: 'Get a tag',
      description: 'Get one tag of a shop.',
      tags: ['tags', 'mcp'],
      params: TagParams,
      response: { ...readRecord(Tag), ...readProblems }
    }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.tag_id)))

  app.patch('/:tag_id', {
    schema: {
      operationId: 'update_tag',
      summary: 'Update a tag',
      description: 'Change some fields of a tag; others stay.',
      tags: ['tags', 'mcp'],
      params: TagParams,
      headers: IfMatch,
      body: TagChanges,
      response: { 200: Tag, ...changedMeanwhile(Tag), ...conflictProblems }
    },
    config: { mcp: { output: false } }
  }, async (request, reply) => {
    const { shop, params: { tag_id: id }, body } = request
    return sendRecord(reply, await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => await repository.update(shop, id, body, on)))
  })

  app.delete('/:tag_id', {
    schema: {
      operationId: 'delete_tag',
      summary: 'Delete a tag',
      description: 'Delete a tag, and remove it from every product. People can restore it.',
      tags: ['tags', 'mcp'],
      params: TagParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Tag), ...conflictProblems, ...writeProblems }
    },
    config: { mcp: { confirm: asking.confirm } }
  }, async (request, reply) => {
    const { shop, params: { tag_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => { await repository.remove(shop, id, on, asking.holder(request)) })
    return await reply.code(204).send(null)
  })
}
