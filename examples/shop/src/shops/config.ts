import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { callerOf } from '../audit/caller.ts'
import { readProblems, writeProblems } from '../http/problem.ts'
import { Currency, Metadata, Nullable, serverFields, ShopParams } from '../http/schemas.ts'
import { configRepository } from './config-repository.ts'

const settings = {
  currency: Type.String({ ...Currency, description: 'ISO 4217: of new products and orders unless they say another; those that there are keep theirs' }),
  locale: Type.String({ minLength: 2, maxLength: 35, description: 'BCP 47 language tag; en until set' }),
  time_zone: Type.String({ minLength: 1, maxLength: 64, description: 'Name of the IANA time zone; UTC until set' }),
  contact_email: Nullable(Type.String({ format: 'email', maxLength: 254, description: 'Where customers write to; null until set' })),
  prices_include_tax: Type.Boolean({ description: 'Whether prices are gross; true until set' }),
  metadata: Metadata
}

export const ShopConfigChanges = Type.Partial(Type.Object(settings), { additionalProperties: false })

export const ShopConfig = Type.Object({ shop_id: serverFields.shop_id, ...settings, updated_at: serverFields.updated_at })

/** How a shop does business. */
export const config: FastifyPluginAsyncTypebox<{ readonly knex: Knex }> = async (app, { knex }) => {
  const repository = configRepository(knex)

  app.get('/', {
    schema: {
      operationId: 'get_shop_config',
      summary: 'Get the settings of a shop',
      description: 'Get the settings of a shop, with defaults for those that were never set.',
      tags: ['shops'],
      params: ShopParams,
      response: { 200: ShopConfig, ...readProblems }
    }
  }, async ({ shop }) => await repository.get(shop))

  app.patch('/', {
    schema: {
      operationId: 'update_shop_config',
      summary: 'Update the settings of a shop',
      description: 'Change some settings of a shop; those left out stay as they are. metadata is replaced as a whole.',
      tags: ['shops'],
      params: ShopParams,
      body: ShopConfigChanges,
      response: { 200: ShopConfig, ...writeProblems }
    }
  }, async (request) => await repository.update(request.shop, callerOf(request), request.body))
}
