import type { Knex } from 'knex'

/** Whom a key is of: who created it, or took it over. */
export interface Maker {
  /** Of `users`. */
  readonly id: string
  readonly subject: string
}

/**
 * Whether the maker that a key in a table names is a machine or a command, in SQL: a person may have the same word as
 * their subject.
 */
export const madeByNobody = (table: string): string =>
  `exists (select from history where shop_id = ${table}.shop_id and record_id = ${table}.id::text and ` +
  `record_kind = 'api_key' and action = 'create' and (actor_kind, ${table}.created_by) in ` +
  "(('machine', actor_id), ('command', coalesce('command:' || actor_id, 'command'))))"

/**
 * Whether a person did something with an API key, in SQL. Keys name people by the subject of their tokens, without the
 * issuer that tells tenants apart.
 */
export const didWithKey = (what: string): string =>
  "exists (select from history where record_kind = 'api_key' and record_id = api_keys.id::text and shop_id = " +
  `api_keys.shop_id and ${what} and actor_kind = 'user' and actor_id = :id)`

/**
 * Whether a key is of a person, in SQL, with the named values `id` and `subject`. Where `created_by` is nobody's
 * subject, the history knows who created it; a key that was handed over is of somebody whose subject it has.
 */
export const MADE = `((created_by = :subject and not ${madeByNobody('api_keys')}) or ` +
  `(not exists (select from users where users.subject = created_by) and ${didWithKey("action = 'create'")}))`

/** An API key of a person that works, unless the person has left. */
export interface KeyOfPerson {
  readonly id: string
  readonly shop_id: string
  readonly shop_name: string
  readonly name: string
  readonly prefix: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
}

const COLUMNS = ['id', 'shop_id', 'name', 'prefix', 'created_at', 'last_used_at', 'expires_at'].map((column) =>
  `api_keys.${column}`
)

/**
 * The keys of a person that are neither revoked nor expired, by shop and name.
 *
 * @param shopId - default: of all shops
 */
export async function keysOf (
  knex: Knex,
  { id, subject }: Maker,
  shopId?: string
): Promise<readonly KeyOfPerson[]> {
  return await working(knex, { id, subject }, shopId).join('shops', 'shops.id', 'api_keys.shop_id').orderBy([
    'shops.name',
    'api_keys.name',
    'api_keys.id'
  ]).select(...COLUMNS, { shop_name: 'shops.name' })
}

/**
 * The same, locked until the transaction ends. To be locked before people and members: whoever changes a key records
 * it afterwards, with their name. Keys that appear later are of somebody who may have left, and wait for a decision.
 */
export async function lockKeysOf (
  trx: Knex.Transaction,
  { id, subject }: Maker,
  shopId?: string
): Promise<readonly KeyOfPerson[]> {
  let count = -1
  for (;;) {
    // After a wait for a rotation there is a successor, which the same statement does not see.
    const locked = await working(trx, { id, subject }, shopId).orderBy('api_keys.id').forUpdate().select('api_keys.id')
    if (locked.length <= count) return await keysOf(trx, { id, subject }, shopId)
    count = locked.length
  }
}

function working (knex: Knex, { id, subject }: Maker, shopId: string | undefined): Knex.QueryBuilder {
  const keys = knex('api_keys').whereNull('revoked_at').whereRaw('(expires_at is null or expires_at > now())')
    .whereRaw(MADE, { id, subject })
  return shopId === undefined ? keys : keys.where('api_keys.shop_id', shopId)
}
