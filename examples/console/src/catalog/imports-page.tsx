import {
  Button,
  Card,
  Chip,
  LinearProgress,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow
} from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { UndoDialog } from '../activity/undo-dialog.tsx'
import { ActButton } from '../layout/act-button.tsx'
import { EmptyState, PageHeading } from '../layout/page.tsx'
import { texts } from '../texts.ts'
import { timeText } from '../times.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { type Import, isUnfinished } from './import.ts'
import { NewImport } from './new-import.tsx'

/** How many imports are shown. */
const SHOWN = 25

/** How often an unfinished one is read again, in milliseconds. */
const POLL = 1500

/** Files of products: a new one, and what became of earlier ones. */
export function ImportsPage () {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const [undone, setUndone] = useState<Import>()
  const { data = [], isSuccess } = useQuery({
    queryKey: ['imports', shopId],
    queryFn: async () => (await call<readonly Import[]>(`/shops/${shopId}/imports?limit=${SHOWN}`)).json,
    refetchInterval: ({ state }) => state.data?.some(isUnfinished) === true ? POLL : false
  })
  const isBusy = data.some(isUnfinished)
  // Its end changes products and their history.
  useEffect(() => {
    if (!isBusy) queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'imports' })
  }, [isBusy, queryClient])
  return (
    <>
      <PageHeading title={texts.imports.title} text={texts.imports.why} />
      <NewImport
        onSent={() => {
          queryClient.invalidateQueries({ queryKey: ['imports'] })
        }}
      />
      <Card sx={{ mt: 2 }}>
        {isSuccess && data.length === 0 && <EmptyState title={texts.imports.none} text={texts.imports.noneWhy} />}
        {data.length > 0 && (
          <TableContainer tabIndex={0} role='region' aria-label={texts.imports.title}>
            <Table size='small'>
              <TableHead>
                <TableRow>{texts.imports.columns.map((name) => <TableCell key={name}>{name}</TableCell>)}</TableRow>
              </TableHead>
              <TableBody>
                {data.map((item) => <ImportRow key={item.id} item={item} onUndo={() => setUndone(item)} />)}
              </TableBody>
            </Table>
          </TableContainer>
        )}
      </Card>
      {undone !== undefined && (
        <UndoDialog
          title={texts.imports.undoTitle}
          path='revert'
          data={{ import_id: undone.id }}
          onClose={() => setUndone(undefined)}
        />
      )}
    </>
  )
}

const COLORS: Readonly<Partial<Record<Import['status'], 'success' | 'error'>>> = { done: 'success', failed: 'error' }

function ImportRow ({ item, onUndo }: { readonly item: Import, readonly onUndo: () => void }) {
  const shop = useShop()
  const { call } = useViewer()
  const queryClient = useQueryClient()
  const { id, status, total, processed, created, updated, unchanged, failed, error } = item
  const cancel = async () =>
    await call(`/shops/${shop.id}/imports/${id}`, { method: 'DELETE' }).finally(async () =>
      await queryClient.invalidateQueries({ queryKey: ['imports'] })
    )
  return (
    <TableRow hover>
      <TableCell>{timeText(item.created_at, shop)}</TableCell>
      <TableCell>
        <Chip
          size='small'
          variant='outlined'
          label={texts.imports.states[status]}
          color={COLORS[status] ?? 'default'}
        />
        {error !== null && ` ${error}`}
      </TableCell>
      <TableCell sx={{ minWidth: 140 }}>
        {`${processed} / ${total}`}
        {isUnfinished(item) && (
          <LinearProgress
            variant='determinate'
            value={total === 0 ? 100 : 100 * processed / total}
            aria-label={texts.imports.progress}
            sx={{ mt: 0.5 }}
          />
        )}
      </TableCell>
      <TableCell>{texts.imports.became({ created, updated, unchanged, failed })}</TableCell>
      <TableCell align='right'>
        <Stack direction='row' sx={{ justifyContent: 'flex-end' }}>
          {isUnfinished(item) && <ActButton size='small' act={cancel}>{texts.imports.cancel}</ActButton>}
          {!isUnfinished(item) && created + updated > 0 && (
            <Button size='small' onClick={onUndo}>{texts.imports.undo}</Button>
          )}
        </Stack>
      </TableCell>
    </TableRow>
  )
}
