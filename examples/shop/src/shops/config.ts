import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Knex } from 'knex'
import { callerOf } from '../access/caller.ts'
import { readProblems, writeProblems } from '../http/problem.ts'
import { ShopParams } from '../http/schemas.ts'
import { changedMeanwhile, IfMatch, preconditionOf, readRecord, sendRecord } from '../http/if-match.ts'
import { ownersOnly } from '../access/shops-reached.ts'
import { configRepository } from './config-repository.ts'
import { ShopConfig, ShopConfigChanges } from './config-schemas.ts'

/** The settings of a shop. */
export const config: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = configRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'get_shop_config',
      summary: 'Get the settings of a shop',
      description: 'Get the settings of a shop, with defaults for unset ones.',
      tags: ['shops'],
      params: ShopParams,
      response: { ...readRecord(ShopConfig), ...readProblems }
    }
  }, async ({ shop }, reply) => sendRecord(reply, await repository.get(shop)))

  app.patch(
    '/',
    {
      preParsing: ownersOnly(knex),
      schema: {
        operationId: 'update_shop_config',
        summary: 'Update the settings of a shop',
        description:
          'Change some settings of a shop; those left out stay as they are. metadata is replaced as a whole. ' +
          'For owners of the shop, admins and machines.',
        tags: ['shops'],
        params: ShopParams,
        headers: IfMatch,
        body: ShopConfigChanges,
        response: { 200: ShopConfig, ...changedMeanwhile(ShopConfig), ...writeProblems }
      }
    },
    async (request, reply) =>
      sendRecord(
        reply,
        await repository.update(request.shop, callerOf(request), request.body, {
          precondition: preconditionOf(request)
        })
      )
  )
}
