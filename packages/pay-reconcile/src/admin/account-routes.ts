import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Type, type Static } from '@sinclair/typebox'
import { originOf, readCustomer, syncCustomer, type Caller, type Sources } from '../customers/snapshot.ts'
import { customerIdOf, syncedAtOf } from '../details.ts'
import { PAY_RECONCILE_ACCOUNT_NOT_FOUND, PAY_RECONCILE_CUSTOMER_CHANGED } from '../errors.ts'
import { snakeCased } from '../names.ts'
import type { Account } from '../types.ts'
import { setContentRange } from './http.ts'
import { contentRange, type RawQuery } from '#shared/list-grammar'
import { accountQueryFrom, refuseCutPage, refuseUnknownShop } from './list-query.ts'
import {
  AdminAccountSchema,
  documented,
  IdParams,
  InputProblem,
  LinkBody,
  ListQuerystring,
  PayCustomerSchema,
  Problem,
  readProblems,
  refusals,
  SyncedAccountSchema,
  UnlinkBody,
  unreadable,
  type AdminAccount
} from './schemas.ts'

type ById = { Params: Static<typeof IdParams> }

/** The routes for accounts. */
export function accountRoutes (
  scope: FastifyInstance,
  sources: Sources,
  callerOf: (request: FastifyRequest) => Caller
): void {
  const { accounts } = sources

  scope.get<{ Querystring: RawQuery }>('/', {
    prefixTrailingSlash: 'no-slash',
    schema: documented({
      operationId: 'list_admin_accounts',
      summary: 'List accounts of all shops',
      description:
        'Accounts across all shops, a page at a time. Content-Range: accounts {skip}-{skip+limit}/{count}. A ' +
        'page of large accounts may end early; the number behind the dash is always the skip of the next page. ' +
        'A range, or ids without a limit, that do not fit on one page are 422.',
      querystring: ListQuerystring,
      response: { 200: Type.Array(AdminAccountSchema), ...refusals, 422: InputProblem }
    })
  }, async (request, reply) => {
    const query = accountQueryFrom(request.query)
    const page = await accounts.list(query)
    await refuseUnknownShop(accounts, request.query, query.filter.shop_id, page.count)
    refuseCutPage(request.query, query, page.count, page.accounts.length)
    setContentRange(reply, contentRange('accounts', query, page.count, page.accounts.length))
    return page.accounts.map(adminAccountFrom)
  })

  scope.get<ById>('/:id', {
    schema: documented({
      operationId: 'get_admin_account',
      summary: 'Get an account of any shop',
      description: 'One account of any shop.',
      params: IdParams,
      response: { 200: AdminAccountSchema, ...refusals, 404: Problem, 422: InputProblem }
    })
  }, async (request) => {
    const account = await accounts.get(request.params.id)
    if (!account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
    return adminAccountFrom(account)
  })

  scope.get<ById>('/:id/pay-customer', {
    schema: documented({
      operationId: 'get_admin_account_pay_customer',
      summary: 'Read the live customer',
      description:
        "The live customer, read from the payment provider with the key of the account's shop. Stores nothing.",
      params: IdParams,
      response: { 200: PayCustomerSchema, ...readProblems }
    })
  }, async (request) => {
    const { account, customer } = await readCustomer(sources, request.params.id, request.signal)
    return { account_id: account.id, pay_customer_id: customer.id, pay_customer: customer }
  })

  scope.post<ById>('/:id/sync-pay', {
    schema: documented({
      operationId: 'sync_admin_account_pay',
      summary: 'Store a snapshot of the customer',
      description:
        'Reads the live customer and stores it as the snapshot; every other key of details is kept. If the ' +
        'customer has been deleted, its last snapshot is kept in details.pay_customer_before_deletion.',
      params: IdParams,
      response: { 200: SyncedAccountSchema, ...unreadable, ...readProblems, 409: Problem }
    })
  }, async (request) => {
    const { id, details } = await syncCustomer(sources, request.params.id, callerOf(request))
    return {
      id,
      pay_customer_id: details.pay_customer_id,
      pay_synced_at: syncedAtOf(details),
      pay_customer: details.pay_customer
    }
  })

  scope.post<ById & { Body: Static<typeof LinkBody> }>('/:id/link-pay', {
    schema: documented({
      operationId: 'link_admin_account_pay',
      summary: 'Link a customer',
      description: 'Sets the customer id without calling the payment provider. Another id removes the old snapshot.',
      params: IdParams,
      body: LinkBody,
      response: { 200: AdminAccountSchema, ...refusals, ...unreadable, 404: Problem, 409: Problem, 422: InputProblem }
    })
  }, async (request) => {
    const change = { action: 'link', accountId: request.params.id, customerId: request.body.pay_customer_id } as const
    const { account } = await accounts.link(change, originOf(callerOf(request), null))
    if (!account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
    // Changed by somebody else since.
    if (customerIdOf(account.details) !== change.customerId) throw new PAY_RECONCILE_CUSTOMER_CHANGED()
    return adminAccountFrom(account)
  })

  scope.post<ById & { Body: Static<typeof UnlinkBody> }>('/:id/unlink-pay', {
    schema: documented({
      operationId: 'unlink_admin_account_pay',
      summary: 'Unlink the customer',
      description:
        'Removes the customer id and the snapshots without calling the payment provider. With pay_customer_id ' +
        'in the body, only if that is still the customer of the account.',
      params: IdParams,
      body: UnlinkBody,
      response: { 200: AdminAccountSchema, ...refusals, ...unreadable, 404: Problem, 409: Problem, 422: InputProblem }
    })
  }, async (request) => {
    const expected = request.body?.pay_customer_id
    const { account, changed } = await accounts.unlink(
      { accountId: request.params.id, expected },
      originOf(callerOf(request), null)
    )
    if (!account) throw new PAY_RECONCILE_ACCOUNT_NOT_FOUND()
    // An account without a customer is as wanted.
    if (!changed && customerIdOf(account.details) !== null) throw new PAY_RECONCILE_CUSTOMER_CHANGED()
    return adminAccountFrom(account)
  })
}

function adminAccountFrom (account: Account): AdminAccount {
  const { details } = account
  return { ...snakeCased(account), pay_customer_id: customerIdOf(details), pay_synced_at: syncedAtOf(details) }
}
