import { Button, Dialog, DialogActions, DialogContent, DialogTitle } from '@mui/material'
import { useId } from 'react'
import { texts } from '../texts.ts'

interface DiscardDialogProps {
  readonly onStay: () => void
  readonly onDiscard: () => void
}

/** Asks before what was typed is lost. */
export function DiscardDialog ({ onStay, onDiscard }: DiscardDialogProps) {
  const id = useId()
  return (
    <Dialog open onClose={onStay} maxWidth='xs' aria-labelledby={id}>
      <DialogTitle id={id}>{texts.unsaved.title}</DialogTitle>
      <DialogContent>{texts.unsaved.why}</DialogContent>
      <DialogActions>
        <Button onClick={onDiscard} color='error'>{texts.unsaved.discard}</Button>
        <Button onClick={onStay} variant='contained' autoFocus>{texts.unsaved.keep}</Button>
      </DialogActions>
    </Dialog>
  )
}
