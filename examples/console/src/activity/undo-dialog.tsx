import { Alert, CircularProgress } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { FormDialog } from '../layout/form-dialog.tsx'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { RevertPreview } from './revert-preview.tsx'
import { canRevert } from './revert.ts'
import { PREVIEW, useRevert } from './use-revert.ts'

interface UndoDialogProps {
  readonly title: string
  /** As for {@link useRevert}. */
  readonly path: string
  /** Which changes, where the path does not say it. */
  readonly data?: object
  readonly onClose: () => void
  /** Called once it is done, before the dialog closes. */
  readonly onUndone?: () => void
  /** What is undone. */
  readonly children?: ReactNode
}

/** Undoes changes, after it showed what that does. */
export function UndoDialog ({ title, path, data = {}, onClose, onUndone, children }: UndoDialogProps) {
  const { check, undo } = useRevert(path, () => data)
  const { data: preview, error } = useQuery({
    queryKey: [PREVIEW, path, data],
    queryFn: check,
    gcTime: 0,
    staleTime: 0
  })
  return (
    <FormDialog
      title={title}
      submit={texts.activity.confirm}
      onClose={onClose}
      onSubmit={async () => {
        await undo(preview)
        onUndone?.()
      }}
      maxWidth='sm'
      isReady={canRevert(preview)}
    >
      {() => (
        <>
          {children}
          {error !== null && (
            <Alert severity='error' sx={{ mt: 2 }}>
              <ErrorText error={error} />
            </Alert>
          )}
          {error === null && preview === undefined && (
            <CircularProgress size={24} aria-label={texts.activity.checking} />
          )}
          {error === null && preview !== undefined && <RevertPreview revert={preview} />}
        </>
      )}
    </FormDialog>
  )
}
