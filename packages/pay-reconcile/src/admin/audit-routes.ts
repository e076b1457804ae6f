import { Type, type Static } from '@sinclair/typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../customers/snapshot.ts'
import { PAY_RECONCILE_NOT_FOUND } from '../errors.ts'
import type { FileFormat } from '../extension.ts'
import { snakeCased } from '../names.ts'
import type { RunLimits } from '../reconcile/shop-work.ts'
import type { AccountStore } from '../types.ts'
import { AuditEntrySchema, ReplacedSnapshotSchema } from './audit-schemas.ts'
import { setContentRange } from './http.ts'
import { contentRange, type RawQuery } from '#shared/list-grammar'
import { auditQueryFrom, refuseUnknownShop } from './list-query.ts'
import { documented, IdParams, InputProblem, listParameters, Problem, refusals } from './schemas.ts'

const Changes = Type.Array(AuditEntrySchema)

/** The routes that show who changed which account, and the snapshots that were replaced. */
export function auditRoutes (
  scope: FastifyInstance,
  { accounts, mayContinue, file }:
    & { readonly accounts: AccountStore, readonly file: FileFormat | undefined }
    & Pick<RunLimits, 'mayContinue'>,
  callerOf: (request: FastifyRequest) => Caller
): void {
  scope.get<{ Querystring: RawQuery }>('/audit', {
    schema: documented({
      operationId: 'list_pay_audit',
      summary: 'List changes of accounts',
      description: 'Lists who linked, synced or created the customer of which account, newest first unless sorted ' +
        'otherwise, a page at a time. Content-Range: audit {skip}-{skip+limit}/{count}.' +
        (file ? ' As CSV all of them, oldest first unless sorted otherwise.' : ''),
      querystring: Type.Object({
        ...listParameters('at_gte, at_lte and any field of a change'),
        ...file?.parameters
      }),
      response: { 200: file?.response(Changes, 'Changes') ?? Changes, ...refusals, 422: InputProblem }
    })
  }, async (request, reply) => {
    const query = auditQueryFrom(request.query)
    if (file?.isWanted(request.query)) {
      // The oldest come first: changes that are made meanwhile come last and move no page.
      const sort = query.sort ?? { field: 'at', descending: false } as const
      return await file.sendChanges(reply, {
        name: 'audit',
        read: async (page) => {
          const { entries, count } = await accounts.audit({ ...query, ...page, sort })
          await refuseUnknownShop(accounts, request.query, query.filter.shop_id, count)
          return { records: entries.map(snakeCased), count }
        },
        mayContinue: () => mayContinue({ id: null, actor: callerOf(request).actor })
      })
    }
    const { entries, count } = await accounts.audit(query)
    await refuseUnknownShop(accounts, request.query, query.filter.shop_id, count)
    setContentRange(reply, contentRange('audit', query, count, entries.length))
    return entries.map(snakeCased)
  })

  scope.get<{ Params: Static<typeof IdParams> }>('/audit/:id/snapshot', {
    schema: documented({
      operationId: 'get_replaced_pay_snapshot',
      summary: 'Read back a snapshot',
      description: 'Returns the snapshot that a change replaced or removed, for as long as it is kept.',
      params: IdParams,
      response: { 200: ReplacedSnapshotSchema, ...refusals, 404: Problem, 422: InputProblem }
    })
  }, async (request) => {
    const found = await accounts.replacedSnapshot(request.params.id)
    if (!found) throw new PAY_RECONCILE_NOT_FOUND('snapshot')
    const { auditId, accountId, customerId, customer, replacedAt } = found
    return {
      audit_id: auditId,
      account_id: accountId,
      pay_customer_id: customerId,
      pay_customer: customer,
      replaced_at: replacedAt
    }
  })
}
