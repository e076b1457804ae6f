import { Checkbox, TableCell, TableSortLabel } from '@mui/material'
import {
  DataTable,
  DataTableBody,
  type DataTableColumnProps,
  DataTableConfigContext,
  type DataTableProps,
  DataTableRow,
  FieldTitle,
  useDataTableCallbacksContext,
  useDataTableConfigContext,
  useDataTableRenderContext,
  useDataTableSelectedIdsContext,
  useDataTableSortContext,
  useDataTableStoreContext,
  useListContext,
  useRecordContext,
  useResourceContext,
  useStore,
  useTranslate,
  useTranslateLabel
} from 'react-admin'
import type { ReactNode } from 'react'
import { texts } from '../texts.ts'
import { foldsBelow } from './fold.tsx'
import { RowsSkeleton } from './page-skeleton.tsx'

interface RecordTableProps extends DataTableProps {
  /** Below which width of its place the rows fold, in pixels. Default: where most tables have no room. */
  readonly foldsBelow?: number
}

/**
 * The records of the list around. In place of react-admin's table alone: this one has a name, each row is named by its
 * record, and so is its checkbox; columns are called by their names; and where it is narrow, the rows fold.
 */
export function RecordTable ({ foldsBelow: width = 760, sx, ...table }: RecordTableProps) {
  const resource = useResourceContext()
  const translate = useTranslate()
  const { isPending } = useListContext()
  if (isPending) return <RowsSkeleton />
  return (
    <DataTable
      body={Body}
      aria-label={translate(`resources.${resource}.name`, { smart_count: 2 })}
      {...table}
      sx={{ '& .RaDataTable-tableWrapper': foldsBelow(width), ...sx }}
    />
  )
}

interface ColProps<Row extends Readonly<Record<string, any>>> extends DataTableColumnProps<Row> {
  /** Whether it names the row. */
  readonly isName?: boolean
  /** Whether its values say what they are: a folded row shows no label for them. */
  readonly isPlain?: boolean
  /** Whether it stands at the end of the folded row: buttons. */
  readonly isEnd?: boolean
}

/** A column of a {@link RecordTable}. */
export function Col<Row extends Readonly<Record<string, any>> = any> (
  { isName = false, isPlain = false, isEnd = false, ...column }: ColProps<Row>
) {
  const place = useDataTableRenderContext()
  const resource = useResourceContext()
  const translateLabel = useTranslateLabel()
  if (place === 'header') return <HeadCell {...column} />
  const label = translateLabel({ label: column.label, source: column.source, resource })
  // react-admin passes on what it does not know to the cell.
  const cell: object = isName
    ? { component: 'th', scope: 'row', role: 'rowheader' }
    : { role: 'cell', 'data-end': isEnd || undefined, 'data-label': isPlain || isEnd ? undefined : label }
  return <DataTable.Col {...column} {...cell} />
}

/** Says how the list is sorted, and a button sorts it by this column. */
function HeadCell (
  { source, label, disableSort = false, align, sx }: Pick<
    DataTableColumnProps,
    'source' | 'label' | 'disableSort' | 'align' | 'sx'
  >
) {
  const { storeKey, defaultHiddenColumns } = useDataTableStoreContext()
  const [hidden] = useStore<readonly string[]>(storeKey, defaultHiddenColumns)
  const sort = useDataTableSortContext()
  const { handleSort } = useDataTableCallbacksContext()
  const resource = useResourceContext()
  const name = <FieldTitle label={label} source={source} resource={resource} />
  if (hidden.includes(source ?? label as string)) return null
  const isSorted = sort?.field === source
  const direction = sort?.order === 'DESC' ? 'desc' : 'asc'
  return (
    <TableCell
      role='columnheader'
      scope='col'
      className='RaDataTable-headerCell'
      align={align}
      sx={sx}
      sortDirection={isSorted && direction}
    >
      {disableSort || source === undefined
        ? name
        : (
          <TableSortLabel
            active={isSorted}
            direction={direction}
            data-field={source}
            data-order='ASC'
            onClick={handleSort}
          >
            {name}
          </TableSortLabel>
        )}
    </TableCell>
  )
}

function Body ({ children }: { readonly children?: ReactNode }) {
  return <DataTableBody row={Row}>{children}</DataTableBody>
}

function Row ({ children, ...row }: { readonly children?: ReactNode }) {
  const config = useDataTableConfigContext()
  return (
    <DataTableConfigContext.Provider value={{ ...config, hasBulkActions: false }}>
      <DataTableRow {...row}>
        {config.hasBulkActions && <SelectCell />}
        {children}
      </DataTableRow>
    </DataTableConfigContext.Provider>
  )
}

/** Selects the row, and is called by what it selects. */
function SelectCell () {
  const { id, name } = useRecordContext()!
  const { handleToggleItem } = useDataTableCallbacksContext()
  const isSelected = useDataTableSelectedIdsContext()?.includes(id) === true
  return (
    <TableCell role='cell' padding='checkbox'>
      <Checkbox
        className='select-item'
        checked={isSelected}
        aria-label={texts.list.select(name)}
        onClick={(event) => {
          handleToggleItem?.(id, event as never)
          event.stopPropagation()
        }}
      />
    </TableCell>
  )
}
