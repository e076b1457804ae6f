import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { Caller } from '../access/caller.ts'
import { recordChange } from '../records/trail.ts'
import { newer } from '../database/updated-at.ts'
import { type Decision, decideKeys } from '../users/key-decision.ts'
import { type KeyOfPerson, keysOf, lockKeysOf, type Maker } from '../access/made-by.ts'
import { notFound, SHOP_LAST_OWNER, SHOP_OWNER_ONLY } from '../errors.ts'
import type { Precondition } from '../http/if-match.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import type { User } from '../access/user.ts'
import { holdShop } from '../access/hold.ts'
import { list, type Member, type MemberChanges, type MemberInput } from './member-schemas.ts'
import type { ShopScope } from '../access/scope.ts'

/** A member's name comes from the person, so the version has both times. */
type MemberRow = Static<typeof Member> & { readonly version: string }

/** The members of shops. Changes in a shop take turns, so that nobody uses a right that they have just lost. */
export function memberRepository (knex: Knex) {
  const people = (shop: ShopScope, on: Knex = knex): Knex.QueryBuilder =>
    on.from(
      on('shop_members as m').join('users as u', 'u.id', 'm.user_id').where('m.shop_id', shop.id)
        .select(
          'm.shop_id',
          'm.user_id',
          { id: 'm.user_id' },
          'u.name',
          'u.active',
          'm.role',
          'm.created_at',
          'm.updated_at',
          on.raw("json_instant(m.updated_at) || '/' || json_instant(u.updated_at) as version")
        ).as('members')
    )

  /** @throws {@link SHOP_NOT_FOUND} */
  async function get (shop: ShopScope, userId: string, on: Knex = knex): Promise<MemberRow> {
    const [member] = await people(shop, on).where({ user_id: userId }).select('*')
    if (member === undefined) throw notFound('member', userId)
    return member
  }

  /**
   * Runs `change` while no other change of members of the shop runs.
   *
   * @param maySelf - admits a person who is neither an owner of the shop nor an admin
   * @param person - whose keys are changed too
   * @param heir - the id of who takes them over
   * @throws {@link SHOP_GONE} | {@link SHOP_OWNER_ONLY}
   */
  async function manage<T> (
    shop: ShopScope,
    { kind, user }: Caller,
    change: (trx: Knex.Transaction, keys: readonly KeyOfPerson[]) => Promise<T>,
    { maySelf = () => false, person, heir }: {
      readonly maySelf?: (user: User) => boolean,
      readonly person?: Maker,
      readonly heir?: string | undefined
    } = {}
  ): Promise<T> {
    return await knex.transaction(async (trx) => {
      await holdShop(trx, shop)
      const keys = person === undefined ? [] : await lockKeysOf(trx, person, shop.id)
      // Before the members, as who deletes a person does.
      if (heir !== undefined) await trx('users').where({ id: heir }).forKeyShare().first('id')
      const owners = await trx('shop_members').where({ shop_id: shop.id, role: 'owner' }).orderBy('user_id').forUpdate()
        .select('user_id')
      const isAllowed = user === null
        ? kind === 'machine'
        : user.roles.includes('admin') || owners.some(({ user_id: id }) => id === user.id) || maySelf(user)
      if (!isAllowed) throw new SHOP_OWNER_ONLY()
      return await change(trx, keys)
    })
  }

  /**
   * A person whom the shop knows: a member, or who has left it and still has keys there.
   *
   * @throws {@link SHOP_NOT_FOUND}
   */
  async function personOf (shop: ShopScope, userId: string): Promise<Maker> {
    const person = await knex('users').where({ id: userId }).first('id', 'subject')
    const isKnown = person !== undefined &&
      (await people(shop).where({ user_id: person.id }).first('user_id') !== undefined ||
        (await keysOf(knex, person, shop.id)).length > 0)
    if (!isKnown) throw notFound('member', userId)
    return person
  }

  /**
   * Records the change of a member, and rejects it if no active owner would be left. Admins can still make any owner
   * inactive: locking a person out must always work, and admins can make others owners.
   *
   * @throws {@link SHOP_LAST_OWNER}
   */
  async function settle (
    trx: Knex.Transaction,
    shop: ShopScope,
    caller: Caller,
    [before, after]: readonly [MemberRow | null, MemberRow | null]
  ): Promise<void> {
    const { user_id: userId, name } = (after ?? before)!
    if (before?.role === 'owner' && after?.role !== 'owner') {
      const left = await people(shop, trx).where({ role: 'owner', active: true }).first('user_id')
      if (left === undefined) throw new SHOP_LAST_OWNER()
    }
    await recordChange(trx, caller, {
      shopId: shop.id,
      recordKind: 'member',
      recordId: userId,
      recordName: name,
      before: before && { role: before.role },
      after: after && { role: after.role }
    })
  }

  return {
    get,

    async list (shop: ShopScope, query: ListQuery): Promise<Page<MemberRow>> {
      return await pageOf<MemberRow>(knex, people(shop), list, query)
    },

    /** @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_CONFLICT} | {@link SHOP_INVALID} */
    async add (
      shop: ShopScope,
      caller: Caller,
      { user_id: userId, role = 'staff' }: Static<typeof MemberInput>
    ): Promise<MemberRow> {
      return await manage(shop, caller, async (trx) => {
        await trx('shop_members').insert({ shop_id: shop.id, user_id: userId, role })
        const after = await get(shop, userId, trx)
        await settle(trx, shop, caller, [null, after])
        return after
      })
    },

    /**
     * @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED} |
     * {@link SHOP_LAST_OWNER}
     */
    async update (
      shop: ShopScope,
      caller: Caller,
      userId: string,
      changes: Static<typeof MemberChanges>,
      precondition?: Precondition
    ): Promise<MemberRow> {
      return await manage(shop, caller, async (trx) => {
        const before = await get(shop, userId, trx)
        precondition?.(before)
        if (Object.keys(changes).length === 0) return before
        await trx('shop_members').where({ shop_id: shop.id, user_id: userId }).update({
          ...changes,
          updated_at: newer(trx)
        })
        const after = await get(shop, userId, trx)
        await settle(trx, shop, caller, [before, after])
        return after
      })
    },

    /**
     * The API keys of a person in the shop, also of one who has left it.
     *
     * @throws {@link SHOP_NOT_FOUND}
     */
    async keys (shop: ShopScope, userId: string): Promise<readonly KeyOfPerson[]> {
      return await keysOf(knex, await personOf(shop, userId), shop.id)
    },

    /**
     * Revokes or hands over the API keys of a person in the shop, also of one who has left it.
     *
     * @returns the keys, as they were
     * @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_FOUND} | {@link SHOP_INVALID}
     */
    async decide (
      shop: ShopScope,
      caller: Caller,
      userId: string,
      decision: Decision
    ): Promise<readonly KeyOfPerson[]> {
      const person = await personOf(shop, userId)
      return await manage(shop, caller, async (trx, keys) => {
        await decideKeys(trx, caller, person, keys, decision)
        return keys
      }, { person, heir: decision.keys_to })
    },

    /**
     * Members may leave by themselves. What becomes of their keys is for owners to decide: until then they are refused.
     *
     * @throws {@link SHOP_OWNER_ONLY} | {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED} |
     *   {@link SHOP_LAST_OWNER} | {@link SHOP_INVALID}
     */
    async remove (
      shop: ShopScope,
      caller: Caller,
      userId: string,
      { precondition, ...decision }: Decision & { readonly precondition?: Precondition | undefined } = {}
    ): Promise<void> {
      const person = await personOf(shop, userId)
      const take = async (trx: Knex.Transaction, keys: readonly KeyOfPerson[]): Promise<void> => {
        const before = await get(shop, userId, trx)
        precondition?.(before)
        const count = await trx('shop_members').where({ shop_id: shop.id, user_id: userId }).delete()
        if (count === 0) throw notFound('member', userId)
        await settle(trx, shop, caller, [before, null])
        await decideKeys(trx, caller, person, keys, decision)
      }
      const maySelf = ({ id }: User): boolean => decision.keys === undefined && id === person.id
      await manage(shop, caller, take, { maySelf, person, heir: decision.keys_to })
    }
  }
}
