import { useQuery } from '@tanstack/react-query'
import { Alert, CircularProgress, DialogContentText, Typography } from '@mui/material'
import type { ReactNode } from 'react'
import { ListContextProvider, type RaRecord, useDataProvider, useListContext, useStore } from 'react-admin'
import { ErrorText } from './of-server.tsx'
import { texts } from '../texts.ts'
import { useNotifyError } from './use-notify-error.tsx'

/** The selected records of a list, and the filter under which they were selected. */
interface Selection {
  readonly filter: string
  readonly ids: readonly string[]
}

const NONE: Selection = { filter: '', ids: [] }

/** The selection of the list around: what was selected under another filter is none. */
function useSelection () {
  const { resource, filterValues } = useListContext()
  const [selection, setSelection] = useStore<Selection>(`${resource}.selection`, NONE)
  const filter = JSON.stringify(filterValues)
  return {
    ids: selection.filter === filter ? selection.ids : NONE.ids,
    select: (ids: readonly string[]) => setSelection({ filter, ids }),
    /** Selects after something that takes a while, unless others were selected under another filter meanwhile. */
    selectLate: (ids: readonly string[]) => setSelection((now) => now.filter === filter ? { filter, ids } : now)
  }
}

interface SelectableProps {
  /** Whether a row can be selected; one that no longer can is left out of what was selected. Default: all can. */
  readonly canSelect?: (row: any) => boolean
  readonly children: ReactNode
}

/**
 * A list whose records can be selected. The selection belongs to the filter, the shop and this window; other pages of
 * the list keep it.
 */
export function Selectable ({ canSelect = () => true, children }: SelectableProps) {
  const list = useListContext()
  const { resource, data = [], filterValues: filter, sort } = list
  const { ids: selected, select, selectLate } = useSelection()
  const ids = selected.filter((id) => data.every((row) => row.id !== id || canSelect(row)))
  const dataProvider = useDataProvider()
  const notifyError = useNotifyError()
  const value = {
    ...list,
    selectedIds: ids,
    onSelect: select,
    onToggleItem: (id: string) => select(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id]),
    onUnselectItems: () => select([]),
    onSelectAll: ({ limit = 0 } = {}) => {
      dataProvider.getList(resource, { pagination: { page: 1, perPage: limit }, sort, filter })
        .then(({ data }) => selectLate(data.map(({ id }) => id as string)), notifyError)
    }
  }
  return <ListContextProvider value={value}>{children}</ListContextProvider>
}

/** @returns selects what is left of the selection once something was done with it */
export function useSelectLeft (): (ids: readonly string[]) => void {
  return useSelection().selectLate
}

/** How many of the list's records are selected, and how many of them nobody sees. */
export function useSelectedText (): string {
  const { selectedIds } = useListContext()
  return texts.list.selected(selectedIds.length, useUnseenIds().length)
}

/** The selected records that are not among the rows: on other pages, or changed or deleted by others. */
function useUnseenIds (): readonly string[] {
  const { selectedIds, data = [] } = useListContext()
  return selectedIds.filter((id) => data.every((row) => row.id !== id))
}

/** What a change of the selected records would change. */
export interface Selected {
  /** Undefined while those that are not among the rows are read. */
  readonly ids: readonly string[] | undefined
  /** Names those that are not among the rows; nothing if there are none. */
  readonly named: ReactNode
}

/** The selected records that are still there, with the names of those that nobody sees. */
export function useSelected (isAsked: boolean): Selected {
  const { resource, selectedIds } = useListContext()
  const dataProvider = useDataProvider()
  const unseen = useUnseenIds()
  const isRead = isAsked && unseen.length > 0
  const { data, error } = useQuery<readonly RaRecord[]>({
    queryKey: [resource, 'selected', unseen],
    enabled: isRead,
    gcTime: 0,
    staleTime: 0,
    queryFn: async () => (await dataProvider.getMany(resource, { ids: [...unseen] })).data
  })
  if (!isRead) return { ids: selectedIds, named: null }
  if (error !== null) {
    return {
      ids: undefined,
      named: (
        <Alert severity='error'>
          <ErrorText error={error} />
        </Alert>
      )
    }
  }
  if (data === undefined) return { ids: undefined, named: <CircularProgress aria-label={texts.layout.loading} /> }
  const gone = unseen.filter((id) => data.every((record) => record.id !== id))
  return { ids: selectedIds.filter((id) => !gone.includes(id)), named: <Unseen records={data} gone={gone.length} /> }
}

const LIST = { margin: 0, maxHeight: 240, overflowY: 'auto', overflowWrap: 'anywhere' } as const

function Unseen ({ records, gone }: { readonly records: readonly RaRecord[], readonly gone: number }) {
  return (
    <>
      {records.length > 0 && (
        <>
          <DialogContentText>{texts.list.unseen(records.length)}</DialogContentText>
          <ul style={LIST} tabIndex={0} aria-label={texts.list.unseen(records.length)}>
            {records.map(({ id, name }) => (
              <li key={id}>
                <bdi>{name}</bdi>
              </li>
            ))}
          </ul>
        </>
      )}
      {gone > 0 && <Typography color='textSecondary'>{texts.list.gone(gone)}</Typography>}
    </>
  )
}
