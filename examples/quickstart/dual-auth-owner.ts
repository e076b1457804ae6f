// What a route needs to know of the shop of an API key comes with the key, in one statement.
import { knexStore } from 'dual-auth/knex'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'

declare module 'fastify' {
  interface ApiKeyOwner {
    readonly currency: string
  }
}

/** The option `apiKeys.store`. `api_keys.owner_id` contains the column `id` of the table `shops`. */
export const storeWithShops = (knex: Knex) => knexStore(knex, { owner: { table: 'shops', columns: ['currency'] } })

export const currencyOf = ({ identity }: FastifyRequest) =>
  identity?.kind === 'api-key' ? identity.owner?.currency : undefined
