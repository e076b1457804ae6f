import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { readProblems, refusals } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { type ListQuery, listQuerySchema, type Page, sendPage } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { ownersOnly } from '../shops/access.ts'
import { ShopScope } from '../shops/scope.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { AuditEntry, list } from './schemas.ts'

/** The audit trail: of a shop for its owners, all of it for admins. */
export const audit: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const querystring = listQuerySchema(list)
  const actorName = knex.raw("(select name from users where audit.actor_kind = 'user' and users.id::text = audit.actor_id) as actor_name")
  const entries = async (rows: Knex.QueryBuilder, query: ListQuery): Promise<Page<Static<typeof AuditEntry>>> =>
    await pageOf(knex, knex.from(rows.select('audit.*', actorName).as('entries')), list, query)

  app.get('/shops/:shop_id/audit', {
    preParsing: [ShopScope.authorize(knex), ownersOnly(knex)],
    schema: {
      operationId: 'list_audit',
      summary: 'List what was changed in a shop',
      description: 'List who changed API keys, members, the payment key, settings and the shop itself, newest first, a page at a time. ' +
        'For owners of the shop, admins and machines.',
      tags: ['audit'],
      params: ShopParams,
      querystring,
      response: { 200: Type.Array(AuditEntry), ...readProblems }
    }
  }, async ({ shop, query }, reply) => sendPage(reply, 'audit', query, await entries(knex('audit').where({ shop_id: shop.id }), query)))

  app.get('/admin/audit', {
    preParsing: requireAdmin(knex),
    schema: {
      operationId: 'list_all_audit',
      summary: 'List what was changed anywhere',
      description: 'List who changed what in all shops, including deleted ones, and in user accounts, newest first, a page at a time. Admins only.',
      tags: ['audit'],
      querystring,
      response: { 200: Type.Array(AuditEntry), ...refusals }
    }
  }, async ({ query }, reply) => sendPage(reply, 'audit', query, await entries(knex('audit'), query)))
}
