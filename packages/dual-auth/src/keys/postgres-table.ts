import type { Knex } from 'knex'
import { readRow, type FoundRow, type KeyColumn, type KeyRow } from './key-row.ts'
import type { KeyTable, RowChange } from './key-table.ts'
import { columnName, demandReadable, foundRow, nameInRow, onlyWorking, rowsOf, textOf, type Row } from './knex-rows.ts'
import type { TableNames } from './names.ts'
import { noticed } from './notices-due.ts'
import { jsonFrom, POSTGRES_COLUMNS, selected, valueFrom, type PostgresColumn } from './postgres-columns.ts'
import { isInvalidOwnerId, isMissingOwner, isSchemaError, recovering, throwOwnerUnknown } from './postgres-errors.ts'
import { lockOwner, selectDue, storedOwner, updateRows } from './postgres-statements.ts'
import { throwUnreadable } from './table.ts'
import { committed } from './transaction.ts'

/*
 * The table of keys in PostgreSQL, in types of its own: `timestamptz`, `text[]`, `bytea`, `uuid`. It has no column
 * `notice_at`, which is computed.
 */

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

export function postgresTable (knex: Knex, names: TableNames): KeyTable<Knex.Transaction> {
  const { table, ownerColumn } = names
  /** Statements name its columns `api_keys.…`. */
  const keys = `${table} as api_keys`
  const selection = knex.raw(selected(POSTGRES_COLUMNS, ownerColumn))
  const DUE = selectDue(names)
  const found = (row: Row): FoundRow => ({ ...foundRow(row, POSTGRES_COLUMNS), noticeAt: null })

  /** @param statement - the first one, which returns the id of an owner as it is stored */
  const transaction = (statement: string): KeyTable<Knex.Transaction>['transaction'] => async (ownerId, work) =>
    committed(knex, async (trx) => {
      const result = await recovering<unknown>(isInvalidOwnerId, trx.raw(statement, [ownerId]), () => null)
      return work(trx, result === null ? null : textOf(rowsOf(result)[0], 'ownerid'))
    })

  /** @returns the ids of the rows that it changed */
  async function update (trx: Knex.Transaction, rows: readonly RowChange[]): Promise<readonly string[]> {
    const [{ was, changes } = { was: {}, changes: {} }] = rows
    const statement = updateRows(names, columnsOf(was), columnsOf(changes))
    const wanted = rows.map(({ id, was, changes }) => ({
      id,
      ...Object.fromEntries(columnsOf(was).map((column) => [`was_${nameInRow(column)}`, was[column]])),
      ...Object.fromEntries(
        columnsOf(changes).map((column) => [`new_${nameInRow(column)}`, jsonFrom(column, changes[column]!)])
      )
    }))
    return rowsOf(await trx.raw(statement, [JSON.stringify(wanted)])).map((row) => textOf(row, 'id'))
  }

  return {
    async ready () {
      await demandReadable(knex)
      await recovering<unknown>(
        isSchemaError,
        knex(keys).select(selection).limit(0),
        async () => throwUnreadable(knex, names)
      )
    },
    transaction: transaction(lockOwner(names)),
    revocation: transaction(storedOwner(names)),
    async find (column, values, trx = knex as Knex.Transaction, workingAt) {
      const bound = (column === 'id' ? values.filter((id) => UUID.test(id)) : values).map((value) =>
        valueFrom(column, value) as string
      )
      const query = trx(keys).whereIn(columnName(column, ownerColumn), bound).select<Row[]>(selection)
      if (workingAt !== undefined) query.modify(onlyWorking, new Date(workingAt).toISOString())
      return (await query).map(found)
    },
    async due (at, limit) {
      const rows = rowsOf(await knex.raw(DUE, { at: new Date(at).toISOString(), limit }))
      return rows.map((row) => noticed(readRow(found(row)), at)).filter(({ noticeAt }) =>
        noticeAt !== null && noticeAt <= at
      )
    },
    async insert (row, trx) {
      const values = Object.fromEntries(
        POSTGRES_COLUMNS.map((column) => [columnName(column, ownerColumn), valueFrom(column, row[column])])
      )
      await recovering<unknown>(
        isMissingOwner(ownerColumn),
        trx(table).insert(values),
        throwOwnerUnknown
      )
    },
    async update (id, was, changes, trx) {
      const change = async (trx: Knex.Transaction) => (await update(trx, [{ id, was, changes }])).length > 0
      return trx === undefined ? committed(knex, change) : change(trx)
    },
    async updateAll (changes) {
      return committed(knex, async (trx) => update(trx, changes))
    }
  }
}

function columnsOf (row: Partial<KeyRow>): readonly PostgresColumn[] {
  return (Object.keys(row) as KeyColumn[]).filter((column) => column !== 'noticeAt')
}
