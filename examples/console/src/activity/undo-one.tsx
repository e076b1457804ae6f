import { DialogContentText } from '@mui/material'
import { texts } from '../texts.ts'
import { Differences } from './differences.tsx'
import { type Entry, recordOf } from './entry.ts'
import { UndoDialog } from './undo-dialog.tsx'

/** Undoes one change. */
export function UndoOne ({ entry, onClose }: { readonly entry: Entry, readonly onClose: () => void }) {
  return (
    <UndoDialog
      title={texts.activity.undoTitle(texts.activity.actions[entry.action] ?? '', recordOf(entry))}
      path={`${entry.id}/revert`}
      onClose={onClose}
    >
      <DialogContentText sx={{ mb: 2 }}>{texts.activity.undoWhy}</DialogContentText>
      <Differences entry={entry} />
    </UndoDialog>
  )
}
