import { Alert, Button, DialogContentText, TextField } from '@mui/material'
import { useState } from 'react'
import { FormDialog } from '../layout/form-dialog.tsx'
import { instantFrom, localFrom } from '../catalog/zoned.ts'
import { texts } from '../texts.ts'
import { useShop } from '../viewer.tsx'
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
  const { timeZone } = useShop()
  const [since, setSince] = useState(() => localFrom(new Date(Date.now() - 3_600_000).toISOString(), timeZone))
  const [preview, setPreview] = useState<Revert>()
  const [error, setError] = useState<Error>()
  const [isChecking, setChecking] = useState(false)
  const { check: dryRun, undo } = useRevert('revert', () => ({ actor_kind: actorKind, actor_id: actorId, since: instantFrom(since, timeZone) }))
  const check = async () => {
    setChecking(true)
    setError(undefined)
    try {
      setPreview(await dryRun())
    } catch (error) {
      setError(error as Error)
    }
    setChecking(false)
  }
  return (
    <FormDialog
      title={texts.activity.undoAllTitle(name)} submit={texts.activity.confirm} cancel={texts.activity.cancel} onClose={onClose} onSubmit={undo} maxWidth='sm'
      isReady={canRevert(preview)}
    >
      {() => (
        <>
          <DialogContentText sx={{ mb: 1 }}>{texts.activity.undoAllWhy}</DialogContentText>
          <TextField fullWidth={false} type='datetime-local' label={texts.activity.since} value={since} helperText={texts.prices.zone(timeZone)} onChange={({ target }) => { setSince(target.value); setPreview(undefined) }} slotProps={{ inputLabel: { shrink: true } }} />
          <Button onClick={() => { check() }} disabled={isChecking || since === ''} loading={isChecking} sx={{ ml: 1, mt: 1.5 }} variant='outlined'>{texts.activity.check}</Button>
          {preview !== undefined && <RevertPreview revert={preview} />}
          {error !== undefined && <Alert severity='error' sx={{ mt: 2 }}>{error.message}</Alert>}
        </>
      )}
    </FormDialog>
  )
}
