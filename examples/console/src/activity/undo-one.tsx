import { CircularProgress, DialogContentText } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Alert } from '@mui/material'
import { useNotify } from 'react-admin'
import { FormDialog } from '../layout/form-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import { Differences } from './differences.tsx'
import { type Entry, recordOf } from './entry.ts'
import { RevertPreview } from './revert-preview.tsx'
import type { Revert } from './revert.ts'

/** Undoes one change, after it showed what that does. */
export function UndoOne ({ entry, onClose }: { readonly entry: Entry, readonly onClose: () => void }) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const path = `/shops/${shopId}/history/${entry.id}/revert`
  const { data: preview, error } = useQuery({ queryKey: ['revert', entry.id], queryFn: async () => (await call<Revert>(path, { method: 'POST', data: { dry_run: true } })).json, gcTime: 0, staleTime: 0 })
  const undo = async () => {
    const { json } = await call<Revert>(path, { method: 'POST', data: {} })
    notify(texts.activity.done(json.reverted), { type: 'success' })
    await queryClient.invalidateQueries()
  }
  return (
    <FormDialog
      title={texts.activity.undoTitle(texts.activity.actions[entry.action] ?? '', recordOf(entry))} submit={texts.activity.confirm} cancel={texts.activity.cancel} onClose={onClose} onSubmit={undo}
      maxWidth='sm' isReady={preview !== undefined && preview.conflict_count === 0 && preview.reverted > 0}
    >
      {() => (
        <>
          <DialogContentText sx={{ mb: 2 }}>{texts.activity.undoWhy}</DialogContentText>
          <Differences entry={entry} />
          {error !== null ? <Alert severity='error' sx={{ mt: 2 }}>{error.message}</Alert> : preview === undefined ? <CircularProgress size={24} aria-label={texts.activity.checking} /> : <RevertPreview revert={preview} />}
        </>
      )}
    </FormDialog>
  )
}
