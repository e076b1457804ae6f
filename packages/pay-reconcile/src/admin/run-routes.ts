import { randomUUID } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contentRange, type RawQuery } from '#shared/list-grammar'
import type { Caller } from '../customers/snapshot.ts'
import { PAY_RECONCILE_NOT_FOUND, PAY_RECONCILE_VALIDATION } from '../errors.ts'
import type { FileFormat } from '../extension.ts'
import { snakeCased } from '../names.ts'
import type { BulkRunner, RunRequest } from '../reconcile/runner.ts'
import type { RunLimits } from '../reconcile/shop-work.ts'
import type { Item, Run, RunStore } from '../reconcile/types.ts'
import type { AccountStore } from '../types.ts'
import { setContentRange } from './http.ts'
import { itemQueryFrom, refuseUnknownShop, runQueryFrom } from './list-query.ts'
import {
  itemsQuerystring,
  RunActiveProblem,
  RunBody,
  RunSchema,
  RunsQuerystring,
  RunWithItemsSchema,
  type ItemBody
} from './run-schemas.ts'
import { documented, IdParams, InputProblem, Problem, refusals, unreadable } from './schemas.ts'

type ById = { Params: Static<typeof IdParams> }

/** The routes that start, list, show and cancel bulk runs. */
export function runRoutes (
  scope: FastifyInstance,
  runner: BulkRunner,
  { runs, accounts, mayContinue, file }:
    & { readonly runs: RunStore, readonly accounts: AccountStore, readonly file: FileFormat | undefined }
    & Pick<RunLimits, 'mayContinue'>,
  callerOf: (request: FastifyRequest) => Caller
): void {
  scope.post<{ Body: Static<typeof RunBody> }>('/reconcile', {
    schema: documented({
      operationId: 'start_reconciliation',
      summary: 'Start a run',
      description:
        'Starts a bulk run in the background, over all accounts or some of them; changes is a sync of those ' +
        'whose customers have changed since the last such run. Changes nothing unless dry_run is false. An ' +
        'accepted item is skipped if the account or the customer has changed meanwhile.',
      body: RunBody,
      response: { 202: RunSchema, ...refusals, ...unreadable, 404: Problem, 409: RunActiveProblem, 422: InputProblem }
    })
  }, async (request, reply) => {
    const { actor, requestId } = callerOf(request)
    const run = await runner.start({ id: randomUUID(), actor, requestId, ...runRequestFrom(request.body) })
    reply.code(202).header('location', `${request.routeOptions.url ?? ''}/${run.id}`)
    return runBodyFrom(run)
  })

  scope.get<{ Querystring: RawQuery }>('/reconcile', {
    schema: documented({
      operationId: 'list_reconciliations',
      summary: 'List runs',
      description: 'Bulk runs, newest first unless sorted otherwise, a page at a time. Content-Range: runs ' +
        '{skip}-{skip+limit}/{count}.',
      querystring: RunsQuerystring,
      response: { 200: Type.Array(RunSchema), ...refusals, 422: InputProblem }
    })
  }, async (request, reply) => {
    const query = runQueryFrom(request.query)
    const { runs: found, count } = await runs.list(query)
    await refuseUnknownShop(accounts, request.query, query.filter.shop_id, count)
    setContentRange(reply, contentRange('runs', query, count, found.length))
    return found.map(runBodyFrom)
  })

  scope.get<ById & { Querystring: RawQuery }>('/reconcile/:id', {
    schema: documented({
      operationId: 'get_reconciliation',
      summary: 'Get a run with its items',
      description:
        'The progress of a run, what it found, counted by kind, and a page of its items: one for each account ' +
        'that is not unchanged. A page of large items ends early; skip as many as it has.' +
        (file ? ' As CSV all items that match.' : ''),
      params: IdParams,
      querystring: itemsQuerystring(file?.parameters),
      response: {
        200: file?.response(RunWithItemsSchema, 'The run, or as CSV its items') ?? RunWithItemsSchema,
        ...refusals,
        404: Problem,
        422: InputProblem
      }
    })
  }, async (request, reply) => {
    const { id } = request.params
    const query = itemQueryFrom(request.query)
    const run = await runs.get(id)
    if (!run) throw new PAY_RECONCILE_NOT_FOUND('reconciliation run')
    // Outcomes of different modes are never the same: everything would be new.
    if (query.since !== undefined && (await runs.get(query.since))?.mode !== run.mode) {
      throw new PAY_RECONCILE_VALIDATION('since', `since must be the id of a run with the mode ${run.mode}`)
    }
    if (file?.isWanted(request.query)) {
      return await file.sendItems(reply, {
        name: `run-${run.id}`,
        read: async (page) => {
          const { items, count } = await runs.items(id, { ...query, ...page })
          await refuseUnknownShop(accounts, request.query, query.filter.shop_id, count)
          return { records: items.map(itemBodyFrom), count }
        },
        mayContinue: () => mayContinue({ id, actor: callerOf(request).actor })
      })
    }
    const { items, count } = await runs.items(id, query)
    await refuseUnknownShop(accounts, request.query, query.filter.shop_id, count)
    return { ...runBodyFrom(run), items: items.map(itemBodyFrom), items_count: count }
  })

  scope.delete<ById>('/reconcile/:id', {
    schema: documented({
      operationId: 'cancel_reconciliation',
      summary: 'Cancel a run',
      description: 'Cancels a run at its next account. Changes already made remain.',
      params: IdParams,
      response: { 200: RunSchema, ...refusals, ...unreadable, 404: Problem, 422: InputProblem }
    })
  }, async (request) => runBodyFrom(await runner.cancel(request.params.id)))
}

