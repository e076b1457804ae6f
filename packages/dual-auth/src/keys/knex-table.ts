import { crc32 } from 'node:zlib'
import type { ApiKeyOwner } from 'fastify'
import type { Knex } from 'knex'
import { DUAL_AUTH_INVALID_OPTION, DUAL_AUTH_OWNER_UNKNOWN } from '../errors.ts'
import { COLUMNS, type KeyColumn, type KeyRow } from './key-row.ts'
import type { KeyTable } from './key-table.ts'
import { columnName, demandReadable, foundRow, nameInRow, onlyWorking, type Row } from './knex-rows.ts'
import type { OwnerColumns } from './lookup.ts'
import { tableNames, type OtherDialect, type TableNames, type TableOptions } from './names.ts'

/*
 * The table of keys in MySQL, MariaDB and SQLite: strings, and times as whole numbers, which no setting of a session,
 * no time zone and no type parser changes.
 */

/** Owners share these rows: two whose rows are the same wait for each other, no more. */
const LOCKS = 64

interface Dialect {
  /** Statements that create what is missing. */
  create(names: TableNames): readonly string[]
  /** The first statement of a transaction: none with the same number runs beside it. */
  lock(transaction: Knex.Transaction, names: TableNames, number: number): Promise<void>
  readonly transaction: Knex.TransactionConfig
  /** What is checked at startup, besides that the columns can be read. @returns what is wrong */
  flaw(knex: Knex, names: TableNames): Promise<string | undefined>
  /** Whether a statement failed for want of a table, a column or a right. */
  isSchemaError(error: DriverError): boolean
  /** Whether a row was refused because of its owner. */
  isMissingOwner(error: DriverError, ownerColumn: string): boolean
}

interface DriverError {
  readonly code?: unknown
  readonly errno?: unknown
  readonly sqlMessage?: unknown
  readonly message?: unknown
}

const locksOf = ({ table }: TableNames): string => `${table}_locks`
const backticks = (name: string): string => name.split('.').map((part) => `\`${part}\``).join('.')

/** A type for each column, in the words of MySQL; SQLite reads them as text and integer. */
const TYPES: { readonly [column in KeyColumn]: string } = {
  id: 'char(36) not null primary key',
  ownerId: 'varchar(255) not null',
  name: 'varchar(255) not null',
  prefix: 'varchar(64) not null unique',
  scopes: 'text not null',
  fingerprint: 'char(64) not null unique',
  pepperId: 'varchar(255) not null',
  hash: 'varchar(255) not null',
  createdAt: 'bigint not null',
  createdBy: 'varchar(255) not null',
  lastUsedAt: 'bigint',
  lastUsedNetwork: 'varchar(64)',
  networks: 'text not null',
  expiresAt: 'bigint',
  revokedAt: 'bigint',
  revokedBy: 'varchar(255)',
  replaces: 'char(36)',
  replacedBy: 'char(36)',
  expiryNotice: 'smallint',
  unusedNoticeAt: 'bigint',
  noticeAt: 'bigint'
}

export const DIALECTS: Readonly<Record<OtherDialect, Dialect>> = {
  mysql: {
    create (names) {
      const indexes = [`index (${backticks(names.ownerColumn)})`, 'index (notice_at)']
      // Its default collation takes A and a for one, and another engine has no transactions.
      return [
        `create table if not exists ${backticks(names.table)} ` +
        `(${[...definitions(names), ...indexes].join(', ')}) engine = InnoDB character set utf8mb4 collate ` +
        'utf8mb4_bin',
        `create table if not exists ${backticks(locksOf(names))} (id int not null primary key) engine = InnoDB`,
        `insert ignore into ${backticks(locksOf(names))} (id) values ` +
        `${Array.from({ length: LOCKS }, (_, n) => `(${n})`).join(', ')}`
      ]
    },
    async lock (trx, names, number) {
      const locked = await trx(locksOf(names)).where({ id: number }).select('id').forUpdate()
      if (locked.length !== 1) throw new Error(`${locksOf(names)} has no row ${number}: call ${names.creation}`)
    },
    // Above it, a change fails if somebody used the key meanwhile (MariaDB 11.6), or two creations wait for each other.
    transaction: { isolationLevel: 'read committed' },
    async flaw (knex, names) {
      const [locks] = await knex(locksOf(names)).count({ found: 'id' })
      if (Number(locks?.found) < LOCKS) return `${locksOf(names)} lacks rows: call ${names.creation}`
      const engines = await knex('information_schema.tables').whereRaw('table_schema = coalesce(?, database())', [
        names.table.includes('.') ? names.table.split('.')[0]! : null
      ])
        .whereIn('table_name', [names.table, locksOf(names)].map((name) => name.split('.').at(-1)!)).whereNot(
          'engine',
          'InnoDB'
        ).select(knex.raw('table_name as id'))
      if (engines.length > 0) return `${String(engines[0].id)} must have the engine InnoDB, which has transactions`
      const [session] = await knex.select(knex.raw('@@sql_mode as id'))
      // The driver puts values into statements with backslashes before quotes, which then end the value.
      return String(session.id).includes('NO_BACKSLASH_ESCAPES')
        ? 'sql_mode must not have NO_BACKSLASH_ESCAPES, under which the driver cannot quote values'
        : undefined
    },
    // No such table, no such column, no right to read.
    isSchemaError: ({ errno }) => [1146, 1054, 1142, 1143, 1049, 1044].includes(errno as number),
    // A foreign key, or a type that cannot hold it: not a number, out of range, cut, too long.
    isMissingOwner: ({ errno, sqlMessage }, ownerColumn) =>
      [1452, 1366, 1264, 1265, 1406].includes(errno as number) && String(sqlMessage).split(/\W+/).includes(ownerColumn)
  },
  sqlite3: {
    create: (names) => [
      `create table if not exists ${backticks(names.table)} (${definitions(names).join(', ')})`,
      ...[names.ownerColumn, 'notice_at'].map((column) =>
        `create index if not exists ${indexOf(names.table, column)} on ` +
        `${backticks(names.table.split('.').at(-1)!)} (${backticks(column)})`
      )
    ],
    // SQLite has one writer at a time: who writes first waits here, and not in the middle, where it would fail.
    async lock (trx, { table }) {
      await trx(table).whereRaw('1 = 0').update({ name: '' })
    },
    transaction: {},
    async flaw () {
      return undefined
    },
    isSchemaError: ({ message }) => /no such (?:table|column)/.test(String(message)),
    isMissingOwner: ({ code, message }) =>
      code === 'SQLITE_CONSTRAINT_FOREIGNKEY' || /FOREIGN KEY constraint failed/.test(String(message))
  }
}

