import type { Knex } from 'knex'
import { type Complete, OBJECT, type Rule, type Table, TEXT } from '#shared/option-table'
import { payStringIn } from '../lists/pay-string.ts'
import { must, settingsBy } from '../option-checks.ts'

/** Columns of the host's table of accounts that have other names. */
export interface AccountColumnNames {
  /** Default `id`. */
  readonly id?: string
  /** The account's shop. Default `shop_id`; not with the option `shop`. */
  readonly shopId?: string
  /** What people call the account. Default `name`. */
  readonly name?: string
  /** A pseudonym; null: there is none. Default `hash_name`. */
  readonly hashName?: string | null
  /** `jsonb` or `json`, null for a new account: the snapshot, and what else the host keeps there. Default `details`. */
  readonly details?: string
  /** `text` or `varchar`, null without a customer. Default: the key `pay_customer_id` of `details`. */
  readonly customerId?: string
  /** The e-mail address. Default: the key `email` of `details`. */
  readonly email?: string
}

/** The host's table of accounts. */
export interface AccountTable {
  /** Default `accounts`. */
  readonly table?: string
  /** The columns that have other names than by default. */
  readonly columns?: AccountColumnNames
}

/** What the rows of the package's own tables are about. */
export interface Registered {
  /**
   * The name under which runs, audit and notes of these accounts are stored, the same for both stores. Give each of two
   * registrations over the same table its own, and keep the old one when you rename the table. Default: the table.
   */
  readonly registration?: string
}

/** The shop of every account, in an application that has one account at the provider. */
export interface OnlyShop {
  /** The secret key of the provider; a missing one stops startup. */
  readonly secretKey: string | undefined
  /** The shop's id and name in routes, lists, audit and runs: letters, digits, `_` and `-`. Default `main`. */
  readonly id?: string
}

/** Every column, by its option. */
interface Columns {
  readonly id: string
  readonly shopId: string | null
  readonly name: string
  readonly hashName: string | null
  readonly details: string
  readonly customerId: string | null
  readonly email: string | null
}

