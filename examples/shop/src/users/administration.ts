import type { Static } from '@sinclair/typebox'
import type { Knex } from 'knex'
import type { Caller } from '../access/caller.ts'
import { fieldsOf, recordChange } from '../records/trail.ts'
import { updatedAt } from '../database/updated-at.ts'
import { conflict, notFound, SHOP_ADMIN_ONLY } from '../errors.ts'
import { decideKeys } from './key-decision.ts'
import { type KeyOfPerson, keysOf, lockKeysOf } from '../access/made-by.ts'
import type { Precondition } from '../http/if-match.ts'
import type { ListQuery, Page } from '../lists/list.ts'
import { pageOf } from '../lists/page.ts'
import { replaceName } from './personal-data.ts'
import { type Changes, list, type User as UserSchema } from './user-schemas.ts'

type UserRow = Static<typeof UserSchema>

/** How admins read and change users. */
export function userAdministration (knex: Knex) {
  return {
    async list (query: ListQuery): Promise<Page<UserRow>> {
      return await pageOf<UserRow>(knex, knex('users'), list, query)
    },

    /** @throws {@link SHOP_NOT_FOUND} */
    async get (id: string): Promise<UserRow> {
      const user = await knex('users').where({ id }).first()
      if (user === undefined) throw notFound('user', id)
      return user
    },

    /** The API keys of a person in all shops. @throws {@link SHOP_NOT_FOUND} */
    async keys (id: string): Promise<readonly KeyOfPerson[]> {
      return await keysOf(knex, await this.get(id))
    },

    /**
     * Changes take turns: if two admins remove each other's role at the same time, only one succeeds.
     *
     * @throws {@link SHOP_ADMIN_ONLY} if the caller is no longer an admin
     * @throws {@link SHOP_NOT_FOUND} | {@link SHOP_PRECONDITION_FAILED}
     * @throws {@link SHOP_CONFLICT} if no active admin would be left
     * @throws {@link SHOP_INVALID} about `keys_to`
     */
    async update (caller: Caller, id: string, asked: Changes, precondition?: Precondition): Promise<UserRow> {
      const { keys, keys_to: to, ...changes } = asked
      const decision = { ...keys !== undefined && { keys }, ...to !== undefined && { keys_to: to } }
      return await knex.transaction(async (trx) => {
        const known = await trx('users').where({ id }).first('id', 'subject')
        const theirs = known === undefined || keys === undefined ? [] : await lockKeysOf(trx, known)
        const admins = await trx('users').where({ active: true }).whereRaw("'admin' = any(roles)").orderBy('id')
          .forUpdate().select('id')
        if (!admins.some((admin) => admin.id === caller.id)) throw new SHOP_ADMIN_ONLY()
        const before = await trx('users').where({ id }).forUpdate().first()
        if (before === undefined) throw notFound('user', id)
        precondition?.(before)
        const [user] = await trx('users').where({ id }).update({ ...changes, updated_at: updatedAt(trx, changes) })
          .returning('*')
        const isAdmin = user.active && user.roles.includes('admin')
        if (!isAdmin && admins.every((admin) => admin.id === user.id)) {
          throw conflict(user.active ? 'roles' : 'active', 'This is the last active admin')
        }
        await decideKeys(trx, caller, user, theirs, decision)
        const { name, ...others } = changes
        const names = Object.keys(others)
        if (names.length > 0) {
          await recordChange(trx, caller, {
            shopId: null,
            recordKind: 'user',
            recordId: user.id,
            recordName: user.name,
            before: fieldsOf(before, names),
            after: fieldsOf(user, names)
          })
        }
        if (name !== undefined && name !== before.name) await replaceName(trx, caller, user)
        return user
      })
    }
  }
}
