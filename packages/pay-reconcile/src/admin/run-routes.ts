import { randomUUID } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../customers/snapshot.ts'
import { PAY_RECONCILE_RUN_NOT_FOUND } from '../errors.ts'
import { contentRange, pageFrom, type RawQuery } from './list-grammar.ts'
import { commonRules, wordFrom } from './list-query.ts'
import { sayContentRange } from './http.ts'
import { documented, IdParams, InputProblem, Problem, refusals, unreadable } from './schemas.ts'
import type { Item, Run, RunStore } from '../reconcile/types.ts'
import { runQueryFrom } from './run-query.ts'
import type { Runner } from '../reconcile/runner.ts'
import {
  ItemsQuerystring, outcomes, RunActiveProblem, RunBody, RunSchema, RunsQuerystring, RunWithItemsSchema
} from './run-schemas.ts'

type ById = { Params: Static<typeof IdParams> }

/** Start, list, watch and cancel bulk runs. */
export function runRoutes (
  scope: FastifyInstance, runner: Runner, runs: RunStore, callerOf: (request: FastifyRequest) => Caller
): void {
  scope.post<{ Body: Static<typeof RunBody> }>('/reconcile', {
    schema: documented({
      operationId: 'start_reconciliation',
      summary: 'Start a run',
      description: 'Starts a bulk run in the background. Changes nothing unless dry_run is false.',
      body: RunBody,
      response: { 202: RunSchema, ...refusals, ...unreadable, 404: Problem, 409: RunActiveProblem, 422: InputProblem }
    })
  }, async (request, reply) => {
    const { mode, dry_run: dryRun = true, shop_id: shopId = null } = request.body
    const { actor, requestId } = callerOf(request)
    const run = await runner.start({ id: randomUUID(), mode, dryRun, shopId, actor, requestId })
    reply.code(202).header('location', `${request.routeOptions.url ?? ''}/${run.id}`)
    return wireRun(run)
  })

  scope.get<{ Querystring: RawQuery }>('/reconcile', {
    schema: documented({
      operationId: 'list_reconciliations',
      summary: 'List runs',
      description: 'Bulk runs, newest first unless sorted otherwise, a page at a time. Content-Range: runs {skip}-{skip+limit}/{count}.',
      querystring: RunsQuerystring,
      response: { 200: Type.Array(RunSchema), ...refusals, 422: InputProblem }
    })
  }, async (request, reply) => {
    const query = runQueryFrom(request.query)
    const { runs: found, count } = await runs.list(query)
    sayContentRange(reply, contentRange('runs', query, count, found.length))
    return found.map(wireRun)
  })

  scope.get<ById & { Querystring: RawQuery }>('/reconcile/:id', {
    schema: documented({
      operationId: 'get_reconciliation',
      summary: 'Get a run with its items',
      description: 'How far a run is, what it found by kind, and a page of its items. Unchanged accounts are counted only.',
      params: IdParams,
      querystring: ItemsQuerystring,
      response: { 200: RunWithItemsSchema, ...refusals, 404: Problem, 422: InputProblem }
    })
  }, async request => {
    const { id } = request.params
    const page = pageFrom(request.query, commonRules)
    const outcome = wordFrom('outcome', request.query.outcome, outcomes)
    const run = await runs.get(id)
    if (!run) throw new PAY_RECONCILE_RUN_NOT_FOUND()
    const { items, count } = await runs.items(id, { ...page, outcome })
    return { ...wireRun(run), items: items.map(wireItem), items_count: count }
  })

  scope.delete<ById>('/reconcile/:id', {
    schema: documented({
      operationId: 'cancel_reconciliation',
      summary: 'Cancel a run',
      description: 'Cancels a run at its next account; what is done stays done.',
      params: IdParams,
      response: { 200: RunSchema, ...refusals, ...unreadable, 404: Problem, 422: InputProblem }
    })
  }, async request => wireRun(await runner.cancel(request.params.id)))
}

function wireRun (run: Run): Static<typeof RunSchema> {
  return {
    id: run.id,
    mode: run.mode,
    dry_run: run.dryRun,
    shop_id: run.shopId,
    status: run.status,
    cancel_requested: run.cancelRequested,
    actor: run.actor,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    total: run.total,
    processed: run.processed,
    outcomes: run.outcomes,
    drift: run.drift,
    shops: {
      total: run.shops.total,
      finished: run.shops.finished,
      stopped: run.shops.stopped.map(({ shopId, reason }) => ({ shop_id: shopId, reason }))
    }
  }
}

function wireItem (item: Item): Static<typeof RunWithItemsSchema>['items'][number] {
  return {
    account_id: item.accountId,
    shop_id: item.shopId,
    outcome: item.outcome,
    before: item.before,
    after: item.after,
    reason: item.reason,
    drift: [...item.drift],
    fields: [...item.fields],
    candidates: [...item.candidates],
    error_code: item.errorCode,
    provider_request_id: item.providerRequestId
  }
}
