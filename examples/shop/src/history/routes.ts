import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { readProblems, writeProblems } from '../http/problem.ts'
import { ShopParams, Uuid } from '../http/schemas.ts'
import { readRecord, unlessKnown } from '../http/if-match.ts'
import { listQuerySchema, sendPage } from '../lists/list.ts'
import { isOwner } from '../access/shops-reached.ts'
import { ShopScope } from '../access/scope.ts'
import { entriesOf, historyVersion } from './entries.ts'
import { seenBy } from '../records/kinds.ts'
import { reverter } from './revert.ts'
import { changesFrom, RevertAllInput, Reverted, RevertInput, revertProblems } from './revert-schemas.ts'
import { HistoryEntry, list } from './schemas.ts'
import type { turns } from '../turns.ts'
import { WorkPage, WorkQuery } from './work-schemas.ts'
import { workOf } from './work.ts'

const ChangeParams = Type.Object({ ...ShopParams.properties, id: Uuid('The change') })

/**
 * Who changed what in a shop, and taking changes back. A revert needs no right beyond those of the changes that it
 * makes: every caller with a token who reaches the shop may make them by hand. API keys, which may be limited to some
 * tools, do not reach these routes.
 */
export const history: FastifyPluginAsyncTypebox<{ readonly knex: Knex, readonly inTurn: ReturnType<typeof turns> }> =
  async (app, { knex, inTurn }) => {
    const { revertChange, revertChanges } = reverter(knex, inTurn)
    app.addHook('preParsing', ShopScope.authorize(knex))

    app.get('/', {
      schema: {
        operationId: 'list_history',
        summary: 'List what was changed in a shop',
        description: 'List every change in a shop, by whom and how, newest first, a page at a time. ' +
          'Staff see changes of records and settings; owners, admins and machines also those of API keys, ' +
          'members, the payment key and the shop.',
        tags: ['history'],
        params: ShopParams,
        querystring: listQuerySchema(list),
        response: { ...readRecord(Type.Array(HistoryEntry)), ...readProblems }
      }
    }, async (request, reply) => {
      const { shop, query } = request
      const owns = await isOwner(knex, request, shop.id)
      return await unlessKnown(
        reply,
        await historyVersion(knex, shop.id, owns),
        async () =>
          sendPage(
            reply,
            'history',
            query,
            await entriesOf(
              knex,
              (entries) => {
                entries.where({ shop_id: shop.id }).modify(seenBy(owns))
              },
              query,
              owns
            )
          )
      )
    })

    app.get('/work', {
      schema: {
        operationId: 'list_history_work',
        summary: 'List what was changed in a shop, by piece of work',
        description:
          'List what each actor changed in one go, that is without a pause of ten minutes, newest first. A page ' +
          'ends before the 101st piece of work or the 12,001st change: ' +
          'a piece that goes on further back continues on the next page. Events of API keys are left out. Staff ' +
          'see what they see in the history.',
        tags: ['history'],
        params: ShopParams,
        querystring: WorkQuery,
        response: { ...readRecord(WorkPage), ...readProblems }
      }
    }, async (request, reply) => {
      const { shop, query } = request
      const owns = await isOwner(knex, request, shop.id)
      return await unlessKnown(
        reply,
        await historyVersion(knex, shop.id, owns),
        async () => await workOf(knex, shop.id, owns, query)
      )
    })

    app.post('/:id/revert', {
      // All of its body is optional.
      preValidation: async (request) => {
        request.body ??= {}
      },
      schema: {
        operationId: 'revert_change',
        summary: 'Revert a change',
        description:
          'Undo one change: an update sets the changed fields back, a deleted record comes back with its id and ' +
          'links, a created one is deleted. ' +
          'Refused if a later change stands in the way. The revert is a change itself, and can be reverted.',
        tags: ['history'],
        params: ChangeParams,
        body: RevertInput,
        response: { 200: Reverted, ...writeProblems, ...revertProblems }
      }
    }, async (request) => {
      const { shop, params, body } = request
      return await revertChange(shop, await isOwner(knex, request, shop.id), params.id, body.dry_run)
    })

    app.post('/revert', {
      schema: {
        operationId: 'revert_changes',
        summary: 'Revert chosen changes, or all of an actor or an import',
        description:
          'Undo up to 100 changes by their ids, all that an API key, person or machine made in the shop since a ' +
          'time and until another, or all of an import, newest first: all of them, or none if later changes stand ' +
          'in the way, unless skip_conflicts is true.',
        tags: ['history'],
        params: ShopParams,
        body: RevertAllInput,
        response: { 200: Reverted, ...writeProblems, ...revertProblems }
      }
    }, async (request) => {
      const { shop, body } = request
      return await revertChanges(shop, await isOwner(knex, request, shop.id), changesFrom(body), {
        dryRun: body.dry_run === true,
        skipsConflicts: body.skip_conflicts === true
      })
    })
  }