function definitions ({ ownerColumn }: TableNames): string[] {
  return COLUMNS.map((column) => `${backticks(columnName(column, ownerColumn))} ${TYPES[column]}`)
}

function indexOf (table: string, column: string): string {
  const [schema, name] = table.includes('.') ? table.split('.') as [string, string] : ['', table]
  return backticks(`${schema && `${schema}.`}${name}_${column}_index`)
}

export async function createTable (knex: Knex, dialect: OtherDialect, names: TableNames): Promise<void> {
  for (const statement of DIALECTS[dialect].create(names)) await knex.raw(statement)
}

export function knexTable (
  knex: Knex,
  dialect: OtherDialect,
  options: Required<TableOptions>,
  owners: Required<OwnerColumns> | undefined
): KeyTable<Knex.Transaction> {
  const names = tableNames(options)
  const { table, ownerColumn } = names
  const { lock, transaction, flaw, isSchemaError, isMissingOwner } = DIALECTS[dialect]
  const selection = COLUMNS.map((column) => knex.raw(`?? as ${nameInRow(column)}`, [columnName(column, ownerColumn)]))
  const columnsOf = (row: Partial<KeyRow>): Record<string, string | number | null> =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]) => [columnName(column as KeyColumn, ownerColumn), value])
    )
  const found = (rows: readonly Row[]) => rows.map((row) => foundRow(row, COLUMNS))

  return {
    async ready () {
      try {
        await demandReadable(knex)
        await knex(table).select(selection).limit(0)
        const wrong = await flaw(knex, names)
        if (wrong !== undefined) throw new DUAL_AUTH_INVALID_OPTION(`apiKeys.store: ${wrong}`)
        if (owners !== undefined) await knex(owners.table).select([owners.key, ...owners.columns]).limit(0)
      } catch (error) {
        if (!isSchemaError(error as DriverError)) throw error
        // knex puts the whole statement before it.
        const reason = String((error as DriverError).sqlMessage ?? (error as Error).message.split(' - ').at(-1))
        throw new DUAL_AUTH_INVALID_OPTION(
          'apiKeys.store must be able to read the table ' +
            `${table}${owners === undefined ? '' : ` and the columns of ${owners.table}`}, but: ${reason}. ` +
            `${names.creation} creates the table of keys`
        )
      }
    },
    async transaction (ownerId, work) {
      return knex.transaction(async (trx) => {
        await lock(trx, names, crc32(ownerId) % LOCKS)
        return work(trx)
      }, transaction)
    },
    ...dialect === 'mysql' && { revocation: async (_ownerId, work) => knex.transaction(work, transaction) },
    async find (column, values, trx = knex as Knex.Transaction, workingAt) {
      const query = trx(table).whereIn(columnName(column, ownerColumn), [...values]).select(selection)
      return found(await (workingAt === undefined ? query : query.modify(onlyWorking, workingAt)))
    },
    async due (at, limit) {
      return found(await knex(table).where('notice_at', '<=', at).orderBy('notice_at').limit(limit).select(selection))
    },
    async insert (row, trx) {
      try {
        await trx(table).insert(columnsOf(row))
      } catch (error) {
        throw isMissingOwner(error as DriverError, ownerColumn) ? new DUAL_AUTH_OWNER_UNKNOWN() : error
      }
    },
    async update (id, was, changes, trx = knex as Knex.Transaction) {
      // knex reads null as `is null`.
      return await trx(table).where({ id, ...columnsOf(was) }).update(columnsOf(changes)) > 0
    },
    ...owners !== undefined && {
      async owner (ownerId: string) {
        const rows = await knex(owners.table).where(owners.key, ownerId).select(
          { ownerkey: owners.key },
          ...owners.columns.map((column, i) => ({ [`owner${i}`]: column }))
        )
        const [row, other] = rows.filter(({ ownerkey }) => String(ownerkey) === ownerId)
        if (other !== undefined) {
          throw new Error(`knexStore.owner.key must be unique: ${owners.table} has several rows of one ${owners.key}`)
        }
        return row === undefined
          ? null
          : Object.fromEntries(owners.columns.map((column, i) => [column, row[`owner${i}`]])) as unknown as ApiKeyOwner
      }
    }
  }
}
