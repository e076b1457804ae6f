import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import type { Knex } from 'knex'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams } from '../http/schemas.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { viewRoute } from '../http/views.ts'
import { MEDIA_TYPES } from '../http/sent-files.ts'
import { ShopScope } from '../access/scope.ts'
import { IdempotencyKey, KEY_ARGUMENT } from '../idempotency/key.ts'
import type { Repeats } from '../idempotency/repeatable.ts'
import { askBeforeImport } from './asking.ts'
import { failedLines } from './failed-lines.ts'
import { importReceiver } from './receive.ts'
import { importRepository, UNFINISHED } from './repository.ts'
import { importRunner } from './runner.ts'
import {
  FailedLines,
  Import,
  ImportBody,
  type ImportEnd,
  ImportLine,
  ImportParams,
  ImportPreview,
  ImportProblem,
  ImportQuery,
  lineList,
  list,
  ListedImport,
  MAX_PRODUCTS
} from './schemas.ts'
import { slices } from './text.ts'
import { digestOf, jsonParser, linesOf, takeUploads } from './upload.ts'

interface ImportOptions {
  readonly knex: Knex
  readonly repeats: Repeats
  /** Whether agents import with tools. */
  readonly asTools: boolean
  /** Whether hosts show their results as views. */
  readonly hasViews: boolean
  /** Called when an import has ended in this process. */
  readonly onEnd: (outcome: ImportEnd) => void
}

/** Files of products, which are checked at once and applied in the background. */
export const imports: FastifyPluginAsyncTypebox<ImportOptions> = async (
  app,
  { knex, repeats, asTools, hasViews, onEnd }
) => {
  const shown = hasViews ? { view: viewRoute('import') } : {}
  const repository = importRepository(knex)
  const turn = slices()
  const receiver = importReceiver(knex, turn)
  const failures = failedLines(knex)
  const runner = importRunner(app, knex, onEnd)
  const parseJson = jsonParser(app)
  const asking = askBeforeImport(knex, async (request) => {
    const { skip_invalid: skipInvalid } = request.query as Static<typeof ImportQuery>
    return await receiver.effects(
      request.shop,
      linesOf(request, request.body as Static<typeof ImportBody>, parseJson, turn),
      skipInvalid === true
    )
  })
  const tags = asTools ? ['imports', 'mcp'] : ['imports']
  takeUploads(app)
  app.addHook('preParsing', ShopScope.authorize(knex))

  app.post('/', {
    schema: {
      operationId: 'import_products',
      summary: 'Import products',
      description:
        `Create and change up to ${MAX_PRODUCTS} products from CSV or JSON lines, in the background. Fields are ` +
        'those of create_product, and id; ' +
        'a line changes the product with its id, else its sku, else its slug, or creates one. In CSV, ids are ' +
        'separated by spaces, attributes and metadata are JSON, empty cells clear. ' +
        'Lines are checked first: nothing is imported if one is wrong.',
      tags,
      params: ShopParams,
      querystring: ImportQuery,
      headers: IdempotencyKey,
      body: { content: { 'application/json': { schema: ImportBody } } },
      response: { 200: ImportPreview, 202: Import, ...conflictProblems, 422: ImportProblem }
    },
    config: {
      isImport: true,
      repeats: 'by its handler',
      mcp: {
        ...shown,
        output: false,
        arguments: KEY_ARGUMENT,
        annotations: { destructiveHint: true },
        task: { status: 'get_import' },
        // Nobody is asked about what was done.
        confirm: async (args, request) =>
          await repeats.isAnswered(request) ? undefined : await asking.confirm(args, request)
      }
    }
  }, async (request, reply) => {
    const { shop, query, body } = request
    const lines = linesOf(request, body as Static<typeof ImportBody> | undefined, parseJson, turn)
    if (query.dry_run === true) return await receiver.preview(shop, lines)
    const known = await repeats.answered(request, reply, async () => await digestOf(request, { rest: true }))
    if (known !== undefined) return known as never
    const answer = await receiver.receive(shop, lines, {
      skipInvalid: query.skip_invalid === true,
      fileName: query.file_name,
      hold: asking.holder(request),
      // It has been read by then.
      finish: async (enqueue) =>
        await repeats.once(request, reply, async (on) => {
          const made = await enqueue(on)
          withRetry(reply, made).code(202).header('location', `/shops/${shop.id}/imports/${made.id}`)
          return made
        }, await digestOf(request))
    })
    runner.wake()
    return answer as never
  })

  app.get('/', {
    schema: {
      operationId: 'list_imports',
      summary: 'List imports',
      description: 'List the imports of a shop, newest first, a page at a time.',
      tags: ['imports'],
      params: ShopParams,
      querystring: listQuerySchema(list),
      response: { 200: Type.Array(ListedImport), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'imports', query, await repository.list(shop, query)))

  app.get('/:import_id', {
    schema: {
      operationId: 'get_import',
      summary: 'Get an import',
      description: 'Get how far an import is, and which lines could not be applied.',
      tags,
      params: ImportParams,
      response: { 200: Import, ...readProblems }
    },
    config: { mcp: shown }
  }, async ({ shop, params }, reply) => {
    const found = await repository.get(shop, params.import_id)
    return await withRetry(reply, found).send(found)
  })

  app.get(
    '/:import_id/lines',
    {
      schema: {
        operationId: 'list_import_lines',
        summary: 'List the lines of an import',
        description: 'List what became of each line of an import, a page at a time.',
        tags: ['imports'],
        params: ImportParams,
        querystring: listQuerySchema(lineList),
        response: { 200: Type.Array(ImportLine), ...readProblems }
      }
    },
    async ({ shop, params, query }, reply) =>
      sendPage(reply, 'lines', query, await repository.lines(shop, params.import_id, query))
  )

  app.get('/:import_id/failed', {
    schema: {
      operationId: 'export_failed_lines',
      summary: 'Export the lines of an import that failed',
      description:
        'Get the lines that failed as a file, each with its error, to be corrected and imported again: CSV or JSON ' +
        'lines, as the file was.',
      tags: ['imports'],
      params: ImportParams,
      response: { 200: FailedLines, ...readProblems }
    }
  }, async ({ shop, params }, reply) => {
    const { format, name, file } = await failures.open(shop, params.import_id, reply.raw)
    return await reply.type(MEDIA_TYPES[format]).header('content-disposition', `attachment; filename="${name}"`)
      // The schema describes the file; this is its stream.
      .send(file as unknown as string)
  })

  app.delete('/:import_id', {
    schema: {
      operationId: 'cancel_import',
      summary: 'Cancel an import',
      description: 'Stop an import. What it has written stays; the history can undo it.',
      tags,
      params: ImportParams,
      response: { 204: Deleted, ...conflictProblems, ...writeProblems }
    }
  }, async ({ shop, params }, reply) => {
    if (await repository.cancel(shop, params.import_id)) onEnd('cancelled')
    return await reply.code(204).send(null)
  })
}

/** Products that are applied in a second, at least. */
const PACE = 500
/** In seconds. */
const LONGEST_WAIT = 10

/** Says when to ask again how far an import is. */
function withRetry (reply: FastifyReply, { status, total, processed }: Static<typeof Import>): FastifyReply {
  if (!UNFINISHED.includes(status)) return reply
  return reply.header('retry-after', String(Math.min(Math.max(1, Math.ceil((total - processed) / PACE)), LONGEST_WAIT)))
}
