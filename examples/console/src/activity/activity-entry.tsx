import UndoIcon from '@mui/icons-material/Undo'
import ExpandIcon from '@mui/icons-material/ExpandMore'
import { Box, Button, Chip, Collapse, IconButton } from '@mui/material'
import { useId, useState } from 'react'
import { useFocusBeside } from '../layout/use-focus-beside.ts'
import { texts } from '../texts.ts'
import { ActivityLine } from './activity-line.tsx'
import { Differences } from './differences.tsx'
import { type Entry, recordOf } from './entry.ts'
import { UndoOne } from './undo-one.tsx'

/** One change, which can be undone and seen field by field. */
export function ActivityEntry ({ entry }: { readonly entry: Entry }) {
  const [isOpen, setOpen] = useState(false)
  const [isUndoing, setUndoing] = useState(false)
  const details = useFocusBeside<HTMLButtonElement>(isUndoing)
  const id = useId()
  const isUndone = entry.reverted_by != null
  const name = recordOf(entry)
  return (
    <ActivityLine
      entry={entry}
      actions={
        <>
          {entry.tool != null && <Chip size='small' color='primary' variant='outlined' label={texts.activity.tool} />}
          {entry.confirmed != null && (
            <Chip size='small' variant='outlined' label={texts.activity.confirmed(entry.confirmed)} />
          )}
          {isUndone && <Chip size='small' label={texts.activity.reverted} />}
          {entry.reverts != null && <Chip size='small' variant='outlined' label={texts.activity.revert} />}
          {entry.revertible === true && !isUndone && (
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
