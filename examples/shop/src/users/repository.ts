import type { Knex } from 'knex'
import { newer } from '../repository.ts'

/** A person who has signed in, or who was named before they did. */
export interface User {
  readonly id: string
  /** The `sub` claim of their tokens. */
  readonly subject: string
  /** What they sign in with, for display; null until a token has told it. */
  readonly name: string | null
  /** Those who are not active are refused, whatever their token says. */
  readonly active: boolean
  /** `admin` reaches all shops. */
  readonly roles: readonly string[]
}

const COLUMNS = ['id', 'subject', 'name', 'active', 'roles'] as const

/** @returns the user with that subject; made, without any rights, at their first token */
export async function provisionUser (knex: Knex, subject: string, name: string | null): Promise<User> {
  const known = await knex('users').where({ subject }).first(COLUMNS)
  if (known !== undefined && (known.name === name || name === null)) return known
  const [user] = await knex('users').insert({ subject, name })
    .onConflict('subject').merge({ name, updated_at: newer(knex, 'users.updated_at') }).returning(COLUMNS)
  return user
}

/** Gives the role `admin` to those who are to have it from the start. Takes it from nobody. */
export async function makeAdmins (knex: Knex, subjects: readonly string[]): Promise<void> {
  for (const subject of subjects) {
    await knex('users').insert({ subject, roles: ['admin'] }).onConflict('subject').merge({
      roles: knex.raw("case when 'admin' = any(users.roles) then users.roles else users.roles || '{admin}'::text[] end")
    })
  }
}
