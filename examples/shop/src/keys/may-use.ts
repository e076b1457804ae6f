import type { UsedKey } from 'dual-auth'
import type { Knex } from 'knex'
import { namedStatement } from '../database/named-statement.ts'

/**
 * Whether who made a key, or took it over, is still active and reaches its shop: as a member or an admin. No row: no
 * person made it. Where `created_by` is nobody's subject, the history knows who created it, also those who are deleted.
 */
const WORKS = `
  with given as (select ?::text as subject, ?::text as key_id, ?::uuid as shop_id),
  maker as (
    select users.id, users.active, users.roles from given join users on users.subject = given.subject
    union all
    select users.id, users.active, users.roles
    from given join history on history.shop_id = given.shop_id and history.record_id = given.key_id
    left join users on users.id::text = history.actor_id
    where record_kind = 'api_key' and action = 'create' and actor_kind = 'user'
      and not exists (select from users where users.subject = given.subject)
  )
  select (active and ('admin' = any(roles) or exists (
    select from shop_members where shop_members.shop_id = given.shop_id and user_id = maker.id
  ))) is true as works from given cross join maker`

/**
 * Whether a key may be used: keys of people who left wait until somebody decides about them. Keys of machines and
 * commands are of nobody who could leave.
 */
export function keyCheck (
  knex: Knex
): (key: Pick<UsedKey, 'id' | 'shopId' | 'createdBy'>, on?: Knex) => Promise<boolean> {
  const find = namedStatement<{ readonly works: boolean }>(knex, WORKS)
  return async ({ id, shopId, createdBy }, on = knex) =>
    (await find([createdBy, id, shopId], on)).every(({ works }) => works)
}
