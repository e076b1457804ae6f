import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { readProblems, refusals } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { ownersOnly } from '../access/shops-reached.ts'
import { ShopScope } from '../access/scope.ts'
import { requireAdmin } from '../users/require-admin.ts'
import { entriesOf } from './entries.ts'
import { ACCESS_KINDS } from '../records/kinds.ts'
import { HistoryEntry, list } from './schemas.ts'

/** The part of the history that is about access: of a shop for its owners, all of it for admins. */
export const audit: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const querystring = listQuerySchema(list)

  app.get('/shops/:shop_id/audit', {
    preParsing: [ShopScope.authorize(knex), ownersOnly(knex)],
    schema: {
      operationId: 'list_audit',
      summary: 'List what was changed in the access to a shop',
      description:
        'List who changed API keys, members, the payment key, settings and the shop itself, and what happened ' +
        'to API keys, newest first, a page at a time. ' +
        'For owners of the shop, admins and machines.',
      tags: ['history'],
      params: ShopParams,
      querystring,
      response: { 200: Type.Array(HistoryEntry), ...readProblems }
    }
  }, async ({ shop, query }, reply) =>
    sendPage(
      reply,
      'audit',
      query,
      await entriesOf(knex, (entries) => {
        entries.where({ shop_id: shop.id }).whereIn('record_kind', ACCESS_KINDS)
      }, query)
    ))

  app.get('/admin/audit', {
    preParsing: requireAdmin(knex),
    schema: {
      operationId: 'list_all_audit',
      summary: 'List what was changed in the access to anything',
      description:
        'List who changed API keys, members, payment keys, settings, shops and user accounts in all shops, ' +
        'including deleted ones, newest first, a page at a time. Admins only.',
      tags: ['history'],
      querystring,
      response: { 200: Type.Array(HistoryEntry), ...refusals }
    }
  }, async ({ query }, reply) =>
    sendPage(
      reply,
      'audit',
      query,
      await entriesOf(knex, (entries) => {
        entries.whereIn('record_kind', ACCESS_KINDS)
      }, query)
    ))
}
