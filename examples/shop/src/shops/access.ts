import type { FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { notFound, SHOP_FORBIDDEN } from '../errors.ts'
import { UUID } from '../schemas.ts'

/** What is known of a shop once its caller was let in. */
export interface OpenShop {
  readonly id: string
  /** ISO 4217. */
  readonly currency: string
}

/** Whether the caller of a request reaches every shop: admins and machines do. */
export function reachesEveryShop ({ identity, currentUser }: FastifyRequest): boolean {
  return identity?.kind === 'machine' || currentUser?.roles.includes('admin') === true
}

/**
 * Lets the caller of a request into a shop: an API key into its own, a person into those that they
 * are a member of, unless it is archived; an admin and a machine into all.
 *
 * @throws {@link SHOP_FORBIDDEN} for those who may not enter every shop, whether or not this one exists
 * @throws {@link SHOP_NOT_FOUND} for those who may
 */
export async function enterShop (knex: Knex, request: FastifyRequest, id: string): Promise<OpenShop> {
  if (reachesEveryShop(request)) return await enterAnyShop(knex, id)
  const { identity, currentUser } = request
  const query = shopById(knex, id).where({ status: 'active' })
  if (identity?.kind === 'api-key') query.where('shops.id', identity.shopId)
  else query.whereExists(knex('shop_members').whereRaw('shop_id = shops.id').where({ user_id: currentUser?.id ?? null }))
  const [shop] = await query
  if (shop === undefined) throw new SHOP_FORBIDDEN()
  return shop
}

/**
 * Lets anybody into a shop that is not archived.
 *
 * @throws {@link SHOP_NOT_FOUND}
 */
export async function enterActiveShop (knex: Knex, id: string): Promise<OpenShop> {
  const [shop] = await shopById(knex, id).where({ status: 'active' })
  if (shop === undefined) throw notFound('shop', id)
  return shop
}

async function enterAnyShop (knex: Knex, id: string): Promise<OpenShop> {
  const [shop] = await shopById(knex, id)
  if (shop === undefined) throw notFound('shop', id)
  return shop
}

function shopById (knex: Knex, id: string) {
  return knex('shops').where('shops.id', UUID.test(id) ? id : null).select<OpenShop[]>('shops.id', 'currency')
}
