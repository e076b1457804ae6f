import { Alert, CircularProgress } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNotify } from 'react-admin'
import { RevertPreview } from '../activity/revert-preview.tsx'
import type { Revert } from '../activity/revert.ts'
import { FormDialog } from '../layout/form-dialog.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'

/** Takes back all changes of an import, after showing what that would do. */
export function UndoImport ({ importId, onClose }: { readonly importId: string, readonly onClose: () => void }) {
  const { call } = useViewer()
  const { id: shopId } = useShop()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const revert = async (dryRun: boolean): Promise<Revert> =>
    (await call<Revert>(`/shops/${shopId}/history/revert`, { method: 'POST', data: { import_id: importId, dry_run: dryRun } })).json
  const { data: preview, error } = useQuery({ queryKey: ['undo-import', importId], queryFn: async () => await revert(true), gcTime: 0, retry: false })
  const undo = async () => {
    const { reverted } = await revert(false)
    notify(texts.activity.done(reverted), { type: 'success' })
    await queryClient.invalidateQueries()
  }
  return (
    <FormDialog
      title={texts.imports.undoTitle} submit={texts.activity.confirm} cancel={texts.activity.cancel} onClose={onClose} onSubmit={undo} maxWidth='sm'
      isReady={preview !== undefined && preview.conflict_count === 0 && preview.reverted > 0}
    >
      {() => (
        <>
          {preview === undefined && error === null && <CircularProgress size={24} aria-label={texts.layout.loading} />}
          {preview !== undefined && <RevertPreview revert={preview} />}
          {error !== null && <Alert severity='error'>{error.message}</Alert>}
        </>
      )}
    </FormDialog>
  )
}
