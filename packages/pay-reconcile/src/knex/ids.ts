import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { storable } from '../storable.ts'

/** Whether a column can hold a string as an id, in the same spelling as the database. */
export type IsId = (id: string) => boolean

/** The check for the ids of accounts and of shops. */
export interface IdColumns {
  readonly account: IsId
  readonly shop: IsId
  /** What a string is cast to for the column of accounts, in SQL. */
  readonly accountType: string
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Only the canonical form, so that an account has one URL: `007` and `+7` are not the id 7. */
const integer = (bits: number): IsId => id =>
  /^(0|-?[1-9]\d{0,18})$/.test(id) && BigInt.asIntN(bits, BigInt(id)) === BigInt(id)

const text: IsId = id => storable(id) === id

/** The supported types of id columns, by their names in PostgreSQL. */
const types: Readonly<Record<string, IsId>> = {
  uuid: id => uuid.test(id),
  smallint: integer(16),
  integer: integer(32),
  bigint: integer(64),
  text,
  'character varying': text,
  character: text
}

/**
 * Reads the types of the host's id columns from the database. A string that such a column cannot hold would be an error
 * (22P02, 22003, 22021) that aborts a transaction of the host.
 *
 * @throws {@link PAY_RECONCILE_INVALID_OPTION} for an unsupported type.
 */
export async function idColumns (knex: Knex, table: string, shopTable: string): Promise<IdColumns> {
  const { rows } = await knex.raw<{ rows: Array<{ name: string, type: string }> }>(`
    select c.name, format_type(coalesce(nullif(t.typbasetype, 0), t.oid), null) as type
    from (values ('account', pg_typeof((select id from :table: limit 0))), ('shop', pg_typeof((select id from :shopTable: limit 0)))) c (name, type)
    join pg_type t on t.oid = c.type`, { table, shopTable })
  const checkOf = (column: string, of: string): IsId => {
    const type = rows.find(({ name }) => name === column)?.type ?? ''
    const check = types[type]
    if (!check) throw new PAY_RECONCILE_INVALID_OPTION(`${of}.id must not have the type ${type}; supported are ${Object.keys(types).join(', ')}`)
    return check
  }
  const account = checkOf('account', table)
  const { type: accountType = '' } = rows.find(({ name }) => name === 'account') ?? {}
  // As a type, `character` is a single one.
  return { account, shop: checkOf('shop', shopTable), accountType: accountType === 'character' ? 'bpchar' : accountType }
}
