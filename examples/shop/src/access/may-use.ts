import type { UsedKey } from 'dual-auth'
import type { Knex } from 'knex'
import { namedStatement } from '../database/named-statement.ts'
import { type KeyOfPerson, madeByNobody } from './made-by.ts'

/**
 * Who made the key in a row named `used`, or took it over: a row named `maker`, or none if no person did. Where
 * `created_by` is nobody's subject, the history knows who created it; of who was deleted since, all is null.
 */
const MAKER = `lateral (
    select users.id, users.name, users.active, users.roles from users
    where users.subject = used.created_by and not ${madeByNobody('used')}
    union all
    select users.id, users.name, users.active, users.roles
    from history left join users on users.id::text = history.actor_id
    where history.shop_id = used.shop_id and history.record_id = used.id::text and record_kind = 'api_key'
      and action = 'create' and actor_kind = 'user'
      and not exists (select from users where users.subject = used.created_by)
  ) maker`

/** Whether the maker is active and reaches the shop of the key: as a member or an admin. */
const IS_THERE = `(maker.active and ('admin' = any(maker.roles) or exists (
    select from shop_members where shop_members.shop_id = used.shop_id and user_id = maker.id
  ))) is true`

const WORKS = `
  select ${IS_THERE} as works
  from (select ?::text as created_by, ?::text as id, ?::uuid as shop_id) used cross join ${MAKER}`

/**
 * Whether a key may be used: keys of people who left wait until somebody decides about them. Keys of machines and
 * commands are of nobody who could leave.
 */
export function keyCheck (knex: Knex): (key: Pick<UsedKey, 'id' | 'ownerId' | 'createdBy'>) => Promise<boolean> {
  const find = namedStatement<{ readonly works: boolean }>(knex, WORKS)
  return async ({ id, ownerId, createdBy }) => (await find([createdBy, id, ownerId])).every(({ works }) => works)
}

/**
 * SQL: whether a key, whose id is the one binding, still works in the shop in `shops`. For calls that have waited, and
 * for work that continues after a request.
 */
export const STILL_WORKS = `exists (
    select from api_keys used where used.id = ?::uuid and used.shop_id = shops.id and used.revoked_at is null
      and (used.expires_at is null or used.expires_at > now())
      and not exists (select from ${MAKER} where not ${IS_THERE})
  )`

/** A key that waits, and whom it is of. Both are null of who was deleted. */
export interface WaitingKey extends KeyOfPerson {
  readonly user_id: string | null
  readonly user_name: string | null
}

/** The keys of a shop that are refused only because who made them has left. */
export async function waitingKeys (knex: Knex, shopId: string): Promise<readonly WaitingKey[]> {
  const { rows } = await knex.raw<{ rows: readonly WaitingKey[] }>(
    `
    select used.id, used.shop_id, shops.name as shop_name, used.name, used.prefix, used.created_at, used.last_used_at,
      used.expires_at, maker.id as user_id, maker.name as user_name
    from api_keys used join shops on shops.id = used.shop_id cross join ${MAKER}
    where used.shop_id = ? and used.revoked_at is null and (used.expires_at is null or used.expires_at > now())
      and not ${IS_THERE}
    order by used.name, used.id`,
    [shopId]
  )
  return rows
}
