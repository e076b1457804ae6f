import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Knex } from 'knex'
import { type Actor, type Caller, callerOf } from './caller.ts'
import { enterActiveShop, enterAgain, enterShop, type OpenShop } from './shops-reached.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The shop of this request, on routes under `/shops/:shop_id`. */
    shop: ShopScope
  }
}

/** In milliseconds: for as long an API key goes on, too, once its maker has left. */
const LONG_AGO = 1000

/**
 * The right to work on the rows of one shop. Every repository requires it, and only {@link ShopScope.authorize} creates
 * one (or {@link ShopScope.open}, if the settings make routes public, and {@link ShopScope.resume}, for work in the
 * background), so that no code can reach a shop without a check of the caller's access.
 */
export class ShopScope {
  readonly id: string
  /** ISO 4217. */
  readonly currency: string
  /** Whose changes these are. */
  readonly caller: Caller
  /** When the caller was let in, as `performance.now()`. */
  private readonly entered = performance.now()

  private constructor ({ id, currency }: OpenShop, caller: Caller) {
    this.id = id
    this.currency = currency
    this.caller = caller
  }

  /** The same right, for changes that revert another one. */
  reverting (change: string): ShopScope {
    const { caller } = this
    return new ShopScope(this, { ...caller, confirmed: caller.confirmed ?? null, reverts: change })
  }

  /**
   * For work that continues after its request: the caller must still have access.
   *
   * @throws {@link SHOP_GONE} | {@link SHOP_FORBIDDEN} | {@link SHOP_USER_INACTIVE}
   */
  static async resume (knex: Knex, id: string, actor: Actor): Promise<ShopScope> {
    return new ShopScope(await enterAgain(knex, actor, id), { ...actor, user: null })
  }

  /**
   * A `preParsing` hook for public routes under `/shops/:shop_id`.
   *
   * @throws {@link SHOP_NOT_FOUND}
   */
  static open (knex: Knex) {
    return async (request: FastifyRequest): Promise<void> => {
      const { shop_id: id } = request.params as { shop_id: string }
      request.shop = new ShopScope(await enterActiveShop(knex, id), callerOf(request))
    }
  }

  /**
   * A `preParsing` hook for routes under `/shops/:shop_id`: a caller without access cannot make the server read a body,
   * nor learn how it would have been validated. A caller with access is counted.
   *
   * @throws {@link SHOP_FORBIDDEN} | {@link SHOP_NOT_FOUND}, see {@link enterShop}
   * @throws {@link SHOP_DAILY_CALLS_EXCEEDED} and the other errors of daily limits
   */
  static authorize (knex: Knex) {
    return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const { shop_id: id } = request.params as { shop_id: string }
      request.shop = new ShopScope(await enterShop(knex, request, id), callerOf(request))
      request.server.countCall(request, reply)
    }
  }

  /**
   * A `preValidation` hook: of callers whose body took its time, only those go on who still have access.
   *
   * @throws {@link SHOP_GONE} | {@link SHOP_FORBIDDEN} | {@link SHOP_USER_INACTIVE}
   */
  static admitAgain (knex: Knex) {
    return async ({ shop }: { readonly shop?: ShopScope }): Promise<void> => {
      if (shop === undefined || shop.caller.kind === 'anybody' || performance.now() - shop.entered < LONG_AGO) return
      await enterAgain(knex, shop.caller, shop.id)
    }
  }
}
