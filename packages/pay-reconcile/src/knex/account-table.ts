import type { Knex } from 'knex'
import { PAY_RECONCILE_INVALID_OPTION } from '../errors.ts'
import { payStringIn } from '../lists/pay-string.ts'

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

const DEFAULTS: Columns = {
  id: 'id',
  shopId: 'shop_id',
  name: 'name',
  hashName: 'hash_name',
  details: 'details',
  customerId: null,
  email: null
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

interface HostOptions extends AccountTable, Registered {
  readonly shopTable?: string
  readonly shop?: OnlyShop
}

/** @throws {@link PAY_RECONCILE_INVALID_OPTION} */
export function hostTables (
  knex: Knex,
  { table = 'accounts', columns: given = {}, shopTable = 'shops', shop, registration }: HostOptions
): HostTables {
  const columns = columnsFrom(given, shop)
  const shopId = shop && `'${onlyShop(shop)}'::text`
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
    registration: registrationFrom(registration, table),
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
export function registrationFrom (registration: string | undefined, table: string): string {
  if (registration === undefined) return table
  if (typeof registration !== 'string' || !/^[\w.-]{1,100}$/.test(registration)) {
    throw invalid('registration must have 1 to 100 letters, digits, _, - and .')
  }
  return registration
}

function columnsFrom (given: AccountColumnNames, shop: OnlyShop | undefined): Columns {
  for (const [name, column] of Object.entries(given)) {
    if (!Object.hasOwn(DEFAULTS, name)) {
      throw invalid(`columns.${name} is not an option; there are ${Object.keys(DEFAULTS).join(', ')}`)
    }
    if (column === undefined || (column === null && name === 'hashName')) continue
    // The others mean something in statements of knex, before they are quoted.
    if (typeof column !== 'string' || !/^[^.?:"\\]+$/.test(column)) {
      throw invalid(`columns.${name} must be the name of a column`)
    }
  }
  if (shop !== undefined && given.shopId !== undefined) {
    throw invalid('columns.shopId has no use with shop: every account is of that one')
  }
  return {
    ...DEFAULTS,
    ...Object.fromEntries(Object.entries(given).filter(([, column]) => column !== undefined)),
    ...(shop && { shopId: null })
  }
}

/** @returns the id of the shop. @throws {@link PAY_RECONCILE_INVALID_OPTION} */
function onlyShop ({ secretKey, id = 'main' }: OnlyShop): string {
  if (typeof secretKey !== 'string' || secretKey === '') {
    throw invalid('shop.secretKey must be the secret key of the provider')
  }
  if (!/^[\w-]{1,100}$/.test(id)) throw invalid('shop.id must be letters, digits, _ and -')
  return id
}

function invalid (message: string): Error {
  return new PAY_RECONCILE_INVALID_OPTION(message)
}
