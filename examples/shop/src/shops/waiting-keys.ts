import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { readProblems } from '../http/problem.ts'
import { Nullable, ShopParams, Uuid } from '../http/schemas.ts'
import { PersonKey } from '../users/key-decision.ts'
import { waitingKeys } from '../access/may-use.ts'

const WaitingKey = Type.Object({
  ...PersonKey.properties,
  user_id: Nullable(Uuid('Who made it; null: they were deleted')),
  user_name: Nullable(Type.String())
})

/** The API keys of a shop about which somebody has to decide. */
export const waiting: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  app.get('/', {
    schema: {
      operationId: 'list_waiting_keys',
      summary: 'List API keys that wait for a decision',
      description:
        'List the API keys of a shop that are refused because who made them is inactive, or neither a member ' +
        'nor an admin any more. decide_member_keys decides about them.',
      tags: ['members'],
      params: ShopParams,
      response: { 200: Type.Object({ keys: Type.Array(WaitingKey) }), ...readProblems }
    }
  }, async ({ shop }) => ({ keys: [...await waitingKeys(knex, shop.id)] }))
}
