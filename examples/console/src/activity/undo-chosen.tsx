import UndoIcon from '@mui/icons-material/Undo'
import { Box, Button, Checkbox, FormControlLabel, Typography } from '@mui/material'
import { useState } from 'react'
import { BulkActionsToolbar, useListContext } from 'react-admin'
import { useSelectedText, useSelectLeft } from '../layout/selection.tsx'
import { texts } from '../texts.ts'
import { canUndo, type Entry } from './entry.ts'
import { UndoDialog } from './undo-dialog.tsx'

/** How many chosen changes the server undoes together. */
const MOST = 100

/** Chooses every change of the page that can be undone; those of other pages stay as they are. */
export function ChoosePage () {
  const { data = [], selectedIds, onSelect } = useListContext<Entry & { id: string }>()
  const ids = data.filter(canUndo).map(({ id }) => id)
  const others = selectedIds.filter((id) => !ids.includes(id))
  const chosen = selectedIds.length - others.length
  if (ids.length === 0) return null
  return (
    <Box sx={{ px: 2, pb: 0.5 }}>
      <FormControlLabel
        control={
          <Checkbox
            size='small'
            checked={chosen === ids.length}
            indeterminate={chosen > 0 && chosen < ids.length}
            onChange={(_, isChosen) => onSelect(isChosen ? [...others, ...ids] : others)}
          />
        }
        label={texts.activity.choosePage}
        slotProps={{ typography: { variant: 'body2' } }}
      />
    </Box>
  )
}

/** What can be done with the chosen changes: undo them together. */
export function UndoChosen () {
  const { selectedIds } = useListContext()
  const selectLeft = useSelectLeft()
  // As they were when it was asked: the list goes on meanwhile.
  const [asked, setAsked] = useState<readonly string[]>()
  return (
    <>
      <BulkActionsToolbar label={useSelectedText()} selectAllButton={false}>
        {selectedIds.length > MOST
          ? <Typography variant='body2' color='textPrimary'>{texts.activity.mostChosen(MOST)}</Typography>
          : (
            <Button size='small' startIcon={<UndoIcon />} onClick={() => setAsked(selectedIds)}>
              {texts.activity.undoChosen(selectedIds.length)}
            </Button>
          )}
      </BulkActionsToolbar>
      {asked !== undefined && (
        <UndoDialog
          title={texts.activity.undoChosenTitle(asked.length)}
          path='revert'
          data={{ ids: asked }}
          onClose={() => setAsked(undefined)}
          onUndone={() => selectLeft([])}
        />
      )}
    </>
  )
}
