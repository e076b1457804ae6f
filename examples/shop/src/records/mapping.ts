import type { TObject } from '@sinclair/typebox'
import type { Knex } from 'knex'
import { isJson } from '../http/schema-types.ts'
import { serverFields } from '../http/schemas.ts'
import type { ListRules } from '../lists/list.ts'
import type { RecordTable } from '../migrations/counting.ts'
import type { Dependents } from './dependents.ts'
import { factsOfItem, factsOfRow, keptOfItem, type Shown, shownInstants } from './facts.ts'
import { ownFields } from './schemas.ts'
import type { RecordKind } from './trail.ts'

/** The differences between the repositories of records. */
export interface RecordDefinition<Schema extends TObject> extends Pick<ListRules, 'filters' | 'nullable'> {
  readonly table: string
  /** Its fields are columns, except computed ones. */
  readonly record: Schema
  /** For messages, and in the history: `product`. */
  readonly noun: RecordKind
  /** The fields that are no columns: SQL over the row, which is named `item`. */
  readonly computed?: Readonly<Record<string, string>>
  /** Other tables that filters read. */
  readonly others?: readonly RecordTable[]
  /** What columns without null are in a record that was deleted before there were these columns. */
  readonly initial?: Readonly<Record<string, unknown>>
  /** Columns that the history has in another form, beside instants: SQL over the row. */
  readonly shown?: Shown
  /** Rows that lose a link to a deleted row, or are deleted with it. */
  readonly dependents?: readonly Dependents[]
  /** Further work of a deletion, in its transaction. @param id - as the database writes it */
  readonly onRemoved?: (trx: Knex.Transaction, id: string) => Promise<void>
}

/** A kind of record as its statements need it. */
export interface RecordMapping
  extends
    Required<Omit<RecordDefinition<TObject>, 'record' | 'shown' | 'onRemoved'>>,
    Pick<RecordDefinition<TObject>, 'onRemoved'>
{
  /** The columns that the server or its users write. */
  readonly written: readonly string[]
  readonly jsonColumns: readonly string[]
  readonly instants: readonly string[]
  /** What to read of a row, in SQL over `item`. */
  readonly fields: ReadonlyArray<string | Knex.Raw>
  /** What the history says of a row, in SQL: see {@link factsOfRow}, {@link factsOfItem} and {@link keptOfItem}. */
  readonly rowFacts: (row: string) => string
  readonly facts: string
  readonly kept: string
  /** The columns by which rows of the same table are below this one. */
  readonly below: readonly string[]
}

/** What the statements on a kind of record need, from what is special about it. */
export function mappingFrom (knex: Knex, definition: RecordDefinition<TObject>): RecordMapping {
  const { table, noun, record, filters, nullable, onRemoved } = definition
  const { computed = {}, others = [], initial = {}, dependents = [] } = definition
  const columns = ownFields(record).filter(([name]) => !(name in computed))
  const instants = columns.filter(([, schema]) => schema['format'] === 'date-time').map(([name]) => name)
  const shown = { ...shownInstants(instants), ...definition.shown }
  return {
    table,
    noun,
    filters,
    nullable,
    computed,
    others,
    initial,
    dependents,
    ...onRemoved && { onRemoved },
    written: [...Object.keys(serverFields), ...columns.map(([name]) => name)],
    jsonColumns: columns.filter(([, schema]) => isJson(schema)).map(([name]) => name),
    instants,
    fields: ['item.*', ...Object.entries(computed).map(([name, sql]) => knex.raw(`${sql} as ??`, [name]))],
    rowFacts: (row) => factsOfRow(shown, row),
    facts: factsOfItem(shown, computed),
    kept: keptOfItem(shown, dependents),
    below: dependents.filter((linked) => linked.table === table).map(({ to }) => to)
  }
}
