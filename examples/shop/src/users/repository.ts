import { isDeepStrictEqual } from 'node:util'
import type { Knex } from 'knex'
import type { Actor } from '../audit/caller.ts'
import { fieldsOf, recordChange } from '../audit/trail.ts'
import { newer } from '../database/updated-at.ts'
import type { User } from './user.ts'

const COLUMNS = ['id', 'subject', 'name', 'active', 'roles'] as const

/** @returns the user with that subject; made, without any rights, at their first token */
export async function provisionUser (knex: Knex, subject: string, name: string | null): Promise<User> {
  const known = await knex('users').where({ subject }).first(COLUMNS)
  if (known !== undefined && (known.name === name || name === null)) return known
  const [user] = await knex('users').insert({ subject, name })
    .onConflict('subject').merge({ name, updated_at: newer(knex, 'users.updated_at') }).returning(COLUMNS)
  return user
}

/** Whether the person of that id is an active admin at the moment. */
export async function isAdmin (knex: Knex, id: string): Promise<boolean> {
  return await knex('users').where({ active: true }).whereRaw("id::text = ? and 'admin' = any(roles)", [id]).first('id') !== undefined
}

/** Gives the role `admin` to those who are to have it from the start. Takes it from nobody, and opens no account that was closed. */
export async function makeAdmins (knex: Knex, subjects: readonly string[]): Promise<void> {
  for (const subject of subjects) await makeAdmin(knex, { kind: 'server', id: null, operation: 'ADMIN_SUBJECTS', requestId: null }, subject, ['roles'])
}

/**
 * Gives the role `admin` to the person of a subject, who need not have signed in yet. Writes nothing if they have it.
 *
 * @param fields - what to set: `active` lets in again a person who was shut out
 * @returns the person as they are now, whether they were known before, and whether anything changed
 */
export async function makeAdmin (
  knex: Knex, actor: Actor, subject: string, fields: ReadonlyArray<'roles' | 'active'>
): Promise<{ readonly user: User, readonly known: boolean, readonly changed: boolean }> {
  return await knex.transaction(async (trx) => {
    // Of replicas that start at once one makes the person, and the others find them.
    const [made] = await trx('users').insert({ subject, roles: ['admin'] }).onConflict('subject').ignore().returning(COLUMNS)
    if (made !== undefined) {
      await recordChange(trx, actor, { shopId: null, recordKind: 'user', recordId: made.id, before: null, after: fieldsOf(made, ['subject', 'active', 'roles']) })
      return { user: made, known: false, changed: true }
    }
    const before: User = await trx('users').where({ subject }).forUpdate().first(COLUMNS)
    const goal = { roles: [...new Set([...before.roles, 'admin'])], active: true }
    const changes = fieldsOf(goal, fields.filter((name) => !isDeepStrictEqual(before[name], goal[name])))
    const names = Object.keys(changes)
    if (names.length === 0) return { user: before, known: true, changed: false }
    await trx('users').where({ subject }).update({ ...changes, updated_at: newer(trx) })
    await recordChange(trx, actor, { shopId: null, recordKind: 'user', recordId: before.id, before: fieldsOf(before, names), after: changes })
    return { user: { ...before, ...changes }, known: true, changed: true }
  })
}
