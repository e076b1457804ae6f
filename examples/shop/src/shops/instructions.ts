import type { Identity } from 'dual-auth'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { shopsReached } from '../access/shops-reached.ts'

const ABOUT = 'Manages the catalogs of shops. Every tool takes the shop_id of the shop to work on. ' +
  'Money is in minor units of its currency: 1999 is 19.99 EUR, and 1999 JPY. Lists come in pages of 25: narrow ' +
  'them with filter. The link of a page has the after of the next one, for the same filter and sort. ' +
  'content-range ends with how many records match.'

/** Maximum number of shops in the instructions. */
const MAX_SHOPS = 20

interface Named {
  readonly id: string
  readonly slug: string
  /** ISO 4217. */
  readonly currency: string
}

/**
 * The instructions for an agent that connects: what the tools are for, and which shops its credential opens, since no
 * tool lists shops. Shops are named by their slugs, in which nobody can write instructions for the agents of others.
 */
export function instructionsFor (knex: Knex): (request: FastifyRequest) => Promise<string> {
  return async (request) => {
    const shops: Named[] = await shopsReached(knex, request).select('id', 'slug', 'currency').orderBy('slug').limit(
      MAX_SHOPS + 1
    )
    return [ABOUT, sentenceFromShops(shops, request.identity), ...sentencesFromScopes(request.identity)].join(' ')
  }
}

/** @param shops - one more than {@link MAX_SHOPS} when there are more */
export function sentenceFromShops (shops: readonly Named[], identity: Identity | null = null): string {
  const [only] = shops
  if (only === undefined) {
    return identity?.kind === 'api-key'
      ? 'The shop of your API key is archived: you cannot work in it until an admin reactivates it.'
      : 'You have no access to any shop yet.'
  }
  if (shops.length === 1) {
    const implied = identity?.kind === 'api-key' ? ' Your API key implies it, so you can leave shop_id out.' : ''
    return `Your shop is ${only.slug}, shop_id ${only.id}, currency ${only.currency}.${implied}`
  }
  const named = shops.slice(0, MAX_SHOPS).map(({ id, slug, currency }) =>
    `${slug} (shop_id ${id}, currency ${currency})`
  ).join(', ')
  return `Your shops are ${named}${shops.length > MAX_SHOPS ? ' and more' : ''}.`
}

/** Why a limited API key is shown some of the tools only. */
function sentencesFromScopes (identity: Identity | null): readonly string[] {
  if (identity?.kind !== 'api-key' || identity.scopes.length === 0) return []
  return [
    `Your API key has the scopes ${identity.scopes.join(', ')} only, so only the tools that they open are ` +
    'listed: read opens those that change nothing, write the others, and the name of a tool opens that tool.'
  ]
}
