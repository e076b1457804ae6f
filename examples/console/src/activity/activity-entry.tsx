import UndoIcon from '@mui/icons-material/Undo'
import ExpandIcon from '@mui/icons-material/ExpandMore'
import { Box, Button, Checkbox, Chip, Collapse, IconButton } from '@mui/material'
import { useId, useState } from 'react'
import { useListContext } from 'react-admin'
import { useFocusBeside } from '../layout/use-focus-beside.ts'
import { texts } from '../texts.ts'
import { ActivityLine } from './activity-line.tsx'
import { Differences } from './differences.tsx'
import { canUndo, type Entry, recordOf } from './entry.ts'
import { UndoOne } from './undo-one.tsx'

interface ActivityEntryProps {
  readonly entry: Entry
  /** Whether some of the entries around can be chosen: the others then leave the place of the checkbox empty. */
  readonly isAmongChoices: boolean
}

/** One change, which can be undone, chosen to be undone with others, and seen field by field. */
export function ActivityEntry ({ entry, isAmongChoices }: ActivityEntryProps) {
  const [isOpen, setOpen] = useState(false)
  const [isUndoing, setUndoing] = useState(false)
  const details = useFocusBeside<HTMLButtonElement>(isUndoing)
  const id = useId()
  const isUndone = entry.reverted_by != null
  const name = recordOf(entry)
  return (
    <ActivityLine
      entry={entry}
      textId={`${id}-text`}
      choice={isAmongChoices && <Choice entry={entry} textId={`${id}-text`} />}
      actions={
        <>
          {entry.tool != null && <Chip size='small' color='primary' variant='outlined' label={texts.activity.tool} />}
          {entry.confirmed != null && (
            <Chip size='small' variant='outlined' label={texts.activity.confirmed(entry.confirmed)} />
          )}
          {isUndone && <Chip size='small' label={texts.activity.reverted} />}
          {entry.reverts != null && <Chip size='small' variant='outlined' label={texts.activity.revert} />}
          {canUndo(entry) && (
            <Button
              size='small'
              startIcon={<UndoIcon />}
              onClick={() => setUndoing(true)}
              aria-label={`${texts.activity.undo}: ${name}`}
            >
              {texts.activity.undo}
            </Button>
          )}
          <IconButton
            ref={details}
            size='small'
            aria-expanded={isOpen}
            aria-controls={id}
            aria-label={`${isOpen ? texts.activity.less : texts.activity.details}: ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            <ExpandIcon sx={{ transform: isOpen ? 'rotate(180deg)' : 'none', transition: 'transform .15s' }} />
          </IconButton>
        </>
      }
      more={
        <>
          <Collapse in={isOpen} unmountOnExit id={id}>
            <Box sx={{ pl: { sm: 6 }, pt: 1 }}>
              <Differences entry={entry} />
            </Box>
          </Collapse>
          {isUndoing && <UndoOne entry={entry} onClose={() => setUndoing(false)} />}
        </>
      }
    />
  )
}

/** As wide as the box that is seen; what can be pressed reaches beyond it. */
const CHOICE = { width: 22, height: 22, flexShrink: 0, '& > span': { m: -1 } } as const

/** Chooses the change, and is called by what its row says. */
function Choice ({ entry, textId }: { readonly entry: Entry, readonly textId: string }) {
  const { selectedIds, onToggleItem } = useListContext()
  return (
    <Box sx={CHOICE}>
      {canUndo(entry) && (
        <Checkbox
          size='small'
          checked={selectedIds.includes(entry.id)}
          slotProps={{ input: { 'aria-labelledby': `${textId} ${textId}-at` } }}
          onChange={() => onToggleItem(entry.id)}
        />
      )}
    </Box>
  )
}