// The others mean something in statements of knex, before they are quoted.
const COLUMN: Rule = {
  holds: (column) => typeof column === 'string' && /^[^.?:"\\]+$/.test(column),
  rule: 'must be the name of a column'
}

const COLUMNS: Table<Columns> = {
  id: { ...COLUMN, default: 'id' },
  shopId: { ...COLUMN, default: 'shop_id' },
  name: { ...COLUMN, default: 'name' },
  hashName: {
    holds: (column) => column === null || COLUMN.holds(column),
    rule: `${COLUMN.rule}, or null`,
    default: 'hash_name'
  },
  details: { ...COLUMN, default: 'details' },
  customerId: { ...COLUMN, default: null },
  email: { ...COLUMN, default: null }
}

const SHOP: Table<Complete<OnlyShop, never>> = {
  secretKey: { ...TEXT, rule: 'must be the secret key of the provider', secret: true, required: true },
  id: {
    holds: (id) => typeof id === 'string' && /^[\w-]{1,100}$/.test(id),
    rule: 'must be letters, digits, _ and -',
    default: 'main'
  }
}

/** Of the stores in tables. @internal */
export const TABLE_OPTIONS: Table<Complete<AccountTable & Registered, 'registration'>> = {
  table: { ...TEXT, default: 'accounts' },
  columns: { ...OBJECT, default: {} },
  registration: {
    holds: (name) => typeof name === 'string' && /^[\w.-]{1,100}$/.test(name),
    rule: 'must have 1 to 100 letters, digits, _, - and .'
  }
}

/**
 * The tables of a host, as statements read and write them. Whatever the columns are, an account `a` has id, shop_id,
 * name, hash_name and details with the customer's id in it.
 */
export interface HostTables {
  /** Accounts under an alias, for `from`. */
  readonly accounts: (alias: string) => Knex.Raw
  /** Shops `s`, for `from`. */
  readonly shops: Knex.Raw
  /** Of an account with this alias, in SQL: a string that is not empty, or null. */
  readonly customerId: (alias: string) => string
  readonly syncedAt: (alias: string) => string
  /** Its `details` as the column holds them, in SQL. */
  readonly stored: (alias: string) => string
  /** The fields of an account, with `details` as `jsonb`, in SQL over a row of the table. */
  readonly fields: (row: string) => string
  /** What an update sets. @param details - in SQL @param customerId - in SQL; undefined: it stays */
  readonly assigned: (details: string, customerId: string | undefined) => string
  readonly registration: string
  /** Where the customers' ids are, for messages and to tell registrations apart. */
  readonly customerColumn: string
  /** For messages. */
  readonly name: string
  readonly shopName: string
  /** Null: there is none. */
  readonly columns: Columns
}

interface HostOptions extends AccountTable {
  readonly registration?: string | undefined
  readonly shopTable?: string
  readonly shop?: OnlyShop | undefined
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} */
export function hostTables (
  knex: Knex,
  { table = 'accounts', columns: given = {}, shopTable = 'shops', shop, registration = table }: HostOptions
): HostTables {
  const columns = columnsFrom(given, shop)
  const shopId = shop && `'${settingsBy(SHOP, shop, 'shop').id}'::text`
  const quoted = (name: string): string => knex.raw('??', [name]).toString()
  const of = (row: string, column: string): string => `${row}.${quoted(column)}`
  const { customerId, email } = columns

  const stored = (row: string): string => of(row, columns.details)
  const customerIn = (row: string): string =>
    customerId === null ? payStringIn(stored(row), 'pay_customer_id') : `nullif(${of(row, customerId)}, '')`
  const details = (row: string): string => {
    // The keys whose values are in columns, with what they are there.
    const values = Object.entries({
      ...(customerId !== null && { pay_customer_id: customerIn(row) }),
      ...(email !== null && { email: of(row, email) })
    })
    if (values.length === 0) return `${stored(row)}::jsonb`
    const others = `case when jsonb_typeof(${stored(row)}::jsonb) = 'object' then ${stored(row)}::jsonb - ` +
      `'{${values.map(([name]) => name).join(',')}}'::text[] else '{}'::jsonb end`
    return `(${others} || ` +
      `jsonb_strip_nulls(jsonb_build_object(${values.map(([name, sql]) => `'${name}', ${sql}`).join(', ')})))`
  }
  const fields = (row: string): string =>
    [
      `${of(row, columns.id)} as id`,
      `${columns.shopId === null ? shopId : of(row, columns.shopId)} as shop_id`,
      `${of(row, columns.name)} as name`,
      `${columns.hashName === null ? 'null::text' : of(row, columns.hashName)} as hash_name`,
      `${details(row)} as details`,
      `${stored(row)}::jsonb as stored`,
      `${customerIn(row)} as pay_customer_id`,
      `${payStringIn(stored(row), 'pay_synced_at')} as pay_synced_at`
    ].join(', ')
  const isDefault = shop === undefined && Object.keys(given).length === 0

  return {
    registration,
    customerColumn: customerId ?? `${columns.details}.pay_customer_id`,
    name: table,
    shopName: shopTable,
    columns,
    fields,
    stored: (alias) => `${alias}.${isDefault ? 'details' : 'stored'}`,
    accounts: (alias) =>
      isDefault
        ? knex.raw('?? as ??', [table, alias])
        : knex.raw(`(select ${fields('h')} from ?? h) as ??`, [table, alias]),
    shops: shopId === undefined
      ? knex.raw('?? as s', [shopTable])
      : knex.raw(`(select ${shopId} as id, ${shopId} as name) as s`),
    customerId: (alias) => isDefault ? payStringIn(`${alias}.details`, 'pay_customer_id') : `${alias}.pay_customer_id`,
    syncedAt: (alias) => isDefault ? payStringIn(`${alias}.details`, 'pay_synced_at') : `${alias}.pay_synced_at`,
    assigned: (details, customer) => {
      const changed = `${quoted(columns.details)} = ${details}`
      if (customer === undefined) return changed
      if (customerId !== null) return `${changed}, ${quoted(customerId)} = ${customer}`
      return customer === 'null'
        ? `${changed} - 'pay_customer_id'`
        : `${changed} || jsonb_build_object('pay_customer_id', ${customer})`
    }
  }
}

/** @returns the host's tables with the columns that statements read, for a message */
export function neededTables (
  { name, shopName, columns: { id, shopId, name: called, hashName, details, customerId, email } }: HostTables
): string {
  // One column may hold two of them, such as an e-mail address by which people are called.
  const texts = new Set(
    [called, hashName, customerId, email].filter((column) => column !== null).map((column) => `${column} text`)
  )
  const accounts = `${name} (${[id, ...shopId === null ? [] : [shopId], ...texts, `${details} jsonb`].join(', ')})`
  return `${accounts}${shopId === null ? '' : ` and ${shopName} (id, name text, pay_secret_key text)`}, with ids of ` +
    'uuid, text or integers'
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} */
export function columnsFrom (given: AccountColumnNames, shop?: OnlyShop): Columns {
  const columns = settingsBy(COLUMNS, given, 'columns')
  must(
    shop === undefined || given.shopId === undefined,
    'columns.shopId has no use with shop: every account is of that one'
  )
  return { ...columns, ...(shop && { shopId: null }) }
}
