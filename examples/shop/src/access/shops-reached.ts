import type { ApiKeyOwner, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { notFound, SHOP_FORBIDDEN, SHOP_GONE, SHOP_OWNER_ONLY, SHOP_USER_INACTIVE } from '../errors.ts'
import type { Actor } from './caller.ts'
import { UUID } from '../http/schemas.ts'
import { STILL_WORKS } from './may-use.ts'
import { shopsThere } from './shops-there.ts'

/** What is known about a shop once its caller has access. */
export interface OpenShop {
  readonly id: string
  /** ISO 4217. */
  readonly currency: string
}

declare module 'fastify' {
  interface ApiKeyOwner extends OpenShop {
    /** `deleted`: the rest of it is being deleted. */
    readonly status: 'active' | 'archived' | 'deleted'
  }
  interface FastifyRequest {
    /** The shop of the path, as it was read together with the person of a token; null if it was not. */
    shopOfPerson: ShopOfPerson | null
  }
}

/** The shop, as the look-up of a person finds it. */
export interface ShopOfPerson {
  /** The id in the path. */
  readonly asked: string
  /** Null if the person does not reach it, or it does not exist. */
  readonly shop: OpenShop | null
}

/** SQL: whether the person in `users` reaches the shop in `shops`, as {@link shopsReached} has it. */
export const REACHES =
  "(shops.status <> 'deleted' and 'admin' = any(users.roles) or (shops.status = 'active' and exists (select from " +
  'shop_members where shop_id = shops.id and user_id = users.id)))'

/** What is read of a shop together with its API keys. */
export const OPEN_SHOP: ReadonlyArray<keyof ApiKeyOwner> = ['id', 'currency', 'status']

/** Whether the caller of a request reaches every shop: admins and machines do. */
function reachesEveryShop ({ identity, currentUser }: FastifyRequest): boolean {
  return identity?.kind === 'machine' || currentUser?.roles.includes('admin') === true
}

/**
 * A query of the shops that the caller reaches: an API key its own, a person those that they are a member of, unless
 * they are archived; admins and machines all.
 */
export function shopsReached (knex: Knex, request: FastifyRequest): Knex.QueryBuilder {
  const shops = shopsThere(knex)
  if (reachesEveryShop(request)) return shops
  const { identity, currentUser } = request
  shops.where({ status: 'active' })
  if (identity?.kind === 'api-key') return shops.where('shops.id', identity.ownerId)
  return shops.whereExists(
    knex('shop_members').whereRaw('shop_id = shops.id').where({ user_id: currentUser?.id ?? null })
  )
}

/**
 * Checks that the caller reaches a shop, see {@link shopsReached}. To be called before the body of a call is read: what
 * is known of the shop is as old as that of the caller.
 *
 * @throws {@link SHOP_FORBIDDEN} for callers who do not reach every shop, whether or not this one exists
 * @throws {@link SHOP_NOT_FOUND} for callers who do
 */
export async function enterShop (knex: Knex, request: FastifyRequest, id: string): Promise<OpenShop> {
  const known = shopWithKey(request)
  if (known !== undefined) {
    if (known.id === id.toLowerCase() && known.status === 'active') return known
    throw new SHOP_FORBIDDEN()
  }
  const read = shopWithPerson(request, id)
  const shop = read === undefined
    ? (await withId(shopsReached(knex, request).modify(ofWorkingKey, request), id))[0]
    : read
  if (shop !== undefined && shop !== null) return shop
  throw reachesEveryShop(request) ? notFound('shop', id) : new SHOP_FORBIDDEN()
}

/** Of an API key only that which still works: a call that has waited may use it no more. */
function ofWorkingKey (shops: Knex.QueryBuilder, { identity }: FastifyRequest): void {
  if (identity?.kind === 'api-key') shops.whereRaw(STILL_WORKS, [identity.keyId])
}

/**
 * The shop that was read together with the API key; undefined for other callers, and for calls that have waited since.
 */
function shopWithKey ({ identity, hasWaited }: FastifyRequest): ApiKeyOwner | undefined {
  return identity?.kind === 'api-key' && !hasWaited ? identity.owner : undefined
}

/** The shop that was read together with the person, after the call has had its turn; undefined if it has to be read. */
function shopWithPerson ({ identity, shopOfPerson }: FastifyRequest, id: string): OpenShop | null | undefined {
  return identity?.kind === 'user' && shopOfPerson?.asked === id ? shopOfPerson.shop : undefined
}

/**
 * Checks that a caller still has access to a shop, for work that continues after the request.
 *
 * @throws {@link SHOP_GONE} | {@link SHOP_FORBIDDEN} | {@link SHOP_USER_INACTIVE}
 */
export async function enterAgain (
  knex: Knex,
  { kind, id: actorId }: Pick<Actor, 'kind' | 'id'>,
  id: string
): Promise<OpenShop> {
  const shop = await shopsThere(knex).where({ id }).first('id', 'currency', 'status')
  if (shop === undefined) throw new SHOP_GONE()
  if (kind === 'machine') return shop
  if (kind === 'user') {
    const user = await knex('users').where({ id: actorId }).first('active', 'roles')
    if (user?.active !== true) throw new SHOP_USER_INACTIVE()
    if (user.roles.includes('admin')) return shop
  }
  const still = kind === 'user'
    ? await knex('shop_members').where({ shop_id: id, user_id: actorId }).first('user_id') !== undefined
    : await knex('shops').where({ id }).whereRaw(STILL_WORKS, [actorId]).first('id') !== undefined
  if (shop.status !== 'active' || !still) throw new SHOP_FORBIDDEN()
  return shop
}

/** Whether the caller, who has access to the shop, is one of its owners or reaches every shop. */
export async function isOwner (knex: Knex, request: FastifyRequest, shopId: string): Promise<boolean> {
  if (reachesEveryShop(request)) return true
  const owner = { shop_id: shopId, user_id: request.currentUser?.id ?? null, role: 'owner' }
  return await knex('shop_members').where(owner).first('user_id') !== undefined
}

/** Whether a person may still manage a shop: they may have lost the right since their call began. */
export async function isStillOwner (trx: Knex.Transaction, userId: string | null, shopId: string): Promise<boolean> {
  const user = await trx('users').where({ id: userId, active: true }).first('roles')
  if (user === undefined || user.roles.includes('admin')) return user !== undefined
  return await trx('shop_members').where({ shop_id: shopId, user_id: userId, role: 'owner' }).first('user_id') !==
    undefined
}

/**
 * Checks that {@link isOwner} is true.
 *
 * @throws {@link SHOP_OWNER_ONLY}
 */
export async function demandOwner (knex: Knex, request: FastifyRequest, shopId: string): Promise<void> {
  if (!await isOwner(knex, request, shopId)) throw new SHOP_OWNER_ONLY()
}

/**
 * A `preParsing` hook after that of the shop's scope, see {@link demandOwner}.
 *
 * @throws {@link SHOP_OWNER_ONLY}
 */
export function ownersOnly (knex: Knex) {
  return async (request: FastifyRequest): Promise<void> => await demandOwner(knex, request, request.shop.id)
}

/**
 * Finds a shop that is not archived, for routes that are public.
 *
 * @throws {@link SHOP_NOT_FOUND}
 */
export async function enterActiveShop (knex: Knex, id: string): Promise<OpenShop> {
  const [shop] = await withId(knex('shops').where({ status: 'active' }), id)
  if (shop === undefined) throw notFound('shop', id)
  return shop
}

function withId (shops: Knex.QueryBuilder, id: string): Knex.QueryBuilder<object, OpenShop[]> {
  return shops.where('shops.id', UUID.test(id) ? id : null).select('shops.id', 'currency')
}
