import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import type { Actor } from '../access/caller.ts'
import { fieldsOf, recordChange } from '../records/trail.ts'
import { namedStatement } from '../database/named-statement.ts'
import { newer } from '../database/updated-at.ts'
import { UUID } from '../http/schemas.ts'
import { type OpenShop, REACHES } from '../access/shops-reached.ts'
import type { User } from '../access/user.ts'

const COLUMNS = ['id', 'subject', 'name', 'active', 'roles'] as const

/** @returns the user with that subject, who is created without any rights at their first token */
export async function provisionUser (knex: Knex, subject: string, name: string | null): Promise<User> {
  const known = await knex('users').where({ subject }).first(COLUMNS)
  if (known !== undefined && (known.name === name || name === null)) return known
  const [user] = await knex('users').insert({ subject, name })
    .onConflict('subject').merge({ name, updated_at: newer(knex, 'users.updated_at') }).returning(COLUMNS)
  return user
}

interface Found {
  readonly user: User
  /** Null if the person does not reach it, or it does not exist; undefined if it was not looked for. */
  readonly shop: OpenShop | null | undefined
}

/**
 * Looks up the person of a token by {@link provisionUser}, usually in one statement together with a shop.
 *
 * @returns takes the subject, the name, and the id of a shop, if there is one
 */
export function personLookup (
  knex: Knex
): (subject: string, name: string | null, shopId: string | undefined) => Promise<Found> {
  const find = namedStatement<User & { readonly shop_id: string | null, readonly currency: string }>(
    knex,
    `
    select ${COLUMNS.map((column) => `users.${column}`).join(', ')}, shops.id as shop_id, shops.currency
    from users left join shops on shops.id = ? and ${REACHES} where users.subject = ?`
  )

  return async (subject, name, shopId) => {
    const [row] = await find([shopId !== undefined && UUID.test(shopId) ? shopId : null, subject])
    if (row === undefined || (row.name !== name && name !== null)) {
      return { user: await provisionUser(knex, subject, name), shop: undefined }
    }
    const { shop_id: id, currency, ...user } = row
    if (shopId === undefined) return { user, shop: undefined }
    return { user, shop: id === null ? null : { id, currency } }
  }
}

/**
 * Whether a caller, if it is a person, still exists. They are not deleted before the transaction ends: who was deleted
 * after a call began must not be named by what it stores.
 */
export async function isKnown (trx: Knex.Transaction, { kind, id }: Pick<Actor, 'kind' | 'id'>): Promise<boolean> {
  return kind !== 'user' || await trx('users').where({ id }).forKeyShare().first('id') !== undefined
}

/** Whether the person with that id is an active admin now. */
export async function isAdmin (knex: Knex, id: string): Promise<boolean> {
  return await knex('users').where({ active: true }).whereRaw("id::text = ? and 'admin' = any(roles)", [id]).first(
    'id'
  ) !== undefined
}

/** Gives the role `admin` to the subjects of `ADMIN_SUBJECTS`. Takes it from nobody, and reactivates no account. */
export async function makeAdmins (knex: Knex, subjects: readonly string[]): Promise<void> {
  for (const subject of subjects) {
    await makeAdmin(knex, { kind: 'server', id: null, operation: 'ADMIN_SUBJECTS', requestId: null }, subject, [
      'roles'
    ])
  }
}

/**
 * Gives the role `admin` to the person with a subject, who may not have signed in yet. Writes nothing if they have it.
 *
 * @param fields - what to set: `active` reactivates an inactive person
 * @returns the person, whether they were known before, and whether anything changed
 */
export async function makeAdmin (
  knex: Knex,
  actor: Actor,
  subject: string,
  fields: ReadonlyArray<'roles' | 'active'>
): Promise<{ readonly user: User, readonly known: boolean, readonly changed: boolean }> {
  return await knex.transaction(async (trx) => {
    // If replicas start at the same time, one creates the person, and the others find them.
    const [made] = await trx('users').insert({ subject, roles: ['admin'] }).onConflict('subject').ignore().returning(
      COLUMNS
    )
    if (made !== undefined) {
      await recordChange(trx, actor, {
        shopId: null,
        recordKind: 'user',
        recordId: made.id,
        recordName: made.name,
        before: null,
        after: fieldsOf(made, ['subject', 'active', 'roles'])
      })
      return { user: made, known: false, changed: true }
    }
    const before: User = await trx('users').where({ subject }).forUpdate().first(COLUMNS)
    const goal = { roles: [...new Set([...before.roles, 'admin'])], active: true }
    const changes = fieldsOf(goal, fields.filter((name) => !isDeepStrictEqual(before[name], goal[name])))
    const names = Object.keys(changes)
    if (names.length === 0) return { user: before, known: true, changed: false }
    await trx('users').where({ subject }).update({ ...changes, updated_at: newer(trx) })
    await recordChange(trx, actor, {
      shopId: null,
      recordKind: 'user',
      recordId: before.id,
      recordName: before.name,
      before: fieldsOf(before, names),
      after: changes
    })
    return { user: { ...before, ...changes }, known: true, changed: true }
  })
}
