import { Alert, Button, DialogContentText, TextField } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { listUrl } from '../api/http.ts'
import { FormDialog } from '../layout/form-dialog.tsx'
import { instantFrom, localFrom } from '../catalog/zoned.ts'
import { ErrorText } from '../layout/of-server.tsx'
import { texts } from '../texts.ts'
import { useShop, useViewer } from '../viewer.tsx'
import type { Entry } from './entry.ts'
import { RevertPreview } from './revert-preview.tsx'
import { canRevert, type Revert } from './revert.ts'
import { useRevert } from './use-revert.ts'

interface UndoAllProps {
  readonly actorKind: string
  readonly actorId: string
  readonly name: string
  readonly onClose: () => void
}

/** Undoes all changes of an actor since a time, after a check that shows what would happen. */
export function UndoAll ({ actorKind, actorId, name, onClose }: UndoAllProps) {
  const { id: shopId, timeZone } = useShop()
  const { call } = useViewer()
  const [typed, setTyped] = useState<string>()
  const first = useQuery({
    queryKey: ['history', 'first', actorKind, actorId],
    queryFn: async () =>
      (await call<readonly Entry[]>(
        listUrl(`/shops/${shopId}/history`, {
          limit: 1,
          sort: 'at',
          filter: { actor_kind: actorKind, actor_id: actorId, action: ['create', 'update', 'delete'] }
        })
      )).json[0]?.at ?? null
  })
  // From the first change on, unless somebody chooses another time.
  const since = typed ?? localFrom(first.data ?? null, timeZone)
  const [checked, setChecked] = useState<{ readonly typed: string | undefined, readonly revert: Revert }>()
  // A check of another time, which may come late, is none of what would be undone.
  const preview = checked?.typed === typed ? checked?.revert : undefined
  const [error, setError] = useState<Error>()
  const [isChecking, setChecking] = useState(false)
  const { check: dryRun, undo } = useRevert(
    'revert',
    () => ({
      actor_kind: actorKind,
      actor_id: actorId,
      since: typed === undefined ? first.data : instantFrom(typed, timeZone)
    })
  )
  const check = async () => {
    setChecking(true)
    setError(undefined)
    try {
      setChecked({ typed, revert: await dryRun() })
    } catch (error) {
      setError(error as Error)
    }
    setChecking(false)
  }
  return (
    <FormDialog
      title={texts.activity.undoAllTitle(name, actorKind === 'api-key')}
      submit={texts.activity.confirm}
      onClose={onClose}
      onSubmit={async () => await undo(preview)}
      maxWidth='sm'
      isReady={canRevert(preview)}
    >
      {() => (
        <>
          <DialogContentText sx={{ mb: 1 }}>{texts.activity.undoAllWhy}</DialogContentText>
          <TextField
            fullWidth={false}
            name='since'
            type='datetime-local'
            label={texts.activity.since}
            value={since}
            helperText={texts.activity.sinceHelp(timeZone)}
            onChange={({ target }) => setTyped(target.value)}
            slotProps={{ inputLabel: { shrink: true } }}
          />
          <Button
            onClick={() => {
              check()
            }}
            disabled={isChecking || since === ''}
            loading={isChecking}
            sx={{ ml: 1, mt: 1.5 }}
            variant='outlined'
          >
            {texts.activity.check}
          </Button>
          {preview !== undefined && <RevertPreview revert={preview} />}
          {[error, first.error].map((error, index) =>
            error != null && (
              <Alert key={index} severity='error' sx={{ mt: 2 }}>
                <ErrorText error={error} />
              </Alert>
            )
          )}
        </>
      )}
    </FormDialog>
  )
}
