import type { Knex } from 'knex'
import { SHOP_DATABASE_UNSUITABLE } from '../errors.ts'
import { failedToConnect } from './errors.ts'
import { losesSessions } from './pooler.ts'

/**
 * What statements and the types of their values are written for. The defaults of a session are the operator's, who may
 * have set them for the server, the database or the role.
 */
const SETTINGS = {
  // How times and names are written in answers of the database, and strings in statements.
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  // What lists, nulls and searches mean. With the last, a search would leave out a part of what it finds.
  array_nulls: 'on',
  transform_null_equals: 'off',
  gin_fuzzy_search_limit: '0',
  // Statements that wait for each other's rows then go on with the new ones. Others would fail with 40001.
  default_transaction_isolation: 'read committed'
} as const

/** Times are read in any zone, so that it need not be the default. */
const ANY: ReadonlySet<string> = new Set(['TimeZone'])

const SETTLE = 'select ' +
  `${Object.entries(SETTINGS).map(([name, value]) => `set_config('${name}', '${value}', false)`).join(', ')}`

/** A connection of node-postgres. */
interface Connection {
  query(sql: string, done: (error: Error | null) => void): void
}

/** Gives a new connection the settings of {@link SETTINGS}: for the pool of knex. */
export function settleSession (connection: Connection, done: (error: Error | null) => void): void {
  connection.query(SETTLE, (error) => {
    done(error && failedToConnect(error))
  })
}

/** What a server must be asked, since no session can change it. */
interface Facts {
  readonly encoding: string
  readonly schema: string | null
  readonly replication: string
  readonly read_only: string
  readonly has_collation: boolean
  /** What the settings of a session are unless it sets them. */
  readonly defaults: Readonly<Record<string, string>>
}

/** A Unicode collation, which PostgreSQL has where it was built with ICU. */
export const UNICODE = '"und-x-icu"'

/**
 * What of the database would make answers wrong or writes fail, each with what to do about it. Behind a pooler in
 * transaction mode nothing that a session sets would hold, so the defaults must be right there.
 */
export async function unsuitable (knex: Knex): Promise<readonly string[]> {
  const { rows: [facts] } = await knex.raw<{ rows: [Facts] }>(
    `
    select current_setting('server_encoding') as encoding, current_schema() as schema,
      current_setting('session_replication_role') as replication,
      current_setting('transaction_read_only') as read_only, to_regcollation(?) is not null as has_collation,
      (select json_object_agg(name, reset_val) from pg_settings where name = any(?)) as defaults`,
    [UNICODE, Object.keys(SETTINGS)]
  )
  const others = Object.entries(SETTINGS).filter(([name, value]) =>
    !ANY.has(name) && !isSame(facts.defaults[name], value)
  )
  return [
    ...facts.encoding === 'UTF8'
      ? []
      : [`its encoding is ${facts.encoding}, and has to be UTF8: create another database, with encoding 'UTF8'`],
    ...facts.schema !== null ? [] : ['no schema of search_path exists: alter database … set search_path = public'],
    ...facts.replication === 'origin'
      ? []
      : [
        `session_replication_role is ${facts.replication}, which turns history, quotas and foreign keys off: ` +
        'alter role … reset session_replication_role'
      ],
    ...facts.read_only === 'off' ? [] : ['it is read-only: transaction_read_only is on'],
    ...facts.has_collation
      ? []
      : [
        `the collation ${UNICODE} is missing, since PostgreSQL was built without ICU: create collation ` +
        `${UNICODE} (locale = 'C.UTF-8')`
      ],
    ...others.length > 0 && await losesSessions(knex)
      ? others.map(([name, value]) =>
        `${name} is ${facts.defaults[name]}, and the pooler in transaction mode keeps no other: alter role … ` +
        `set ${name} = '${value}'`
      )
      : []
  ]
}

/** The second part of a DateStyle says how to read times that are not ISO 8601. */
function isSame (found: string | undefined, wanted: string): boolean {
  return found?.split(',', 1)[0]!.toLowerCase() === wanted.split(',', 1)[0]!.toLowerCase()
}

/** Whether the LC_CTYPE of the database knows the case of letters beyond a to z. */
export async function knowsCase (knex: Knex): Promise<boolean> {
  const { rows: [{ knows }] } = await knex.raw("select lower('É') = 'é' as knows")
  return knows
}

/** Why the role may not run migrations, with what to do about it; undefined if it may. */
export async function cannotMigrate (knex: Knex): Promise<string | undefined> {
  const { rows: [{ role, database, schema, may_create: mayCreate, owner }] } = await knex.raw(
    `
    select format('%I', current_user) as role, format('%I', current_database()) as database, current_schema() as schema,
      has_schema_privilege(current_schema(), 'create') as may_create,
      (select format('%I', pg_get_userbyid(relowner)) from pg_class
        where oid = to_regclass('knex_migrations') and not pg_has_role(relowner, 'usage')) as owner`
  )
  if (owner !== null) return `its tables belong to the role ${owner}, not to ${role}: connect as ${owner}`
  return mayCreate
    ? undefined
    : `the role ${role} may not create tables in the schema ${schema}: it must own the database. As an ` +
      `administrator, run alter database ${database} owner to ${role}`
}

/** @throws {@link SHOP_DATABASE_UNSUITABLE} */
export async function refuseUnsuitable (knex: Knex): Promise<void> {
  const reasons = await unsuitable(knex)
  if (reasons.length > 0) throw new SHOP_DATABASE_UNSUITABLE(reasons.join('; '))
}