function runBodyFrom (run: Run): Static<typeof RunSchema> {
  // What the schema does not name is not sent.
  return {
    ...snakeCased(run),
    shops: { ...run.shops, stopped: run.shops.stopped.map(snakeCased) }
  }
}

function itemBodyFrom (item: Item): ItemBody {
  return {
    ...snakeCased(item),
    differences: [...item.differences],
    fields: [...item.fields],
    candidates: item.candidates.map(({ customerId, ...facts }) => ({ pay_customer_id: customerId, ...facts }))
  }
}

const LIMITS = ['accounts', 'accept', 'failed_in', 'synced_before'] as const
/** The modes that each limit makes sense for. */
const MODES_OF = {
  accounts: ['link', 'sync', 'check', 'unlink'],
  accept: ['link', 'unlink'],
  failed_in: ['link', 'sync', 'check'],
  synced_before: ['sync', 'check']
} as const satisfies Record<typeof LIMITS[number], ReadonlyArray<RunRequest['mode']>>
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/i

/**
 * Reads the body of a run to start.
 *
 * @throws {@link PAY_RECONCILE_VALIDATION} for limits that contradict each other or the mode.
 */
function runRequestFrom (body: Static<typeof RunBody>): Omit<RunRequest, 'id' | 'actor' | 'requestId'> {
  const {
    mode,
    dry_run: dryRun = true,
    shop_id: shopId = null,
    accounts,
    accept,
    failed_in: failedIn,
    synced_before: syncedBefore
  } = body
  const [limit, other] = LIMITS.filter((name) => body[name] !== undefined)
  if (limit && other) throw new PAY_RECONCILE_VALIDATION(other, `${other} cannot be combined with ${limit}`)
  if (limit && !(MODES_OF[limit] as readonly string[]).includes(mode)) {
    throw new PAY_RECONCILE_VALIDATION(limit, `${limit} has no meaning with the mode ${mode}`)
  }
  // Nobody means to unlink every account.
  if (mode === 'unlink' && !limit) throw new PAY_RECONCILE_VALIDATION('mode', 'unlink needs accounts or accept')
  const time = syncedBefore === undefined || INSTANT.test(syncedBefore) ? Date.parse(syncedBefore ?? '') : NaN
  if (syncedBefore !== undefined && Number.isNaN(time)) {
    throw new PAY_RECONCILE_VALIDATION(
      'synced_before',
      'synced_before must be a date and time such as 2026-01-31T12:00:00Z'
    )
  }
  return {
    mode,
    dryRun,
    shopId,
    accounts,
    accept,
    failedIn,
    ...(syncedBefore !== undefined && { syncedBefore: new Date(time).toISOString() })
  }
}
