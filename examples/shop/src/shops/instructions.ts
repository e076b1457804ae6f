import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { shopsReached } from './access.ts'

const ABOUT = 'Manages the catalogs of shops. Every tool takes the shop_id of the shop to work on. ' +
  'Money is in minor units: 1999 is 19.99. Lists come in pages of 25: narrow them with filter, page with skip and limit.'

/** How many shops are named. */
const MAX_SHOPS = 20

interface Named {
  readonly id: string
  readonly slug: string
}

/**
 * What an agent is told when it connects: what the tools are for, and which shops its credential opens, since none
 * of them lists shops. Shops go by their slugs, in which nobody can write sentences for the agents of others.
 */
export function instructionsFor (knex: Knex): (request: FastifyRequest) => Promise<string> {
  return async (request) => {
    const shops: Named[] = await shopsReached(knex, request).select('id', 'slug').orderBy('slug').limit(MAX_SHOPS + 1)
    return `${ABOUT} ${sentenceFromShops(shops)}`
  }
}

/** @param shops - one more than {@link MAX_SHOPS} when there are more */
export function sentenceFromShops (shops: readonly Named[]): string {
  const [only] = shops
  if (only === undefined) return 'You are not let into any shop yet.'
  if (shops.length === 1) return `Yours is the shop ${only.slug}, shop_id ${only.id}.`
  const named = shops.slice(0, MAX_SHOPS).map(({ id, slug }) => `${slug} (shop_id ${id})`).join(', ')
  return `Yours are the shops ${named}${shops.length > MAX_SHOPS ? ' and more' : ''}.`
}
