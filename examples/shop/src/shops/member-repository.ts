import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { notFound, SHOP_OWNER_ONLY } from '../errors.ts'
import type { ListQuery } from '../list.ts'
import { type Page, pageOf, updatedAt } from '../repository.ts'
import type { User } from '../users/repository.ts'
import { holdShop } from './hold.ts'
import { filters, type Member, type MemberChanges, type MemberInput } from './member-schemas.ts'
import type { ShopScope } from './scope.ts'

type MemberRow = Static<typeof Member>

/** Who works for a shop. Changes of one shop take turns, so that nobody acts on a right that was just taken from them. */
export function memberRepository (knex: Knex) {
  const people = (shop: ShopScope, on: Knex = knex): Knex.QueryBuilder => on.from(
    on('shop_members as m').join('users as u', 'u.id', 'm.user_id').where('m.shop_id', shop.id)
      .select('m.shop_id', 'm.user_id', { id: 'm.user_id' }, 'u.name', 'u.active', 'm.role', 'm.created_at', 'm.updated_at').as('members'))

  /** @throws {@link SHOP_NOT_FOUND} */
  async function get (shop: ShopScope, userId: string, on: Knex = knex): Promise<MemberRow> {
    const [member] = await people(shop, on).where({ user_id: userId }).select('*')
    if (member === undefined) throw notFound('member', userId)
    return member
  }

  /**
   * Runs `change` as the only one for the shop.
   *
   * @param actor - who asks; null for a machine
   * @throws {@link SHOP_GONE}, or {@link SHOP_OWNER_ONLY} unless they are a machine, an admin, or an owner of the shop by now
   */
  async function manage<T> (shop: ShopScope, actor: User | null, change: (trx: Knex.Transaction) => Promise<T>): Promise<T> {
    return await knex.transaction(async (trx) => {
      await holdShop(trx, shop)
      const owners = await trx('shop_members').where({ shop_id: shop.id, role: 'owner' }).orderBy('user_id').forUpdate().select('user_id')
      if (actor !== null && !actor.roles.includes('admin') && !owners.some(({ user_id: id }) => id === actor.id)) throw new SHOP_OWNER_ONLY()
      return await change(trx)
    })
  }

  return {
    get,

    async list (shop: ShopScope, query: ListQuery): Promise<Page<MemberRow>> {
      return await pageOf<MemberRow>(knex, people(shop), { filters, nullable: ['name'] }, query)
    },

    /** @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async add (shop: ShopScope, actor: User | null, { user_id: userId, role = 'staff' }: Static<typeof MemberInput>): Promise<MemberRow> {
      return await manage(shop, actor, async (trx) => {
        await trx('shop_members').insert({ shop_id: shop.id, user_id: userId, role })
        return await get(shop, userId, trx)
      })
    },

    /** @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_FOUND} */
    async update (shop: ShopScope, actor: User | null, userId: string, changes: Static<typeof MemberChanges>): Promise<MemberRow> {
      return await manage(shop, actor, async (trx) => {
        await trx('shop_members').where({ shop_id: shop.id, user_id: userId }).update({ ...changes, updated_at: updatedAt(trx, changes) })
        return await get(shop, userId, trx)
      })
    },

    /**
     * Members may leave by themselves.
     *
     * @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_FOUND}
     */
    async remove (shop: ShopScope, actor: User | null, userId: string): Promise<void> {
      const take = async (on: Knex): Promise<void> => {
        const count = await on('shop_members').where({ shop_id: shop.id, user_id: userId }).delete()
        if (count === 0) throw notFound('member', userId)
      }
      if (actor?.id === userId.toLowerCase()) await take(knex)
      else await manage(shop, actor, take)
    }
  }
}
