import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import type { Asking } from '../http/asking.ts'
import { conflictProblems, readProblems, writeProblems } from '../http/problem.ts'
import { Deleted, ShopParams } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, MATCH_ARGUMENT, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { IdempotencyKey, KEY_ARGUMENT } from '../idempotency/key.ts'
import { type ListQuery, listQuerySchema, type ListRules, sendPage } from '../lists/list.ts'
import type { Deletion } from './deleting.ts'
import type { recordRepository } from './repository.ts'
import type { ShopScope } from '../access/scope.ts'

interface Row {
  readonly id: string
  readonly updated_at: string
}

/** What the routes call. */
interface Repository<Input extends TSchema, Changes extends TSchema>
  extends Pick<ReturnType<typeof recordRepository<TObject, Row>>, 'list' | 'get' | 'ifUnchanged'>
{
  create(shop: ShopScope, input: Static<Input>, on: Knex): Promise<Row>
  update(shop: ShopScope, id: string, changes: Static<Changes>, on: Knex): Promise<Row>
  remove(shop: ShopScope, id: string, on: Knex, check?: (deletion: Deletion<any>) => void): Promise<void>
}

/** The differences between the routes of records. */
interface RecordRoutes<Input extends TSchema, Changes extends TSchema> {
  /** The words of paths: `tag` and `tags`. */
  readonly one: string
  readonly several: string
  /** The schema of the id in a path. */
  readonly id: TSchema
  readonly schemas: { readonly Input: Input, readonly Changes: Changes, readonly Record: TObject }
  readonly list: ListRules
  readonly repository: Repository<Input, Changes>
  readonly operations: Readonly<
    Record<
      'list' | 'create' | 'get' | 'update' | 'delete',
      { readonly operationId: string, readonly summary: string, readonly description: string }
    >
  >
  /** Whether a changed record may conflict with others. */
  readonly mayConflict: boolean
  /** Makes the routes tools: with the fields that a list shows by default, and the question before a deletion. */
  readonly tools?: { readonly listed: readonly string[], readonly asking: Asking<Deletion<any>> }
}

/** The five routes of a kind of record: list, create, get, update and delete. */
export function recordRoutes<Input extends TSchema, Changes extends TSchema> (
  app: FastifyInstance,
  { one, several, id, schemas, list, repository, operations, mayConflict, tools }: RecordRoutes<Input, Changes>
): void {
  const { Input: input, Changes: changes, Record: record } = schemas
  const tags = tools === undefined ? [several] : [several, 'mcp']
  const params = Type.Object({ ...ShopParams.properties, [`${one}_id`]: id })
  const changeProblems = mayConflict ? conflictProblems : writeProblems
  const idIn = (request: FastifyRequest): string => (request.params as Readonly<Record<string, string>>)[`${one}_id`]!

  app.get(
    '/',
    {
      schema: {
        ...operations.list,
        tags: tools === undefined ? tags : [...tags, 'large'],
        params: ShopParams,
        querystring: listQuerySchema(list),
        response: { 200: Type.Array(record), ...readProblems }
      },
      ...tools !== undefined && { config: { mcp: { output: tools.listed } } }
    },
    async ({ shop, query }, reply) =>
      sendPage(reply, several, query as ListQuery, await repository.list(shop, query as ListQuery))
  )

  app.post('/', {
    schema: {
      ...operations.create,
      tags,
      params: ShopParams,
      headers: IdempotencyKey,
      body: input,
      response: { 201: record, ...conflictProblems }
    },
    ...tools !== undefined && { config: { mcp: { output: false, arguments: KEY_ARGUMENT } } }
  }, async ({ shop, body, on }, reply) => {
    const created = await repository.create(shop, body as Static<Input>, on)
    return sendRecord(reply.code(201).header('location', `/shops/${shop.id}/${several}/${created.id}`), created)
  })

  app.get(`/:${one}_id`, {
    schema: {
      ...operations.get,
      tags,
      params,
      response: { ...readRecord(record), ...readProblems }
    }
  }, async (request, reply) => sendRecord(reply, await repository.get(request.shop, idIn(request))))

  app.patch(`/:${one}_id`, {
    schema: {
      ...operations.update,
      tags,
      params,
      headers: IfMatch,
      body: changes,
      response: { 200: record, ...changedMeanwhile(record), ...changeProblems }
    },
    ...tools !== undefined && { config: { mcp: { output: false, arguments: MATCH_ARGUMENT } } }
  }, async (request, reply) => {
    const [{ shop, body }, id] = [request, idIn(request)]
    return sendRecord(
      reply,
      await repository.ifUnchanged(
        shop,
        id,
        preconditionOf(request),
        async (on) => await repository.update(shop, id, body as Static<Changes>, on)
      )
    )
  })

  app.delete(`/:${one}_id`, {
    schema: {
      ...operations.delete,
      tags,
      params,
      headers: IfMatch,
      // A call may conflict with the question that a person answered.
      response: { 204: Deleted, ...changedMeanwhile(record), ...tools === undefined ? writeProblems : conflictProblems }
    },
    ...tools !== undefined && { config: { mcp: { confirm: tools.asking.confirm } } }
  }, async (request, reply) => {
    const [{ shop }, id] = [request, idIn(request)]
    await repository.ifUnchanged(shop, id, preconditionOf(request), async (on) => {
      await repository.remove(shop, id, on, tools?.asking.holder(request))
    })
    return await reply.code(204).send(null)
  })
}
