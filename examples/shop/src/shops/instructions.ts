import type { Identity } from 'dual-auth'
import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { shopsReached } from './access.ts'

const ABOUT = 'Manages the catalogs of shops. Every tool takes the shop_id of the shop to work on. ' +
  'Money is in minor units of its currency: 1999 is 19.99 EUR, and 1999 JPY. Lists come in pages of 25: narrow them with filter, page with skip and limit. The number behind the dash of content-range is the skip of the next page.'

/** How many shops are named. */
const MAX_SHOPS = 20

interface Named {
  readonly id: string
  readonly slug: string
  /** ISO 4217. */
  readonly currency: string
}

/**
 * What an agent is told when it connects: what the tools are for, and which shops its credential opens, since none
 * of them lists shops. Shops go by their slugs, in which nobody can write sentences for the agents of others.
 */
export function instructionsFor (knex: Knex): (request: FastifyRequest) => Promise<string> {
  return async (request) => {
    const shops: Named[] = await shopsReached(knex, request).select('id', 'slug', 'currency').orderBy('slug').limit(MAX_SHOPS + 1)
    return [ABOUT, sentenceFromShops(shops, request.identity), ...sentencesFromScopes(request.identity)].join(' ')
  }
}

/** @param shops - one more than {@link MAX_SHOPS} when there are more */
export function sentenceFromShops (shops: readonly Named[], identity: Identity | null = null): string {
  const [only] = shops
  if (only === undefined) {
    return identity?.kind === 'api-key'
      ? 'The shop of your API key is archived: nothing can be done in it until an admin opens it again.'
      : 'You are not let into any shop yet.'
  }
  if (shops.length === 1) return `Yours is the shop ${only.slug}, shop_id ${only.id}, currency ${only.currency}.`
  const named = shops.slice(0, MAX_SHOPS).map(({ id, slug, currency }) => `${slug} (shop_id ${id}, currency ${currency})`).join(', ')
  return `Yours are the shops ${named}${shops.length > MAX_SHOPS ? ' and more' : ''}.`
}

/** What an API key that was not made for everything opens: all tools are listed for it. */
function sentencesFromScopes (identity: Identity | null): readonly string[] {
  if (identity?.kind !== 'api-key' || identity.scopes.length === 0) return []
  return [`Your API key has the scopes ${identity.scopes.join(', ')} and no others: read opens the tools that change nothing, write the others, the name of a tool that one.`]
}
