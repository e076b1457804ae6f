import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { MEDIA_TYPES } from '../http/sent-files.ts'
import { Deleted, ShopParams, Uuid } from '../http/schemas.ts'
import { IdempotencyKey, KEY_ARGUMENT } from '../idempotency/key.ts'
import { changedMeanwhile, IfMatch, MATCH_ARGUMENT, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { viewRoute } from '../http/views.ts'
import { askBeforeDeletion } from './deletion.ts'
import { writeBatch } from './product-batch.ts'
import { productExport } from './product-export.ts'
import { productRepository } from './product-repository.ts'
import {
  ExportQuery,
  list,
  MAX_BATCH,
  Product,
  ProductBatch,
  ProductBatchResult,
  ProductChanges,
  ProductFile,
  ProductInput
} from './product-schemas.ts'

const ProductParams = Type.Object({ ...ShopParams.properties, product_id: Uuid() })

/** The products of a shop. */
export const products: FastifyPluginAsyncTypebox<{ readonly knex: Knex, readonly hasViews: boolean }> = async (
  app,
  { knex, hasViews }
) => {
  const repository = productRepository(knex)
  const asking = askBeforeDeletion(knex, 'product', repository)
  const exports = productExport(knex)

  app.get('/', {
    schema: {
      operationId: 'list_products',
      summary: 'List products',
      description: 'List the products of a shop.',
      tags: ['products', 'mcp', 'large'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(Product), ...readProblems }
    },
    config: {
      mcp: {
        output: ['id', 'name', 'sku', 'status', 'price_amount', 'currency'],
        ...hasViews && { view: viewRoute('products') }
      }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'products', query, await repository.list(shop, query)))

  app.post('/', {
    schema: {
      operationId: 'create_product',
      summary: 'Create a product',
      description: 'Create a product. Only the name is required.',
      tags: ['products', 'mcp'],
      params: ShopParams,
      headers: IdempotencyKey,
      body: ProductInput,
      response: { 201: Product, ...conflictProblems }
    },
    config: { mcp: { output: false, arguments: KEY_ARGUMENT } }
  }, async ({ shop, body, on }, reply) => {
    const product = await repository.create(shop, body, on)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/products/${product.id}`), product)
  })

  app.post('/batch', {
    schema: {
      operationId: 'write_products',
      summary: 'Create and update many products',
      description:
        `Create or change up to ${MAX_BATCH} products: those with an id are changed as by PATCH, the others ` +
        'created. All of them are written, or none. ' +
        'The first error names its item: items/3/price_amount.',
      tags: ['products'],
      params: ShopParams,
      headers: IdempotencyKey,
      body: ProductBatch,
      response: { 200: ProductBatchResult, ...conflictProblems }
    }
  }, async ({ shop, body, on }) => await writeBatch(knex, shop, body.items, on))

  app.get('/export', {
    schema: {
      operationId: 'export_products',
      summary: 'Export products',
      description:
        'Get the products of a shop as a file that can be imported: CSV, or JSON lines if Accept or format say so.',
      tags: ['products'],
      params: ShopParams,
      querystring: ExportQuery,
      response: { 200: ProductFile, ...readProblems }
    }
  }, async ({ shop, query, headers }, reply) => {
    const format = query.format ?? (/jsonl|ndjson|jsonlines/.test(headers.accept ?? '') ? 'jsonl' : 'csv')
    return await reply.type(MEDIA_TYPES[format]).header(
      'content-disposition',
      `attachment; filename="products.${format}"`
    )
      // The schema describes the file; this is its stream.
      .send(exports.open(shop, query.filter, format, reply.raw) as unknown as string)
  })

  app.get('/:product_id', {
    schema: {
      operationId: 'get_product',
      summary: 'Get a product',
      description: 'Get one product of a shop.',
      tags: ['products', 'mcp'],
      params: ProductParams,
      response: { ...readRecord(Product), ...readProblems }
    },
    config: { mcp: { fields: true } }
  }, async ({ shop, params }, reply) => sendRecord(reply, await repository.get(shop, params.product_id)))

  app.patch('/:product_id', {
    schema: {
      operationId: 'update_product',
      summary: 'Update a product',
      description:
        'Change some fields of a product; others stay, as the price_amount does in a new currency. Lists and ' +
        'metadata are replaced as a whole.',
      tags: ['products', 'mcp'],
      params: ProductParams,
      headers: IfMatch,
      body: ProductChanges,
      response: { 200: Product, ...changedMeanwhile(Product), ...conflictProblems }
    },
    config: { mcp: { output: false, arguments: MATCH_ARGUMENT } }
  }, async (request, reply) => {
    const { shop, params: { product_id: id }, body } = request
    return sendRecord(
      reply,
      await repository.ifUnchanged(
        shop,
        id,
        preconditionOf(request),
        async (on) => await repository.update(shop, id, body, on)
      )
    )
  })

  app.delete('/:product_id', {
    schema: {
      operationId: 'delete_product',
      summary: 'Delete a product',
      description:
        'Delete a product. People can restore it. To only take it off sale, set its status to archived instead.',
      tags: ['products', 'mcp'],
      params: ProductParams,
      headers: IfMatch,
      response: { 204: Deleted, ...changedMeanwhile(Product), ...conflictProblems, ...writeProblems }
    },
    config: { mcp: { confirm: asking.confirm } }
  }, async (request, reply) => {
    const { shop, params: { product_id: id } } = request
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => {
      await repository.remove(shop, id, on, asking.holder(request))
    })
    return await reply.code(204).send(null)
  })
}
